"""A target that the user fine-tuned the network's FiLM to: the network in place of the estimate.

The network serves only targets that it was fine-tuned to; all others have the estimate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, DeviationPrior, Expectation
from predictor.core.caching import IdentityCache
from predictor.core.percentiles import Z80, Z95
from predictor.core.records import Device, Target
from predictor.cost.engine import Explanation, FilmBiases, TargetMeasurements
from predictor.engine.checkpoint import LoadedCheckpoint
from predictor.engine.outputs import attention_maps, expectation, graph_latency
from predictor.engine.targets.estimated import EstimatedTargets
from predictor.engine.targets.interface import Floats, TargetLatencies
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates
from predictor.network.target_facts import TargetFacts, target_facts
from predictor.network.term_runtime import EncodedGraph, HeadOutput, TermRuntime

_GRAPHS: Final = 512


@dataclass(frozen=True, slots=True, eq=False)
class Tuning:
    """State of a target that the network was fine-tuned to.

    Attributes:
        target: the target.
        facts: that the network reads.
        rates: that efficiency is measured against.
        deviation: posterior after the measurements.
        film: the fine-tuned biases.
    """

    target: Target
    facts: TargetFacts
    rates: ReferenceRates
    deviation: Deviation
    film: FilmBiases


class TunedNetwork:
    """The network of a checkpoint, loaded with the first prediction."""

    def __init__(self, checkpoint: LoadedCheckpoint) -> None:
        """Keep the place of the network's files."""
        self._checkpoint, self.card = checkpoint, checkpoint.engine
        self._encoded: IdentityCache[EncodedGraph] = IdentityCache(_GRAPHS)

    @property
    def head(self) -> Path:
        """File of the part that fine-tuning fits."""
        return self._checkpoint.head

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of that part."""
        return hashlib.sha256(self.head.read_bytes()).hexdigest()

    def tuning(self, target: Target, measured: TargetMeasurements) -> Tuning | None:
        """Return a target as it was fine-tuned to; None where it was not, or another network."""
        film = _film_for(measured, self.checksum)
        if film is None:
            return None
        facts, rates = self._read(target)

        def expect(graph: OperatorGraph, films: Mapping[int, FilmBiases]) -> Expectation:
            encoded = self._encode(graph)
            _, output = next(self._runtime.expect(encoded, facts, rates, films))
            return expectation(encoded, output, 0)

        deviation = _posterior(expect, self.card.prior, measured, film)
        return Tuning(target, facts, rates, deviation, film)

    def at(self, tuning: Tuning, device: Device) -> Tuning:
        """Return a tuning at the facts of another device, its evidence the same."""
        target = replace(tuning.target, device=device)
        facts, rates = self._read(target)
        return replace(tuning, target=target, facts=facts, rates=rates)

    def expect(self, graph: OperatorGraph, tuning: Tuning) -> tuple[EncodedGraph, HeadOutput]:
        """Return a graph as the network reads it, and the network's outputs for the target."""
        encoded = self._encode(graph)
        films = {0: tuning.film}
        _, output = next(self._runtime.expect(encoded, tuning.facts, tuning.rates, films))
        return encoded, output

    def head_inputs(
        self, graphs: Sequence[OperatorGraph], target: Target
    ) -> list[dict[str, NDArray[np.generic]]]:
        """Return the inputs of the part that fine-tuning fits, of each graph on a target."""
        facts, rates = self._read(target)
        encoded = [self._encode(graph) for graph in graphs]
        return [self._runtime.head_inputs(graph, facts, rates) for graph in encoded]

    @cached_property
    def _runtime(self) -> TermRuntime:
        files = self._checkpoint
        return TermRuntime(files.encoder, files.head, self.card.operators)

    def _read(self, target: Target) -> tuple[TargetFacts, ReferenceRates]:
        rates = ReferenceRates.of([target], self.card.typical)
        return target_facts([target], rates, self.card.facts, self.card.choices), rates

    def _encode(self, graph: OperatorGraph) -> EncodedGraph:
        return self._encoded.get((graph,), lambda: self._runtime.encode(graph))


@dataclass(frozen=True, slots=True, eq=False)
class FineTuned:
    """Model of one target by the network that was fine-tuned to it.

    Attributes:
        estimated: the target's estimate, which has the doubts.
        network: the network.
        tuning: of the target.
    """

    estimated: EstimatedTargets
    network: TunedNetwork
    tuning: Tuning

    @property
    def facts(self) -> Mapping[str, Sequence[object]]:
        """Those of the estimate but for its record, which is not the network's."""
        facts = self.estimated.facts
        evidence = [str(words).partition("; ")[0] for words in facts["evidence"]]
        return {**facts, "evidence": evidence, "fine_tuned": [True]}

    def latency(self, graph: OperatorGraph) -> TargetLatencies:
        """Return the latency of a graph on the target, with its spread.

        Measurements never widen an interval beyond that of the unmeasured target.
        """
        card = self.network.card
        encoded, output = self.network.expect(graph, self.tuning)
        unmeasured = card.prior.unmeasured(card.responses)
        latency = graph_latency(encoded, output, [self.tuning.deviation], unmeasured)
        posterior, prior = latency.spreads[:, 0]
        widths = card.widths
        wide = np.minimum(np.array(widths.probed) * posterior, np.array(widths.zero_shot) * prior)
        # One that covers more is no narrower.
        reach = np.maximum.accumulate(np.exp(wide * (Z80, Z95)))
        return TargetLatencies(latency.latency_ms, reach[:, None], latency.shared_error)

    def doubts(self, graph: OperatorGraph) -> Sequence[str]:
        """Return why the latency may be wrong, in words; empty for no reason."""
        return self.estimated.doubts(graph)

    def explain(
        self,
        graph: OperatorGraph,
        place: int,  # noqa: ARG002 - there is one target
        latency_ms: float,
    ) -> Explanation:
        """Return where the time of a graph goes on the target."""
        encoded, output = self.network.expect(graph, self.tuning)
        parts = _parts(graph, encoded, output, self.tuning)
        parts *= np.fmax(1.0, latency_ms / parts.sum())
        attention = attention_maps(
            self.network.card, len(graph), encoded, output, self.tuning.facts
        )
        return Explanation.of_parts(parts, attention)

    def varied(
        self,
        graph: OperatorGraph,
        place: int,  # noqa: ARG002 - as above
        devices: Sequence[Device],
    ) -> Floats:
        """Return the operators' times were the target's device one of V variants, [V, N]."""
        tunings = (self.network.at(self.tuning, device) for device in devices)
        parts = [_parts(graph, *self.network.expect(graph, tuning), tuning) for tuning in tunings]
        return np.array([rows.sum(axis=1) for rows in parts]).reshape(-1, len(graph))


def _parts(
    graph: OperatorGraph, encoded: EncodedGraph, output: HeadOutput, tuning: Tuning
) -> Floats:
    """Return arithmetic, traffic and launches of the operators in ms, [N, 3]."""
    expected, deviation = expectation(encoded, output, 0), tuning.deviation
    latency = expected.latency_ms(deviation.weights) * deviation.factor
    parts = np.zeros((len(graph), 3))
    # Operators share the fixed cost of a run, so that they sum to the latency.
    parts[encoded.places] = expected.shares(deviation.weights) * latency
    return parts


def _film_for(measured: TargetMeasurements, network: str) -> FilmBiases | None:
    """Return FiLM as it was fine-tuned to measurements; None where that is of another network."""
    film = measured.film
    return film.biases if film is not None and film.network == network else None


def _posterior(
    expect: Callable[[OperatorGraph, Mapping[int, FilmBiases]], Expectation],
    prior: DeviationPrior,
    measured: TargetMeasurements,
    film: FilmBiases,
) -> Deviation:
    """Return the posterior of a target's deviation after its measurements.

    FiLM that was fine-tuned to them leaves less of them to explain than of other graphs, so the
    covariance stays that of the network as it ships.

    Args:
        expect: returns the network's expectation for a graph on the target, with FiLM at index 0.
        prior: of deviations.
        measured: of the target.
        film: fine-tuned to the measurements.
    """
    plain = _regression(expect, prior, measured, {})
    tuned = _regression(expect, prior, measured, {0: film})
    return replace(tuned, covariance=plain.covariance, noise=plain.noise)


def _regression(
    expect: Callable[[OperatorGraph, Mapping[int, FilmBiases]], Expectation],
    prior: DeviationPrior,
    measured: TargetMeasurements,
    films: Mapping[int, FilmBiases],
) -> Deviation:
    expected = [expect(graph, films) for graph in measured.graphs]
    return prior.measured(
        expected, np.log(measured.latency_ms), np.asarray(measured.noise, np.float64)
    )
