"""F6 and Shift+F6 as real keys: every part of the window in order, whatever had the focus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.widgets.focus import holds
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace

WIDE = (1700, 900)
NEXT, PREVIOUS = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def wide(qtbot: QtBot, window: MainWindow) -> MainWindow:
    """The window with its panels and messages beside every page."""
    window.resize(*WIDE)
    window.toggle_messages()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def press(window: MainWindow, way: Qt.KeyboardModifier = NEXT) -> QWidget:
    """Press F6 where the focus is, and return the part that it leads to."""
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_F6, way)
    (part,) = [part for part in parts_of(window) if holds(part, QApplication.focusWidget())]
    return part


def parts_of(window: MainWindow) -> list[QWidget]:
    every = (
        window.place_strip,
        window.models_panel,
        window.targets_panel,
        window.places,
        window.message_list,
    )
    return [part for part in every if part.isVisible()]


def check_rounds(window: MainWindow, what: str) -> None:
    parts = parts_of(window)
    focused = QApplication.focusWidget()
    here = next((i for i, part in enumerate(parts) if holds(part, focused)), -1)
    after = [*parts[here + 1 :], *parts[: here + 1]]
    assert [press(window) for _ in parts] == after, what
    last = parts.index(after[-1])
    before = [parts[last - 1 - step] for step in range(len(parts))]
    assert [press(window, PREVIOUS) for _ in parts] == before, what


@pytest.mark.parametrize("has_model", [False, True])
def test_the_keys_reach_every_part_in_order_on_every_page(
    wide: MainWindow,
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    *,
    has_model: bool,
) -> None:
    if has_model:
        workspace.open_paths([str(make_model())])
        settle(workspace)
    for page in wide.pages:
        wide.show_page(page.id)  # and it fills while the keys are pressed
        check_rounds(wide, page.id)
    if focused := QApplication.focusWidget():
        focused.clearFocus()
    check_rounds(wide, "nothing had the focus")


def test_the_keys_begin_anew_where_what_had_the_focus_is_gone(wide: MainWindow) -> None:
    for way, part in ((NEXT, parts_of(wide)[0]), (PREVIOUS, parts_of(wide)[-1])):
        gone = QPushButton(wide)
        gone.show()
        gone.setFocus()
        gone.deleteLater()
        QCoreApplication.sendPostedEvents(gone, QEvent.Type.DeferredDelete.value)
        assert QApplication.focusWidget() is None
        assert press(wide, way) is part
    check_rounds(wide, "after it was deleted")
    hidden = wide.first_view.start.findChildren(QPushButton)[0]
    hidden.setFocus()
    hidden.hide()
    check_rounds(wide, "after it was hidden")


def test_a_search_in_the_table_of_a_page_is_passed_over(
    wide: MainWindow,
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    workspace.open_paths([str(make_model())])
    settle(workspace)
    table = wide.central.compare_view.table
    table.setFocus()
    QTest.keySequence(table, "Ctrl+F")
    QTest.keyClicks(table.search_box, "pi")
    assert table.search_box.text() == "pi"
    press(wide, PREVIOUS)
    assert press(wide) is wide.places
    assert table.hasFocus()
    budget = wide.central.compare_view.budget_box
    budget.setFocus()
    press(wide)
    assert press(wide, PREVIOUS) is wide.places
    assert table.hasFocus()
