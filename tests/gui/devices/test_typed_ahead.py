"""Keys that come right after *New*, before its form is there: no event lies between them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.devices.view import DevicesView
from ctm_gui.window.main_window import MainWindow
from predictor.core.errors import HostError

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def view(window: MainWindow, qtbot: QtBot) -> DevicesView:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window.central.devices_view


def focused(view: QWidget) -> QWidget:
    return QApplication.focusWidget() or view.window()


def type_numbers(view: DevicesView) -> None:
    for number in ("2400", "4"):
        QTest.keyClicks(focused(view), number)
        QTest.keyClick(focused(view), Qt.Key.Key_Return)
    QTest.keyClicks(focused(view), "0.1")


def check_numbers(view: DevicesView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: view.is_built and view.form.fields.name == "My device", timeout=30_000)
    values = view.form.fields.values
    assert values == {"clock_mhz": "2400", "core_count": "4", "fp32_tflops": "0.1"}
    assert view.form_view.fields["fp32_tflops"].value.hasFocus()


def test_what_is_typed_after_new_arrives_in_its_form(
    window: MainWindow, view: DevicesView, qtbot: QtBot
) -> None:
    window.show_page("devices")
    qtbot.waitUntil(lambda: view.is_built)
    QTest.mouseClick(view.new_button, LEFT)
    type_numbers(view)
    check_numbers(view, qtbot)


def test_new_may_be_pressed_while_the_page_is_being_built(
    window: MainWindow, view: DevicesView, qtbot: QtBot
) -> None:
    window.show_page("devices")
    qtbot.waitUntil(lambda: hasattr(view, "new_button"))
    assert not view.is_built
    QTest.mouseClick(view.new_button, LEFT)
    type_numbers(view)
    check_numbers(view, qtbot)


def test_the_key_of_new_on_another_page_leads_into_the_form(
    window: MainWindow, view: DevicesView, qtbot: QtBot
) -> None:
    window.targets_panel.search_box.setFocus()
    QTest.keyClick(focused(view), Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    type_numbers(view)
    check_numbers(view, qtbot)
    assert window.targets_panel.search_box.text() == ""


@pytest.mark.parametrize("way", ["mouse", "page", "failure"])
def test_what_was_typed_is_let_go_where_the_form_is_left(
    window: MainWindow, view: DevicesView, qtbot: QtBot, way: str
) -> None:
    window.show_page("devices")
    qtbot.waitUntil(lambda: view.is_built)
    QTest.mouseClick(view.new_button, LEFT)
    type_numbers(view)
    if way == "mouse":
        QTest.mouseClick(view.list.table.search_box, LEFT)
    elif way == "page":
        window.show_page("hardware")
        window.show_page("devices")
        view.list.table.search_box.setFocus()
    else:
        view.library.failed.emit(HostError("The store", "is full", "make room"))
        view.list.table.search_box.setFocus()
    QTest.keyClicks(focused(view), "pi")
    assert view.list.table.search_box.text() == "pi"
    qtbot.waitUntil(lambda: view.form.fields.name == "My device", timeout=30_000)
    assert view.form.fields.values == {}
