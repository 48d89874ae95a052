"""Watts of single-board computers and small PCs under load on all cores, measured at the wall.

They include what the board draws idle. Other loads draw more or less than the one of the table: the
median, 10 % and 90 % of 78 runs of Geekbench and HPL on 43 boards over it are in
research/docs/results/power.md.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from predictor.core.files import read_text
from predictor.core.percentiles import Z80
from predictor.core.records import Device
from predictor.core.resources import resources_dir

OTHER_LOADS: Final = (1.09, 0.88, 1.37)
"""Watts of a load over those of the table: median, 10 % and 90 %."""
_MAX_BYTES: Final = 1_000_000


class BoardWatts(NamedTuple):
    """Watts of the boards of a processor under load, with their 80 % interval, and their number."""

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


@cache
def _boards() -> dict[str, list[float]]:
    text = read_text(resources_dir() / "power" / "boards.csv", _MAX_BYTES)
    boards: dict[str, list[float]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(text)):
        boards[row["device"]].append(float(row["load_w"]))
    return dict(boards)
