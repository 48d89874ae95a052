"""What is wrong with a window for somebody who reads it by ear, by keys or with weak eyes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QGraphicsView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QScrollBar,
    QTabBar,
    QWidget,
)

from ctm_gui.window.main_window import MainWindow

LEAST_CONTRAST = 4.5  # WCAG 2.2, level AA, text
SLACK_PX = 4  # baselines of one row differ by a little


def takes_tab(widget: QWidget) -> bool:
    """Whether Tab reaches a widget that is ours; Qt's own parts of a widget count as that one."""
    inner = widget.objectName().startswith("qt_") or widget.focusProxy() is not None
    parent = widget.parentWidget()
    of_box = parent is not None and parent.focusProxy() is widget
    of_editor = (
        isinstance(widget, QLineEdit) and parent is not None and parent.inherits("QComboBox")
    )
    reached = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return reached and not inner and not (of_box or of_editor)


def controls(root: QWidget) -> list[QWidget]:
    """Return what Tab reaches in a window; the list of a combo box is a window of its own."""
    parts = root.findChildren(QWidget)
    return [part for part in parts if takes_tab(part) and part.window() is root.window()]


_INTERACTIVE = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QAbstractSpinBox,
    QAbstractSlider,
    QAbstractItemView,
    QTabBar,
    QGraphicsView,
)
# Parts of a widget that has the keys for them itself: the cross of a line, arrows of a tab bar,
# heads of a table, the list of a box.
_OWNERS = (QLineEdit, QTabBar, QAbstractScrollArea, QAbstractSpinBox, QComboBox)


def out_of_reach(root: QWidget) -> list[str]:
    """Return what is seen, takes clicks, and has no focus by Tab, pressed all the way round."""
    reached: list[QWidget] = []
    window = root.window()
    widget = window.focusWidget() or window
    while widget is not None and widget not in reached and len(reached) < 500:
        reached.append(widget)
        QTest.keyClick(widget, Qt.Key.Key_Tab)
        widget = window.focusWidget()
    taken = {each for part in reached for each in (part, part.focusProxy())} - {window}
    return [
        f"{type(part).__name__} {name_of(part)!r} in {path(part)}"
        for part in root.findChildren(QWidget)
        if isinstance(part, _INTERACTIVE)
        and part.isVisible()
        and part.isEnabled()
        and part.window() is window
        and not isinstance(part.parentWidget(), _OWNERS)
        and not isinstance(part, QHeaderView | QScrollBar)
        and not (isinstance(part, QRadioButton) and part.parentWidget())  # arrows go among them
        and part not in taken
        and not (isinstance(part, QGraphicsView) and taken.intersection(owners(part)))
    ]


def owners(part: QWidget) -> list[QWidget]:
    """Return the widgets around one, the nearest first."""
    owner = part.parentWidget()
    return [] if owner is None else [owner, *owners(owner)]


def name_of(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip() if interface is not None else ""


def nameless(root: QWidget) -> list[str]:
    return [
        f"{type(part).__name__} in {path(part)}" for part in controls(root) if not name_of(part)
    ]


def path(widget: QWidget) -> str:
    names: list[str] = []
    parent = widget.parentWidget()
    while parent is not None:
        names.append(type(parent).__name__)
        parent = parent.parentWidget()
    return " < ".join(names[:4])


def out_of_order(root: QWidget) -> list[str]:
    """Return the steps of Tab between children of one widget that go up, or back in a row."""
    wrong = []
    for one, other in steps(root):
        a, b = one.geometry(), other.geometry()
        above = b.bottom() <= a.top() + SLACK_PX
        same_row = abs(a.center().y() - b.center().y()) <= max(a.height(), b.height()) / 2
        if above or (same_row and b.right() <= a.left() + SLACK_PX):
            wrong.append(f"{name_of(one)} -> {name_of(other)} in {path(other)}")
    return wrong


def steps(root: QWidget) -> Iterator[tuple[QWidget, QWidget]]:
    """Yield neighbours in the order of Tab that are shown and have the same parent."""
    chain: list[QWidget] = []
    widget = root.nextInFocusChain()
    while widget is not None and widget is not root:
        if root.isAncestorOf(widget) and takes_tab(widget) and widget.isVisible():
            chain.append(widget)
        widget = widget.nextInFocusChain()
    for one, other in pairwise(chain):
        if one.parentWidget() is other.parentWidget():
            yield one, other


def same_keys(root: QWidget) -> dict[str, list[str]]:
    """Return the Alt keys that more than one shown widget or menu answers to."""
    owners: dict[str, list[str]] = {}
    for part in root.findChildren(QWidget):
        text = part.text() if isinstance(part, QAbstractButton | QLabel) else ""
        if isinstance(part, QLabel) and part.buddy() is None:
            continue
        if part.isVisible() and (keys := QKeySequence.mnemonic(text).toString()):
            owners.setdefault(keys, []).append(text)
    if isinstance(root, MainWindow):
        for action in root.menuBar().actions():
            keys = QKeySequence.mnemonic(action.text()).toString()
            owners.setdefault(keys, []).append(action.text())
    return {keys: texts for keys, texts in owners.items() if len(texts) > 1}


def luminance(colour: str) -> float:
    """Relative luminance after WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def faint(root: QWidget) -> list[str]:
    """Return the shown texts whose colour is too near to that of their ground, as they are set."""
    found = []
    for part in root.findChildren(QWidget):
        if not (part.isVisible() and part.isEnabled() and text_of(part)):
            continue
        palette = part.palette()
        text, ground = palette.color(part.foregroundRole()), ground_of(part)
        if contrast(text.name(), ground.name()) < LEAST_CONTRAST:
            found.append(f"{text_of(part)!r}: {text.name()} on {ground.name()} in {path(part)}")
    return found


def text_of(part: QWidget) -> str:
    if isinstance(part, QComboBox):
        return part.currentText()
    return part.text() if isinstance(part, QAbstractButton | QLabel | QLineEdit) else ""


def ground_of(part: QWidget) -> QColor:
    """Return the colour behind a widget: its own, or that of the first parent that paints one."""
    painted = isinstance(part, QAbstractButton | QComboBox | QLineEdit)
    return part.palette().color(part.backgroundRole()) if painted else window_of(part)


def window_of(part: QWidget) -> QColor:
    owner = part.parentWidget()
    while owner is not None and not owner.isWindow() and not owner.autoFillBackground():
        owner = owner.parentWidget()
    owner = owner or part
    return owner.palette().color(owner.backgroundRole())
