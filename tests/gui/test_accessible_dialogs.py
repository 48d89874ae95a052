"""The wizard and the dialogs that ask: names, order, keys and contrast of their controls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QInputDialog

from ctm_gui.history.conflicts_dialog import ConflictsDialog
from ctm_gui.history.truth_dialog import TruthDialog
from ctm_gui.history.view import ChangeDialog
from ctm_gui.probing.choice import Way
from ctm_gui.probing.dialogs import HostKeyDialog
from ctm_gui.probing.results import ResultRow
from ctm_gui.probing.run import HostKeyQuestion
from ctm_gui.probing.wizard import RESULT, TARGET, ProbingWizard
from ctm_gui.report.dialog import ReportDialog
from ctm_gui.report.presenter import ReportPresenter
from ctm_gui.targets.ranking import ConfigurationRanking
from ctm_gui.targets.variant_dialog import VariantDialog
from ctm_gui.targets.what_if_dialog import WhatIfDialog
from ctm_gui.widgets.theme import DARK, LIGHT, Theme
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.stored import StoredPrediction
from predictor.core.units import LatencyUnit
from predictor.services.project.conflicts import Choice, Conflict, Subject
from tests.support.accessible import controls, faint, nameless, out_of_order, same_keys
from tests.support.past_predictions import predictions_of, small_model

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def wrong_with(window: QDialog) -> list[object]:
    checks = (nameless, out_of_order, same_keys, faint)
    return [found for check in checks if (found := check(window))]


@pytest.fixture
def wizard(make_wizard: Callable[[], ProbingWizard]) -> ProbingWizard:
    return make_wizard()


@THEMES
def test_every_page_of_the_wizard_is_named_in_order_and_readable(
    qapp: QApplication, wizard: ProbingWizard, options: ViewOptions, theme: Theme
) -> None:
    apply_theme(qapp, theme)
    options.set_theme(theme)
    wizard.result_page.of_models.show()  # as it is with models in the window
    wrong: dict[str, object] = {}
    for page in range(wizard.pages.count()):
        wizard.show_page(page)
        wrong[f"page {page}"] = wrong_with(wizard)
    wizard.show_page(TARGET)
    for way in Way:
        wizard.target_page.choose(way)
        wrong[way.name] = wrong_with(wizard)
    assert len(controls(wizard)) > 30
    assert not {what: found for what, found in wrong.items() if found}


def test_the_reason_why_a_network_is_left_out_is_asked_by_name(
    wizard: ProbingWizard, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = wizard.result_page
    wizard.show_page(RESULT)
    monkeypatch.setattr(
        page, "_excludable", lambda: ResultRow(name="net", fingerprint="print", median_ms=1.0)
    )
    page._ask_reason()
    dialog = page.findChild(QInputDialog)
    assert controls(dialog)
    assert not wrong_with(dialog)
    dialog.reject()


def make_dialogs(workspace: Workspace, folder: Path, window: MainWindow) -> list[QDialog]:
    net = small_model()
    stored = StoredPrediction(
        id="id", created_ns=0, path="", settings_hash="", prediction=predictions_of(net)[0]
    )
    conflict = Conflict(
        subject=Subject.MARKS,
        id="id",
        name="net on Board",
        local="mine",
        incoming="theirs",
        choices=tuple(Choice),
    )
    opened = SimpleNamespace(path="team.ctmproject", plan=SimpleNamespace(conflicts=(conflict,)))
    selection, device = workspace.selection, workspace.selection.selected[0]
    ranking = ConfigurationRanking(
        workspace.predictor, workspace.shelf, workspace.user_measurements
    )
    return [
        WhatIfDialog(selection, device, window),
        VariantDialog(selection, workspace.shelf, ranking, device, window),
        TruthDialog(stored, "Board", LatencyUnit.MS, window),
        ConflictsDialog(opened, window),  # type: ignore[arg-type]
        ChangeDialog((), (), LatencyUnit.MS, window),
        HostKeyDialog(HostKeyQuestion("board", 22, "ed25519", "SHA256:abc"), window),
        ReportDialog(window.options, ReportPresenter(workspace.recorder), str(folder), window),
    ]


@THEMES
def test_dialogs_that_ask_are_named_in_order_and_readable(
    qapp: QApplication, workspace: Workspace, window: MainWindow, tmp_path: Path, theme: Theme
) -> None:
    apply_theme(qapp, theme)
    wrong = {}
    for dialog in make_dialogs(workspace, tmp_path, window):
        dialog.show()
        assert controls(dialog)
        wrong[type(dialog).__name__] = wrong_with(dialog)
        if isinstance(dialog, ReportDialog):
            dialog.stop()
        dialog.close()
    assert not {name: found for name, found in wrong.items() if found}
