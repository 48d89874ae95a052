"""Corrections of one graph's latency on some devices by those measured on others.

ln(measured / predicted) on a target is a sum of deviations of the graph itself, of the device and
of the silicon. Each is normal, and those of two targets are correlated, the more alike these are.
So one measured latency moves the predictions of others by the Gaussian gain cov / var, and takes
cov^2 / var from their variance. Several are conditioned on together.

The variance of an interval is split among the graph, then the device, then the silicon: where a
device was measured, its silicon adds nothing.

All numbers are moments over pairs of targets with the same graph that the estimate had not seen:
``benchmarks/scaling.py``.

Reference:
    Habitat, ATC 2021, which scales measured kernels from a card that one owns to others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from predictor.calibration.evidence import Keys
from predictor.core.arrays import Bools, Floats, Integers
from predictor.core.records import Target
from predictor.devices.architectures import kind


class Alike(NamedTuple):
    """Correlation of one part of two targets' errors, by what they have in common.

    Each is added to those before it.

    Attributes:
        device: the same device.
        silicon: the same silicon.
        runtime: the same silicon and runtime.
        precision: the same silicon, runtime and precision.
    """

    device: float
    silicon: float
    runtime: float
    precision: float


# Variances of ln(latency): of graphs about their target, and of devices about their silicon.
GRAPH_VARIANCE: Final = 0.09
DEVICE_VARIANCE: Final = 0.19
OF_GRAPH: Final = Alike(0.0, 0.35, 0.10, 0.25)
OF_DEVICE: Final = Alike(0.37, 0.0, 0.0, 0.0)
OF_SILICON: Final = Alike(0.0, 0.35, 0.30, 0.20)
# Correlation of a graph's part on devices of different silicon under one runtime and precision, by
# kind of device and runtime. Other classes gained nothing, or have under four kinds of silicon,
# too few to judge: they are not corrected.
OF_CLASS: Final[Mapping[tuple[str, str], float]] = {
    ("arm", "pytorch-mobile"): 0.56,
    ("npu", "qnn"): 0.59,
}
# Medians of one machine lie so far apart from one hour to the next.
REPEAT_VARIANCE: Final = 0.02**2


def corrections(
    targets: Sequence[Target], deviation: Floats, measured: Integers, log_ratio: Floats
) -> tuple[Floats, Floats, Bools]:
    """Return how the predictions of one graph change once it was measured on some targets.

    Args:
        targets: N targets.
        deviation: float64 [N], standard deviation of ln(latency); NaN where it is not known.
        measured: int [M], places of the targets that were measured.
        log_ratio: float64 [M], ln(measured / predicted) there.

    Returns:
        What is added to ln(latency), float64 [N], factors of at most 1 on the standard deviations,
        float64 [N], and whether a measurement informs a target, bool [N, M]. Targets that none
        informs have 0 and 1.
    """
    deviations = np.nan_to_num(deviation)
    shared, informs = covariance(targets, deviations, measured)
    informs &= (shared > 0) & (deviations > 0)[:, None]
    between = shared[measured] + REPEAT_VARIANCE * np.eye(len(measured))
    shift, narrowing = np.zeros(len(targets)), np.ones(len(targets))
    # Targets that the same measurements inform are corrected together.
    patterns, pattern = np.unique(informs, axis=0, return_inverse=True)
    for number, used in enumerate(patterns):
        informed = pattern.ravel() == number
        cross = shared[np.ix_(informed, used)]
        gain = np.linalg.solve(between[np.ix_(used, used)], cross.T).T
        shift[informed] = gain @ log_ratio[used]
        part = (gain * cross).sum(axis=1) / np.where(
            deviations[informed] > 0, deviations[informed] ** 2, 1.0
        )
        narrowing[informed] = np.sqrt(np.clip(1.0 - part, 0.0, 1.0))
    return shift, narrowing, informs


def covariance(
    targets: Sequence[Target], deviation: Floats, measured: Integers
) -> tuple[Floats, Bools]:
    """Return the covariance of one graph's errors with those on some of the targets.

    Args:
        targets: N targets.
        deviation: float64 [N], standard deviation of ln(latency).
        measured: int [M], places of some of them.

    Returns:
        The covariance, float64 [N, M], and whether the other target's error lowers a target's.
    """
    keys, kinds = Keys.of(targets), np.array([kind(target.device) for target in targets])
    same = {
        name: getattr(keys, name)[:, None] == getattr(keys, name)[measured]
        for name in ("device", "silicon", "runtime", "precision")
    }
    run = same["runtime"] & same["precision"]
    classes = zip(kinds.tolist(), keys.runtime.tolist(), strict=True)
    of_class = np.array([OF_CLASS.get(pair, 0.0) for pair in classes])
    same_kind = kinds[:, None] == kinds[measured]
    in_class = np.sqrt(of_class[:, None] * of_class[measured]) * (same_kind & run)
    rest = np.sqrt((1.0 - of_class)[:, None] * (1.0 - of_class)[measured])
    itself = np.arange(len(targets))[:, None] == measured
    total: Floats = np.zeros(itself.shape)
    for variance, alike in zip(parts(deviation), (OF_GRAPH, OF_DEVICE, OF_SILICON), strict=True):
        correlation = _correlation(alike, same)
        if alike is OF_GRAPH:
            correlation = in_class + rest * correlation
        # The covariance cannot exceed the smaller of the two variances.
        smaller = np.minimum(variance[:, None], variance[measured])
        total += smaller * np.where(itself, 1.0, correlation)
    # Under another runtime or precision another device of the silicon was no evidence.
    return total, same["device"] | (same["silicon"] & run) | (in_class > 0)


def parts(deviation: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the variances of graph, device and silicon that sum to those of ln(latency)."""
    variance = deviation**2
    graph = np.minimum(variance, GRAPH_VARIANCE)
    device = np.minimum(variance - graph, DEVICE_VARIANCE)
    return graph, device, variance - graph - device


def _correlation(alike: Alike, same: Mapping[str, Bools]) -> Floats:
    runtime = same["silicon"] & same["runtime"]
    result: Floats = (
        alike.device * same["device"]
        + alike.silicon * same["silicon"]
        + alike.runtime * runtime
        + alike.precision * (runtime & same["precision"])
    )
    return result
