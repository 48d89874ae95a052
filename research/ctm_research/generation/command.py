"""The figures of ``ctm evaluate generation``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ctm_research.generation.batches import batch_figures
from ctm_research.generation.fit import Row, rows_of
from ctm_research.generation.heads import head_figures
from ctm_research.generation.judge import by_context, figures, judge
from ctm_research.generation.make import make_backends
from ctm_research.generation.processors import processor_figures
from ctm_research.generation.products import product_figures
from ctm_research.generation.published import read_published
from ctm_research.generation.several import several_figures
from ctm_research.generation.sustained import sustained_figures
from ctm_research.generation.watts import watt_figures
from predictor.core.records import Device
from predictor.language.rates import bound


def judge_generation(data: Path, devices: Mapping[str, Device]) -> dict[str, object]:
    """Return the figures of a data folder as plain values.

    Raises:
        InputError: a table is missing or damaged.
    """
    published = read_published(data, devices)
    rows = rows_of(published.rates)
    backends = make_backends(rows)
    judged = judge(rows, backends)
    return {
        "rates": len(rows),
        "unused": dict(published.unused),
        "under_bound": sum(row.rate.seconds < _bound(row) for row in rows),
        "figures": figures(judged),
        "contexts": by_context(judged),
        "heads": head_figures(rows),
        "products": product_figures(data),
        "sustained": sustained_figures(rows),
        "batches": batch_figures(data, devices, backends),
        "several": several_figures(data, devices, backends),
        "watts": watt_figures(data, devices),
        "processors": processor_figures(data, devices),
    }


def _bound(row: Row) -> float:
    least = float(bound(row.passes, row.machine).sum())
    return least * (row.rate.tokens if row.prompt or row.rate.phase == "decode" else 1)
