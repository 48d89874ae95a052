"""The type of reports: shipped fonts, so that a report looks the same wherever it was made."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF, QTextLayout

from ctm_gui.report.marks import Style
from predictor.core.resources import resources_dir
from predictor.core.text import escaped

FAMILY = "DejaVu Sans Condensed"
_FILES = ("DejaVuSansCondensed.ttf", "DejaVuSansCondensed-Bold.ttf")
_LEADING = 1.32


def register_fonts() -> None:
    """Make the fonts known to Qt; some 30 ms where the system does not have them."""
    if FAMILY not in QFontDatabase.families():
        for name in _FILES:
            QFontDatabase.addApplicationFont(str(resources_dir() / "fonts" / name))


def font_of(style: Style) -> QFont:
    """Return the font of a style, its pixels being units of the page."""
    font = QFont(FAMILY)
    font.setPixelSize(style.size)
    font.setBold(style.bold)
    # Hinting fits letters to the pixels of one device; these are painted on several.
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    # A ligature is copied out of a PDF file as a letter that no shell knows.
    font.setFeature(QFont.Tag("liga"), 0)
    return font


class Typeface:
    """Measures texts, and remembers what it measured. Belongs to one thread."""

    def __init__(self) -> None:
        self._metrics: dict[Style, QFontMetricsF] = {}
        self._widths: dict[tuple[Style, str], float] = {}
        self._has_glyph: dict[str, bool] = {}

    def width(self, text: str, style: Style) -> float:
        """Return how wide a line of text is."""
        key = (style, text)
        width = self._widths.get(key)
        if width is None:
            width = self._widths[key] = self._metrics_of(style).horizontalAdvance(text)
        return width

    def ascent(self, style: Style) -> float:
        """Return the height of a line above its base line."""
        return self._metrics_of(style).ascent()

    @staticmethod
    def line_height(style: Style) -> float:
        """Return the distance from one line to the next."""
        return style.size * _LEADING

    def drawable(self, text: str) -> str:
        """Return text in which a character that no font has is written as its number."""
        if text.isascii():
            return text
        return "".join(c if self._drawable(c) else escaped(c) for c in text)

    def _drawable(self, character: str) -> bool:
        if character.isascii():
            return True
        has_glyph = self._has_glyph.get(character)
        if has_glyph is None:
            has_glyph = self._has_glyph[character] = _has_glyph(character)
        return has_glyph

    def _metrics_of(self, style: Style) -> QFontMetricsF:
        metrics = self._metrics.get(style)
        if metrics is None:
            metrics = self._metrics[style] = QFontMetricsF(font_of(style))
        return metrics


def _has_glyph(character: str) -> bool:
    """Whether the font, or one that Qt takes in its place, has the character."""
    layout = QTextLayout(character, font_of(Style(80)))
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return all(0 not in run.glyphIndexes() for run in layout.glyphRuns())
