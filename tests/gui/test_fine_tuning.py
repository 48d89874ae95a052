"""Fine-tuning from the result page: a real child process, kept, undone, refused, cancelled."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from pytestqt.qtbot import QtBot

from ctm_gui.presenters import fine_tuning
from ctm_gui.presenters.fine_tuning import state_words
from ctm_gui.presenters.probing import ProbingDesk
from ctm_gui.presenters.workspace import Workspace
from ctm_gui.theme import LIGHT
from ctm_gui.wizard.fine_tune_dialog import FineTuneDialog
from ctm_gui.wizard.window import ProbingWizard
from predictor.core.records import Configuration
from predictor.services.probing import open_probing
from predictor.services.probing_plan import probe_target
from predictor.services.signature_film import Adaptations
from tests.gui.accessible import faint, nameless, out_of_order, same_keys
from tests.gui.test_probing_wizard import WAIT_MS, cells, click, signed, titles

ROOT = Path(__file__).parents[2]
# One that is out of line by far: what is fine-tuned errs less than half as much.
LATENCIES_MS = [2.0, 400.0, 3.0]
SHIPPED, TUNED = "posterior", "FiLM and posterior"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store" / "store.db"


@pytest.fixture
def desk(workspace: Workspace, store: Path) -> Iterator[ProbingDesk]:
    desk = ProbingDesk(store, workspace)
    yield desk
    desk.close()


@pytest.fixture
def show(
    desk: ProbingDesk, store: Path, workspace: Workspace, qtbot: QtBot
) -> Iterator[Callable[[list[float]], ProbingWizard]]:
    """Show the signature of some latencies; the wizard is deleted on this thread."""
    made: list[ProbingWizard] = []

    def make(latency_ms: list[float]) -> ProbingWizard:
        target = probe_target(workspace.library.entries[0].device, 1)
        signed(store, target.device.id, target.configuration, latency_ms)
        wizard = ProbingWizard(desk)
        made.append(wizard)
        wizard.set_theme(LIGHT)
        wizard.show()
        qtbot.waitUntil(lambda: wizard.is_built)
        qtbot.waitUntil(wizard.stored_button.isEnabled, timeout=WAIT_MS)
        click(qtbot, wizard.stored_button)
        fit = wizard.result_page.fit
        odd = "median error" if len(latency_ms) > 1 else ""
        qtbot.waitUntil(lambda: odd in fit.text() and "Working" not in fit.text(), timeout=WAIT_MS)
        return wizard

    yield make
    for wizard in made:
        wizard.close()
        wizard.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def dialog_of(wizard: ProbingWizard, qtbot: QtBot) -> FineTuneDialog:
    click(qtbot, wizard.result_page.tune_button)
    (dialog,) = (d for d in wizard.result_page.findChildren(FineTuneDialog) if d.isVisible())
    return dialog


def adapted(wizard: ProbingWizard) -> list[str]:
    page = wizard.result_page
    return cells(page.signatures, titles(page.signatures).index("Adapted by"))


def children_that_tune() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if "predictor.training.film_child" in child.cmdline():
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def test_what_is_better_is_kept_and_can_be_undone(
    show: Callable[[list[float]], ProbingWizard],
    desk: ProbingDesk,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wizard = show(LATENCIES_MS)
    page = wizard.result_page
    assert adapted(wizard) == [SHIPPED]
    dialog = dialog_of(wizard, qtbot)
    assert [check(dialog) for check in (nameless, out_of_order, same_keys, faint)] == [
        [],
        [],
        {},
        [],
    ]
    assert cells(dialog.table, 2) == ["—"] * 3
    said: list[str] = []
    desk.tuning.changed.connect(lambda: said.append(state_words(desk.tuning)))

    click(qtbot, dialog.start_button)
    assert dialog.close_button.text() == "Cancel"
    assert dialog.close_button.hasFocus() or not dialog.isActiveWindow()
    qtbot.waitUntil(lambda: not desk.tuning.active, timeout=WAIT_MS)

    assert dialog.state.text().startswith("Kept: each network predicted from the others")
    assert said[0] == "Loading torch…"
    assert "1 of 4 fits are done…" in said
    assert (dialog.progress_bar.value(), dialog.progress_bar.maximum()) == (4, 4)
    assert "—" not in cells(dialog.table, 2) + cells(dialog.table, 3)
    assert "fine-tuned" in cells(dialog.table, 4)
    qtbot.waitUntil(lambda: adapted(wizard) == [TUNED, SHIPPED], timeout=WAIT_MS)
    assert "FiLM of the network fine-tuned to it" in page.words.text()
    assert not page.tune_button.isEnabled()
    assert "fine-tuned already" in page.tune_button.toolTip()
    assert desk.undo_stack.undoText().startswith("Fine-Tune to ")
    found = desk.tuning.found
    assert found is not None
    click(qtbot, dialog.close_button)

    desk.undo_stack.undo()
    qtbot.waitUntil(lambda: adapted(wizard) == [SHIPPED], timeout=WAIT_MS)
    assert page.tune_button.isEnabled()
    desk.undo_stack.redo()
    qtbot.waitUntil(lambda: adapted(wizard) == [TUNED, SHIPPED], timeout=WAIT_MS)
    desk.undo_stack.undo()
    qtbot.waitUntil(lambda: adapted(wizard) == [SHIPPED], timeout=WAIT_MS)

    # The same figures the other way round: fine-tuned is worse.
    worse = replace(found, by_posterior=found.by_film, by_film=found.by_posterior)
    not_kept(wizard, desk, qtbot, worse, monkeypatch)


def not_kept(
    wizard: ProbingWizard,
    desk: ProbingDesk,
    qtbot: QtBot,
    worse: Adaptations,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fine_tuning, "_adaptations", lambda *_: worse)
    before = desk.undo_stack.count(), desk.undo_stack.index()
    dialog = dialog_of(wizard, qtbot)
    click(qtbot, dialog.start_button)
    qtbot.waitUntil(lambda: not desk.tuning.active, timeout=WAIT_MS)
    assert dialog.state.text().startswith("Not kept, as it is no better: ")
    assert (desk.undo_stack.count(), desk.undo_stack.index()) == before
    assert adapted(wizard) == [SHIPPED]
    assert not dialog.start_button.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)


def test_a_cancel_ends_the_child_and_changes_nothing(
    show: Callable[[list[float]], ProbingWizard], desk: ProbingDesk, store: Path, qtbot: QtBot
) -> None:
    dialog = dialog_of(show(LATENCIES_MS), qtbot)

    for stop in (
        lambda: click(qtbot, dialog.close_button),
        lambda: qtbot.keyClick(dialog, Qt.Key.Key_Escape),
    ):
        click(qtbot, dialog.start_button)
        qtbot.waitUntil(lambda: bool(children_that_tune()), timeout=WAIT_MS)
        (child,) = children_that_tune()
        stop()
        assert not desk.tuning.active
        assert state_words(desk.tuning) == "Cancelled. Nothing was changed."
        psutil.wait_procs([child], timeout=WAIT_MS / 1000)
        assert not child.is_running()

    assert desk.undo_stack.count() == 0
    with open_probing(store) as probing:
        assert len(probing.signatures.every()) == 1


def test_why_it_is_not_offered_is_said(
    show: Callable[[list[float]], ProbingWizard],
    desk: ProbingDesk,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wizard = show([50.0, 60.0])
    page = wizard.result_page
    assert not page.tune_button.isEnabled()
    assert page.tune_button.toolTip() == (
        "The signature has 2 networks, fewer than 3: probe more networks"
    )
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "torch" else find(name)
    )
    desk.shelf.sessions_changed.emit()
    assert page.tune_button.toolTip() == (
        "Torch is not installed: install CloserToMe by pip with its train extra, closertome[train]"
    )
    assert not page.tune_button.isEnabled()


def test_a_program_without_torch_says_what_to_install(store: Path, tmp_path: Path) -> None:
    """A process with every package of this one, except torch."""
    assert importlib.util.find_spec("torch") is not None
    packages = tmp_path / "packages"
    packages.mkdir()
    for folder in {Path(p) for p in sys.path if p.endswith("-packages")}:
        for each in folder.iterdir():
            if not each.name.startswith("torch") and not (packages / each.name).exists():
                (packages / each.name).symlink_to(each)
    store.parent.mkdir()
    signed(store, "rpi5", Configuration("onnxruntime", threads=1, batch=1), [50.0, 60.0, 70.0])
    done = subprocess.run(
        [sys.executable, "-S", "-m", "predictor.cli", "probe", "adapt", "5", "--store", str(store)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(packages)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "torch is not installed; install CloserToMe by pip with its train extra" in done.stderr
    assert "Traceback" not in done.stderr
