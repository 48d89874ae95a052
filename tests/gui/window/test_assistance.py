"""Help, commands, settings and facts for a report, in the real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication, QPalette, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QToolButton, QWhatsThis
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.settings import Settings
from ctm_gui.targets.what_if_dialog import WhatIfDialog
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.theme import ThemeChoice
from ctm_gui.window.actions import ACTIONS
from ctm_gui.window.help_pages import page_of
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.system_information import system_information
from ctm_gui.window.workspace import Workspace
from predictor.core.csv_style import CsvStyle
from predictor.core.resources import help_dir
from predictor.core.units import LatencyUnit


@pytest.fixture
def described(qtbot: QtBot, window: MainWindow, workspace: Workspace) -> MainWindow:
    """A window that has described this machine."""
    qtbot.waitUntil(lambda: workspace.library.machine is not None)
    return window


def test_the_palette_offers_every_action_with_its_keys(qtbot: QtBot, described: MainWindow) -> None:
    window = described
    palette = window.assistance.show_palette()
    rows = [palette.list.topLevelItem(row) for row in range(palette.list.topLevelItemCount())]
    shown = {row.data(0, Qt.ItemDataRole.UserRole).id: row for row in rows if row is not None}
    assert set(shown) == {spec.id for spec in ACTIONS} - {"palette"} | {"this_machine"}
    assert shown["open"].text(0) == "File: Open"
    assert shown["open"].text(1) == "Ctrl+O"
    assert shown["find"].text(1) == "Ctrl+F", "keys that belong to a widget are shown too"
    assert shown["undo"].isDisabled(), "there is nothing to undo"
    palette.close()


def test_a_command_is_found_by_letters_and_run_with_the_focus_where_it_was(
    qtbot: QtBot, window: MainWindow
) -> None:
    box = window.targets_panel.search_box
    box.setText("jetson")
    box.setFocus()
    box.selectAll()
    palette = window.assistance.show_palette()
    qtbot.keyClicks(palette.edit, "copy")
    assert palette.list.topLevelItemCount() > 1
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == "jetson")


def test_arrows_move_in_the_list_while_the_cursor_stays(qtbot: QtBot, window: MainWindow) -> None:
    palette = window.assistance.show_palette()
    first = palette.list.currentItem()
    qtbot.keyClick(palette.edit, Qt.Key.Key_Down)
    assert palette.list.currentItem() is not first
    assert palette.edit.accessibleDescription()
    qtbot.keyClicks(palette.edit, "no such words")
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    assert palette.isVisible(), "there is nothing to run"
    palette.close()


def test_help_opens_the_page_of_the_part_with_the_focus(qtbot: QtBot, window: MainWindow) -> None:
    window.targets_panel.search_box.setFocus()
    help_window = window.assistance.show_help()
    assert help_window.browser.page == "targets"
    help_window.close()
    dialog = WhatIfDialog(window.workspace.selection, window.workspace.selection.devices[0], window)
    assert page_of([type(dialog.batch).__name__, type(dialog).__name__]) == "what-if"
    help_window.close()
    window.show_page("devices")
    window.place_strip.buttons["library"].setFocus()
    assert window.assistance.show_help().browser.page == "devices"
    assert help_window.list.currentItem().text() == "Devices"


def test_help_follows_links_to_pages_only(qtbot: QtBot, window: MainWindow) -> None:
    browser = window.assistance.show_help("index").browser
    browser.follow(QUrl("compare.md"))
    assert browser.page == "compare"
    assert "Every model on every ticked target" in browser.toPlainText()
    for elsewhere in ("https://example.org/x.md", "file:///etc/passwd", "../window.txt"):
        browser.follow(QUrl(elsewhere))
        assert browser.page == "compare"
    browser.follow(QUrl("nothing-of-the-kind.md"))
    assert "There is no page" in browser.toPlainText()


def test_help_shows_its_pictures_in_the_theme_and_no_others(window: MainWindow) -> None:
    browser = window.assistance.show_help("compare").browser
    image = QTextDocument.ResourceType.ImageResource
    pictures = []
    for base in ("white", "black"):
        palette = browser.palette()
        palette.setColor(QPalette.ColorRole.Base, base)
        browser.setPalette(palette)
        pictures.append(browser.loadResource(image, QUrl("pictures/compare-light.png")))

    light, dark = (picture.pixelColor(2, picture.height() // 2).lightness() for picture in pictures)
    assert light > 200
    assert dark < 60
    assert 0 < pictures[0].deviceIndependentSize().width() < browser.viewport().width()
    for elsewhere in ("https://example.org/compare.png", "file:///etc/passwd"):
        assert browser.loadResource(image, QUrl(elsewhere)) is None


@pytest.mark.qt_log_ignore("grabbing the keyboard", r"raise\(\)", extend=True)
def test_a_control_explains_itself(window: MainWindow) -> None:
    dialog = WhatIfDialog(window.workspace.selection, window.workspace.selection.devices[0], window)
    unit = window.places.unit_box
    for control in (dialog.batch, dialog.precision, dialog.threads, unit):
        assert len(control.whatsThis()) > 40
    unit.setFocus()
    window.assistance.whats_this()
    QWhatsThis.hideText()
    window.place_strip.buttons["answer"].setFocus()
    window.assistance.whats_this()
    assert QWhatsThis.inWhatsThisMode(), "the user points at a control"
    QWhatsThis.leaveWhatsThisMode()


def test_the_style_of_csv_is_that_of_every_copy(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Grid, "csv_style", CsvStyle.POINT)  # put back in the end
    style = window.assistance.show_settings().editors[table.CSV_STYLE.key]
    assert isinstance(style, QComboBox)
    style.setCurrentIndex(style.findData(CsvStyle.COMMA.value))
    header = window.central.compare_view.table.grid_model.grid.as_csv([])
    assert ";" in header
    assert "," not in header


def test_the_dialog_has_each_setting_that_is_asked_and_changes_the_window_at_once(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    dialog = window.assistance.show_settings()
    assert set(dialog.editors) == {setting.key for setting in table.TABLE if setting.in_dialog}
    theme, unit = (dialog.editors[setting.key] for setting in (table.THEME, table.UNIT))
    budget, restore = (dialog.editors[s.key] for s in (table.BUDGET_MS, table.RESTORE))
    assert isinstance(theme, QComboBox)
    assert isinstance(unit, QComboBox)
    assert isinstance(budget, QDoubleSpinBox)
    assert isinstance(restore, QCheckBox)
    with qtbot.waitSignal(window.theme_chosen) as chosen:
        theme.setCurrentIndex(theme.findText("Dark"))
    assert chosen.args == [ThemeChoice.DARK]
    assert window.actions_by_id["theme_dark"].isChecked()
    unit.setCurrentIndex(unit.findData(LatencyUnit.FPS.value))
    assert window.places.unit_box.currentText() == "FPS"
    budget.setValue(12.5)
    assert window.central.compare_view.budget_box.value() == 12.5
    restore.setChecked(False)
    kept = Settings(tmp_path / "window.ini")
    assert kept.get(table.RESTORE) is False
    assert kept.get(table.BUDGET_MS) == 12.5
    QTest.keyClick(budget, Qt.Key.Key_Return)
    assert budget.value() == 12.5  # Enter ends the typing and restores nothing
    assert window.places.unit_box.currentText() == "FPS"
    dialog = window.assistance.show_settings()
    dialog.defaults_button.click()
    assert window.places.unit_box.currentText() == "ms"
    assert window.central.compare_view.budget_box.text() == "no budget"
    again = dialog.editors[table.BUDGET_MS.key]
    assert isinstance(again, QDoubleSpinBox)
    assert again.text() == "no budget"
    dialog.close()


def test_system_information_names_versions_and_screens_and_no_user(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CTM_STORE", str(Path.home() / "secret" / "store.db"))
    window.assistance.copy_system_information()
    text = QGuiApplication.clipboard().text()
    for words in ("CloserToMe ", "Python ", "Screen 1: ", "Targets: 3 of ", "Memory: "):
        assert words in text
    assert "CTM_STORE=~/secret/store.db" in text
    assert str(Path.home()) not in text
    assert "Odd: yes" in system_information({"Odd": "yes"})


def test_the_key_to_the_targets_presses_no_button(
    qtbot: QtBot, window: MainWindow, workspace: Workspace
) -> None:
    window.activateWindow()
    panel, ticked = window.targets_panel, workspace.selection.selected_ids
    every = next(b for b in panel.findChildren(QToolButton) if b.text() == "All")
    for last in (None, every):
        if last is not None:
            last.setFocus()
        window.models_panel.setFocus()
        window.place_strip.buttons["answer"].setFocus()
        for _ in range(2):
            window.actions_by_id["next_part"].trigger()
        assert window.focusWidget() is panel.search_box
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Space)
        assert workspace.selection.selected_ids == ticked
    panel.tree.setFocus()
    for step in ("next_part", "previous_part"):
        window.actions_by_id[step].trigger()
    assert window.focusWidget() is panel.tree, "a place that was left is remembered"


def test_redo_has_both_usual_keys_and_the_help_says_the_same(window: MainWindow) -> None:
    keys = [each.toString() for each in window.actions_by_id["redo"].shortcuts()]
    assert keys == ["Ctrl+Shift+Z", "Ctrl+Y"]
    page = (help_dir() / "keys.md").read_text(encoding="utf-8")
    assert f"| Redo | {', '.join(keys)} |" in page


def test_one_key_goes_from_part_to_part(qtbot: QtBot, window: MainWindow) -> None:
    window.activateWindow()
    window.place_strip.buttons["answer"].setFocus()
    parts = (window.models_panel, window.targets_panel, window.places)
    for part in parts:
        window.actions_by_id["next_part"].trigger()
        assert part.isAncestorOf(window.focusWidget())
    window.actions_by_id["previous_part"].trigger()
    assert window.targets_panel.isAncestorOf(window.focusWidget())
