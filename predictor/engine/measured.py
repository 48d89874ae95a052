"""State of a target after the user's measurements on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, DeviationPrior, Expectation
from predictor.calibration.operator_fit import OperatorFit, Timed, Work
from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.cost.film import FilmBiases
from predictor.engine.timed_work import TimedGraph
from predictor.graph.operator_graph import OperatorGraph

_LEAST_BOUND_FACTOR: Final = 0.2  # a latency further under the bound is mistyped


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredState:
    """A target after its measurements.

    Attributes:
        deviation: posterior.
        film: fine-tuned to the measurements; None where the network stays as it ships.
        fit: of the target's operators; None where none was timed.
        bound_factor: part of the physical bound that holds, as something ran faster.
    """

    deviation: Deviation
    film: FilmBiases | None
    fit: OperatorFit | None
    bound_factor: float


def film_for(measured: TargetMeasurements, network: str) -> FilmBiases | None:
    """Return FiLM as it was fine-tuned to measurements; None where that is of another network."""
    film = measured.film
    return film.biases if film is not None and film.network == network else None


def posterior(
    expect: Callable[[OperatorGraph, Mapping[int, FilmBiases]], Expectation],
    prior: DeviationPrior,
    measured: TargetMeasurements,
    film: FilmBiases | None,
) -> Deviation:
    """Return the posterior of a target's deviation after its measurements.

    FiLM that was fine-tuned to them leaves less of them to explain than of other graphs, so the
    covariance stays that of the network as it ships.

    Args:
        expect: returns what the network expects of a graph on the target, with FiLM at index 0.
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


def operator_fit(
    measured: TargetMeasurements, of_graph: Callable[[OperatorGraph], tuple[TimedGraph, Work]]
) -> OperatorFit | None:
    """Return the calibration by a target's timed operators; None where none was timed.

    Args:
        measured: on the target.
        of_graph: returns what of a graph may be timed, and its work on the target.
    """
    if not any(measured.operators):
        return None
    timed = []
    for graph, latency_ms, noise, times in zip(
        measured.graphs, measured.latency_ms, measured.noise, measured.operators, strict=True
    ):
        timed_graph, work = of_graph(graph)
        groups, group_ms = _timed_rows(timed_graph, times)
        timed.append(Timed(work, float(latency_ms), groups, group_ms, float(noise)))
    return OperatorFit(timed)


def bound_factor(bound_ms: NDArray[np.float64], latency_ms: NDArray[np.float64]) -> float:
    """Return the least latency over its bound, at most 1: under 1 a rate was stated too low."""
    bounded = bound_ms > 0  # neither unknown nor nothing
    least = (latency_ms[bounded] / bound_ms[bounded]).min(initial=1.0)
    return max(float(least), _LEAST_BOUND_FACTOR)


def _timed_rows(
    graph: TimedGraph, times: OperatorTimes | None
) -> tuple[list[list[int]], NDArray[np.float64]]:
    """Return the groups that were timed by rows of the work; what is a view is left out."""
    rows = {place: row for row, place in enumerate(graph.places.tolist())}
    groups, group_ms = [], []
    if times is not None:
        for members, time_ms in zip(times.groups, times.time_ms.tolist(), strict=True):
            group = [rows[member] for member in members if member in rows]
            if group:
                groups.append(group)
                group_ms.append(time_ms)
    return groups, np.array(group_ms, np.float64)
