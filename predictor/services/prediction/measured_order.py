"""Runs that measurements have slower than what is expected to be slower: FP32, fewer threads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from statistics import median
from typing import Final

from predictor.calibration.published import Published
from predictor.core.records import Precision, TargetId
from predictor.core.text import plural
from predictor.core.units import significant

_RATIO: Final = 1.1  # by less, conditions of the two measurements may differ
_NETWORKS: Final = 5


@lru_cache(maxsize=1024)
def slower_words(published: Published, target: TargetId) -> str:
    """Return in words what a target is slower than by published latencies; empty for nothing.

    Only targets that were measured themselves are said to be: of the others no claim is made.
    """
    return "; ".join(_slower(published, target))


def _slower(published: Published, target: TargetId) -> Iterator[str]:
    if target.precision == Precision.INT8:
        ratio, count = _median(published, target, target._replace(precision=Precision.FP32))
        if ratio > _RATIO:
            yield _words("INT8 takes", ratio, "FP32", count)
    fewer = [(*_median(published, target, o), o.threads) for o in published.fewer_threads(target)]
    ratio, count, threads = max(fewer, default=(0.0, 0, 0))
    if ratio > _RATIO:
        yield _words(f"{target.threads} threads take", ratio, str(threads), count)


def _median(published: Published, target: TargetId, other: TargetId) -> tuple[float, int]:
    """Return the median ratio of times and of how many networks it is; 0 of too few."""
    ratios = published.ratios(target, other).tolist()
    # Not NumPy's, which loads numpy.ma: 50 ms of a command.
    return (median(ratios) if len(ratios) >= _NETWORKS else 0.0), len(ratios)


def _words(what: str, ratio: float, other: str, count: int) -> str:
    networks = plural(count, "network")
    return (
        f"measured here, {what} {significant(ratio)} x the time of {other} (median of {networks})"
    )
