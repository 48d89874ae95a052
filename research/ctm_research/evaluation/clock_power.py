"""Power of cards at lower clocks of their processors, over that at the highest one measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.sources.tables import read_rows
from predictor.presentation.markdown import table

_BANDS: Final = ((0.45, 0.6), (0.6, 0.75), (0.75, 0.9))
"""Of the clock over the highest one of a series."""
_COLUMNS: Final = ("clock", "watts", "energy")
_MIN_MHZ: Final = 500.0  # less is an offset from a clock that is not stated

_WORDS: Final = """\
*Clocks.* The same cards and Caffe's trainings at lower clocks of the processors and one of the
memory, over the highest clock of each application: median clock, watts and energy of the runs of a
band. Where watts fall as the clock a card takes the fewest joules at about two thirds of it; where
they hardly fall, at the highest. So no rule for the watts at a free clock follows."""


def clock_power(data: Path) -> list[dict[str, Any]]:
    """Return clock, watts and energy of runs by card and band, over those at the highest clock.

    Raises:
        InputError: a table is missing or damaged.
    """
    points: dict[tuple[str, float], list[tuple[float, float, float]]] = defaultdict(list)
    for card, rows in _series(data):
        first = max(rows, key=lambda row: row[0])
        for row in rows:
            clock, watts, ms = (value / top for value, top in zip(row, first, strict=True))
            for low, high in _BANDS:
                if low <= clock < high:
                    points[card, low].append((clock, watts, watts * ms))
    return [
        {
            "card": card,
            "runs": len(band),
            **dict(zip(_COLUMNS, np.median(band, axis=0).tolist(), strict=True)),
        }
        for (card, _), band in sorted(points.items())
    ]


def _series(data: Path) -> Iterator[tuple[str, list[tuple[float, float, float]]]]:
    """Yield card, and clock, watts and ms of an application at one clock of the memory."""
    folder = data / "kernels" / "dvfs"
    kernels = [
        (row, "core_mhz", ("benchmark", "kernel", "arg", "mem_mhz"))
        for row in read_rows(folder / "gpu_kernels_v100_rtx8000.csv.gz", ())
        if row["set"] == "real"
    ]
    trainings = [
        (row, "core", ("file", "app", "arg", "mem"))
        for row in read_rows(folder / "caffe_nets_desktop_gpus.csv", ())
        if row["gpu"] != "not stated" and float(row["core"]) > _MIN_MHZ
    ]
    series: dict[tuple[str, ...], list[tuple[float, float, float]]] = defaultdict(list)
    for row, clock, names in [*kernels, *trainings]:
        if row["power_w"] and row["time_ms"]:
            values = row.positive(clock), row.positive("power_w"), row.positive("time_ms")
            series[row["gpu"], *(row[name] for name in names)].append(values)
    for (card, *_), rows in series.items():
        yield card, rows


def clock_section(figures: Sequence[Mapping[str, Any]]) -> tuple[str, str, str]:
    """Return the parts of the page on clocks."""
    rows = [
        (row["card"], row["runs"], *(f"{row[name]:.2f}" for name in _COLUMNS)) for row in figures
    ]
    headers = ("card", "runs", "clock over highest", "watts over", "energy over")
    return "## Clocks of cards", _WORDS, table(headers, rows)
