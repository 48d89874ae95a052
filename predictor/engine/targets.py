"""State of targets before any graph: facts, rates, and calibration by measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, DeviationPrior, Expectation
from predictor.calibration.operator_fit import OperatorFit, Timed, Work
from predictor.core.errors import InputError
from predictor.core.records import Basis, Precision, Target, TargetId
from predictor.core.runtimes import runtime_of
from predictor.cost.capability import check_supported
from predictor.cost.engine import FilmBiases, OperatorTimes, TargetMeasurements
from predictor.engine.checkpoint import EngineCard
from predictor.engine.doubts import device_doubt
from predictor.engine.timed_work import TimedGraph
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates, is_rated
from predictor.network.target_facts import TargetFacts, target_facts

T = TypeVar("T")

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
    known: Deviation | None = None,
) -> Deviation:
    """Return the posterior of a target's deviation after its measurements.

    FiLM that was fine-tuned to them leaves less of them to explain than of other graphs, so the
    covariance stays that of the network as it ships. What is known from elsewhere is of the network
    without it.

    Args:
        expect: returns the network's expectation for a graph on the target, with FiLM at index 0.
        prior: of deviations.
        measured: of the target.
        film: fine-tuned to the measurements.
        known: of the target from published measurements, which the user's start from; None for
            none.
    """
    start = None if known is None else _farther(known, _OTHER_DEVICE)
    plain = _regression(expect, prior, measured, {}, start)
    if film is None:
        return plain
    tuned = _regression(expect, prior, measured, {0: film})
    return replace(tuned, covariance=plain.covariance, noise=plain.noise)


def _regression(
    expect: Callable[[OperatorGraph, Mapping[int, FilmBiases]], Expectation],
    prior: DeviationPrior,
    measured: TargetMeasurements,
    films: Mapping[int, FilmBiases],
    known: Deviation | None = None,
) -> Deviation:
    expected = [expect(graph, films) for graph in measured.graphs]
    return prior.measured(
        expected, np.log(measured.latency_ms), np.asarray(measured.noise, np.float64), known
    )


def operator_fit(
    measured: TargetMeasurements, of_graph: Callable[[OperatorGraph], tuple[TimedGraph, Work]]
) -> OperatorFit | None:
    """Return the calibration by a target's timed operators; None where none was timed.

    Args:
        measured: on the target.
        of_graph: returns the timed operators of a graph, and their work on the target.
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
    """Return the timed groups as rows of the work, and their times; views are left out."""
    rows = {place: row for row, place in enumerate(graph.places.tolist())}
    groups, group_ms = [], []
    if times is not None:
        for members, time_ms in zip(times.groups, times.time_ms.tolist(), strict=True):
            group = [rows[member] for member in members if member in rows]
            if group:
                groups.append(group)
                group_ms.append(time_ms)
    return groups, np.array(group_ms, np.float64)


UNRATED: Final = (
    "nothing tells how much the device can compute: neither a rate nor clock and number of cores is"
    " known; add one, or probe the device"
)
# What measurements of one configuration say of another of the same device and runtime. On held-out
# devices of ncnn, predictions for twice or half the threads that were measured erred by 12 % in the
# median, those without any measurement by 57 %; with four times by 20 %, with eight times by 34 %,
# in another precision by 39 %. Beyond that nothing is taken over.
_MOST_DOUBLINGS: Final = 3.0  # of the threads
_PER_DOUBLING: Final = 0.20  # standard deviation of ln(latency) that each adds
_OTHER_PRECISION: Final = 0.60
# Of the same chip at the same rate, and of the user's own one where another of it was published.
_OTHER_DEVICE: Final = 0.20


@dataclass(frozen=True, slots=True, eq=False)
class TargetStates:
    """State of T targets; mappings are by index.

    Attributes:
        targets: as asked about.
        facts: that the network reads.
        rates: that efficiency is measured against.
        deviations: posterior of each.
        basis: of predictions for each.
        widths: factors of the 80 % and the 95 % interval.
        problems: why a target has no number.
        doubts: reasons why a target is outside the training distribution, or empty.
        films: FiLM fine-tuned to the user's measurements.
        fits: calibration by the times of operators that the user measured.
        bound_factors: part of the physical bound that holds, where something ran faster than it.
        twins: a measured device that is as good as the same, where its measurements are used.
        estimated: nothing was measured of the device under the runtime, with few more threads or
            in another precision.
    """

    targets: Sequence[Target]
    facts: TargetFacts
    rates: ReferenceRates
    deviations: Sequence[Deviation]
    basis: Sequence[Basis]
    widths: Sequence[tuple[float, float]]
    problems: Mapping[int, str]
    doubts: Sequence[str]
    films: Mapping[int, FilmBiases] = field(default_factory=dict)
    fits: Mapping[int, OperatorFit] = field(default_factory=dict)
    bound_factors: Mapping[int, float] = field(default_factory=dict)
    estimated: Sequence[bool] = ()
    twins: Mapping[int, str] = field(default_factory=dict)

    def take(self, places: NDArray[np.int64]) -> TargetStates:
        """Return the states of some of the targets."""
        chosen = places.tolist()

        def mapped(values: Mapping[int, T]) -> dict[int, T]:
            return {new: values[old] for new, old in enumerate(chosen) if old in values}

        return TargetStates(
            [self.targets[place] for place in chosen],
            self.facts.take(places),
            self.rates.take(places),
            [self.deviations[place] for place in chosen],
            [self.basis[place] for place in chosen],
            [self.widths[place] for place in chosen],
            mapped(self.problems),
            [self.doubts[place] for place in chosen],
            mapped(self.films),
            mapped(self.fits),
            mapped(self.bound_factors),
            [self.estimated[place] for place in chosen],
            mapped(self.twins),
        )

    def with_twins(
        self, twins: Sequence[TargetId | None], shipped: Mapping[TargetId, Deviation]
    ) -> TargetStates:
        """Return the states in which targets that nothing was measured of deviate as a twin does.

        Args:
            twins: of each target, None where there is none.
            shipped: posteriors from published measurements.
        """
        used = {
            place: twin
            for place, twin in enumerate(twins)
            if twin is not None and twin in shipped and self.estimated[place]
        }
        return replace(
            self,
            deviations=[
                _farther(shipped[used[place]], _OTHER_DEVICE) if place in used else each
                for place, each in enumerate(self.deviations)
            ],
            estimated=[each and place not in used for place, each in enumerate(self.estimated)],
            twins={place: twin.device_id for place, twin in used.items()},
        )

    @classmethod
    def of(
        cls, targets: Sequence[Target], card: EngineCard, shipped: Mapping[TargetId, Deviation]
    ) -> TargetStates:
        """Look targets up, the user's own measurements apart.

        Args:
            targets: T targets.
            card: of the engine.
            shipped: posteriors from published measurements.
        """
        published = [published_form(target) for target in targets]
        rates = ReferenceRates.of(published, card.typical)
        unmeasured = card.prior.unmeasured(card.responses)
        deviations = [shipped.get(target.id) for target in published]
        near = [
            deviation or from_nearest(target.id, shipped)
            for deviation, target in zip(deviations, published, strict=True)
        ]
        return cls(
            targets,
            target_facts(published, rates, card.facts, card.choices),
            rates,
            [each or unmeasured for each in near],
            [Basis.PROBED if deviation else Basis.ZERO_SHOT for deviation in deviations],
            [card.widths.published if each else card.widths.zero_shot for each in deviations],
            {
                index: problem
                for index, target in enumerate(targets)
                if (problem := _problem(target, is_measured=deviations[index] is not None))
            },
            [
                "" if deviation else device_doubt(target, card.experience)
                for deviation, target in zip(deviations, published, strict=True)
            ],
            estimated=[each is None for each in near],
        )


def _problem(target: Target, *, is_measured: bool) -> str:
    try:
        check_supported(target.device, target.configuration)
    except InputError as error:
        return f"{error.reason}; {error.action}"
    return "" if is_measured or is_rated(target.device) else UNRATED


def published_form(target: Target) -> Target:
    """Return a target as the published measurements name it.

    ncnn stores and computes in FP16 where it can, and its published latencies do not say where it
    did: a float network on ncnn is one and the same configuration here.
    """
    c = target.configuration
    if runtime_of(c.runtime).hides_halves and c.precision is Precision.FP16:
        return Target(target.device, replace(c, precision=Precision.FP32))
    return target


def from_nearest(target: TargetId, deviations: Mapping[TargetId, Deviation]) -> Deviation | None:
    """Return the posterior of the nearest configuration of the same device and runtime.

    It is less certain than that of the measured configuration; None where none is near.
    """
    apart = {
        other: distance
        for other in deviations
        if other.device_id == target.device_id
        and other.runtime == target.runtime
        and (distance := _distance(target, other)) is not None
    }
    if not apart:
        return None
    # Ties go by the id: the order in which measurements were stored must not matter.
    nearest = min(apart, key=lambda other: (apart[other], other))
    return _farther(deviations[nearest], apart[nearest])


def _farther(deviation: Deviation, apart: float) -> Deviation:
    """Return a neighbour's posterior, made less certain by a standard deviation."""
    covariance = deviation.covariance.copy()
    # Only b, the level, becomes less certain; w keeps the certainty of the measured neighbour.
    covariance[0, 0] += apart**2
    return replace(deviation, covariance=covariance)


def _distance(target: TargetId, other: TargetId) -> float | None:
    """Return the standard deviation that the way between two configurations adds."""
    doublings = abs(math.log2(max(1, target.threads) / max(1, other.threads)))
    if doublings > _MOST_DOUBLINGS:
        return None
    precision = 0.0 if target.precision == other.precision else _OTHER_PRECISION
    return math.hypot(_PER_DOUBLING * doublings, precision)
