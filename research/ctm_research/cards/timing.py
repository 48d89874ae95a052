"""Time of a call on a CUDA device, by NeuSight's protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch

_RUNS: Final = 25
_FASTEST: Final = 5
_WARM_UP: Final = 3
_LEAST_RUNS: Final = 7  # of a call that takes so long that all runs would exceed the limit
_LIMIT_MS: Final = 5e3


def timed_ms(call: Callable[[], object], *, is_cold: bool = False) -> float:
    """Return the mean of the fastest runs of a call in ms, by events of the device.

    Args:
        call: starts work on the current device.
        is_cold: whether memory has to be allocated anew in each run.
    """
    for _ in range(_WARM_UP):
        call()
    times: list[float] = []
    while len(times) < _RUNS and (len(times) < _LEAST_RUNS or sum(times) < _LIMIT_MS):
        if is_cold:
            torch.cuda.empty_cache()
        begun, ended = _event(), _event()
        torch.cuda.synchronize()
        begun.record()
        call()
        ended.record()
        torch.cuda.synchronize()
        times.append(begun.elapsed_time(ended))
    return sum(sorted(times)[:_FASTEST]) / _FASTEST


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's own


def longest_kernel(call: Callable[[], object]) -> str:
    """Return the name of the kernel that most of a call's time is spent in; empty if none ran."""
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        call()
        torch.cuda.synchronize()
    spent: dict[str, float] = {}
    for event in profile.key_averages():
        # What ran on the device itself; the calls that started it have the time of their children.
        if event.self_device_time_total > 0:
            spent[event.key] = event.self_device_time_total
    return max(spent, key=lambda name: spent[name], default="")
