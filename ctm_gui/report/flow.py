"""Filling pages from the top down."""

from __future__ import annotations

from ctm_gui.report.marks import (
    Box,
    Line,
    Mark,
    Page,
    PageSize,
    Style,
    Text,
    Typeface,
    shortened_to,
    wrapped,
)
from ctm_gui.widgets.theme import LIGHT
from predictor.presentation.report import Tone

LEFT, TOP, BOTTOM = 540.0, 520.0, 620.0
BODY, SMALL, LARGE = Style(86), Style(76), Style(140, bold=True)
BODY_BOLD, SMALL_BOLD = Style(86, bold=True), Style(76, bold=True)
# A short paragraph is not divided.
_LINES_TOGETHER = 6
TONES = {
    Tone.PLAIN: LIGHT.text,
    Tone.MUTED: LIGHT.muted,
    Tone.GOOD: LIGHT.good,
    Tone.WARN: LIGHT.warn,
    Tone.BAD: LIGHT.bad,
}


class Flow:
    """The page that is being filled, and those that are full.

    Args:
        size: of the pages.
        typeface: measures texts.

    Attributes:
        y: where the next thing goes.
        width: of the column between the margins.
    """

    def __init__(self, size: PageSize, typeface: Typeface) -> None:
        self.size = size
        self.typeface = typeface
        self.y = TOP
        self.width = size.width - 2 * LEFT
        self._pages: list[list[Mark]] = [[]]

    @property
    def page(self) -> int:
        """Index of the page that is being filled."""
        return len(self._pages) - 1

    @property
    def marks(self) -> list[Mark]:
        """What is on the page that is being filled."""
        return self._pages[-1]

    @property
    def room(self) -> float:
        """Height that is left on the page."""
        return self.size.height - BOTTOM - self.y

    @property
    def is_at_top(self) -> bool:
        """Whether the page is still empty."""
        return self.y <= TOP

    def need(self, height: float) -> bool:
        """Go to a new page unless so much room is left; returns whether it did.

        Content higher than a page begins on a new one; the caller divides it.
        """
        if height <= self.room or self.is_at_top:
            return False
        self._pages.append([])
        self.y = TOP
        return True

    def skip(self, height: float) -> None:
        """Leave a gap, except at the top of a page."""
        if not self.is_at_top:
            self.y += height

    def put(self, *marks: Mark, page: int | None = None) -> None:
        """Add marks to the page that is being filled, or to another."""
        self._pages[self.page if page is None else page].extend(marks)

    def text(self, x: float, top: float, text: str, style: Style, colour: str = LIGHT.text) -> None:
        """Set one line with its upper edge at ``top``."""
        baseline = top + self.typeface.ascent(style)
        self.put(Text(x, baseline, text, style, colour))

    def text_right(
        self, right: float, top: float, text: str, style: Style, colour: str = LIGHT.text
    ) -> None:
        """Set one line that ends at ``right``."""
        self.text(right - self.typeface.width(text, style), top, text, style, colour)

    def paragraph(
        self, text: str, style: Style = BODY, colour: str = LIGHT.text, indent: float = 0.0
    ) -> None:
        """Set a text over the whole width, on as many pages as it takes."""
        height = self.typeface.line_height(style)
        lines = wrapped(self.typeface, text, style, self.width - indent)
        self.need(height * min(len(lines), _LINES_TOGETHER))
        for line in lines:
            self.need(height)
            self.text(LEFT + indent, self.y, line, style, colour)
            self.y += height

    def lines(self, text: str, style: Style, limit: int) -> None:
        """Set a text over the whole width, ``limit`` lines of it, on this page."""
        for line in wrapped(self.typeface, text, style, self.width, limit):
            self.text(LEFT, self.y, line, style)
            self.y += self.typeface.line_height(style)

    def fitted(self, text: str, style: Style, width: float) -> str:
        """Return a text in one line of at most this width."""
        return shortened_to(self.typeface, text, style, width)

    def finished(self, title: str) -> tuple[Page, ...]:
        """Return the pages, each with a line, the title and its number at the foot."""
        total = len(self._pages)
        for index in range(total):
            self._foot(index, total, title)
        return tuple(Page(tuple(marks)) for marks in self._pages)

    def _foot(self, index: int, total: int, title: str) -> None:
        top = self.size.height - BOTTOM + 150.0
        right = self.size.width - LEFT
        number = f"Page {index + 1} of {total}"
        baseline = top + 70.0 + self.typeface.ascent(SMALL)
        name = self.fitted(title, SMALL, self.width * 0.75)
        x = right - self.typeface.width(number, SMALL)
        self.put(
            Line(LEFT, top, right, top, LIGHT.grid),
            Text(LEFT, baseline, name, SMALL, LIGHT.muted),
            Text(x, baseline, number, SMALL, LIGHT.muted),
            page=index,
        )


def rule(flow: Flow, y: float, colour: str = LIGHT.grid, thickness: float = 5.0) -> Line:
    """Return a line from margin to margin."""
    return Line(LEFT, y, LEFT + flow.width, y, colour, thickness)


def strip(flow: Flow, y: float, height: float, colour: str) -> Box:
    """Return a coloured strip from margin to margin."""
    return Box(LEFT, y, flow.width, height, colour)


def mixed(colour: str, share: float, under: str = LIGHT.surface) -> str:
    """Return a colour mixed with that of the paper, 0 to 1; transparency is not for printers."""
    ends = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (under, colour)]
    parts = (round(paper + (ink - paper) * share) for paper, ink in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)
