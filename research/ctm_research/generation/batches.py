"""Times of batches and of several cards, predicted without their model or without their die."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ctm_research.generation.served import (
    LeftOut,
    fit_served,
    growth_of,
    left_out,
    levels_of,
    read_served,
)
from predictor.core.records import Device
from predictor.language.deviations import Z80, silicon_of, target_of
from predictor.language.growth import Growth
from predictor.language.rates import Group, Phase
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
        growth = growth_of(fit_served(of, c, levels), judged)
        figures += _figures(name, judged, growth, backends[name])
    return figures


def _figures(
    name: str, judged: Sequence[LeftOut], growth: Growth, backend: Backend
) -> list[dict[str, object]]:
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
            "coverage80_percent": _percent_of([_covers(one, growth, backend) for one in cell]),
        }
        for (by, cards, sequences, fits), cell in sorted(cells.items())
    ]


def _covers(one: LeftOut, growth: Growth, backend: Backend) -> bool:
    """Whether the 80 % interval of a row holds what was published."""
    silicon = silicon_of(one.row.device)
    rest = {die: v for die, v in growth.of_silicon.items() if one.by == "model" or die != silicon}
    known = Growth(
        of_silicon=rest,
        measured=growth.measured,
        unmeasured=growth.unmeasured,
        cards=growth.cards,
    )
    level = backend.deviations[Phase.DECODE].of([target_of(one.row.device, Group.HALF)])[1]
    spread = known.spread(silicon, one.share, one.row.cards.count)
    return abs(one.error) <= Z80 * float(np.hypot(level[0], spread))


def _percent(errors: Sequence[float]) -> float:
    return round(100 * float(np.median(errors)), 1)


def _percent_of(covered: Sequence[bool]) -> float:
    return round(100 * float(np.mean(covered)), 1)
