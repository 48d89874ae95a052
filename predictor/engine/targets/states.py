"""Whether targets can be predicted, and on which basis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from predictor.core.errors import InputError
from predictor.core.records import Basis, Target, by_run
from predictor.cost.capability import check_supported
from predictor.network.reference_rates import is_rated

_UNRATED: Final = (
    "nothing tells how much the device can compute: neither a rate nor clock and number of cores is"
    " known; add one, or probe the device"
)


class TargetState(NamedTuple):
    """Basis of a target's predictions, and why it has no number; empty where it has one."""

    basis: Basis
    problem: str = ""

    def measured(self) -> TargetState:
        """Return the state after the user's measurements.

        They stand in for a missing rate, not for a missing runtime or precision.
        """
        return TargetState(Basis.PROBED, "" if self.problem == _UNRATED else self.problem)


def states_of(targets: Sequence[Target], is_measured: Sequence[bool]) -> list[TargetState]:
    """Return the states of T targets, without the user's measurements.

    Args:
        targets: T targets.
        is_measured: whether published measurements of each came with the program.
    """
    problems = by_run(targets, _problems)
    return [
        TargetState(Basis.PROBED, refusal)
        if measured
        else TargetState(Basis.ZERO_SHOT, refusal or unrated)
        for (refusal, unrated), measured in zip(problems, is_measured, strict=True)
    ]


def _problems(target: Target) -> tuple[str, str]:
    """Return why a target cannot run, and why it cannot be rated; empty for no reason."""
    unrated = "" if is_rated(target.device) else _UNRATED
    try:
        check_supported(target.device, target.configuration)
    except InputError as error:
        return f"{error.reason}; {error.action}", unrated
    return "", unrated
