"""The answer over the chart: a few lines of it, and the rest on request."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ctm_gui.widgets.basic import fill, label, tool_button
from ctm_gui.widgets.tooltips import as_tooltip
from ctm_gui.widgets.wrapping import unbroken

_MAX_LINES = 4


class AnswerView(QWidget):
    """A text in at most four lines; a button shows the rest where there is more of it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._text = ""
        self.label = label(name=name)
        self.more_button = tool_button("More", "Show all of it, or four lines.", "All of it")
        self.more_button.setCheckable(True)
        self.more_button.toggled.connect(self._show)
        # Hidden it keeps its room: the text would be cut and whole in turns.
        policy = self.more_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.more_button.setSizePolicy(policy)
        layout = fill(QHBoxLayout(self), (self.label, 1), self.more_button, margins=0)
        layout.setAlignment(self.more_button, Qt.AlignmentFlag.AlignTop)

    def text(self) -> str:
        """Return all of the text."""
        return self._text

    def show_text(self, text: str) -> None:
        """Show another text."""
        self._text = text
        self.label.setAccessibleDescription(text)
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show()

    def _show(self, *_: object) -> None:
        text = unbroken(self._text)  # as the label breaks it
        short = brief(text, self.label.font(), self.label.width(), _MAX_LINES)
        is_cut, is_expanded = short != text, self.more_button.isChecked()
        self.more_button.setVisible(is_cut)
        self.more_button.setText("Less" if is_expanded else "More")
        self.label.setText(self._text if is_expanded else short)
        self.label.setToolTip(as_tooltip(self._text) if is_cut and not is_expanded else "")


def brief(text: str, font: QFont, width_px: int, limit: int) -> str:
    """Return a text in at most ``limit`` lines of a width; those of one that fits are not divided.

    Each of the first paragraphs keeps a line, the foremost further ones where some are left.
    """
    paragraphs = [_lines(paragraph, font, width_px) for paragraph in text.split("\n")]
    if sum(map(len, paragraphs)) <= limit:
        return text
    first_paragraphs = paragraphs[:limit]
    spare, cut = limit - len(first_paragraphs), []
    metrics = QFontMetrics(font)
    for lines in first_paragraphs:
        more = min(len(lines) - 1, spare)
        spare -= more
        rest = "".join(lines[more:])
        cut += [line.rstrip() for line in lines[:more]]
        cut.append(metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width_px))
    return "\n".join(cut)


def _lines(paragraph: str, font: QFont, width_px: int) -> list[str]:
    """Return the lines of a paragraph as a label breaks it."""
    layout = QTextLayout(paragraph, font)
    layout.beginLayout()
    lines = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width_px)
        lines.append(paragraph[line.textStart() : line.textStart() + line.textLength()])
    layout.endLayout()
    return lines or [""]
