"""Words and cells that several sections share."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.records import Prediction
from predictor.core.report import Cell, Column, Tone
from predictor.core.text import shortened
from predictor.core.units import LatencyUnit
from predictor.core.wording import (
    batch_of,
    latency_text,
    percent,
    shown,
)

_BRIEF = 56


def words(key: str, title: str) -> Column:
    """Return a column of words."""
    return Column(key, title)


def figures(key: str, title: str) -> Column:
    """Return a column of figures."""
    return Column(key, title, is_number=True)


def text(value: str, tone: Tone = Tone.PLAIN) -> Cell:
    """Return a cell of words."""
    return Cell(value, tone=tone)


def count(value: int) -> Cell:
    """Return a cell of a whole number with every digit."""
    return Cell(f"{value:,}".replace(",", " "), float(value))


def latency_words(prediction: Prediction, unit: LatencyUnit) -> str:
    """Write a prediction's P50 with its unit."""
    return latency_text(prediction.latency_ms, unit, batch_of(prediction.configuration))


def share(value: float) -> Cell:
    """Return a cell of a share as a percentage."""
    return Cell(percent(value), value)


def brief(name: str) -> str:
    """Return a name as it stands in a sentence."""
    return shortened(name, _BRIEF)


def listed(names: Sequence[str], most: int = 8) -> str:
    """Join names by commas; those beyond ``most`` are counted."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def dims(shape: Sequence[int | str]) -> str:
    """Write a shape: ``1×3×224×224``; a scalar's is ``scalar``."""
    return "×".join(shown(str(dim)) for dim in shape) or "scalar"
