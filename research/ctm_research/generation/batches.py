"""Times of batches and of several cards, predicted without their model or without their die."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ctm_research.generation.served import (
    Fitted,
    LeftOut,
    LevelSpread,
    fit_served,
    growth_of,
    left_out,
    level_spread,
    levels_of,
    read_served,
)
from predictor.core.records import Device
from predictor.language.deviations import Z80
from predictor.language.rates import Phase
from predictor.language.rates_file import Backend


def batch_figures(
    folder: Path, devices: Mapping[str, Device], backends: Mapping[str, Backend]
) -> list[dict[str, object]]:
    """Return errors and coverage by backend, number of cards, sequences and what was left out.

    Args:
        folder: of the data.
        devices: the catalogue by id.
        backends: fitted to single sequences.
    """
    rows, _ = read_served(folder, devices)
    figures: list[dict[str, object]] = []
    for name in sorted({row.backend for row in rows}):
        of = [row for row in rows if row.backend == name]
        c = backends[name].coefficients
        levels = levels_of(of, c)
        judged = left_out(of, c, levels)
        figures += _figures(
            name,
            judged,
            fit_served(of, c, levels),
            level_spread(backends[name].deviations[Phase.DECODE]),
        )
    return figures


def _figures(
    name: str, judged: Sequence[LeftOut], fitted: Fitted, level: LevelSpread
) -> list[dict[str, object]]:
    # Intervals of a row are as wide as the others' errors say.
    growths = {
        left: growth_of(fitted, [one for one in judged if one.left != left], level)
        for left in {one.left for one in judged}
    }
    cells: dict[tuple[str, str, str, bool], list[LeftOut]] = defaultdict(list)
    for one in judged:
        row = one.row
        cards = "one card" if row.cards.count == 1 else "several"
        cells[one.by, cards, "1" if row.batch == 1 else "more", row.fits].append(one)
    return [
        {
            "backend": name,
            "left_out": by,
            "cards": cards,
            "sequences": sequences,
            "fits": "yes" if fits else "no",
            "rows": len(cell),
            "median_error_percent": _percent([abs(np.expm1(one.error)) for one in cell]),
            "coverage80_percent": _percent_of(
                [abs(one.error) <= Z80 * one.spread(growths[one.left], level) for one in cell]
            ),
        }
        for (by, cards, sequences, fits), cell in sorted(cells.items())
    ]


def _percent(errors: Sequence[float]) -> float:
    return round(100 * float(np.median(errors)), 1)


def _percent_of(covered: Sequence[bool]) -> float:
    return round(100 * float(np.mean(covered)), 1)
