"""Warm-up, timed and profiled runs of one block, over any clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .failures import MeasuringError
from .medians import is_narrow, is_settled
from .settings import Settings

_REPORT_S = 0.25
_ALIVE_S = 1.0


def warm_up(
    run: Callable[[], object], clock_ns: Callable[[], int], settings: Settings
) -> dict[str, Any]:
    """Run until the protocol's warm-up is done and the running median has settled."""
    durations: list[int] = []
    begin = clock_ns()
    while True:
        start = clock_ns()
        run()
        end = clock_ns()
        durations.append(end - start)
        elapsed_s = (end - begin) / 1e9
        warmed_up = len(durations) >= settings.warm_up_runs and elapsed_s >= settings.warm_up_s
        settled = warmed_up and is_settled(durations, settings.settled)
        over = elapsed_s >= settings.warm_up_limit_s or (
            warmed_up and elapsed_s >= settings.warm_up_s + settings.settle_limit_s
        )
        if settled or over:
            return {"runs": len(durations), "seconds": elapsed_s, "settled": settled}


def timed_runs(
    run: Callable[[], object],
    clock_ns: Callable[[], int],
    settings: Settings,
    report: Callable[[Sequence[int]], None],
) -> tuple[list[int], str]:
    """Time runs until the median is known well enough.

    Args:
        run: one run of the network.
        clock_ns: monotonic clock in nanoseconds.
        settings: of the protocol.
        report: is called with new samples every quarter of a second.

    Returns:
        All samples in ns, and what ended the block: interval, or cap.

    Raises:
        MeasuringError: fewer than ``least_runs`` are done within ``limit_s``.
    """
    samples: list[int] = []
    sent, sent_at, next_check = 0, clock_ns(), settings.least_runs
    begin = sent_at
    while True:
        start = clock_ns()
        run()
        end = clock_ns()
        samples.append(end - start)
        elapsed_s = (end - begin) / 1e9
        if (end - sent_at) / 1e9 >= _REPORT_S:
            report(samples[sent:])
            sent, sent_at = len(samples), end
        ended = _end_of_block(samples, elapsed_s, next_check, settings)
        if ended:
            report(samples[sent:])
            return samples, ended
        if len(samples) >= next_check and elapsed_s >= settings.least_s:
            # Sorting takes time, so it is done each time that the samples are a tenth more.
            next_check = len(samples) + max(1, len(samples) // 10)


def _end_of_block(
    samples: Sequence[int], elapsed_s: float, next_check: int, settings: Settings
) -> str:
    """Return what ends the block now, empty where nothing does."""
    if len(samples) < settings.least_runs:
        if elapsed_s >= settings.limit_s / settings.blocks:
            raise MeasuringError(
                "time-out",
                f"{len(samples)} runs took {elapsed_s:.0f} s; at least {settings.least_runs} must "
                f"be done in {settings.limit_s / settings.blocks:g} s",
            )
        return ""
    if elapsed_s >= settings.cap_s / settings.blocks:
        return "interval" if is_narrow(samples, settings.interval) else "cap"
    if elapsed_s >= settings.least_s and len(samples) >= next_check:
        return "interval" if is_narrow(samples, settings.interval) else ""
    return ""


def profiled_runs(
    run: Callable[[], object], clock_ns: Callable[[], int], settings: Settings
) -> None:
    """Run the warm-up of the profiled pass, and the runs that it counts."""
    for _ in range(settings.profile_warm_up_runs):
        run()
    begin, runs, elapsed_s = clock_ns(), 0, 0.0
    while runs < settings.profile_most_runs and elapsed_s < settings.profile_limit_s:
        run()
        runs += 1
        elapsed_s = (clock_ns() - begin) / 1e9
        if runs >= settings.profile_runs and elapsed_s >= settings.profile_s:
            return


def with_heartbeat(run: Callable[[], object], beat: Callable[[], None]) -> Callable[[], None]:
    """Return ``run`` with a sign of life now and then."""
    last = [time.monotonic()]

    def alive() -> None:
        run()
        now = time.monotonic()
        if now - last[0] >= _ALIVE_S:
            last[0] = now
            beat()

    return alive
