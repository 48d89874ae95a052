"""Percentages, as every view writes them."""

from __future__ import annotations

import math

from predictor.core.wording import NOTHING, number
from predictor.core.wording import signed as in_signs


def percent(part: float | None, *, signed: bool = False) -> str:
    """Write a part as a percentage with three significant digits: ``12.3 %``, ``−4.1 %``."""
    if part is None or not math.isfinite(part):
        return NOTHING
    return f"{(in_signs if signed else number)(part * 100)} %"
