"""Models and targets give way where the window is narrow, unless the user wants them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ctm_gui.compare.tabs import SWEEP_PAGE
from ctm_gui.window.actions import COMPARE_TAB, DEVICES_TAB, HISTORY_TAB
from ctm_gui.window.main_window import MainWindow


@pytest.fixture
def narrow(window: MainWindow) -> MainWindow:
    window.resize(1024, 700)
    return window


def has_panels(window: MainWindow) -> bool:
    return window.models_panel.isVisible() and window.targets_panel.isVisible()


@pytest.mark.parametrize("tab", [DEVICES_TAB, HISTORY_TAB])
def test_a_form_or_a_long_table_has_a_narrow_window_for_itself(
    narrow: MainWindow, tab: int
) -> None:
    narrow.show_tab(tab)
    assert not has_panels(narrow)
    assert not narrow.actions_by_id["side_bar"].isChecked()

    narrow.resize(1280, 800)
    assert has_panels(narrow)

    narrow.resize(1024, 700)
    narrow.show_tab(COMPARE_TAB)
    assert has_panels(narrow)
    assert narrow.actions_by_id["side_bar"].isChecked()


def test_the_users_choice_goes_before_the_width(narrow: MainWindow) -> None:
    QTest.keyClick(narrow, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert not has_panels(narrow)
    narrow.resize(1600, 900)
    narrow.show_tab(DEVICES_TAB)
    assert not has_panels(narrow)

    narrow.actions_by_id["side_bar"].trigger()
    narrow.resize(1024, 700)
    narrow.show_tab(HISTORY_TAB)
    assert has_panels(narrow)


def test_a_page_of_compare_is_reached_from_any_view(window: MainWindow, qapp: QApplication) -> None:
    window.show_tab(HISTORY_TAB)

    QTest.keyClick(window, Qt.Key.Key_5, Qt.KeyboardModifier.AltModifier)

    assert window.tabs.currentIndex() == COMPARE_TAB
    assert window.central.compare_tabs.bar.currentIndex() == SWEEP_PAGE
