from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QListWidget, QTableView, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.settings import Settings
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.actions import ACTIONS
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.message_list import MessageList
from ctm_gui.window.messages import MessageLog
from ctm_gui.window.session import remembered_options
from ctm_gui.window.status_line import time_left
from ctm_gui.window.workspace import Workspace
from predictor.core.units import LatencyUnit

MakeModel = Callable[..., Path]
Settle = Callable[[Workspace], None]
CONTROL = Qt.KeyboardModifier.ControlModifier


def mime(paths: Sequence[Path]) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drag(window: MainWindow, data: QMimeData) -> bool:
    """Drag over the window as the system does; whether it would take the drop."""
    event = QDragEnterEvent(
        QPoint(50, 50),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(window, event)
    return event.isAccepted()


def name_of(widget: QWidget) -> str:
    """What a screen reader says: its own name or words, or those of the control that it is in."""
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    inside = widget.parentWidget()
    return widget.accessibleName() or text or (inside.accessibleName() if inside else "")


def latencies(workspace: Workspace) -> list[float | None]:
    return [row.prediction.latency_ms for row in workspace.comparison.rows]


def names(workspace: Workspace) -> list[str]:
    return [entry.name for entry in workspace.shelf.entries]


@pytest.mark.usefixtures("damaged_engine")
def test_that_another_engine_stands_in_is_said_above_the_tabs_with_the_reason(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    notice = window.noticed.notice
    assert not notice.isVisible()
    window.open_paths([str(make_model())])
    settle(workspace)
    assert notice.isVisible()
    assert "The learned engine is not used" in notice.text()
    assert "head.onnx is not the file that belongs to it" in notice.text()
    assert notice.text().endswith("All numbers are estimates of the roofline engine.")
    workspace.shelf.remove([0])
    settle(workspace)
    assert not notice.isVisible()


def test_with_the_usual_engine_there_is_no_notice(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    window.open_paths([str(make_model())])
    settle(workspace)
    assert workspace.comparison.predicted
    assert not window.noticed.notice.isVisible()


def test_dropped_files_and_folders_become_predictions(
    window: MainWindow,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Settle,
    drop_files: Callable[[MainWindow, list[Path]], None],
    tmp_path: Path,
) -> None:
    one = make_model("one.onnx")
    make_model("folder/two.onnx", layers=3)
    make_model("folder/deep/three.onnx", layers=4)
    drop_files(window, [one, tmp_path / "folder"])
    settle(workspace)
    assert names(workspace) == ["one.onnx", "two.onnx", "three.onnx"]
    rows = workspace.comparison.rows
    assert len(rows) == 3 * 3
    assert [row.model_label for row in rows[::3]] == names(workspace)
    assert all(latency is not None and latency > 0 for latency in latencies(workspace))
    shown = window.central.compare_view.findChild(QTableView)
    assert shown is not None
    assert shown.model().rowCount() == 9


def test_a_drag_is_shown_until_it_leaves(window: MainWindow, make_model: MakeModel) -> None:
    data = mime([make_model()])
    assert drag(window, data)
    assert window.overlay.isVisible()
    assert window.overlay.size() == window.size()
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not window.overlay.isVisible()


def test_text_that_is_dragged_is_not_taken(window: MainWindow) -> None:
    data = QMimeData()
    data.setText("model.onnx")
    assert not drag(window, data)
    assert not window.overlay.isVisible()


def test_only_the_window_itself_takes_drops(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model(batch="batch"))])  # adds a box for its dimension
    settle(workspace)
    takers = [widget for widget in window.findChildren(QWidget) if widget.acceptDrops()]
    assert takers == []
    assert window.acceptDrops()


def test_units_reach_the_views_and_are_remembered(
    window: MainWindow, workspace: Workspace, tmp_path: Path
) -> None:
    window.places.unit_box.setCurrentText("FPS")
    window.close()
    assert Settings(tmp_path / "window.ini").get(table.UNIT) == LatencyUnit.FPS.value


def test_a_row_leads_to_its_operators(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model("a.onnx")), str(make_model("b.onnx", layers=5))])
    settle(workspace)
    assert window.central.explanation.table is None  # nobody looked yet
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.central.compare_view.row_activated.emit(4)  # second model, second target
    assert window.page.id == "why"
    assert window.central.explanation.choice == (1, 1)
    assert window.central.explanation.table is not None
    assert len(window.central.explanation.table.names) == 5
    latency = workspace.comparison.rows[4].prediction.latency_ms
    assert float(window.central.explanation.table.latency_ms.sum()) == pytest.approx(latency)


def test_the_explanation_follows_the_current_model(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model("a.onnx")), str(make_model("b.onnx", layers=5))])
    settle(workspace)
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.show_page("operators")
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.models_panel.set_current_row(1)
    assert window.central.explanation.table is not None
    assert len(window.central.explanation.table.names) == 5
    workspace.shelf.remove([0, 1])
    settle(workspace)
    assert window.central.explanation.table is None
    assert window.central.explanation.message


def test_a_session_is_restored(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    tmp_path: Path,
) -> None:  # fmt: skip
    path = make_model("kept.onnx")
    window.open_paths([str(path)])
    settle(workspace)
    window.resize(1000, 620)
    window.show_page("operators")
    window.options.set_budget_ms(12.5)
    chosen = workspace.selection.devices[7].id
    workspace.selection.select(workspace.selection.selected_ids, selected=False)
    workspace.selection.select([chosen], selected=True)
    window.close()
    settings = Settings(tmp_path / "window.ini")
    assert settings.get(table.TARGETS) == [chosen]
    assert settings.get(table.RECENT) == [str(path)]
    again = MainWindow(workspace, settings, remembered_options(settings))
    qtbot.addWidget(again)
    assert again.height() == 620  # the offscreen screen, 800 x 800, keeps the width smaller
    assert again.page.id == "why"
    assert settings.get(table.BUDGET_MS) == 12.5


def test_settings_that_cannot_be_written_do_not_keep_the_window_open(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "folder.ini").mkdir()
    window = MainWindow(workspace, Settings(tmp_path / "folder.ini"), ViewOptions())
    qtbot.addWidget(window)
    assert window.close()
    assert "folder.ini" in workspace.messages.messages[-1].text


def test_recent_files_open_again(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    window.open_paths([str(make_model("first.onnx"))])
    settle(workspace)
    workspace.shelf.remove([0])
    window.recent_menu.aboutToShow.emit()
    texts = [action.text() for action in window.recent_menu.actions() if action.text()]
    assert len(texts) == 2
    assert texts[0].endswith("first.onnx")
    window.recent_menu.actions()[0].trigger()
    settle(workspace)
    assert names(workspace) == ["first.onnx"]
    window.recent_menu.actions()[-1].trigger()
    window.recent_menu.aboutToShow.emit()
    assert [action.text() for action in window.recent_menu.actions()] == ["No file yet"]


def test_undo_is_in_the_menu_with_its_words(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    window.open_paths([str(make_model("gone.onnx"))])
    settle(workspace)
    undo = window.actions_by_id["undo"]
    assert undo.text() == "&Undo Open gone.onnx"
    workspace.shelf.remove([0])
    settle(workspace)
    assert latencies(workspace) == []
    assert undo.isEnabled()
    assert undo.text() == "&Undo Remove gone.onnx"
    undo.trigger()
    settle(workspace)
    assert names(workspace) == ["gone.onnx"]
    assert len(latencies(workspace)) == 3


def test_find_goes_to_the_box_of_the_view_with_the_focus(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    window.open_paths([str(make_model())])
    settle(workspace)
    window.activateWindow()
    window.targets_panel.tree.setFocus()
    qtbot.keyClick(window.targets_panel.tree, Qt.Key.Key_F, CONTROL)
    assert window.focusWidget() is window.targets_panel.search_box
    window.central.compare_view.table.setFocus()
    qtbot.keyClick(window.central.compare_view.table, Qt.Key.Key_F, CONTROL)
    assert window.focusWidget() is window.central.compare_view.table.search_box
    window.show_page("operators")
    qtbot.waitUntil(lambda: window.central.explanation.table is not None)
    window.central.operators_view.table.setFocus()
    qtbot.keyClick(window.central.operators_view.table, Qt.Key.Key_F, CONTROL)
    assert window.focusWidget() is window.central.operators_view.table.search_box


def test_f6_goes_into_a_search_and_a_table_and_never_to_a_button_that_space_would_press(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    window.open_paths([str(make_model())])
    settle(workspace)
    with qtbot.waitActive(window):
        window.activateWindow()
    window.targets_panel.none_button.setFocus()
    for _ in range(4):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
    assert window.targets_panel.search_box.hasFocus()
    table = window.central.compare_view.table
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
    assert table.hasFocus()
    qtbot.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(window.central.operators_view.table.hasFocus)
    assert window.page.id == "why"


def test_copy_copies_what_has_the_focus(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    window.open_paths([str(make_model())])
    settle(workspace)
    window.targets_panel.search_box.setText("nvidia")
    window.targets_panel.search_box.setFocus()
    window.select_all()
    window.copy()
    assert QGuiApplication.clipboard().text() == "nvidia"
    window.central.compare_view.table.setFocus()
    window.select_all()
    window.copy()
    assert QGuiApplication.clipboard().text().count("chain.onnx") == 3


def test_errors_are_in_the_status_bar_and_the_list(
    window: MainWindow, workspace: Workspace, settle: Settle, tmp_path: Path
) -> None:
    (tmp_path / "bad.onnx").write_text("nothing")
    window.open_paths([str(tmp_path / "bad.onnx")])
    settle(workspace)
    sentence = workspace.messages.messages[-1].text
    assert "bad.onnx" in sentence
    assert window.status_line.message.toolTip() == sentence
    assert window.status_line.messages_button.text() == "Messages (1 error)"
    assert not window.message_list.isVisible()
    window.status_line.messages_button.click()
    assert window.message_list.isVisible()
    assert window.actions_by_id["messages"].isChecked()
    window.message_list.copy()  # all of them, as none is selected
    assert sentence in QGuiApplication.clipboard().text()


def test_the_newest_message_stays_in_view_when_the_list_gets_lower(qtbot: QtBot) -> None:
    words = MessageLog()
    for number in range(40):
        words.info(f"message {number}")
    messages = MessageList(ViewOptions(), words)
    qtbot.addWidget(messages)
    messages.resize(400, 300)
    messages.show()
    bar = messages.findChild(QListWidget).verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    messages.resize(400, 150)
    qtbot.waitUntil(lambda: bar.pageStep() < 150)
    assert bar.value() == bar.maximum()
    bar.setValue(0)
    messages.resize(400, 120)
    assert bar.value() == 0


def test_stopping_takes_everything_unread_off_the_list(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    paths = [str(make_model(f"m{number}.onnx")) for number in range(30)]
    workspace.shelf.add(paths)
    assert window.actions_by_id["cancel"].isEnabled()
    window.actions_by_id["cancel"].trigger()
    assert names(workspace) == []
    settle(workspace)
    assert not window.actions_by_id["cancel"].isEnabled()
    window.open_paths(paths[:1])
    settle(workspace)
    assert len(latencies(workspace)) == 3


def test_counts_are_in_the_status_bar(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    counts = window.status_line.counts
    assert counts.text() == "0 models · 3 targets"
    window.open_paths([str(make_model())])
    settle(workspace)
    qtbot.waitUntil(lambda: counts.text().startswith("1 model · 3 targets · 3 predictions in"))


def test_the_time_left_follows_the_rate_so_far() -> None:
    assert time_left(1.0, 5, 5) == ""  # too early to tell
    assert time_left(10.0, 0, 5) == ""
    assert time_left(10.0, 4, 6) == "about 15 s left"


def test_every_control_has_a_name_and_is_reached_by_keyboard(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    window.open_paths([str(make_model(batch="batch"))])
    settle(workspace)
    for page in ("compare", "operators"):
        window.show_page(page)
        nameless = [
            widget
            for widget in window.findChildren(QWidget)
            if widget.isVisibleTo(window)
            and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not name_of(widget)
        ]
        assert nameless == []
    buttons = [b for b in window.findChildren(QAbstractButton) if b.isVisibleTo(window)]
    unreachable = [
        b.text() for b in buttons if b.text() and b.focusPolicy() == Qt.FocusPolicy.NoFocus
    ]
    assert unreachable == []


def test_no_two_actions_share_their_keys(window: MainWindow) -> None:
    keys = [
        action.shortcut().toString()
        for action in window.actions_by_id.values()
        if not action.shortcut().isEmpty()
    ]
    assert len(keys) == len(set(keys))
    assert len({spec.id for spec in ACTIONS}) == len(ACTIONS)
    in_menus = {a for menu in window.menuBar().actions() for a in menu.menu().actions()}
    assert set(window.actions_by_id.values()) <= in_menus


def test_a_view_that_is_shown_right_after_a_change_has_the_theme(window: MainWindow) -> None:
    canvas = window.central.graph_view.canvas
    for theme in (DARK, LIGHT, DARK):
        window.show_page("compare")
        window.options.set_theme(theme)
        window.show_page("graph")
        assert canvas.backgroundBrush().color().name() == theme.surface
