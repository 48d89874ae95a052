"""The scenes of a store with a signature of this machine: what its predictions and pages show."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QDialog, QInputDialog
from scenes import Scene, close_dialogs, sample_models, this_machine
from waiting import REPAINT_MS, SETTLE_MS, settle, turn, wait

from ctm_gui.application import Application
from ctm_gui.probing.dialogs import FineTuneDialog
from ctm_gui.probing.wizard import ProbingWizard
from ctm_gui.targets.what_ifs import WhatIf
from predictor.core.errors import HostError
from predictor.devices.catalogue import THIS_MACHINE_ID

_TUNING_MS = 10 * SETTLE_MS


def _compare(app: Application, folder: Path) -> None:
    this_machine(app, folder)
    wait(lambda: _is_measured(app))
    selection = app.workspace.selection
    selection.select([device.id for device in selection.devices], selected=False)
    selection.select([THIS_MACHINE_ID, "rpi5"], selected=True)
    for device in selection.devices:
        if device.id in {THIS_MACHINE_ID, "rpi5"}:
            selection.set_what_if(device, WhatIf(threads=1))
    app.window.open_paths([str(path) for path in sample_models()])
    app.window.show_page("compare")


def _is_measured(app: Application) -> bool:
    """Return whether this machine's rates, which take a while, are among its facts."""
    machine = {d.id: d for d in app.workspace.selection.devices}.get(THIS_MACHINE_ID)
    return machine is not None and machine.metric("fp32_tflops") is not None


def _operators(app: Application, _: Path) -> None:
    app.window.show_page("operators")
    explanation = app.window.central.explanation
    explanation.choose_device(THIS_MACHINE_ID)
    wait(lambda: explanation.settled)


def _history(app: Application, _: Path) -> None:
    app.window.show_page("history")
    view = app.window.central.history_view
    wait(lambda: view.is_built and len(view.presenter.data) > 0 and not view.presenter.busy)


def _result(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wait(lambda: wizard.is_built and wizard.stored_button.isEnabled())
    wizard.stored_button.click()
    _assessed(wizard)


def _tune(app: Application, _: Path) -> None:
    button = app.open_wizard().result_page.tune_button
    if not button.isEnabled():
        raise HostError("the tour", button.toolTip(), "choose another store")
    button.click()


def _tuning(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    _dialog(wizard).start_button.click()
    wait(lambda: wizard.presenter.tuning.progress is not None)


def _tuned(app: Application, _: Path) -> None:
    wizard = app.open_wizard()
    wait(lambda: wizard.presenter.tuning.outcome is not None, limit_ms=_TUNING_MS)
    _assessed(wizard)


def _several(app: Application, _: Path) -> None:
    """Leave a network out, so that there is one more signature, and compare it with another."""
    wizard = app.open_wizard()
    _dialog(wizard).close()
    page, shelf = wizard.result_page, wizard.presenter.shelf
    before = len(shelf.signatures)
    page.table.select_rows([0], 0)
    page.exclude_button.click()
    question = page.findChildren(QInputDialog)[-1]
    question.setTextValue("a backup ran")
    question.accept()
    wait(lambda: len(shelf.signatures) > before)
    _assessed(wizard)
    page.compare_box.setCurrentIndex(1)
    page.compare_box.activated.emit(1)
    settle(app, "several")
    _assessed(wizard)


def _afterwards(app: Application, _: Path) -> None:
    close_dialogs(app)
    app.window.show_page("compare")


def _assessed(wizard: ProbingWizard) -> None:
    turn(REPAINT_MS)
    fit = wizard.result_page.fit
    wait(lambda: "median error" in fit.text() and "…" not in fit.text())


def _dialog(wizard: ProbingWizard) -> FineTuneDialog:
    return wizard.findChildren(FineTuneDialog)[-1]


SIGNATURE_SCENES = (
    Scene("1-compare", _compare),
    Scene("2-operators", _operators),
    Scene("3-history", _history),
    Scene("4-result", _result, of=QDialog),
    Scene("5-tune", _tune, of=FineTuneDialog, sized=False),
    Scene("6-tuning", _tuning, of=FineTuneDialog, sized=False),
    Scene("7-tuned", _tuned, of=FineTuneDialog, sized=False),
    Scene("8-several", _several, of=QDialog),
    Scene("9-compare-afterwards", _afterwards),
    Scene("10-history-afterwards", _history),
)
