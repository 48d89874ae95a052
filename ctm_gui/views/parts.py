"""Parts that views are made of, each as the window has it everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)


def plain_label(text: str = "", role: str = "", name: str = "", *, wraps: bool = True) -> QLabel:
    """Return a label that never reads its text as markup.

    Args:
        text: what it shows first.
        role: what the theme colours it by, such as ``muted``; empty for usual text.
        name: for screen readers; empty where its text says enough.
        wraps: whether it breaks its text into lines.
    """
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wraps)
    if role:
        made.setProperty("role", role)
    if name:
        made.setAccessibleName(name)
    return made


def empty_label(text: str = "") -> QLabel:
    """Return what stands in the middle of a view that has nothing to show."""
    made = plain_label(text, "empty")
    made.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return made


def push_button(text: str = "", tip: str = "") -> QPushButton:
    """Return a button with a tooltip."""
    made = QPushButton(text)
    made.setToolTip(tip)
    return made


def search_box(placeholder: str, name: str) -> QLineEdit:
    """Return a line to search by, with a button that clears it; ``name`` is for screen readers."""
    made = QLineEdit()
    made.setPlaceholderText(placeholder)
    made.setClearButtonEnabled(True)
    made.setAccessibleName(name)
    return made


def focus_on(box: QLineEdit) -> None:
    """Put the cursor into a search box; what is typed replaces its text."""
    box.setFocus(Qt.FocusReason.ShortcutFocusReason)
    box.selectAll()


def on_find(view: QWidget, run: Callable[[], None]) -> None:
    """Run something when the keys that find are pressed in a view."""
    find = QShortcut(QKeySequence.StandardKey.Find, view)
    find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    find.activated.connect(run)


def choice_box(name: str, letters: int = 16) -> QComboBox:
    """Return a box to choose from whose width does not follow its longest entry."""
    made = QComboBox()
    made.setAccessibleName(name)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(letters)
    return made


def add_labelled(layout: QBoxLayout, text: str, box: QWidget, stretch: int = 0) -> None:
    """Add a box with its label, whose letter after ``&`` leads to it."""
    label = QLabel(text)
    label.setBuddy(box)
    layout.addWidget(label)
    layout.addWidget(box, stretch)


def splitter(
    orientation: Qt.Orientation,
    *widgets: QWidget,
    stretch: Sequence[int] = (),
    sizes: Sequence[int] = (),
) -> QSplitter:
    """Return a splitter of widgets; none of them can be pushed together to nothing."""
    made = QSplitter(orientation)
    for widget in widgets:
        made.addWidget(widget)
    made.setChildrenCollapsible(False)
    for place, factor in enumerate(stretch):
        made.setStretchFactor(place, factor)
    if sizes:
        made.setSizes(list(sizes))
    return made


def stacked(*widgets: QWidget) -> QStackedWidget:
    """Return widgets of which one is shown, the first one at first."""
    made = QStackedWidget()
    for widget in widgets:
        made.addWidget(widget)
    return made


def bare_column(parent: QWidget) -> QVBoxLayout:
    """Return a column of widgets that reaches to the edges of its parent."""
    made = QVBoxLayout(parent)
    made.setContentsMargins(0, 0, 0, 0)
    return made


def matches_text(shown: int, count: int) -> str:
    """Return how many of all a filter shows; empty where it shows all."""
    return "" if shown == count else f"{shown} of {count}"
