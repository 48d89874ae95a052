"""A change of theme gives the picture of a program that was started with that theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ctm_gui.widgets.theme import DARK, LIGHT, THEME_PROPERTY, Theme, palette_of, style_sheet
from ctm_gui.widgets.theme_change import apply_theme

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
OTHER = {LIGHT.name: DARK, DARK.name: LIGHT}
ROLES = ("title", "heading", "muted", "bad", "warn", "notice", "empty")


@pytest.fixture(autouse=True)
def light_again(qapp: QApplication) -> Iterator[None]:
    qapp.setStyle("Fusion")
    apply_theme(qapp, LIGHT)
    yield
    apply_theme(qapp, LIGHT)


def started_in(app: QApplication, theme: Theme) -> None:
    """Set palette and sheet as a start of the program in this theme does."""
    for window in app.topLevelWidgets():
        window.setProperty(THEME_PROPERTY, theme.name)
    app.setPalette(palette_of(theme))
    apply_sheet_again(app)


def page() -> QWidget:
    """Return what the sheet has rules for, enabled and disabled, checked and not."""
    page = QWidget()
    column = QVBoxLayout(page)
    box, off, choice, button = (
        QCheckBox("box"),
        QCheckBox("off"),
        QRadioButton("one"),
        QToolButton(),
    )
    for each in (box, off, choice):
        each.setChecked(True)
    button.setCheckable(True)
    button.setChecked(True)
    off.setEnabled(False)
    editable = QComboBox(editable=True)
    tree, table = QTreeWidget(), QTableWidget(2, 2)
    for state in (Qt.CheckState.Checked, Qt.CheckState.PartiallyChecked, Qt.CheckState.Unchecked):
        QTreeWidgetItem(tree, ["item"]).setCheckState(0, state)
    table.setItem(0, 0, QTableWidgetItem("cell"))
    table.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)
    table.setSortingEnabled(True)
    labels = [QLabel(role) for role in ROLES]
    for label in labels:
        label.setProperty("role", label.text())
    fields = (
        QLineEdit("text"),
        QLineEdit(placeholderText="empty"),
        QSpinBox(),
        QPlainTextEdit("a"),
    )
    for each in (*labels, *fields, box, off, choice, button, editable, tree, table):
        column.addWidget(each)
    return page


@pytest.fixture
def tabs(qtbot: QtBot) -> QTabWidget:
    """Two pages, the second one seen once and then hidden."""
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    tabs.addTab(page(), "first")
    tabs.addTab(page(), "second")
    tabs.resize(500, 900)
    with qtbot.waitExposed(tabs):
        tabs.show()
    for index in (1, 0):
        tabs.setCurrentIndex(index)
        QCoreApplication.processEvents()
    return tabs


def picture(widget: QWidget) -> NDArray[np.uint32]:
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint32).copy()


def pictures(tabs: QTabWidget) -> list[NDArray[np.uint32]]:
    """Return the pictures of both pages; the first is shown afterwards."""
    seen = []
    for index in (0, 1):
        tabs.setCurrentIndex(index)
        seen.append(picture(tabs))
    tabs.setCurrentIndex(0)
    return seen


def wait_for_turns(qtbot: QtBot, app: QApplication) -> None:
    qtbot.waitUntil(lambda: not app.findChildren(QTimer, "turns"))


def same(left: list[NDArray[np.uint32]], right: list[NDArray[np.uint32]]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@THEMES
def test_there_and_back_is_the_picture_of_a_start(
    qtbot: QtBot, qapp: QApplication, tabs: QTabWidget, theme: Theme
) -> None:
    started_in(qapp, theme)
    expected = pictures(tabs)
    started_in(qapp, OTHER[theme.name])
    assert not same(pictures(tabs), expected)
    for each in (theme, OTHER[theme.name], theme):
        apply_theme(qapp, each)
        wait_for_turns(qtbot, qapp)
    assert same(pictures(tabs), expected)


@THEMES
def test_what_is_in_sight_changes_at_once(
    qapp: QApplication, tabs: QTabWidget, theme: Theme
) -> None:
    started_in(qapp, theme)
    expected = picture(tabs)
    started_in(qapp, OTHER[theme.name])
    apply_theme(qapp, theme)
    assert np.array_equal(picture(tabs), expected)


@THEMES
def test_a_page_that_is_shown_before_its_turn_has_the_theme(
    qapp: QApplication, tabs: QTabWidget, theme: Theme
) -> None:
    started_in(qapp, theme)
    expected = pictures(tabs)
    started_in(qapp, OTHER[theme.name])
    apply_theme(qapp, theme)
    assert same(pictures(tabs), expected)


def test_a_second_change_in_the_middle_of_the_first_wins(
    qtbot: QtBot, qapp: QApplication, tabs: QTabWidget
) -> None:
    expected = pictures(tabs)
    apply_theme(qapp, DARK)
    apply_theme(qapp, LIGHT)
    wait_for_turns(qtbot, qapp)
    assert same(pictures(tabs), expected)


def test_a_widget_that_is_deleted_before_its_turn_does_no_harm(
    qtbot: QtBot, qapp: QApplication, tabs: QTabWidget
) -> None:
    apply_theme(qapp, DARK)
    tabs.widget(1).deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    wait_for_turns(qtbot, qapp)
    assert tabs.count() == 1


COLOURS: dict[str, Callable[[Theme], str]] = {
    "outline": lambda theme: theme.outline,
    "warn": lambda theme: theme.warn,
    "bad": lambda theme: theme.bad,
    "muted": lambda theme: theme.muted,
    "accent": lambda theme: theme.accent,
    "mark on the accent": lambda theme: theme.on_accent,
}


@THEMES
@pytest.mark.parametrize("colour", COLOURS)
def test_the_colours_of_the_theme_are_in_the_picture(
    qtbot: QtBot, qapp: QApplication, tabs: QTabWidget, theme: Theme, colour: str
) -> None:
    apply_theme(qapp, OTHER[theme.name])
    apply_theme(qapp, theme)
    wait_for_turns(qtbot, qapp)
    for seen in pictures(tabs):
        assert QColor(COLOURS[colour](theme)).rgb() in seen, colour
        other = QColor(COLOURS[colour](OTHER[theme.name])).rgb()
        assert other not in seen or colour == "mark on the accent"


ICONS: dict[str, tuple[Callable[[], QWidget], str]] = {
    "check": (lambda: QCheckBox(checked=True), "on_accent"),
    "partial": (lambda: checked_tree(Qt.CheckState.PartiallyChecked), "on_accent"),
    "check of a tree": (lambda: checked_tree(Qt.CheckState.Checked), "on_accent"),
    "arrows": (QSpinBox, "muted"),
    "arrow of a box": (lambda: QComboBox(editable=True), "muted"),
    "order up": (lambda: ordered_table(Qt.SortOrder.AscendingOrder), "muted"),
    "order down": (lambda: ordered_table(Qt.SortOrder.DescendingOrder), "muted"),
}


def checked_tree(state: Qt.CheckState) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setHeaderHidden(True)
    QTreeWidgetItem(tree, ["item"]).setCheckState(0, state)
    return tree


def ordered_table(order: Qt.SortOrder) -> QTableWidget:
    table = QTableWidget(0, 1)
    table.setSortingEnabled(True)
    table.horizontalHeader().setSortIndicator(0, order)
    return table


@THEMES
@pytest.mark.parametrize("icon", ICONS)
def test_an_icon_is_that_of_the_theme(
    qtbot: QtBot, qapp: QApplication, theme: Theme, icon: str
) -> None:
    make, colour = ICONS[icon]
    window, widget = QWidget(), make()
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(widget)
    with qtbot.waitExposed(window):
        window.show()
    apply_theme(qapp, OTHER[theme.name])
    apply_theme(qapp, theme)
    right = picture(widget)
    window.setProperty(THEME_PROPERTY, OTHER[theme.name].name)
    apply_sheet_again(qapp)
    wrong = picture(widget)
    drawn = right != wrong
    assert drawn.any()
    wanted = getattr(theme, colour)
    assert distance(right[drawn], wanted) < distance(wrong[drawn], wanted)


def apply_sheet_again(app: QApplication) -> None:
    app.setStyleSheet("")
    app.setStyleSheet(style_sheet())


def distance(pixels: NDArray[np.uint32], colour: str) -> float:
    """Return how far the pixels are from a colour, red, green and blue added, on average."""
    channels = pixels.view(np.uint8).reshape(-1, 4)[:, 2::-1].astype(int)  # [pixels, RGB]
    return float(np.abs(channels - QColor(colour).getRgb()[:3]).sum(axis=1).mean())
