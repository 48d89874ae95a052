"""Statistics of training devices and targets, which ship with the network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ctm_research.network.scaling import fit_scaling
from predictor.core.errors import InputError
from predictor.core.records import Device, Target
from predictor.cost.rates.facts import fp32_macs_per_s
from predictor.network.reference_rates import (
    ANY_FAMILY,
    ReferenceRates,
    Typical,
    cycles_per_s,
)
from predictor.network.scaling import Scaling
from predictor.network.target_facts import fact_logs

_LEAST_DEVICES: Final = 8  # to fit how bandwidth goes with compute


def fit_typical(devices: Sequence[Device]) -> Typical:
    """Fit the typical rates of families on training devices, each once.

    Raises:
        InputError: no device has an FP32 rate and a bandwidth.
    """
    per_cycle: dict[str, list[float]] = {}
    rates: dict[str, list[float]] = {}
    pairs: dict[str, list[tuple[float, float]]] = {}
    for device in devices:
        whole, cycles = fp32_macs_per_s(device), cycles_per_s(device)
        bandwidth = device.metric("dram_bw_gbps")
        for family in (str(device.family), ANY_FAMILY):
            if whole is not None:
                rates.setdefault(family, []).append(math.log(whole))
            if whole is not None and cycles is not None:
                per_cycle.setdefault(family, []).append(math.log(whole / cycles))
            if whole is not None and bandwidth is not None:
                pair = (math.log(whole), math.log(bandwidth * 1e9))
                pairs.setdefault(family, []).append(pair)
    if not pairs:
        raise InputError(
            "typical rates",
            "no training device has an FP32 rate and a bandwidth",
            "give a catalogue with such devices",
        )
    return Typical(
        {family: float(np.exp(np.median(logs))) for family, logs in per_cycle.items()},
        {family: float(np.exp(np.median(logs))) for family, logs in rates.items()},
        {family: _line(logs) for family, logs in pairs.items()},
    )


def _line(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return intercept and slope through (x, y); level where there are few."""
    x, y = np.array(pairs).T
    if len(x) < _LEAST_DEVICES:
        return float(np.median(y)), 0.0
    slope, intercept = np.polyfit(x, y, 1)
    return float(intercept), float(slope)


def fit_facts(targets: Sequence[Target], rates: ReferenceRates) -> Scaling:
    """Return the statistics of the metrics that training targets have.

    Raises:
        InputError: there is no target.
    """
    logs = fact_logs(targets, rates)
    names = tuple(name for name, column in logs.items() if not np.isnan(column).all())
    return fit_scaling(names, np.stack([logs[name] for name in names], axis=1))
