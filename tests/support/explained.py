"""Explained pairs with hand-picked numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ctm_gui.prediction.explanation import Explained
from predictor.services.prediction.explain import OperatorTable
from predictor.services.prediction.roofline import (
    BOUND,
    BYTE,
    MEASURED,
    NO_ROOF,
    STATED,
    Roof,
    Roofline,
)
from predictor.services.prediction.timeline import timeline_of
from tests.support.attended import BOARD

ROOFS = (
    Roof("Memory bandwidth", 8e9, MEASURED, "a bench", BYTE),
    Roof("Memory bandwidth", 1e10, STATED, "the maker", BYTE),
    Roof("FP32 peak", 1e12, STATED, "the maker"),
    Roof("Bound", 4e12, BOUND, "the highest rate of any kernel"),
)


def table_of(count: int) -> OperatorTable:
    """Return operators of 1, 2, 3, … ms in modules of two, every fourth a view of no time."""
    latency = np.array([0.0 if i % 4 == 3 else i + 1.0 for i in range(count)])
    bounds = ("compute", "memory", "launch", "—")
    counts = np.arange(count, dtype=np.int64)
    return OperatorTable(
        names=tuple(f"/block{i // 2}/op_{i}" for i in range(count)),
        op_types=tuple("View" if i % 4 == 3 else "Conv" for i in range(count)),
        output_shapes=((1, 8),) * count,
        macs=np.where(counts % 4 == 1, 0, 10**6 * (counts + 1) ** 2),
        bytes_moved=10**6 * (counts + 1),
        weight_bytes=counts,
        flags=("",) * count,
        edges=np.zeros((2, 0), dtype=np.int32),
        latency_ms=latency,
        share=latency / latency.sum(),
        compute_ms=0.5 * latency,
        memory_ms=0.25 * latency,
        launch_ms=0.25 * latency,
        bound_type=tuple(bounds[i % 4] for i in range(count)),
    )


def explained_pair(count: int = 8, others: bool = True) -> Explained:
    """Return ``count`` operators of :func:`table_of` under ``ROOFS``."""
    table = table_of(count)
    moved = table.bytes_moved.astype(np.float64)
    seconds = np.where(table.latency_ms > 0, table.latency_ms * 1e-3, np.nan)
    flops = 2.0 * table.macs
    # Compute under the peak, memory under the stated bandwidth, launch and views under none.
    roof_of = np.array([(2, 1, NO_ROOF, NO_ROOF)[i % 4] for i in range(count)], dtype=np.intp)
    roofline = Roofline(
        ROOFS, moved, flops / moved, flops / seconds, moved / seconds, roof_of=roof_of
    )
    slower = tuple(replace(roof, rate=roof.rate / 10) for roof in ROOFS)
    return Explained(
        title="net on board",
        model="net",
        target="Board",
        device=BOARD,
        table=table,
        timeline=timeline_of(table),
        roofline=roofline,
        other_roofs=(("Other Board", slower),) if others else (),
        interval=(0.5, 2.0),
        further=1 if others else 0,
    )
