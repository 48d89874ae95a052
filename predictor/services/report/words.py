"""Words and cells that several sections share."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.records import Prediction
from predictor.core.report import Cell, Column, Tone
from predictor.core.text import shortened
from predictor.core.units import LatencyUnit
from predictor.core.verdict import Verdict
from predictor.core.wording import (
    batch_of,
    in_unit,
    latency_text,
    number,
    percent,
    shown,
)

_BRIEF = 56
TONES: dict[Verdict, Tone] = {
    Verdict.NONE: Tone.MUTED,
    Verdict.MEETS: Tone.GOOD,
    Verdict.MEETS_MAYBE: Tone.WARN,
    Verdict.OVER_MAYBE: Tone.WARN,
    Verdict.OVER: Tone.BAD,
}


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


def latency(latency_ms: float | None, unit: LatencyUnit, prediction: Prediction) -> Cell:
    """Return a cell of a latency in ``unit``, without the unit."""
    value = in_unit(latency_ms, unit, batch_of(prediction.configuration))
    return Cell(number(value), value)


def latency_words(prediction: Prediction, unit: LatencyUnit) -> str:
    """Write a prediction's P50 with its unit."""
    return latency_text(prediction.latency_ms, unit, batch_of(prediction.configuration))


def share(value: float) -> Cell:
    """Return a cell of a share as a percentage."""
    return Cell(percent(value), value)


def brief(name: str) -> str:
    """Return a name as it stands in a sentence."""
    return shortened(name, _BRIEF)


def likelihood(value: float) -> str:
    """Write how likely something is; nothing that is predicted is certain."""
    if value > 0.99:
        return "> 99 %"
    return "< 1 %" if value < 0.01 else percent(value, 2)


def listed(names: Sequence[str], most: int = 8) -> str:
    """Join names by commas; those beyond ``most`` are counted."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def dims(shape: Sequence[int | str]) -> str:
    """Write a shape: ``1×3×224×224``; a scalar's is ``scalar``."""
    return "×".join(shown(str(dim)) for dim in shape) or "scalar"
