"""This machine in the window: first at the start, measured beside its first prediction."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from ctm_gui.application import Application
from ctm_gui.devices import this_machine as subject
from ctm_gui.probing.presenter import ProbingPresenter
from ctm_gui.targets.tree_model import Column
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.errors import HostError, InputError
from predictor.core.prediction import Prediction
from predictor.core.progress import CancelToken, Progress, ProgressCallback
from predictor.core.records import Basis, SustainedRates
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.devices.schema import DeviceFile
from predictor.services.devices.catalogue import DEFAULT_DEVICE_IDS
from predictor.services.devices.this_machine import MachineRates, describe_this_machine, lacks_rates
from predictor.services.history.history import open_history
from predictor.services.probing.other_load import OtherLoad, OtherPrograms
from predictor.services.probing.quick import (
    QUICK_S,
    Obstacle,
    QuickProbing,
    Refusal,
    probe_quickly,
)
from predictor.services.signatures.quick import has_signature
from tests.support.heartbeat import LIMIT_MS, Heartbeat
from tests.support.quick_probing import OneBlock, store_rates

WAIT_MS = 30_000
RATES = SustainedRates(20.0, 0.1, 0.35, "2026-01-31")
LOAD = Refusal(Obstacle.LOAD, "Other programs use 1.9 of 2 cores (make 1.9).")


class Measuring:
    """Stands for ``probe_quickly``: reports seconds until it is let go, then returns ``outcome``.

    Attributes:
        calls: number of calls.
        outcome: an error is raised.
        is_released: whether it ends.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self.calls = 0
        self.outcome: QuickProbing | Refusal | HostError | None = None
        self.is_released = False
        self.ended_s = 0.0

    def __call__(
        self, _: Path | None, cancel: CancelToken, progress: ProgressCallback
    ) -> QuickProbing | Refusal:
        self.calls += 1
        machine = describe_this_machine()
        MachineRates(self._store).keep(machine, RATES)
        try:
            progress(Progress(3, QUICK_S, "seconds of measuring this machine"))
            while not self.is_released:
                cancel.check()
                time.sleep(0.01)
        finally:
            self.ended_s = time.monotonic()
        if isinstance(self.outcome, HostError):
            raise self.outcome
        return self.outcome or QuickProbing(
            device=machine, signature_ids=("s",), networks=5, seconds=9.4
        )


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch, store: Path) -> Measuring:
    """A machine that was never measured, and measuring that ends when the test says so."""
    made = Measuring(store)
    monkeypatch.setattr("predictor.services.signatures.quick.has_signature", lambda *_: False)
    monkeypatch.setattr("predictor.services.probing.quick.probe_quickly", made)
    monkeypatch.setattr(subject, "SETTLE_S", 0.0)
    return made


@pytest.fixture
def opened(
    qtbot: QtBot,
    window: MainWindow,
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> MainWindow:
    """A window with a model and this machine described, wide enough for the targets."""
    window.resize(1400, 900)
    qtbot.waitUntil(lambda: workspace.library.machine is not None, timeout=WAIT_MS)
    workspace.open_paths([str(make_model())])
    settle(workspace)
    return window


def of_this_machine(workspace: Workspace) -> list[Prediction]:
    rows = (row.prediction for row in workspace.comparison.rows)
    return [prediction for prediction in rows if prediction.device_id == THIS_MACHINE_ID]


def tick(qtbot: QtBot, window: MainWindow) -> None:
    """Tick this machine by a click on its box, which is in the first row of the tree."""
    tree = window.targets_panel.tree
    tree.scrollToTop()
    tree.setCurrentIndex(tree.model().index(0, Column.NAME))
    tree.setFocus()
    qtbot.keyClick(tree, Qt.Key.Key_Space)


def click(qtbot: QtBot, button: QPushButton) -> None:
    assert button.isVisible()
    assert button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def stored(store: Path) -> set[str]:
    with open_history(store) as history:
        return {entry.device.id for entry in history.devices.all()}


def wait_until_stored(qtbot: QtBot, workspace: Workspace) -> None:
    def is_stored() -> bool:
        machine = workspace.library.machine
        return machine is not None and bool(machine.stored_id)

    qtbot.waitUntil(is_stored, timeout=WAIT_MS)


def test_it_is_the_first_target_and_not_stored_by_being_shown(
    opened: MainWindow, workspace: Workspace, store: Path
) -> None:
    model = opened.targets_panel.model
    first = model.index(0, Column.NAME)
    device = model.device(first)
    assert device is not None
    assert device.id == THIS_MACHINE_ID
    assert str(first.data()).startswith("This PC")
    assert model.device(model.index(1, Column.NAME)) is None, "the groups come below"
    assert workspace.library.entries[0].device.id == THIS_MACHINE_ID
    assert stored(store) == set()


def test_a_first_start_ticks_it_and_a_session_of_before_does_not(
    qtbot: QtBot, make_application: Callable[..., Application]
) -> None:
    application = make_application()
    application.start()
    selection = application.workspace.selection
    qtbot.waitUntil(lambda: THIS_MACHINE_ID in selection.selected_ids, timeout=WAIT_MS)
    assert set(selection.selected_ids) == {*DEFAULT_DEVICE_IDS, THIS_MACHINE_ID}
    assert not application.workspace.undo_stack.canUndo(), "nothing that the user did"
    selection.select([THIS_MACHINE_ID], selected=False)
    application.window.close()
    application.close()

    again = make_application()
    again.start()
    qtbot.waitUntil(lambda: again.workspace.library.machine is not None, timeout=WAIT_MS)
    assert set(again.workspace.selection.selected_ids) == set(DEFAULT_DEVICE_IDS)


@pytest.mark.timing
def test_its_number_stands_at_once_and_another_comes_after_the_measuring(
    qtbot: QtBot,
    opened: MainWindow,
    workspace: Workspace,
    measuring: Measuring,
    settle: Callable[[Workspace], None],
    store: Path,
) -> None:
    heart = Heartbeat()
    heart.start()
    tick(qtbot, opened)
    strip = opened.machine_strip
    qtbot.waitUntil(strip.isVisible, timeout=WAIT_MS)
    assert len(of_this_machine(workspace)) == 1, "the row of facts does not wait"
    qtbot.waitUntil(lambda: strip.words.text() == "Measuring this PC, 7 s", timeout=WAIT_MS)
    assert strip.button.text() == "Cancel"
    assert strip.button.accessibleName() == "Stop measuring this PC"
    qtbot.waitUntil(lambda: opened.status_line.counts.text() == strip.words.text())
    measuring.is_released = True
    settle(workspace)
    qtbot.waitUntil(lambda: not strip.isVisible())
    wait_until_stored(qtbot, workspace)
    settle(workspace)
    stall_ms = heart.stop()

    assert stored(store) == {THIS_MACHINE_ID}
    device = workspace.library.by_id()[THIS_MACHINE_ID]
    assert device.metric("dram_bw_gbps") == 20.0
    assert not lacks_rates(device)
    words = "This PC was measured in 9 s: its rates, 5 reference networks"
    assert words in [message.text for message in workspace.messages.messages]
    assert of_this_machine(workspace)[0].latency_ms
    assert measuring.calls == 1
    assert stall_ms < LIMIT_MS


def test_the_service_itself_makes_its_number_calibrated(
    qtbot: QtBot,
    opened: MainWindow,
    workspace: Workspace,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store_rates(store)
    monkeypatch.setattr("predictor.services.signatures.quick.has_signature", has_signature)
    service = partial(probe_quickly, runner=OneBlock())
    monkeypatch.setattr("predictor.services.probing.quick.probe_quickly", service)
    monkeypatch.setattr("psutil.sensors_battery", lambda: None, raising=False)
    monkeypatch.setattr(OtherPrograms, "since", lambda _: OtherLoad(0.0, 2))
    monkeypatch.setattr(subject, "SETTLE_S", 0.0)
    tick(qtbot, opened)

    def is_probed() -> bool:
        return [row.basis for row in of_this_machine(workspace)] == [Basis.PROBED]

    qtbot.waitUntil(is_probed, timeout=WAIT_MS)
    row = opened.targets_panel.model.index(0, Column.BASIS)
    qtbot.waitUntil(lambda: row.data() == "calibrated")
    assert stored(store) == {THIS_MACHINE_ID}
    assert has_signature(store, describe_this_machine()), "the next session measures nothing"


def test_cancel_ends_it_at_once_and_measure_now_begins_it_again(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, measuring: Measuring, store: Path
) -> None:
    tick(qtbot, opened)
    strip = opened.machine_strip
    qtbot.waitUntil(lambda: strip.words.text().endswith("7 s"), timeout=WAIT_MS)
    cancelled_s = time.monotonic()
    click(qtbot, strip.button)
    assert not workspace.machine.busy
    assert strip.words.text() == "Cancelled: the numbers of this PC stay as they are."
    qtbot.waitUntil(lambda: measuring.ended_s > 0)
    assert measuring.ended_s - cancelled_s < 0.2
    tick(qtbot, opened)
    qtbot.waitUntil(lambda: not strip.isVisible())
    tick(qtbot, opened)
    qtbot.waitUntil(lambda: len(of_this_machine(workspace)) == 1, timeout=WAIT_MS)
    assert measuring.calls == 1, "not again by itself"
    assert strip.button.text() == "Measure Now"
    assert strip.button.accessibleName() == "Measure this PC now"
    measuring.is_released = True
    click(qtbot, strip.button)
    wait_until_stored(qtbot, workspace)
    assert stored(store) == {THIS_MACHINE_ID}
    assert measuring.calls == 2


def test_under_load_the_reason_stands_there_and_the_rates_count(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, measuring: Measuring, store: Path
) -> None:
    measuring.outcome, measuring.is_released = LOAD, True
    tick(qtbot, opened)
    strip = opened.machine_strip
    qtbot.waitUntil(lambda: strip.words.text() == f"Not measured. {LOAD.words}", timeout=WAIT_MS)
    assert strip.button.text() == "Measure Now"
    assert workspace.library.by_id()[THIS_MACHINE_ID].metric("dram_bw_gbps") == 20.0
    assert stored(store) == set()
    assert workspace.messages.error_count == 0


def test_a_failure_is_a_message(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, measuring: Measuring
) -> None:
    measuring.outcome, measuring.is_released = HostError("the runner", "it died", "try"), True
    tick(qtbot, opened)
    words = "Measuring this PC failed: see the messages."
    qtbot.waitUntil(lambda: opened.machine_strip.words.text() == words, timeout=WAIT_MS)
    assert "it died" in workspace.messages.messages[-1].text


def test_a_store_that_cannot_be_read_is_the_reason(
    qtbot: QtBot,
    opened: MainWindow,
    workspace: Workspace,
    measuring: Measuring,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> bool:
        raise InputError("store.db", "is a newer program's", "install that")

    monkeypatch.setattr("predictor.services.signatures.quick.has_signature", refuse)
    tick(qtbot, opened)
    strip = opened.machine_strip
    qtbot.waitUntil(lambda: "a newer program's" in strip.words.text(), timeout=WAIT_MS)
    assert workspace.messages.error_count == 0, "that was said where it was opened"
    assert measuring.calls == 0


def test_the_page_of_devices_says_why_where_the_panels_are_hidden(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, measuring: Measuring
) -> None:
    measuring.outcome, measuring.is_released = LOAD, True
    opened.resize(1000, 700)
    opened.show_page("devices")
    view = opened.central.devices_view
    qtbot.waitUntil(lambda: view.is_built)
    assert not opened.machine_strip.isVisible()
    click(qtbot, view.measure_button)
    qtbot.waitUntil(lambda: not workspace.machine.busy, timeout=WAIT_MS)
    texts = [t.text() for t in view.findChildren(QLabel) if t.isVisible()]
    assert f"Not measured. {LOAD.words}" in texts
    assert not view.cancel_button.isVisible()


def test_no_measuring_while_a_probing_runs(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, measuring: Measuring
) -> None:
    machine = workspace.machine
    tick(qtbot, opened)
    qtbot.waitUntil(lambda: machine.state.endswith("7 s"), timeout=WAIT_MS)
    machine.set_probing(active=True)
    assert not machine.busy
    machine.measure()
    assert not machine.busy
    machine.set_probing(active=False)
    workspace.selection.select(["rpi5"], selected=True)
    qtbot.waitUntil(lambda: measuring.calls == 2, timeout=WAIT_MS)


def test_a_run_of_the_wizard_holds_it_back(
    presenter: ProbingPresenter, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[bool] = []
    monkeypatch.setattr(workspace.machine, "set_probing", lambda *, active: states.append(active))
    for is_active in (True, False):
        monkeypatch.setattr(type(presenter.run), "active", property(lambda _, now=is_active: now))
        presenter.run.changed.emit()
    assert states == [True, False]


def test_closing_ends_it(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, measuring: Measuring
) -> None:
    tick(qtbot, opened)
    qtbot.waitUntil(lambda: workspace.machine.state.endswith("7 s"), timeout=WAIT_MS)
    started_s = time.monotonic()
    workspace.machine.close()
    assert measuring.ended_s - started_s < 0.2


def test_what_was_measured_before_is_not_measured_again(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, settle: Callable[[Workspace], None]
) -> None:
    states: list[str] = []
    workspace.machine.changed.connect(lambda: states.append(workspace.machine.state))
    tick(qtbot, opened)
    settle(workspace)
    assert len(of_this_machine(workspace)) == 1
    assert set(states) == {""}


def test_nothing_is_measured_where_the_user_does_not_want_it(
    qtbot: QtBot,
    opened: MainWindow,
    workspace: Workspace,
    measuring: Measuring,
    settle: Callable[[Workspace], None],
) -> None:
    workspace.machine.is_automatic = False
    tick(qtbot, opened)
    settle(workspace)
    assert len(of_this_machine(workspace)) == 1
    assert measuring.calls == 0


@pytest.fixture
def rated(store: Path) -> None:
    """Rates of this hardware from an earlier run."""
    MachineRates(store).keep(describe_this_machine(), RATES)


def test_rates_of_an_earlier_run_are_its_facts(
    rated: None, opened: MainWindow, workspace: Workspace
) -> None:
    assert workspace.library.by_id()[THIS_MACHINE_ID].metric("dram_bw_gbps") == 20.0


def test_a_description_of_another_machine_makes_room_for_this_one(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace, store: Path
) -> None:
    library = workspace.library
    detected = describe_this_machine()
    file = DeviceFile(replace(detected, name="This machine (Core of before)"))
    with open_history(store) as history:
        history.devices.save(file)
    library.load()
    qtbot.waitUntil(lambda: len(stored(store)) == 1 and "this-machine-2" in library.by_id())
    assert library.entries[0].device.name == detected.name
    assert library.by_id()["this-machine-2"].name == file.device.name
    assert stored(store) == {THIS_MACHINE_ID}, "a look changes nothing in the store"

    entry = library.entries[0]
    library.save(entry.key, replace(entry.file, device=replace(entry.device, notes="mine")))
    qtbot.waitUntil(lambda: stored(store) == {THIS_MACHINE_ID, "this-machine-2"}, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: library.entries[0].device.notes == "mine", timeout=WAIT_MS)
    assert library.by_id()["this-machine-2"].name == file.device.name


def test_the_palette_finds_and_ticks_it(
    qtbot: QtBot, opened: MainWindow, workspace: Workspace
) -> None:
    processor = describe_this_machine().name.removeprefix("This PC (").removesuffix(")")
    typed = ("this pc", "my machine", "my pc", "this machine", "my computer", processor)
    for words in ("", *typed):
        palette = opened.assistance.show_palette()
        qtbot.keyClicks(palette.edit, words)
        item = palette.list.topLevelItem(0)
        assert item is not None
        assert item.text(0).startswith("Targets: This PC"), words
        palette.close()
    opened.targets_panel.search_box.setText("raspberry")
    palette = opened.assistance.show_palette()
    qtbot.keyClicks(palette.edit, "my pc")
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: THIS_MACHINE_ID in workspace.selection.selected_ids)
    tree = opened.targets_panel.tree
    qtbot.waitUntil(lambda: opened.focusWidget() is tree)
    assert tree.currentIndex().row() == 0
    assert opened.targets_panel.search_box.text() == "", "the search left it out"


def test_the_search_of_the_tree_finds_it(qtbot: QtBot, opened: MainWindow) -> None:
    panel = opened.targets_panel
    for words in ("this pc", "my machine", "my pc", "this machine", "my computer"):
        panel.search_box.setText(words)
        assert panel.model.visible_device_ids() == [THIS_MACHINE_ID]
