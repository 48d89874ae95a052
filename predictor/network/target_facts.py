"""Inputs of the shipped network for a target: metrics that it attends to, and its configuration.

No torch: the runtime of the shipped network uses this file too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Bools, Floats
from predictor.core.metrics import METRICS
from predictor.core.records import Target
from predictor.cost.columns import MATRIX, VECTOR, WIDTHS
from predictor.network.reference_rates import ReferenceRates
from predictor.network.scaling import Scaling

# What a configuration can use stands beside the metrics of the device.
_IN_USE: Final = ("threads_in_use", "matrix_rate", "vector_rate", "bandwidth", "on_chip_bytes")
_LIMIT: Final = 4.0  # standard deviations; a network says nothing sensible far outside
# Every target has one of each kind; operators attend to it as to a metric.
CHOICE_KINDS: Final = ("runtime", "precision", "family")


@dataclass(frozen=True, slots=True, eq=False)
class TargetFacts:
    """Facts of T targets.

    Attributes:
        values: float32 [T, M], standardised logs of metrics; 0 where one is not known.
        available: bool [T, M].
        choices: float32 [T, C], 1 where a target has the runtime, precision or family, else 0.
    """

    values: NDArray[np.float32]
    available: Bools
    choices: NDArray[np.float32]


def target_facts(
    targets: Sequence[Target],
    rates: ReferenceRates,
    scaling: Scaling,
    choices: Sequence[str],
) -> TargetFacts:
    """Return the facts of T targets.

    Args:
        targets: in the order of the rows.
        rates: their reference rates.
        scaling: of the metrics, with the order of their columns.
        choices: columns of the choices, as in the checkpoint.
    """
    logs = fact_logs(targets, rates)
    columns = np.stack([logs[name] for name in scaling.names], axis=1)
    available = ~np.isnan(columns)
    # A missing metric is the training mean, 0 after scaling, with its availability beside it.
    scaled = scaling.apply(np.where(available, columns, scaling.mean))
    chosen = np.array([_chosen(target, choices) for target in targets], np.float32)
    return TargetFacts(
        np.clip(scaled, -_LIMIT, _LIMIT).astype(np.float32),
        available,
        chosen.reshape(-1, len(choices)),
    )


def fact_logs(targets: Sequence[Target], rates: ReferenceRates) -> Mapping[str, Floats]:
    """Return the logs of each fact over T targets by name, NaN where one is not known."""
    threads = [target.threads for target in targets]
    on_chip = np.where(rates.on_chip_bytes > 0, rates.on_chip_bytes, np.nan)
    in_use = (
        np.log1p(np.array(threads, np.float64)),
        -np.log(rates.ms_per_mac[:, MATRIX * WIDTHS]),
        -np.log(rates.ms_per_mac[:, VECTOR * WIDTHS]),
        -np.log(rates.ms_per_byte),
        np.log(on_chip),
    )
    stated = {
        metric.name: np.array([_log(target, metric.name) for target in targets], np.float64)
        for metric in METRICS
    }
    return {**stated, **dict(zip(_IN_USE, in_use, strict=True))}


def _log(target: Target, name: str) -> float:
    value = target.device.metric(name)
    return math.nan if value is None else math.log(value)


def _chosen(target: Target, choices: Sequence[str]) -> list[float]:
    configuration = target.configuration
    chosen = {
        f"runtime {configuration.runtime}",
        f"precision {configuration.precision}",
        f"family {target.device.family}",
    }
    return [float(name in chosen) for name in choices]
