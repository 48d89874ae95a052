"""Fine-tuning from the result page: a real child process, kept, undone, refused, cancelled."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ctm_gui.probing import fine_tuning
from ctm_gui.probing.dialogs import FineTuneDialog
from ctm_gui.probing.fine_tuning import state_words
from ctm_gui.probing.presenter import ProbingPresenter
from ctm_gui.probing.wizard import ProbingWizard
from ctm_gui.widgets.theme import DARK, LIGHT, Theme
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Configuration
from predictor.services.probing.open import open_probing
from predictor.services.probing.plan import probe_target
from predictor.services.signatures.film import Adaptations
from tests.support.accessible import faint, nameless, out_of_order, same_keys
from tests.support.wizard import WAIT_MS, cells, click, signed, titles

ROOT = Path(__file__).parents[3]
LATENCIES_MS = [2.0, 400.0, 3.0]
SHIPPED, TUNED = "posterior", "FiLM and posterior"


@pytest.fixture
def show(
    make_wizard: Callable[[], ProbingWizard], store: Path, workspace: Workspace, qtbot: QtBot
) -> Callable[[list[float]], ProbingWizard]:
    """Show the signature of some latencies."""

    def make(latency_ms: list[float]) -> ProbingWizard:
        target = probe_target(workspace.library.entries[0].device, 1)
        signed(store, target.device.id, target.configuration, latency_ms)
        wizard = make_wizard()
        qtbot.waitUntil(wizard.stored_button.isEnabled, timeout=WAIT_MS)
        click(qtbot, wizard.stored_button)
        fit = wizard.result_page.fit
        odd = "median error" if len(latency_ms) > 1 else ""
        qtbot.waitUntil(lambda: odd in fit.text() and "Working" not in fit.text(), timeout=WAIT_MS)
        return wizard

    return make


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
            if "predictor.network.film_tuning.child" in child.cmdline():
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_dialog_is_named_in_order_and_readable(
    show: Callable[[list[float]], ProbingWizard], qapp: QApplication, qtbot: QtBot, theme: Theme
) -> None:
    apply_theme(qapp, theme)
    dialog = dialog_of(show(LATENCIES_MS), qtbot)
    checks = (nameless, out_of_order, same_keys, faint)
    assert [found for check in checks if (found := check(dialog))] == []
    assert cells(dialog.table, 2) == ["—"] * 3


def test_what_came_of_it_is_told_and_the_better_is_kept(
    show: Callable[[list[float]], ProbingWizard],
    presenter: ProbingPresenter,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wizard = show(LATENCIES_MS)
    dialog = dialog_of(wizard, qtbot)
    said: list[str] = []
    presenter.tuning.changed.connect(lambda: said.append(state_words(presenter.tuning)))

    click(qtbot, dialog.start_button)
    assert dialog.close_button.text() == "Cancel"
    qtbot.waitUntil(lambda: not presenter.tuning.active, timeout=WAIT_MS)

    found = presenter.tuning.outcome
    assert found is not None
    assert said[0] == "Loading torch…"
    # Each of the four where the window has a processor in time; it gets the last news at least.
    assert any(words.endswith(" of 4 fits are done…") for words in said)
    assert (dialog.progress_bar.value(), dialog.progress_bar.maximum()) == (4, 4)
    assert "—" not in cells(dialog.table, 2) + cells(dialog.table, 3) + cells(dialog.table, 4)
    assert dialog.state.text().startswith("Kept: " if found.film_is_better else "Not kept")
    click(qtbot, dialog.close_button)
    if found.film_is_better:
        qtbot.waitUntil(lambda: adapted(wizard) == [TUNED, SHIPPED], timeout=WAIT_MS)
        presenter.undo_stack.undo()
        qtbot.waitUntil(lambda: adapted(wizard) == [SHIPPED], timeout=WAIT_MS)

    # Which way is better is the network's own affair; the window knows what to do about both.
    other = replace(found, by_posterior=found.by_film, by_film=found.by_posterior)
    better, worse = (found, other) if found.film_is_better else (other, found)
    finds(worse, monkeypatch)
    not_kept(wizard, presenter, qtbot)
    finds(better, monkeypatch)
    kept_and_undone(wizard, presenter, qtbot)


def finds(found: Adaptations, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fine-tuning end at once with what it has found before."""
    monkeypatch.setattr(fine_tuning, "_adaptations", lambda *_: found)


def fine_tuned(wizard: ProbingWizard, presenter: ProbingPresenter, qtbot: QtBot) -> FineTuneDialog:
    dialog = dialog_of(wizard, qtbot)
    click(qtbot, dialog.start_button)
    qtbot.waitUntil(lambda: not presenter.tuning.active, timeout=WAIT_MS)
    assert not dialog.start_button.isVisible()
    return dialog


def not_kept(wizard: ProbingWizard, presenter: ProbingPresenter, qtbot: QtBot) -> None:
    before = presenter.undo_stack.count(), presenter.undo_stack.index()
    dialog = fine_tuned(wizard, presenter, qtbot)
    assert dialog.state.text().startswith("Not kept, as it is no better: ")
    assert dialog.state.text().endswith("Nothing was changed.")
    assert (presenter.undo_stack.count(), presenter.undo_stack.index()) == before
    assert adapted(wizard) == [SHIPPED]
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)


def kept_and_undone(wizard: ProbingWizard, presenter: ProbingPresenter, qtbot: QtBot) -> None:
    page = wizard.result_page
    dialog = fine_tuned(wizard, presenter, qtbot)
    assert dialog.state.text().startswith("Kept: each network predicted from the others")
    qtbot.waitUntil(lambda: adapted(wizard) == [TUNED, SHIPPED], timeout=WAIT_MS)
    assert "FiLM of the network fine-tuned to it" in page.words.text()
    assert not page.tune_button.isEnabled()
    assert "fine-tuned already" in page.tune_button.toolTip()
    assert presenter.undo_stack.undoText().startswith("Fine-Tune to ")
    click(qtbot, dialog.close_button)
    presenter.undo_stack.undo()
    qtbot.waitUntil(lambda: adapted(wizard) == [SHIPPED], timeout=WAIT_MS)
    assert page.tune_button.isEnabled()
    presenter.undo_stack.redo()
    qtbot.waitUntil(lambda: adapted(wizard) == [TUNED, SHIPPED], timeout=WAIT_MS)
    page.signatures.select_rows([1], 1)
    qtbot.waitUntil(page.tune_button.isEnabled, timeout=WAIT_MS)
    assert ", fine-tuned" in page.compare_box.itemText(1)


def test_a_cancel_ends_the_child_and_changes_nothing(
    show: Callable[[list[float]], ProbingWizard],
    presenter: ProbingPresenter,
    store: Path,
    qtbot: QtBot,
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
        assert not presenter.tuning.active
        assert state_words(presenter.tuning) == "Cancelled. Nothing was changed."
        psutil.wait_procs([child], timeout=WAIT_MS / 1000)
        assert not child.is_running()

    assert presenter.undo_stack.count() == 0
    with open_probing(store) as probing:
        assert len(probing.signatures.all()) == 1


def test_why_it_is_not_offered_is_said(
    show: Callable[[list[float]], ProbingWizard],
    presenter: ProbingPresenter,
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
    presenter.shelf.sessions_changed.emit()
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
