"""What is worked out of targets alone, kept for the next call: the same are asked about often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from predictor.core.records import Configuration, Device, Target

_Result = TypeVar("_Result")


class OfTargets(Generic[_Result]):
    """A function of targets that keeps its last result."""

    def __init__(self, work: Callable[[Sequence[Target]], _Result]) -> None:
        """Keep results of ``work``, which depends on nothing else."""
        self._work = work
        self._last: tuple[tuple[tuple[Device, Configuration], ...], _Result] | None = None

    def __call__(self, targets: Sequence[Target]) -> _Result:
        """Return the result for ``targets``, devices compared by identity: their facts are many."""
        last = self._last  # once: another thread may change it
        if last is None or not _same(last[0], targets):
            asked = tuple((target.device, target.configuration) for target in targets)
            last = self._last = (asked, self._work(targets))
        return last[1]


def _same(before: tuple[tuple[Device, Configuration], ...], now: Sequence[Target]) -> bool:
    return len(before) == len(now) and all(
        device is target.device and configuration == target.configuration
        for (device, configuration), target in zip(before, now, strict=True)
    )
