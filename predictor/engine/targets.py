"""State of targets before any graph: what can be predicted, and the user's measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operator_fit import OperatorFit, Timed, Work
from predictor.core.errors import InputError
from predictor.core.records import Basis, Target, by_run
from predictor.cost.capability import check_supported
from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.engine.estimate import OwnFit
from predictor.engine.timed_work import TimedGraph
from predictor.engine.tuned import TunedTarget
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import is_rated

_LEAST_BOUND_FACTOR: Final = 0.2  # a latency further under the bound is mistyped
UNRATED: Final = (
    "nothing tells how much the device can compute: neither a rate nor clock and number of cores is"
    " known; add one, or probe the device"
)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredState:
    """A target after the user's measurements.

    Attributes:
        own: level and shape.
        tuned: the network after FiLM fine-tuning; None where it stays as it ships.
        fit: of the target's operators; None where none was timed.
        bound_factor: part of the physical bound that holds, as something ran faster.
    """

    own: OwnFit
    tuned: TunedTarget | None
    fit: OperatorFit | None
    bound_factor: float


@dataclass(frozen=True, slots=True, eq=False)
class TargetStates:
    """State of T targets; mappings are by index.

    Attributes:
        targets: as asked about.
        basis: of predictions for each.
        problems: why a target has no number.
        tuned: the network fine-tuned to the user's measurements.
        fits: calibration by the times of operators that the user measured.
        bound_factors: part of the physical bound that holds, where something ran faster than it.
    """

    targets: Sequence[Target]
    basis: Sequence[Basis]
    problems: Mapping[int, str]
    tuned: Mapping[int, TunedTarget] = field(default_factory=dict)
    fits: Mapping[int, OperatorFit] = field(default_factory=dict)
    bound_factors: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, targets: Sequence[Target], is_measured: Sequence[bool]) -> TargetStates:
        """Look T targets up, the user's own measurements apart.

        Args:
            targets: T targets.
            is_measured: whether published measurements of each came with the program.
        """
        refusals = by_run(targets, _refusal)
        return cls(
            targets,
            [Basis.PROBED if measured else Basis.ZERO_SHOT for measured in is_measured],
            {
                index: problem
                for index, ((refusal, unrated), measured) in enumerate(
                    zip(refusals, is_measured, strict=True)
                )
                if (problem := refusal or ("" if measured else unrated))
            },
        )

    def with_measured(self, own: Mapping[int, MeasuredState]) -> TargetStates:
        """Return the states after the user's measurements of some targets."""
        tuned = {index: each.tuned for index, each in own.items() if each.tuned is not None}
        return TargetStates(
            self.targets,
            [Basis.PROBED if index in own else each for index, each in enumerate(self.basis)],
            {
                index: words
                for index, words in self.problems.items()
                # Measurements stand in for a missing rate, not for a missing runtime or precision.
                if index not in own or words != UNRATED
            },
            tuned,
            {
                index: each.fit
                for index, each in own.items()
                # The user chose fine-tuning: it goes before calibration by operators (0014).
                if each.fit is not None and index not in tuned
            },
            {index: each.bound_factor for index, each in own.items()},
        )


def _refusal(target: Target) -> tuple[str, str]:
    """Return why a target cannot run, and why it cannot be rated; empty for no reason."""
    unrated = "" if is_rated(target.device) else UNRATED
    try:
        check_supported(target.device, target.configuration)
    except InputError as error:
        return f"{error.reason}; {error.action}", unrated
    return "", unrated


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
