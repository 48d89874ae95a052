"""Starts that the host makes ahead of a GPU, so that their time and that of the work overlap.

A framework that starts one operator after the other returns before it ends: the host prepares the
next ones while the device works. A run takes little more than the longer of both. Here it takes the
root of the sum of their squares; where nothing runs ahead it takes the sum. Neither falls when a
part grows, and neither grows by a larger factor than the part.

Reference:
    FLAME, arXiv 2604.15357, 2026: the processor's starts and the GPU's work as a pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from predictor.core.arrays import Bools, Floats
from predictor.core.metrics import Family
from predictor.core.records import Target, by_run
from predictor.cost.physics import TERMS

_START: Final = TERMS.index("launch")
_MIN_MS: Final = 1e-12
# Frameworks that start the operators of a GPU one by one. TensorRT starts a whole plan, and so do
# others: counted as overlapping, their errors rose (docs/decisions/0016-physics.md).
_ONE_BY_ONE: Final = frozenset({"pytorch", "pytorch-torchscript"})


def runs_ahead(targets: Sequence[Target]) -> Bools:
    """Return whether the host starts operators ahead of the device, bool [T]."""
    return np.array(by_run(targets, _runs_ahead), np.bool_)


def _runs_ahead(target: Target) -> bool:
    return target.device.family is Family.GPU and target.configuration.runtime in _ONE_BY_ONE


def overlapped(parts_ms: Floats, ahead: Bools | bool) -> tuple[Floats, Floats]:
    """Return the time of a whole from its parts, and the share of each part in it.

    Args:
        parts_ms: float64 [..., P], terms of the physics last, by kinds of operators or not.
        ahead: bool [...], whether starts run ahead.

    Returns:
        Time in ms [...], at least 1e-12, and shares [..., P] that sum to 1: the derivative of
        ln(time) by ln(part).
    """
    of_starts = np.arange(parts_ms.shape[-1]) % len(TERMS) == _START
    # In the order of memory, so that a sum is the same beside whichever others.
    starts = np.ascontiguousarray(parts_ms[..., of_starts]).sum(axis=-1)
    work = parts_ms.sum(axis=-1) - starts
    total_ms = np.maximum(np.where(ahead, np.hypot(work, starts), work + starts), _MIN_MS)
    squares = np.where(of_starts, starts[..., None], work[..., None]) / total_ms[..., None]
    shares = parts_ms / total_ms[..., None] * np.where(np.asarray(ahead)[..., None], squares, 1.0)
    return total_ms, shares
