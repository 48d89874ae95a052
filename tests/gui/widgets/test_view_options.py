"""Unit, budget and theme of the views, and how widgets follow the theme."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.units import LatencyUnit


class Painted(QWidget):
    """A widget that writes down in which theme it was drawn.

    Args:
        options: the theme.
        drawn: gets the widget's name and the theme at each drawing.
        name: of the widget.
    """

    def __init__(self, options: ViewOptions, drawn: list[tuple[str, str]], name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._options, self._drawn = options, drawn
        follow_theme(self, options, self._draw)

    def _draw(self) -> None:
        self._drawn.append((self.objectName(), self._options.theme.name))


def turns_left(options: ViewOptions) -> list[QTimer]:
    return options.findChildren(QTimer, "turns")


def test_a_signal_comes_with_another_value_alone(options: ViewOptions) -> None:
    changes: list[str] = []
    options.unit_changed.connect(lambda: changes.append(options.unit.value))
    options.budget_changed.connect(lambda: changes.append(f"{options.budget_ms}"))
    options.theme_changed.connect(lambda: changes.append(options.theme.name))

    for _ in range(2):
        options.set_unit(LatencyUnit.FPS)
        options.set_budget_ms(12.5)
        options.set_theme(DARK)
    options.set_budget_ms(None)

    assert changes == ["FPS", "12.5", "dark", "None"]


def test_a_widget_is_drawn_when_it_is_made(qtbot: QtBot) -> None:
    drawn: list[tuple[str, str]] = []
    qtbot.addWidget(Painted(ViewOptions(theme=DARK), drawn, "plot"))

    assert drawn == [("plot", "dark")]


def test_what_is_in_sight_is_drawn_at_once_and_hidden_pages_one_a_turn(
    qtbot: QtBot, options: ViewOptions
) -> None:
    drawn: list[tuple[str, str]] = []
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    for name in ("first", "second", "third"):
        tabs.addTab(Painted(options, drawn, name), name)
    with qtbot.waitExposed(tabs):
        tabs.show()
    drawn.clear()

    options.set_theme(DARK)

    assert drawn == [("first", "dark")]
    by_turn: list[int] = []
    beat = QTimer(tabs, interval=0)
    beat.timeout.connect(lambda: by_turn.append(len(drawn)))
    beat.start()
    qtbot.waitUntil(lambda: not turns_left(options))
    assert drawn == [("first", "dark"), ("second", "dark"), ("third", "dark")]
    assert {1, 2, 3} >= set(by_turn) >= {2}


def test_a_page_that_is_shown_before_its_turn_is_drawn_once(
    qtbot: QtBot, options: ViewOptions
) -> None:
    drawn: list[tuple[str, str]] = []
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    for name in ("first", "second", "third"):
        tabs.addTab(Painted(options, drawn, name), name)
    with qtbot.waitExposed(tabs):
        tabs.show()
    drawn.clear()

    options.set_theme(DARK)
    tabs.setCurrentIndex(2)

    assert drawn == [("first", "dark"), ("third", "dark")]
    qtbot.waitUntil(lambda: not turns_left(options))
    assert drawn == [("first", "dark"), ("third", "dark"), ("second", "dark")]


def test_a_theme_that_changes_back_is_the_one_that_is_drawn(
    qtbot: QtBot, options: ViewOptions
) -> None:
    drawn: list[tuple[str, str]] = []
    hidden = Painted(options, drawn, "hidden")
    qtbot.addWidget(hidden)
    drawn.clear()

    options.set_theme(DARK)
    options.set_theme(LIGHT)

    qtbot.waitUntil(lambda: not turns_left(options))
    assert drawn == [("hidden", "light")]


def test_a_deleted_widget_is_drawn_no_more(
    qtbot: QtBot, qapp: QApplication, options: ViewOptions
) -> None:
    drawn: list[tuple[str, str]] = []
    hidden = Painted(options, drawn, "hidden")
    drawn.clear()
    options.set_theme(DARK)

    hidden.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: not turns_left(options))
    options.set_theme(LIGHT)
    qtbot.waitUntil(lambda: not turns_left(options))

    assert drawn == []
