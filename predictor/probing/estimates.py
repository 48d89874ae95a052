"""Expected latency of reference networks on a target: a roofline over kinds of operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.cost.capability import Capability, capability
from predictor.probing.networks.pool import KINDS, PoolNetwork, costs_of
from predictor.probing.runner.settings import Settings
from predictor.probing.selection.interface import Floats

# Starting a process, importing the runtime and loading a small network, on a slow machine.
START_S = 1.0


def estimated_ms(networks: Sequence[PoolNetwork], targets: Sequence[Target]) -> Floats:
    """Return the roofline time of every network on every target, float64 [N, T] in ms.

    The operators of one kind count as one: the longer of their arithmetic and their traffic. A
    target without a number is a column of NaN.
    """
    macs, traffic = costs_of(networks)
    launches = np.array([network.launches for network in networks], dtype=np.float64)
    columns = [_column(macs, traffic, launches, target) for target in targets]
    return np.stack(columns, axis=1) if columns else np.empty((len(networks), 0))


def expected_seconds(latency_ms: float | None, settings: Settings) -> float:
    """Expected seconds of measuring one network; a latency of NaN counts as no time."""
    # The profiled pass ends when both its runs and its least time are over, or at its limit.
    runs = settings.profile_warm_up_runs + settings.profile_runs
    profiled_s = max(settings.profile_s, min(settings.profile_limit_s, runs * _seconds(latency_ms)))
    return settings.blocks * block_seconds(latency_ms, settings) + profiled_s


def block_seconds(latency_ms: float | None, settings: Settings) -> float:
    """Expected seconds of one block of a network, without a profiled pass."""
    run_s = _seconds(latency_ms)
    warm_s = max(settings.warm_up_s, settings.warm_up_runs * run_s)
    timed_s = max(settings.least_s, settings.least_runs * run_s)
    return START_S + warm_s + timed_s


def _seconds(latency_ms: float | None) -> float:
    return 0.0 if latency_ms is None or np.isnan(latency_ms) else latency_ms / 1e3


def _column(macs: Floats, traffic: Floats, launches: Floats, target: Target) -> Floats:
    try:
        rates = capability(target)
    except InputError:
        return np.full(len(launches), np.nan)
    compute_s = macs / _rates(rates)
    # The pool counts bytes of fp32 tensors.
    memory_s = traffic * (rates.activation_bytes / 4) / rates.bandwidth_bytes_per_s
    times: Floats = np.maximum(compute_s, memory_s).sum(axis=1) * 1e3
    return times + launches * rates.launch_ms


def _rates(rates: Capability) -> Floats:
    """Return MACs a second of each kind; depthwise windows do not fill a matrix unit."""
    return np.array(
        [
            rates.vector_macs_per_s if kind == "depthwise" else rates.matrix_macs_per_s
            for kind in KINDS
        ]
    )
