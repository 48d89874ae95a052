"""Every control has a name, an order that is read, and keys; so do those of dialogs and wizard."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ctm_gui.actions import ACTIONS
from ctm_gui.presenters.probing import ProbingDesk
from ctm_gui.presenters.workspace import Workspace
from ctm_gui.views.about import show_about
from ctm_gui.views.crash import CrashDialog
from ctm_gui.views.main_window import MainWindow
from ctm_gui.views.tab_places import DEVICES_TAB
from ctm_gui.wizard.window import ProbingWizard
from predictor.core.resources import resources_dir

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


@pytest.fixture
def full_window(qtbot: QtBot, window: MainWindow, workspace: Workspace) -> MainWindow:
    """The window with models, so that every view has its controls."""
    window.resize(1400, 900)
    assert window.central.is_built
    window.open_paths([str(p) for p in sorted((resources_dir() / "samples").glob("*.onnx"))[:2]])
    qtbot.waitUntil(lambda: len(workspace.shelf.entries) == 2)
    qtbot.waitUntil(lambda: workspace.settled, timeout=30_000)
    window.toggle_messages()
    return window


def test_the_checks_see_what_is_wrong(qtbot: QtBot) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    column = QVBoxLayout(dialog)
    lower, upper, edit = QPushButton("&Lower"), QPushButton("&Lift"), QLineEdit()
    column.addWidget(upper)
    column.addWidget(lower)
    column.addWidget(edit)
    QWidget.setTabOrder(lower, upper)
    dialog.show()
    assert nameless(dialog) == ["QLineEdit in QDialog"]
    assert out_of_order(dialog) == ["Lower -> Lift in QDialog"]
    assert list(same_keys(dialog)) == ["Alt+L"]


def test_every_view_names_its_controls_is_read_in_order_and_has_keys_of_its_own(
    qtbot: QtBot, full_window: MainWindow
) -> None:
    window = full_window
    wrong: dict[str, object] = {}
    for index in range(window.tabs.count()):
        window.show_tab(index)
        if index == DEVICES_TAB:
            qtbot.waitUntil(lambda: window.central.devices_view.is_built)
            window.central.devices_view.pages.setCurrentIndex(1)
            window.central.devices_view.pages.setCurrentIndex(2)
        wrong[f"{window.tabs.tabText(index)}: order"] = out_of_order(window)
        wrong[f"{window.tabs.tabText(index)}: keys"] = same_keys(window)
    wrong["names"] = nameless(window)
    assert len(controls(window)) > 50
    assert not {what: found for what, found in wrong.items() if found}


def test_the_start_page_is_named_and_in_order(qtbot: QtBot, window: MainWindow) -> None:
    assert not nameless(window.first_view)
    assert not out_of_order(window.first_view)
    assert len(controls(window.first_view.start)) == 7


def test_dialogs_name_their_controls_and_are_read_in_order(
    qtbot: QtBot, window: MainWindow
) -> None:
    help_window = window.assistance.show_help("index")
    crash = CrashDialog(window)
    crash.open()
    dialogs = (
        window.assistance.show_settings(),
        window.assistance.show_palette(),
        help_window,
        show_about(window),
        crash,
    )
    found = {
        type(dialog).__name__: (nameless(dialog), out_of_order(dialog), same_keys(dialog))
        for dialog in dialogs
    }
    assert all(controls(dialog) for dialog in dialogs)
    for dialog in dialogs:
        dialog.close()
    assert not {name: wrong for name, wrong in found.items() if any(wrong)}


def test_the_wizard_names_its_controls_and_is_read_in_order(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path
) -> None:
    desk = ProbingDesk(tmp_path / "store" / "store.db", workspace)
    wizard = ProbingWizard(desk)
    qtbot.addWidget(wizard)
    wizard.show()
    qtbot.waitUntil(lambda: wizard.is_built)
    wrong: dict[str, object] = {"names": nameless(wizard)}
    for page in range(wizard.pages.count()):
        wizard.show_page(page)
        wrong[f"page {page}: order"] = out_of_order(wizard)
        wrong[f"page {page}: keys"] = same_keys(wizard)
    wizard.close()
    desk.close()
    assert not {what: found for what, found in wrong.items() if found}


def test_every_action_is_in_a_menu_with_a_letter_of_its_own(window: MainWindow) -> None:
    in_menus: set[str] = set()
    for title in window.menuBar().actions():
        menu = title.menu()
        assert isinstance(menu, QMenu)
        entries: list[QAction] = [entry for entry in menu.actions() if not entry.isSeparator()]
        in_menus |= {entry.objectName() for entry in entries}
        letters = Counter(mnemonic(entry.text()) for entry in entries)
        assert "" not in letters, f"{title.text()}: an entry without a letter"
        assert not [letter for letter, count in letters.items() if count > 1], title.text()
    assert {spec.id for spec in ACTIONS} <= in_menus


def mnemonic(text: str) -> str:
    found = re.search(r"&([^&])", text.replace("&&", ""))
    return found[1].casefold() if found else ""
