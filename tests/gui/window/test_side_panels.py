"""Models and targets give way where the window is narrow, unless the user wants them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from ctm_gui.compare.tabs import PAGES, SWEEP_PAGE
from ctm_gui.operators.rows import SHARE
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.side_panels import Views, ViewsRoom
from ctm_gui.window.workspace import Workspace
from predictor.core.resources import resources_dir
from predictor.services.history.past_predictions import NewTruth

pytestmark = pytest.mark.usefixtures("themed")


@pytest.fixture
def narrow(window: MainWindow) -> MainWindow:
    window.resize(1024, 700)
    return window


def has_panels(window: MainWindow) -> bool:
    return window.models_panel.isVisible() and window.targets_panel.isVisible()


def scrolled_px(window: MainWindow) -> int:
    """Return how much wider the view is than its room."""
    room = window.places.findChild(ViewsRoom)
    return int(room.horizontalScrollBar().maximum())


@pytest.mark.parametrize("page", ["devices", "history"])
def test_a_form_or_a_long_table_has_a_narrow_window_for_itself(
    narrow: MainWindow, page: str
) -> None:
    narrow.show_page(page)
    assert not has_panels(narrow)
    assert not narrow.actions_by_id["side_bar"].isChecked()

    narrow.resize(1440, 900)
    assert has_panels(narrow)

    narrow.resize(1024, 700)
    narrow.show_page("compare")
    assert has_panels(narrow)
    assert narrow.actions_by_id["side_bar"].isChecked()


def test_every_view_fits_a_narrow_window(narrow: MainWindow, qapp: QApplication) -> None:
    for page in narrow.pages:
        narrow.show_page(page.id)
        qapp.processEvents()  # the panels give their room
        assert not scrolled_px(narrow), page.title
        assert narrow.minimumSizeHint().width() <= 900, page.title
        # No page is behind an arrow of the strip.
        strip = narrow.places.page_strip
        assert strip.sizeHint().width() <= strip.width() or not strip.isVisible()


def test_a_view_that_was_looked_at_does_not_widen_the_window(qtbot: QtBot) -> None:
    views = Views()
    qtbot.addWidget(views)
    views.addTab(QLabel("narrow"), "Narrow")
    views.addTab(QLabel("wide " * 300), "Wide")
    assert views.minimumSizeHint().width() < 1024
    views.setCurrentIndex(1)
    assert views.minimumSizeHint().width() > 1024


def test_a_view_scrolls_where_the_window_is_narrower_than_it_needs(qtbot: QtBot) -> None:
    views = Views()
    views.addTab(QLabel("wide " * 300), "Wide")
    room = ViewsRoom(views)
    qtbot.addWidget(room)
    assert room.minimumSizeHint().width() <= 900
    room.resize(600, 400)
    with qtbot.waitExposed(room):
        room.show()
    assert room.horizontalScrollBar().maximum() > 0
    views.addTab(QLabel("narrow"), "Narrow")
    views.setCurrentIndex(1)
    qtbot.waitUntil(lambda: room.horizontalScrollBar().maximum() == 0)


def test_no_view_makes_the_window_wider_than_a_small_screen(
    qtbot: QtBot,
    narrow: MainWindow,
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    name = "an_efficient_network_of_mixed_precision_with_a_long_name"
    workspace.open_paths([str(make_model(f"{name}_{each}.onnx")) for each in range(4)])
    settle(workspace)
    for page in range(len(PAGES)):
        narrow.show_compared(page)
    for page in narrow.pages:
        narrow.show_page(page.id)
    history = narrow.central.history_view
    qtbot.waitUntil(lambda: history.is_built and narrow.central.devices_view.is_built)
    narrow.central.devices_view.new_button.click()
    header = narrow.central.devices_view.header
    qtbot.waitUntil(lambda: not header.save_button.isHidden())
    narrow.show_page("history")
    qtbot.waitUntil(lambda: len(history.presenter.data) > 0 and not history.presenter.busy)
    first = history.presenter.data.rows[0].stored
    history.presenter.add_truth(first, NewTruth("5"))
    qtbot.waitUntil(lambda: len(history.presenter.data.pairs) > 0)
    widths = {
        page.title: narrow.tabs.widget(place).minimumSizeHint().width()
        for place, page in enumerate(narrow.pages)
    }
    narrow.actions_by_id["side_bar"].trigger()
    QTest.qWait(10)
    assert has_panels(narrow)
    assert narrow.minimumSizeHint().width() <= 900
    assert max(widths.values()) <= 1024 - 84, widths  # beside the places


def room_right_of(table: FilteredTable, key: str) -> int:
    """Return the pixels from the end of a column to the edge of its table."""
    place = [column.key for column in table.grid_model.grid.columns].index(key)
    end = table.columnViewportPosition(place) + table.columnWidth(place)
    return int(table.viewport().width() - end)


def test_what_a_table_is_about_is_in_view(
    qtbot: QtBot,
    narrow: MainWindow,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
) -> None:
    workspace.selection.select(["jetson-orin-nano-gpu", "rpi4"], selected=True)
    names = ("distilbert-base", "mobilenetv2-1.0-224")
    workspace.open_paths([str(resources_dir() / "samples" / f"{name}.onnx") for name in names])
    settle(workspace)
    narrow.show_page("history")
    history = narrow.central.history_view
    qtbot.waitUntil(lambda: history.is_built and len(history.presenter.data) > 0)
    qtbot.waitUntil(lambda: room_right_of(history.table, "created") >= 0, timeout=5000)

    narrow.resize(1280, 800)
    narrow.show_page("operators")
    qtbot.waitUntil(lambda: narrow.central.explanation.settled)
    operators = narrow.central.operators_view
    qtbot.waitUntil(lambda: room_right_of(operators.table, SHARE) >= 0, timeout=5000)


def test_the_users_choice_goes_before_the_width(narrow: MainWindow) -> None:
    QTest.keyClick(narrow, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert not has_panels(narrow)
    narrow.resize(1600, 900)
    narrow.show_page("devices")
    assert not has_panels(narrow)

    narrow.actions_by_id["side_bar"].trigger()
    narrow.resize(1024, 700)
    narrow.show_page("history")
    assert has_panels(narrow)


def test_a_page_of_compare_is_reached_from_any_view(window: MainWindow, qapp: QApplication) -> None:
    window.show_page("history")

    QTest.keyClick(window, Qt.Key.Key_5, Qt.KeyboardModifier.AltModifier)

    assert window.page.id == "compare"
    assert window.central.compare_tabs._requested_page == SWEEP_PAGE
