"""Lines of labels: a number stays in one line with its unit, and with the sign before it."""

from __future__ import annotations

import re
from functools import cache

from PySide6.QtWidgets import QLabel

from predictor.core.metrics import METRICS

NO_BREAK = "\u00a0"
_UNITS = (
    "%", "ms", "µs", "s", "min", "h", "FPS", "W", "J", "mJ", "B", "kB", "KB", "MB", "GB", "KiB",
    "MiB", "GiB", "MHz", "GHz", "items/s", "tokens/s", "MACs", "MMACs", "GMACs", "x", "×", "°C",
)  # fmt: skip
_SIGNS = "<>≤≥≈±~−×"


def unbroken(text: str) -> str:
    """Return a text that no line ends in between a number and its unit or sign."""
    return _breaks().sub(NO_BREAK, text)


@cache
def _breaks() -> re.Pattern[str]:
    """Return a pattern of the spaces that no line may end at."""
    units = {*_UNITS, *(metric.unit for metric in METRICS if metric.unit)}
    words = "|".join(re.escape(unit) for unit in sorted(units, key=len, reverse=True))
    return re.compile(rf"(?<=\d) (?=(?:{words})(?![\w/]))|(?<=[{_SIGNS}]) (?=\d)")


class WrappingLabel(QLabel):
    """A label whose lines end at no number's unit; what is read or copied has ordinary spaces."""

    def setText(self, text: str) -> None:
        """Show a text."""
        super().setText(unbroken(text))

    def text(self) -> str:
        """Return the text with ordinary spaces."""
        return super().text().replace(NO_BREAK, " ")

    def selectedText(self) -> str:
        """Return what is selected, with ordinary spaces."""
        return super().selectedText().replace(NO_BREAK, " ")
