"""Watts of single-board computers, small PCs and boxes, measured at the wall.

``boards.csv`` has them under load on all cores, ``runs.csv`` while one network runs, one item after
the other (MLPerf Power). Both include what the board draws idle. How much other loads and networks
draw over those of the tables is in research/docs/results/power.md.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from predictor.core.files import read_text
from predictor.core.percentiles import Z80
from predictor.core.records import Device
from predictor.core.resources import resources_dir

OTHER_LOADS: Final = (1.09, 0.88, 1.37)
"""Watts of a load over those of the table: median, 10 % and 90 %."""
RUN_WIDTH: Final = float(np.log(1.38))
"""Half the 80 % interval of ln(watts) of a run, by the other boards and networks of its device."""
_MAX_BYTES: Final = 1_000_000


class BoardWatts(NamedTuple):
    """Watts of the boards of a device, with their 80 % interval, and the number of boards."""

    median: float
    low: float
    high: float
    boards: int


def board_watts(device: Device) -> BoardWatts | None:
    """Return the watts of the boards of a processor; None where none was measured."""
    loads = _boards().get(device.id)
    if not loads:
        return None
    median = float(np.median(loads))
    usual, low, high = OTHER_LOADS
    # Boards differ by their memory, regulators and supply.
    spread = Z80 * float(np.std(np.log(loads), ddof=1)) if len(loads) > 1 else 0.0
    below, above = (np.hypot(np.log(end / usual), spread) for end in (low, high))
    watts = usual * median
    return BoardWatts(
        watts, float(watts * np.exp(-below)), float(watts * np.exp(above)), len(loads)
    )


def run_watts(device: Device) -> BoardWatts | None:
    """Return the watts of the boards of a device while a network runs; None if not measured."""
    runs = _runs().get(device.id)
    if not runs:
        return None
    watts = float(np.median([watts for _, watts in runs]))
    low, high = (watts * float(np.exp(sign * RUN_WIDTH)) for sign in (-1, 1))
    return BoardWatts(watts, low, high, len({board for board, _ in runs}))


@cache
def _boards() -> dict[str, list[float]]:
    boards: dict[str, list[float]] = defaultdict(list)
    for row in _rows("boards.csv"):
        boards[row["device"]].append(float(row["load_w"]))
    return dict(boards)


@cache
def _runs() -> dict[str, list[tuple[str, float]]]:
    runs: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for row in _rows("runs.csv"):
        runs[row["device"]].append((row["board"], float(row["watts"])))
    return dict(runs)


def _rows(name: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(read_text(resources_dir() / "power" / name, _MAX_BYTES)))
