"""Marks on pages, and the type that is set. All lengths are tenths of a point: 1/720 of an inch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF, QTextLayout

from predictor.core.resources import resources_dir
from predictor.core.text import escaped

UNITS_PER_INCH = 720


class PageSize(Enum):
    """Paper: its name, width and height."""

    A4 = ("A4", 5953.0, 8419.0)
    LETTER = ("Letter", 6120.0, 7920.0)

    def __init__(self, label: str, width: float, height: float) -> None:
        self.label = label
        self.width = width
        self.height = height


@dataclass(frozen=True, slots=True)
class Style:
    """Height of a text's letters, and their weight."""

    size: int
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text from (x, y) on, y being its base line, turned by an angle in degrees."""

    x: float
    y: float
    text: str
    style: Style
    colour: str
    angle: float = 0.0  # clockwise


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle or an ellipse; an empty colour leaves its area or its outline out."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    outline: str = ""
    is_round: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    thickness: float = 5.0
    dashed: bool = False


Mark = Text | Box | Line


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its marks in the order of painting."""

    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Pages:
    """A report that is laid out.

    Attributes:
        title: of the document.
        size: of every page.
        pages: at least one.
    """

    title: str
    size: PageSize
    pages: tuple[Page, ...]


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
    """Measures texts and caches the widths. Belongs to one thread."""

    def __init__(self) -> None:
        self._metrics: dict[Style, QFontMetricsF] = {}
        self._widths: dict[tuple[Style, str], float] = {}
        self._has_glyph: dict[str, bool] = {}

    def width(self, text: str, style: Style) -> float:
        """Return the width of a line of text."""
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
    # QFontMetrics.inFont asks this font alone; Qt would paint with a substitute. Glyph 0 is none.
    layout = QTextLayout(character, font_of(Style(80)))
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return all(0 not in run.glyphIndexes() for run in layout.glyphRuns())


ELLIPSIS = "…"
_WORD = re.compile(r"\S+(?: %\S*)?")  # a number keeps its per cent sign
# A name is broken after one of these where it can be (paths, URLs, dotted names), and before an
# escape.
_SEAMS = re.compile(r"(?<=[/._:,;\-×=)])|(?=\\)")


def wrapped(
    typeface: Typeface, text: str, style: Style, width: float, limit: int = 10_000
) -> list[str]:
    """Return the lines of a text; the last one ends with an ellipsis where ``limit`` are too few.

    Args:
        typeface: measures.
        text: printable; white space becomes single blanks.
        style: how it is set.
        width: of the lines, over 0.
        limit: lines at most.
    """
    lines: list[str] = []
    line = ""
    for word in _WORD.findall(typeface.drawable(text)):
        joined = f"{line} {word}" if line else word
        if typeface.width(joined, style) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *full_lines, line = _pieces(typeface, word, style, width)
        lines += full_lines
        # The rest is cut anyway: a note of a megabyte would be measured for nothing.
        if len(lines) > limit:
            break
    lines.append(line)
    if len(lines) <= limit:
        return lines
    return [
        *lines[: limit - 1],
        shortened_to(typeface, f"{lines[limit - 1]} {ELLIPSIS}", style, width),
    ]


def shortened_to(typeface: Typeface, text: str, style: Style, width: float) -> str:
    """Return the text in one line, its middle left out with a mark where it is too wide."""
    drawable = typeface.drawable(text)
    if typeface.width(drawable, style) <= width:
        return drawable
    low, high = 0, len(drawable)
    while low < high:  # the most characters that fit
        middle = (low + high + 1) // 2
        if typeface.width(_without_middle(drawable, middle), style) <= width:
            low = middle
        else:
            high = middle - 1
    return _without_middle(drawable, low)


def _without_middle(text: str, letters: int) -> str:
    head = (letters + 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - (letters - head) :]


def _pieces(typeface: Typeface, word: str, style: Style, width: float) -> list[str]:
    """Return a word in pieces that fit, broken at seams where that is possible."""
    pieces = [""]
    for part in _parts(typeface, word, style, width):
        joined = pieces[-1] + part
        if not pieces[-1] or typeface.width(joined, style) <= width:
            pieces[-1] = joined
        else:
            pieces.append(part)
    return pieces


def _parts(typeface: Typeface, word: str, style: Style, width: float) -> Iterator[str]:
    """Yield the parts between seams; one that is too wide itself by its characters."""
    for part in _SEAMS.split(word):
        if typeface.width(part, style) <= width:
            yield part
        else:
            yield from part
