"""Small widgets made alike in every view: labels, buttons, boxes, rows, columns, keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QPaintEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.widgets.tooltips import as_tooltip
from ctm_gui.widgets.wrapping import WrappingLabel

Box = TypeVar("Box", bound=QBoxLayout)
Keys = str | QKeySequence.StandardKey
Margins = int | tuple[int, int, int, int]
STRETCH = None
# A widget or layout, alone or with its stretch; pixels of room; STRETCH for all room left over.
Part = QWidget | QLayout | tuple[QWidget | QLayout, int] | int | None


def label(
    text: str = "",
    role: str = "",
    name: str = "",
    *,
    wraps: bool = True,
    selectable: bool = False,
    parent: QWidget | None = None,
) -> QLabel:
    """Return a label of plain text: names come from files and are never markup.

    Args:
        text: its words.
        role: the style sheet's name of its look: heading, muted, warn, bad, empty.
        name: for screen readers.
        wraps: whether long text goes on in a second line.
        selectable: whether mouse and keys can select its text.
        parent: owner.
    """
    made = WrappingLabel(parent) if wraps else QLabel(parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    made.setWordWrap(wraps)
    made.setProperty("role", role)
    made.setAccessibleName(name)
    if selectable:
        flags = Qt.TextInteractionFlag
        made.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
    return made


def note_label(role: str, parent: QWidget | None = None) -> QLabel:
    """Return a hidden label for a sentence beside a field."""
    made = label(role=role, parent=parent)
    made.hide()
    return made


def show_note(note: QLabel, lines: Sequence[str]) -> None:
    """Show sentences in a note, one a line; hide it where there is none."""
    text = "\n".join(lines)
    # A label lays its surroundings out again for the same text too.
    if text != note.text():
        note.setText(text)
        note.setVisible(bool(text))


class ElidedLabel(QLabel):
    """One line of plain text that ends in an ellipsis where it is too long; the whole as tip."""

    def __init__(self) -> None:
        super().__init__()
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)

    def set_full_text(self, text: str) -> None:
        """Show a text, as far as there is room."""
        self._full = text
        # Qt would read what looks like markup as markup, and load what it names.
        self.setToolTip(as_tooltip(text) if "<" in text else text)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        # A label is as wide as its text by default: a long message would widen the window.
        return QSize(40, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        metrics = self.fontMetrics()
        text = metrics.elidedText(self._full, Qt.TextElideMode.ElideRight, self.width())
        if text != self.text():
            self.setText(text)


class FieldNote(ElidedLabel):
    """One line for a sentence on a field, whose room is kept while there is none."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self.setProperty("role", role)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self.hide()

    def show_lines(self, lines: Sequence[str]) -> None:
        """Show sentences, or nothing."""
        self.set_full_text(" ".join(lines))
        self.setVisible(bool(lines))


def button(
    text: str,
    tip: str = "",
    act: Callable[[], object] | None = None,
    *,
    name: str = "",
    keys: Keys = "",
) -> QPushButton:
    """Return a push button.

    Args:
        text: its words, with the mnemonic marked.
        tip: its tooltip.
        act: called when it is clicked.
        name: for screen readers, where ``text`` does not say enough.
        keys: its shortcut.
    """
    made = QPushButton(text)
    made.setToolTip(tip)
    made.setAccessibleName(name)
    if keys:
        made.setShortcut(QKeySequence(keys))
    if act is not None:
        # Not connected itself: PySide would pass ``checked`` on to what takes a default argument.
        made.clicked.connect(lambda _checked: act())
    return made


def tool_button(text: str, tip: str, name: str = "") -> QToolButton:
    """Return a tool button of text."""
    made = QToolButton()
    made.setText(text)
    made.setToolTip(tip)
    made.setAccessibleName(name)
    return made


# What the style leaves free around the words of a box, less the part of a pixel that Qt rounds off.
_COMBO_MARGIN_PX = 3


class ChoiceBox(QComboBox):
    """A box of choices that ends in an ellipsis where its choice is wider, the whole as tip."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 (Qt's signature)
        # Qt cuts the words at the arrow, in the middle of a letter.
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        style = self.style()
        field = style.subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        right = Qt.TextElideMode.ElideRight
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), right, field.width() - _COMBO_MARGIN_PX
        )
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


def combo_box(name: str, items: Iterable[str] = (), *, letters: int = 0) -> QComboBox:
    """Return a box of choices.

    Args:
        name: for screen readers.
        items: the choices.
        letters: its least width in letters; its choices do not widen it then. 0 fits the widest.
    """
    made = ChoiceBox()
    made.addItems(list(items))
    made.setAccessibleName(name)
    if letters:
        # The default policy measures every entry and is as wide as the longest.
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        made.setMinimumContentsLength(letters)
    return made


def explain_items(box: QComboBox, tips: Iterable[str]) -> None:
    """Give each choice of a box its tooltip."""
    for place, tip in enumerate(tips):
        box.setItemData(place, tip, Qt.ItemDataRole.ToolTipRole)


def fill_box(box: QComboBox, texts: Iterable[str], chosen: int | str = 0) -> None:
    """Give a box other entries, and emit nothing.

    Args:
        box: the box.
        texts: its entries.
        chosen: place or text of the entry that is shown; the first where none has the text.
    """
    with QSignalBlocker(box):
        box.clear()
        box.addItems(list(texts))
        place = max(box.findText(chosen), 0) if isinstance(chosen, str) else chosen
        box.setCurrentIndex(place)


# A word and the button that clears it.
_SEARCH_PX = 120


class SearchBox(QLineEdit):
    """A line for the words that are searched; Ctrl+Z in it takes back its letters alone."""

    def __init__(self, hint: str, name: str) -> None:
        super().__init__()
        self.setPlaceholderText(hint)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(_SEARCH_PX)
        self.setAccessibleName(name)

    def focus(self) -> None:
        """Put the cursor into it; typing replaces the words before."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()


def busy_bar(name: str, height_px: int) -> QProgressBar:
    """Return a bar that moves without end, for work of unknown length."""
    made = QProgressBar(minimum=0, maximum=0, textVisible=False)
    made.setMaximumHeight(height_px)
    made.setAccessibleName(name)
    return made


def named(text: str, field: QWidget) -> QLabel:
    """Return the label of a field; its mnemonic focuses the field."""
    made = QLabel(text)
    made.setBuddy(field)
    return made


def fill(
    layout: Box, *parts: Part, margins: Margins | None = None, spacing: int | None = None
) -> Box:
    """Add parts to a row or column; margins and spacing stay the style's where None."""
    if margins is not None:
        layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if part is None:
            layout.addStretch(1)
        elif isinstance(part, int):
            layout.addSpacing(part)
        else:
            item, stretch = part if isinstance(part, tuple) else (part, 0)
            if isinstance(item, QLayout):
                layout.addLayout(item, stretch)
            else:
                layout.addWidget(item, stretch)
    return layout


def hbox(*parts: Part, margins: Margins | None = None, spacing: int | None = None) -> QHBoxLayout:
    """Return a row of parts."""
    return fill(QHBoxLayout(), *parts, margins=margins, spacing=spacing)


def vbox(
    *parts: Part,
    of: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Return a column of parts, the layout of a widget where one is given."""
    made = QVBoxLayout() if of is None else QVBoxLayout(of)
    return fill(made, *parts, margins=margins, spacing=spacing)


def holder(*parts: Part) -> QWidget:
    """Return a widget that is a column of parts without margins."""
    made = QWidget()
    vbox(*parts, of=made, margins=0)
    return made


def scrolled(content: QWidget, name: str) -> QScrollArea:
    """Return a frameless area in which ``content`` scrolls where it does not fit.

    Args:
        content: belongs to the area from then on.
        name: for screen readers.
    """
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setProperty("role", "page")
    area.setAccessibleName(name)
    area.setWidget(content)
    return area


def splitter(
    orientation: Qt.Orientation,
    *widgets: QWidget,
    sizes: Sequence[int] = (),
    stretch: Sequence[int] = (),
) -> QSplitter:
    """Return a splitter of ``widgets``; none of them can be pushed together to nothing."""
    return fill_splitter(QSplitter(orientation), *widgets, sizes=sizes, stretch=stretch)


def fill_splitter(
    made: QSplitter,
    *widgets: QWidget,
    sizes: Sequence[int] = (),
    stretch: Sequence[int] = (),
) -> QSplitter:
    """Add widgets to a splitter; none of them can be pushed together to nothing."""
    for widget in widgets:
        made.addWidget(widget)
    made.setChildrenCollapsible(False)
    for index, factor in enumerate(stretch):
        made.setStretchFactor(index, factor)
    if sizes:
        made.setSizes(list(sizes))
    return made


class CurrentPages(QStackedWidget):
    """Pages of which the one that is shown alone has a say in the least size."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        current = self.currentWidget()
        return super().minimumSizeHint() if current is None else current.minimumSizeHint()


class ContentOrMessage(QStackedWidget):
    """A widget, or in its place the reason why there is nothing to show.

    Args:
        content: the widget.
        message: the first reason.
        name: of the message, for screen readers.
        buttons: under the message: what to do about it.
    """

    def __init__(
        self,
        content: QWidget,
        message: str = "",
        name: str = "",
        buttons: Sequence[QPushButton] = (),
    ) -> None:
        super().__init__()
        self.message = label(message, "empty", name)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._content = content
        self._nothing: QWidget = self.message
        if buttons:
            row = hbox(STRETCH, *buttons, STRETCH)
            self._nothing = holder(STRETCH, self.message, row, STRETCH)
        self.addWidget(self._nothing)
        self.addWidget(content)

    def show_content(self, *, visible: bool = True) -> None:
        """Show the widget, or the last message."""
        self.setCurrentWidget(self._content if visible else self._nothing)

    def show_message(self, text: str) -> None:
        """Show a sentence in place of the widget."""
        self.message.setText(text)
        self.show_content(visible=False)


def add_keys(widget: QWidget, keys: QKeySequence.StandardKey, act: Callable[[], None]) -> None:
    """Call ``act`` when ``keys`` are pressed while ``widget`` itself has the focus."""
    action = QAction(widget)
    action.setShortcut(QKeySequence(keys))
    action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    action.triggered.connect(lambda _checked: act())
    widget.addAction(action)


def add_view_keys(view: QWidget, keys: Keys, act: Callable[[], None]) -> None:
    """Call ``act`` when ``keys`` are pressed while the focus is anywhere in ``view``."""
    shortcut = QShortcut(QKeySequence(keys), view)
    shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    shortcut.activated.connect(act)
