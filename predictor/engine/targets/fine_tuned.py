"""A target that the user fine-tuned the network's FiLM to: the network in place of the estimate.

The network serves only targets that it was fine-tuned to; all others have the estimate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, Expectation, part_tilts, tilted_ms
from predictor.core.arrays import Floats
from predictor.core.caching import IdentityCache
from predictor.core.percentiles import Z80, Z95
from predictor.core.records import Device, Target
from predictor.cost.engine import AttentionMaps, Explanation, FilmBiases, TargetMeasurements
from predictor.engine.checkpoint import ENCODER, HEAD, LoadedCheckpoint
from predictor.engine.targets.estimated import EstimatedTargets
from predictor.engine.targets.interface import TargetLatencies
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates
from predictor.network.target_facts import CHOICE_KINDS, TargetFacts, target_facts
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
        return self._checkpoint.folder / HEAD

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of that part."""
        return hashlib.sha256(self.head.read_bytes()).hexdigest()

    def tuning(self, target: Target, measured: TargetMeasurements) -> Tuning | None:
        """Return a target as it was fine-tuned to; None where it was not, or another network."""
        film = measured.film
        if film is None or film.network != self.checksum:
            return None
        facts, rates = self._read(target)

        def posterior(biases: FilmBiases | None) -> Deviation:
            pairs = [self._outputs(graph, facts, rates, biases) for graph in measured.graphs]
            noise = np.asarray(measured.noise, np.float64)
            expected = [_expectation(*pair) for pair in pairs]
            return self.card.prior.measured(expected, np.log(measured.latency_ms), noise)

        # FiLM that was fine-tuned to them leaves less of them to explain than of other graphs, so
        # the covariance stays that of the network as it ships.
        plain, tuned = posterior(None), posterior(film.biases)
        deviation = replace(tuned, covariance=plain.covariance, noise=plain.noise)
        return Tuning(target, facts, rates, deviation, film.biases)

    def at(self, tuning: Tuning, device: Device) -> Tuning:
        """Return a tuning at the facts of another device, its evidence the same."""
        target = replace(tuning.target, device=device)
        facts, rates = self._read(target)
        return replace(tuning, target=target, facts=facts, rates=rates)

    def expect(self, graph: OperatorGraph, tuning: Tuning) -> tuple[EncodedGraph, HeadOutput]:
        """Return a graph as the network reads it, and the network's outputs for the target."""
        return self._outputs(graph, tuning.facts, tuning.rates, tuning.film)

    def head_inputs(
        self, graphs: Sequence[OperatorGraph], target: Target
    ) -> list[dict[str, NDArray[np.generic]]]:
        """Return the inputs of the part that fine-tuning fits, of each graph on a target."""
        facts, rates = self._read(target)
        encoded = [self._encode(graph) for graph in graphs]
        return [self._runtime.head_inputs(graph, facts, rates) for graph in encoded]

    @cached_property
    def _runtime(self) -> TermRuntime:
        return TermRuntime(self._checkpoint.folder / ENCODER, self.head, self.card.operators)

    def _read(self, target: Target) -> tuple[TargetFacts, ReferenceRates]:
        rates = ReferenceRates.of([target], self.card.typical)
        return target_facts([target], rates, self.card.facts, self.card.choices), rates

    def _outputs(
        self,
        graph: OperatorGraph,
        facts: TargetFacts,
        rates: ReferenceRates,
        biases: FilmBiases | None,
    ) -> tuple[EncodedGraph, HeadOutput]:
        encoded = self._encode(graph)
        return encoded, self._runtime.expect(encoded, facts, rates, biases)

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
        card, deviation = self.network.card, self.tuning.deviation
        encoded, output = self.network.expect(graph, self.tuning)
        parts, run_ms = output.parts_ms.astype(np.float64), output.run_ms.astype(np.float64)
        responses = encoded.responses.astype(np.float64)
        latency = parts.sum(axis=2).sum(axis=0) + run_ms  # [1], as parts and run_ms have one target
        slope = parts.reshape(1, -1) @ responses.reshape(parts.size, -1) / latency
        row = np.concatenate([np.ones((1, 1)), slope], axis=1)  # [1, 1 + F]
        # Without a deviation every tilt is 0 and the plain sum is exact.
        if deviation.weights.any():
            tilts = part_tilts(responses, deviation.weights[:, None])  # [R, 3, 1]
            latency = tilted_ms(parts.transpose(0, 2, 1), run_ms, tilts)
        unmeasured = card.prior.unmeasured(card.responses)
        posterior, prior = (np.sqrt(of.variance(row))[0] for of in (deviation, unmeasured))
        widths = card.widths
        wide = np.minimum(np.array(widths.probed) * posterior, np.array(widths.zero_shot) * prior)
        # One that covers more is no narrower.
        reach = np.maximum.accumulate(np.exp(wide * (Z80, Z95)))
        # Divided by the deviation, the dot product of two graphs' rows is a correlation.
        shared_error = row @ deviation.root / posterior
        return TargetLatencies(latency * deviation.factor, reach[:, None], shared_error)

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
        return Explanation.of_parts(parts, self._attention(len(graph), encoded, output))

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

    def _attention(
        self, operators: int, encoded: EncodedGraph, output: HeadOutput
    ) -> AttentionMaps | None:
        """Return HODM's attention of a graph on the target; None where no metric is known.

        Rows of operators that take no time are level.
        """
        card, metrics = self.network.card, self.tuning.facts.available[0]
        if not metrics.any() or not len(output.parts_ms):
            return None
        attended = np.concatenate([np.ones(len(CHOICE_KINDS), np.bool_), metrics])
        names = (*CHOICE_KINDS, *compress(card.facts.names, metrics))
        forward = np.full((operators, len(names)), 1 / len(names), np.float32)
        # The last token is "unknown", which is available only where no metric is.
        forward[encoded.places] = output.operator_to_metric[:, 0, :-1][:, attended]
        backward = np.zeros((len(names), operators), np.float32)
        backward[:, encoded.places] = output.metric_to_operator[:, 0, :-1][:, attended].T
        return AttentionMaps(
            metrics=names,
            operator_to_metric=forward,
            metric_to_operator=backward,
            blend=card.blend,
            residual=card.residual,
        )


def _parts(
    graph: OperatorGraph, encoded: EncodedGraph, output: HeadOutput, tuning: Tuning
) -> Floats:
    """Return arithmetic, traffic and launches of the operators in ms, [N, 3]."""
    expected, deviation = _expectation(encoded, output), tuning.deviation
    latency = expected.latency_ms(deviation.weights) * deviation.factor
    parts = np.zeros((len(graph), 3))
    # Operators share the fixed cost of a run, so that they sum to the latency.
    parts[encoded.places] = expected.shares(deviation.weights) * latency
    return parts


def _expectation(encoded: EncodedGraph, output: HeadOutput) -> Expectation:
    """Return the expectation for a graph from the network's outputs for one target."""
    return Expectation(
        output.parts_ms[:, 0].astype(np.float64),
        encoded.responses.astype(np.float64),
        float(output.run_ms[0]),
    )
