"""The wizard probes what is ticked, with its configuration, and ticks what it probed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.probing.choice import Way
from ctm_gui.probing.plan import Planned
from ctm_gui.probing.presenter import ProbingPresenter
from ctm_gui.probing.wizard import NAMES, RESULT, TARGET, ProbingWizard
from ctm_gui.targets.what_ifs import WhatIf
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Basis, Configuration, Precision
from predictor.probing.choice import PlanRequest
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import PlannedProbe
from predictor.services.probing.imports import candidates
from predictor.services.probing.plan import coverage, plan_probes, probe_target
from tests.support.probe_plans import QUICK
from tests.support.what_ifs import ask_what_if

WAIT_MS = 120_000


def tick(workspace: Workspace, *device_ids: str) -> None:
    selection = workspace.selection
    selection.select(selection.selected_ids, selected=False)
    selection.select(device_ids, selected=True)


def cells(table: QWidget, column: int) -> list[str]:
    model = table.model()  # type: ignore[attr-defined]
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def show_quick_plan(presenter: ProbingPresenter, device_id: str, threads: int) -> None:
    """Put a plan of two small networks, which takes no time, in the place of the one asked for."""
    device = next(e.device for e in presenter.library.entries if e.device.id == device_id)
    plan = plan_probes(
        PlanRequest(target=probe_target(device, threads), probes=2, selector="random")
    )
    small = sorted(load_pool(), key=lambda network: network.macs + network.bytes_moved)[:3]
    first, *rest = (PlannedProbe(network, "small", 1.0) for network in small)
    quick = replace(plan, probes=tuple(rest), sentinel=first, settings=QUICK)
    presenter.planner.forget()
    presenter.planner.planned = Planned(quick, coverage(quick))
    presenter.planner.changed.emit()


def test_the_users_ticks_are_offered_with_their_configuration(
    workspace: Workspace, make_wizard: Callable[[], ProbingWizard]
) -> None:
    tick(workspace, "rtx3060", "rpi5", "core-i7-1165g7")
    workspace.selection.set_configuration(
        workspace.library.by_id()["rpi5"], Configuration("onnxruntime", threads=2)
    )
    page = make_wizard().target_page

    assert cells(page.ticked, 0) == [
        "Intel Core i7-1165G7 (laptop)",
        "Raspberry Pi 5 (CPU)",
        "NVIDIA GeForce RTX 3060",
    ]
    first = page.choice
    assert (first.way, first.device and first.device.id) == (Way.SSH, "core-i7-1165g7")
    page.ticked.select_rows([1], 1)
    board = page.choice
    assert (board.way, board.device and board.device.id, board.threads) == (Way.SSH, "rpi5", 2)
    page.ticked.select_rows([2], 2)
    card = page.choice
    assert (card.way, card.device and card.device.id) == (Way.IMPORT, "rtx3060")
    assert card.configuration == Configuration("tensorrt", Precision.FP16)
    assert "cannot be probed from here" in page._ticked_words.text()


def test_the_first_ticks_of_the_program_are_nobodys_wish(
    workspace: Workspace, make_wizard: Callable[[], ProbingWizard]
) -> None:
    tick(workspace, *(device.id for device in workspace.selection.catalogue.cross_section))

    page = make_wizard().target_page

    assert len(cells(page.ticked, 0)) == len(workspace.selection.catalogue.cross_section)
    assert not page.is_of_ticked
    assert (page.choice.way, page.choice.device, page.choice.threads) == (Way.THIS, None, 0)


def test_what_ifs_are_part_of_what_is_probed(
    workspace: Workspace, make_wizard: Callable[[], ProbingWizard]
) -> None:
    tick(workspace, "rpi5")
    page = make_wizard().target_page
    ask_what_if(workspace, threads=3)

    assert cells(page.ticked, 2) == ["onnxruntime, fp32, 3 threads"]
    page.ticked.clearSelection()
    page.begin()
    assert page.choice.threads == 3


def test_other_fields_are_of_no_ticked_target(
    workspace: Workspace, make_wizard: Callable[[], ProbingWizard]
) -> None:
    tick(workspace, "rpi4", "rpi5")
    page = make_wizard().target_page
    assert page.is_of_ticked

    page.choose(Way.THIS)

    assert not page.is_of_ticked
    assert page.choice.device is None


def test_each_board_has_its_own_address(
    workspace: Workspace, make_wizard: Callable[[], ProbingWizard]
) -> None:
    tick(workspace, "rpi4", "rpi5")
    page = make_wizard().target_page
    page.form.address_edit.setText("pi@four")

    page.ticked.select_rows([1], 1)
    assert (page.choice.address, page.ready) == ("", False)
    page.form.address_edit.setText("pi@five")

    page.ticked.select_rows([0], 0)
    assert (page.choice.address, page.ready) == ("pi@four", True)


def test_without_ticks_there_is_no_table(
    workspace: Workspace, make_wizard: Callable[[], ProbingWizard]
) -> None:
    tick(workspace)
    page = make_wizard().target_page
    assert not page.ticked.isVisible()
    assert (page.choice.way, page.ready) == (Way.THIS, True)


def test_a_probed_target_is_ticked_and_compared_and_the_next_one_follows(
    workspace: Workspace,
    presenter: ProbingPresenter,
    make_wizard: Callable[[], ProbingWizard],
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    qtbot: QtBot,
) -> None:
    workspace.open_paths([str(make_model())])
    tick(workspace, "rpi4", "rpi5")
    wizard = make_wizard()
    page = wizard.target_page
    page.choose(Way.THIS)  # a board that is this machine: its runner needs no network
    page.form.device_box.choose("rpi4")
    page.form.threads_box.setValue(1)
    page.ticked.select_rows([0], 0)
    page.choose(Way.THIS)
    page.form.device_box.choose("rpi4")
    page.form.threads_box.setValue(1)

    wizard.next()
    show_quick_plan(presenter, "rpi4", 1)
    wizard.next()
    qtbot.waitUntil(lambda: wizard.pages.currentIndex() == RESULT, timeout=WAIT_MS)

    def compared() -> bool:
        rows = [r.prediction for r in workspace.comparison.rows]
        return any(
            p.device_id == "rpi4"
            and p.configuration == Configuration("onnxruntime", Precision.FP32, 1, 1)
            and p.basis is Basis.PROBED
            for p in rows
        )

    qtbot.waitUntil(compared, timeout=WAIT_MS)
    settle(workspace)
    assert workspace.selection.selected_ids == ("rpi4", "rpi5")
    qtbot.waitUntil(lambda: cells(page.ticked, 4)[0] == "2 networks measured", timeout=WAIT_MS)
    assert cells(page.ticked, 1)[0] == "onnxruntime, fp32, 1 thread"
    page.ticked.select_rows([0], 0)
    assert wizard.again_button.text() == "&Probe Next"
    assert wizard.next_button.isHidden()  # a second click on *Show Result* begins nothing

    wizard.again_button.click()

    assert wizard.pages.currentIndex() == TARGET
    assert page.choice.device is not None
    assert page.choice.device.id == "rpi5"


def test_what_was_imported_is_ticked_with_its_configuration(
    workspace: Workspace, make_wizard: Callable[[], ProbingWizard], qtbot: QtBot
) -> None:
    tick(workspace, "rpi4")
    wizard = make_wizard()
    form = wizard.target_page.form
    wizard.target_page.choose(Way.IMPORT)
    form.source_box.setCurrentText("Medians typed by hand")
    form.device_box.choose("rtx3060")
    form.runtime_box.setCurrentText("pytorch")
    form.precision_box.setCurrentText("fp32")
    form.typed_edit.setPlainText(f"{candidates()[0]} 2.5 ms")
    wizard.next()
    qtbot.waitUntil(lambda: wizard.pages.currentIndex() == NAMES, timeout=WAIT_MS)
    wizard.next()
    qtbot.waitUntil(lambda: "rtx3060" in workspace.selection.selected_ids, timeout=WAIT_MS)

    (card,) = (d for d in workspace.selection.selected if d.id == "rtx3060")
    assert card.configurations[0] == Configuration("pytorch", Precision.FP32)
    assert wizard.again_button.text() == "&Probe Another"


def test_a_what_if_that_hides_the_probed_configuration_is_told(
    workspace: Workspace, presenter: ProbingPresenter
) -> None:
    device = workspace.library.by_id()["rpi5"]
    workspace.selection.set_what_if(device, WhatIf(precision=Precision.INT8))

    presenter._tick("rpi5", Configuration("onnxruntime", Precision.FP32, 4, 1))

    assert workspace.messages.messages[-1].text.endswith("Reset shows it as probed")


@pytest.mark.parametrize("threads", [0, 2])
def test_the_menu_of_a_target_has_the_configuration_that_was_probed(
    workspace: Workspace, threads: int
) -> None:
    device = workspace.library.by_id()["rpi5"]
    workspace.selection.show_probed("rpi5", Configuration("ncnn", Precision.FP16, threads or 4, 1))

    choices = workspace.selection.choices(device)

    assert (len(choices) == len(device.configurations)) is (threads == 0)
    assert workspace.selection.configuration_of(device) in choices
