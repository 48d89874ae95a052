"""Predictions of the network after FiLM fine-tuning to a user's measurements.

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
from predictor.core.records import Target
from predictor.cost.engine import Explanation, FilmBiases, TargetMeasurements
from predictor.engine.checkpoint import LoadedCheckpoint
from predictor.engine.outputs import (
    GraphLatency,
    attention_maps,
    expectation,
    explanation,
    graph_latency,
)
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates
from predictor.network.target_facts import TargetFacts, target_facts
from predictor.network.term_runtime import EncodedGraph, HeadOutput, TermRuntime

Floats = NDArray[np.float64]
_MOST_GRAPHS: Final = 512


@dataclass(frozen=True, slots=True, eq=False)
class TunedTarget:
    """A target that the network was fine-tuned to.

    Attributes:
        facts: that the network reads.
        rates: that efficiency is measured against.
        deviation: posterior after the measurements.
        film: the fine-tuned biases.
    """

    facts: TargetFacts
    rates: ReferenceRates
    deviation: Deviation
    film: FilmBiases


class TunedNetwork:
    """The network of a checkpoint, loaded with the first prediction."""

    def __init__(self, checkpoint: LoadedCheckpoint) -> None:
        """Keep the place of the network's files."""
        self._checkpoint, self._card = checkpoint, checkpoint.engine
        self._encoded: IdentityCache[EncodedGraph] = IdentityCache(_MOST_GRAPHS)

    @property
    def head(self) -> Path:
        """File of the part that fine-tuning fits."""
        return self._checkpoint.head

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of that part."""
        return hashlib.sha256(self.head.read_bytes()).hexdigest()

    def target(self, target: Target, measured: TargetMeasurements) -> TunedTarget | None:
        """Return a target as it was fine-tuned to; None where it was not, or another network."""
        film = _film_for(measured, self.checksum)
        if film is None:
            return None
        facts, rates = self._read(target)

        def expect(graph: OperatorGraph, films: Mapping[int, FilmBiases]) -> Expectation:
            encoded = self._encode(graph)
            _, output = next(self._runtime.expect(encoded, facts, rates, films))
            return expectation(encoded, output, 0)

        return TunedTarget(facts, rates, _posterior(expect, self._card.prior, measured, film), film)

    def latency(self, graph: OperatorGraph, tuned: TunedTarget) -> tuple[GraphLatency, Floats]:
        """Return the latency of a graph, and its 80 % and 95 % interval over it, [2].

        Measurements never widen an interval beyond that of the unmeasured target.
        """
        encoded, output = self._expect(graph, tuned)
        unmeasured = self._card.prior.unmeasured(self._card.responses)
        latency = graph_latency(encoded, output, [tuned.deviation], unmeasured)
        own, usual = latency.spreads[:, 0]
        widths = self._card.widths
        wide = np.minimum(np.array(widths.probed) * own, np.array(widths.zero_shot) * usual)
        # One that covers more is no narrower.
        return latency, np.maximum.accumulate(np.exp(wide * (Z80, Z95)))

    def explanation(self, graph: OperatorGraph, tuned: TunedTarget, least_ms: float) -> Explanation:
        """Return where a graph's time goes; its parts are raised to ``least_ms``."""
        encoded, output = self._expect(graph, tuned)
        places, parts = self._parts(encoded, output, tuned)
        parts *= np.fmax(1.0, least_ms / parts.sum())
        attention = attention_maps(self._card, len(graph), encoded, output, tuned.facts)
        return explanation(len(graph), places, parts, attention)

    def varied_ms(self, graph: OperatorGraph, tuned: TunedTarget, other: Target) -> Floats:
        """Return the times of the operators were the target another, at its evidence, [N]."""
        facts, rates = self._read(other)
        varied = TunedTarget(facts, rates, tuned.deviation, tuned.film)
        places, parts = self._parts(*self._expect(graph, varied), varied)
        operator_ms = np.zeros(len(graph))
        operator_ms[places] = parts.sum(axis=1)
        return operator_ms

    def head_inputs(
        self, graphs: Sequence[OperatorGraph], target: Target
    ) -> list[dict[str, NDArray[np.generic]]]:
        """Return the inputs of the part that fine-tuning fits, of each graph on a target."""
        facts, rates = self._read(target)
        encoded = [self._encode(graph) for graph in graphs]
        return [self._runtime.head_inputs(each, facts, rates) for each in encoded]

    @cached_property
    def _runtime(self) -> TermRuntime:
        files = self._checkpoint
        return TermRuntime(files.encoder, files.head, self._card.operators)

    def _read(self, target: Target) -> tuple[TargetFacts, ReferenceRates]:
        rates = ReferenceRates.of([target], self._card.typical)
        return target_facts([target], rates, self._card.facts, self._card.choices), rates

    def _encode(self, graph: OperatorGraph) -> EncodedGraph:
        return self._encoded.get((graph,), lambda: self._runtime.encode(graph))

    def _expect(self, graph: OperatorGraph, tuned: TunedTarget) -> tuple[EncodedGraph, HeadOutput]:
        encoded = self._encode(graph)
        films = {0: tuned.film}
        _, output = next(self._runtime.expect(encoded, tuned.facts, tuned.rates, films))
        return encoded, output

    @staticmethod
    def _parts(
        encoded: EncodedGraph, output: HeadOutput, tuned: TunedTarget
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return the operators that take time, [R], and their parts in ms, [R, 3]."""
        expected = expectation(encoded, output, 0)
        latency = expected.latency_ms(tuned.deviation.weights) * tuned.deviation.factor
        # Operators share the fixed cost of a run, so that they sum to the latency.
        return encoded.places, expected.shares(tuned.deviation.weights) * latency


def _film_for(measured: TargetMeasurements, network: str) -> FilmBiases | None:
    """Return FiLM as it was fine-tuned to measurements; None where that is of another network."""
    film = measured.film
    return film.biases if film is not None and film.network == network else None


def _posterior(
    expect: Callable[[OperatorGraph, Mapping[int, FilmBiases]], Expectation],
    prior: DeviationPrior,
    measured: TargetMeasurements,
    film: FilmBiases | None,
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
    if film is None:
        return plain
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
