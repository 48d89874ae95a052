"""The wizard end to end: a real store, the real runner of this machine on tiny networks."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.probing.choice import TargetChoice, Way
from ctm_gui.probing.dialogs import HostKeyDialog
from ctm_gui.probing.load import QUIET_LOOKS, LoadWatch
from ctm_gui.probing.plan import SELECTORS, Planned
from ctm_gui.probing.plan_page import PlanPage
from ctm_gui.probing.plots import CoveragePlot
from ctm_gui.probing.presenter import ProbingPresenter
from ctm_gui.probing.result_page import ResultPage
from ctm_gui.probing.run import HostKeyQuestion, Phase
from ctm_gui.probing.wizard import MEASURE, NAMES, PLAN, RESULT, TARGET, ProbingWizard
from ctm_gui.widgets.theme import DARK
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.progress import CancelToken
from predictor.core.records import Basis
from predictor.core.stored import ProbeState
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.interface import NetworkDone
from predictor.probing.measuring.local import LocalRunner
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import PlannedProbe, ProbePlan
from predictor.services.probing.imports import candidates
from predictor.services.probing.measure import measure
from predictor.services.probing.open import Probing, open_probing
from predictor.services.probing.other_load import OtherLoad
from predictor.services.probing.plan import coverage, plan_probes, probe_target
from tests.gui.probing.conftest import PASSED
from tests.support.probe_plans import QUICK
from tests.support.wizard import WAIT_MS, cells, click, signed, titles


@pytest.fixture
def wizard(make_wizard: Callable[[], ProbingWizard]) -> ProbingWizard:
    return make_wizard()


@pytest.fixture
def quick_plan(workspace: Workspace) -> Callable[[int], ProbePlan]:
    """Plan the smallest networks of the pool, measured in no time."""

    def make(probes: int) -> ProbePlan:
        board = next(e.device for e in workspace.library.entries if e.device.id == "rpi5")
        plan = plan_probes(
            PlanRequest(
                target=probe_target(board, 1),
                probes=probes,
                selector="random",
                budget_s=60.0 * probes,
            )
        )
        smallest = sorted(load_pool(), key=lambda network: network.macs + network.bytes_moved)
        chosen = [PlannedProbe(network, "small", 1.0) for network in smallest[: probes + 1]]
        return replace(plan, probes=tuple(chosen[1:]), sentinel=chosen[0], settings=QUICK)

    return make


@pytest.fixture
def long_plan(quick_plan: Callable[[int], ProbePlan]) -> ProbePlan:
    """Plan what is stopped long before it ends, however fast the machine is."""
    return replace(quick_plan(3), settings=replace(QUICK, warm_up_s=20.0))


def page_is(wizard: ProbingWizard, page: int) -> Callable[[], bool]:
    return lambda: wizard.pages.currentIndex() == page


def texts(widget: QWidget) -> list[str]:
    return [part.text() for part in widget.findChildren(QLabel) if part.isVisible()]


def measure_one(store: Path, plan: ProbePlan) -> str:
    """Measure the first network of a plan and leave the session, as a program that is killed."""
    with open_probing(store) as probing:
        session = probing.sessions.start(plan)
        events = measure(probing.sessions, session.id, LocalRunner())
        next(event for event in events if isinstance(event, NetworkDone))
        events.close()  # type: ignore[attr-defined]
        return session.id


def on_store(store: Path, ask: Callable[[Probing], object]) -> object:
    with open_probing(store) as probing:
        return ask(probing)


def test_no_button_leads_to_a_page_that_is_not_made_yet(
    qtbot: QtBot, presenter: ProbingPresenter, options: ViewOptions
) -> None:
    wizard = ProbingWizard(options, presenter)
    qtbot.addWidget(wizard)
    assert not wizard.is_built
    buttons = (wizard.stored_button, wizard.next_button, wizard.back_button, wizard.again_button)
    for button in buttons:
        if not button.isHidden():
            button.click()
    assert wizard.pages.count() == 0
    qtbot.waitUntil(lambda: wizard.is_built)


def test_from_a_device_to_its_signature_and_back(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    store: Path,
    qtbot: QtBot,
    quick_plan: Callable[[int], ProbePlan],
) -> None:
    wizard.target_page.form.device_box.choose("rpi5")
    wizard.plan_page.selector_box.setCurrentIndex(list(SELECTORS).index("dbsel"))
    click(qtbot, wizard.next_button)
    assert wizard.pages.currentIndex() == PLAN
    assert not wizard.next_button.isEnabled()
    assert wizard.plan_page.isAncestorOf(wizard.focusWidget()), "Space closes nothing"
    axis = wizard.plan_page.plot.getAxis("bottom")
    assert not axis.isVisible(), "nothing is planned yet"
    qtbot.waitUntil(lambda: wizard.presenter.planner.planned is not None, timeout=WAIT_MS)
    assert axis.isVisible()
    assert len(cells(wizard.plan_page.table, 0)) == 4
    assert "up to 8 more that are chosen by what these show" in wizard.plan_page.summary.text()
    # Whether this plan gains something is the engine's matter.
    assert re.search(
        r"now up to \+[\d.]+ %; (expected after probing: \+|this plan is not expected to lower it)",
        wizard.plan_page.summary.text(),
    )
    assert all(cells(wizard.plan_page.table, 3)), "each network says why it was chosen"

    # The protocol itself takes its time; what is tested here is the way through the window.
    quick = quick_plan(2)
    presenter.planner.planned = Planned(quick, coverage(quick))
    presenter.planner.changed.emit()
    click(qtbot, wizard.next_button)
    assert wizard.pages.currentIndex() == MEASURE
    assert not wizard.back_button.isEnabled()
    qtbot.waitUntil(page_is(wizard, RESULT), timeout=WAIT_MS)
    names = [probe.network.name for probe in quick.probes]
    table = wizard.result_page.table
    qtbot.waitUntil(lambda: sorted(cells(table, 0)) == sorted(names), timeout=WAIT_MS)
    assert all(float(text) > 0 for text in cells(table, 1))
    assert wizard.measure_page.progress_bar.value() == 2
    assert len(cells(wizard.measure_page.table, 3)) == 2
    assert "use it: times of its networks' operators" in wizard.result_page.words.text()
    assert "Working out" in wizard.result_page.fit.text()
    qtbot.waitUntil(lambda: "median error" in wizard.result_page.fit.text(), timeout=WAIT_MS)
    assert "From the others (ms)" in titles(table)
    assert "Protocol: ctm-probe/1" in wizard.result_page.facts.text()
    (stored,) = on_store(store, lambda probing: probing.signatures.all())  # type: ignore[misc]
    assert stored.signature.active
    assert stored.signature.device_id == "rpi5"
    assert stored.facts.content["host"]["processor"]

    qtbot.waitUntil(lambda: cells(wizard.result_page.signatures, 4) == ["active"], timeout=WAIT_MS)
    click(qtbot, wizard.result_page.delete_button)
    qtbot.waitUntil(lambda: cells(wizard.result_page.signatures, 0) == [], timeout=WAIT_MS)
    assert on_store(store, lambda probing: probing.signatures.all()) == []
    qtbot.keyClick(wizard, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: cells(wizard.result_page.signatures, 4) == ["active"], timeout=WAIT_MS)


def test_an_unfinished_session_is_listed_and_goes_on(
    store: Path,
    make_wizard: Callable[[], ProbingWizard],
    qtbot: QtBot,
    quick_plan: Callable[[int], ProbePlan],
) -> None:
    session_id = measure_one(store, quick_plan(2))
    wizard = make_wizard()
    page = wizard.target_page
    qtbot.waitUntil(lambda: cells(page.sessions, 4) == ["1 of 2"], timeout=WAIT_MS)
    assert cells(page.sessions, 2) == ["this PC"]
    page.choose(Way.KIT)  # it goes on as it was begun, whatever is chosen below
    click(qtbot, page.go_on_button)
    assert wizard.pages.currentIndex() == MEASURE
    qtbot.waitUntil(page_is(wizard, RESULT), timeout=WAIT_MS)
    session = on_store(store, lambda probing: probing.sessions.get(session_id))
    states = [probe.state for probe in session.probes]  # type: ignore[attr-defined]
    assert states == [ProbeState.MEASURED] * 2


@pytest.mark.parametrize("from_first_page", [True, False])
def test_a_stopped_session_can_end_with_what_it_has(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    store: Path,
    qtbot: QtBot,
    long_plan: ProbePlan,
    *,
    from_first_page: bool,
) -> None:
    presenter.start(long_plan, wizard.target_page.choice)
    wizard.show_page(MEASURE)
    page = wizard.measure_page
    qtbot.waitUntil(lambda: presenter.run.progress is not None, timeout=WAIT_MS)
    click(qtbot, page.stop_button)
    qtbot.waitUntil(lambda: presenter.run.phase is Phase.STOPPED, timeout=WAIT_MS)
    assert "the session can go on" in page.state.text()
    assert not page.stop_button.isVisible()
    assert page.go_on_button.isVisible()
    if from_first_page:
        click(qtbot, wizard.back_button)
        assert wizard.pages.currentIndex() == TARGET
        qtbot.waitUntil(wizard.target_page.end_button.isVisible, timeout=WAIT_MS)
        click(qtbot, wizard.target_page.end_button)
        qtbot.waitUntil(lambda: not wizard.target_page.sessions.isVisible(), timeout=WAIT_MS)
    else:
        assert wizard.next_button.text() == "&End and Show Result"
        click(qtbot, wizard.next_button)
        qtbot.waitUntil(page_is(wizard, RESULT), timeout=WAIT_MS)
    (session,) = on_store(store, lambda probing: probing.sessions.all())  # type: ignore[misc]
    assert session.finished_ns is not None


def test_closing_the_window_stops_measuring_and_keeps_the_session(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    store: Path,
    qtbot: QtBot,
    long_plan: ProbePlan,
) -> None:
    presenter.start(long_plan, wizard.target_page.choice)
    wizard.show_page(MEASURE)
    qtbot.waitUntil(lambda: presenter.run.progress is not None, timeout=WAIT_MS)
    qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: presenter.run.phase is Phase.STOPPED, timeout=WAIT_MS)
    wizard.show()
    assert wizard.pages.currentIndex() == TARGET
    qtbot.waitUntil(wizard.target_page.go_on_button.isVisible, timeout=WAIT_MS)


def test_typed_medians_are_given_to_networks_and_become_a_signature(
    wizard: ProbingWizard, store: Path, qtbot: QtBot
) -> None:
    first, second = candidates()[:2]
    form = wizard.target_page.form
    wizard.target_page.choose(Way.IMPORT)
    form.source_box.setCurrentText("Medians typed by hand")
    form.device_box.choose("rpi5")
    assert not wizard.next_button.isEnabled()
    form.typed_edit.setPlainText(f"{first} 12.5 ms\nmy-{second} 3 ms\nnonsense 9 ms")
    click(qtbot, wizard.next_button)
    assert wizard.reading.isVisible(), "seconds without a sign look like a click that was lost"
    qtbot.waitUntil(page_is(wizard, NAMES), timeout=WAIT_MS)
    assert not wizard.reading.isVisible()
    page = wizard.names_page
    assert cells(page.table, 2) == [first, "(leave out)", "(leave out)"]
    assert second in page.box.itemText(1), "the likeliest is offered first"
    page.box.setCurrentIndex(1)
    page.box.activated.emit(1)
    assert cells(page.table, 2) == [first, second, "(leave out)"]
    click(qtbot, wizard.next_button)
    qtbot.waitUntil(page_is(wizard, RESULT), timeout=WAIT_MS)
    table = wizard.result_page.table
    qtbot.waitUntil(lambda: cells(table, 1) == ["12.5", "3"], timeout=WAIT_MS)
    assert set(cells(table, len(titles(table)) - 1)) == {"imported: median"}


def test_a_wrong_line_is_told_and_nothing_is_lost(wizard: ProbingWizard, qtbot: QtBot) -> None:
    form = wizard.target_page.form
    wizard.target_page.choose(Way.IMPORT)
    form.source_box.setCurrentText("Medians typed by hand")
    form.device_box.choose("rpi5")
    form.typed_edit.setPlainText("resnet50 fast")
    click(qtbot, wizard.next_button)
    qtbot.waitUntil(lambda: "line 1" in wizard.problem.text(), timeout=WAIT_MS)
    assert wizard.pages.currentIndex() == TARGET
    assert form.typed_edit.toPlainText() == "resnet50 fast"


def test_a_kit_is_written_and_its_session_waits(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    quick_plan: Callable[[int], ProbePlan],
) -> None:
    path = tmp_path / "kit.zip"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(path), ""))
    wizard.target_page.choose(Way.KIT)
    wizard.target_page.form.device_box.choose("rpi5")
    click(qtbot, wizard.next_button)
    quick = quick_plan(1)
    presenter.planner.forget()  # a plan of twelve networks takes its time
    presenter.planner.planned = Planned(quick, coverage(quick))
    presenter.planner.changed.emit()
    assert wizard.next_button.text() == "Write &Kit…"
    click(qtbot, wizard.next_button)
    qtbot.waitUntil(
        lambda: "Back leads to the page" in wizard.result_page.words.text(),
        timeout=WAIT_MS,
    )
    assert "manifest.json" in "".join(zipfile.ZipFile(path).namelist())
    click(qtbot, wizard.back_button)
    page = wizard.target_page
    qtbot.waitUntil(lambda: cells(page.sessions, 2) == ["a kit"], timeout=WAIT_MS)
    assert not page.go_on_button.isEnabled()
    assert "import them below" in " ".join(texts(page))


def test_signatures_of_a_target_are_compared_and_one_is_activated(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    qtbot: QtBot,
) -> None:
    network = candidates()[0]
    form = wizard.target_page.form
    for value in ("10 ms", "12 ms"):
        wizard.show_page(TARGET)
        wizard.target_page.choose(Way.IMPORT)
        form.source_box.setCurrentText("Medians typed by hand")
        form.device_box.choose("rpi5")
        form.typed_edit.setPlainText(f"{network} {value}")
        click(qtbot, wizard.next_button)
        qtbot.waitUntil(page_is(wizard, NAMES), timeout=WAIT_MS)
        click(qtbot, wizard.next_button)
        qtbot.waitUntil(page_is(wizard, RESULT), timeout=WAIT_MS)
    page = wizard.result_page
    qtbot.waitUntil(lambda: cells(page.signatures, 4) == ["active", ""], timeout=WAIT_MS)
    qtbot.waitUntil(page.compare_box.isEnabled, timeout=WAIT_MS)
    page.compare_box.setCurrentIndex(1)
    page.compare_box.activated.emit(1)
    qtbot.waitUntil(lambda: "Change" in titles(page.table), timeout=WAIT_MS)
    page.signatures.select_rows([1], 1)
    qtbot.waitUntil(page.activate_button.isEnabled, timeout=WAIT_MS)
    click(qtbot, page.activate_button)
    qtbot.waitUntil(lambda: cells(page.signatures, 4) == ["", "active"], timeout=WAIT_MS)


def test_a_network_is_excluded_with_a_reason_and_predictions_follow_the_signature(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    store: Path,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
    make_model: Callable[..., Path],
    qtbot: QtBot,
) -> None:
    workspace.open_paths([str(make_model())])
    settle(workspace)
    qtbot.waitUntil(lambda: bool(workspace.comparison.rows), timeout=WAIT_MS)
    before = workspace.comparison.rows[0].prediction
    signed(store, before.device_id, before.configuration, [50.0, 60.0, 70.0])
    presenter.shelf.refresh()

    def changed() -> bool:
        now = workspace.comparison.rows[0].prediction
        return now.basis is Basis.PROBED and now.latency_ms != before.latency_ms

    qtbot.waitUntil(changed, timeout=WAIT_MS)
    probed = workspace.comparison.rows[0].prediction
    page = wizard.result_page
    click(qtbot, wizard.stored_button)
    qtbot.waitUntil(lambda: bool(cells(page.changes, 0)), timeout=WAIT_MS)
    assert cells(page.changes, 0) == ["chain.onnx"]
    assert cells(page.changes, 1) != cells(page.changes, 3)
    assert not page.exclude_button.isEnabled()

    exclude_first(qtbot, page)

    qtbot.waitUntil(lambda: verdicts(page)[-1] == "left out: a backup ran", timeout=WAIT_MS)
    assert "Left out: net0 (a backup ran)" in page.facts.text()
    assert "2 networks measured, 1 left out" in page.words.text()
    assert cells(page.signatures, 4) == ["active", ""]
    qtbot.waitUntil(
        lambda: workspace.comparison.rows[0].prediction.latency_ms != probed.latency_ms,
        timeout=WAIT_MS,
    )


def exclude_first(qtbot: QtBot, page: ResultPage) -> None:
    page.table.select_rows([0], 0)
    click(qtbot, page.exclude_button)
    (dialog,) = page.findChildren(QInputDialog)
    dialog.setTextValue("a backup ran")
    dialog.accept()


def verdicts(page: ResultPage) -> list[str]:
    return cells(page.table, titles(page.table).index("Verdict"))


def test_what_was_excluded_is_included_again_by_a_button_and_by_undo(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    store: Path,
    workspace: Workspace,
    qtbot: QtBot,
) -> None:
    target = probe_target(workspace.library.entries[0].device, 1)
    signed(store, target.device.id, target.configuration, [50.0, 60.0, 70.0])
    presenter.shelf.refresh()
    page = wizard.result_page
    qtbot.waitUntil(wizard.stored_button.isEnabled, timeout=WAIT_MS)
    click(qtbot, wizard.stored_button)
    qtbot.waitUntil(lambda: len(cells(page.table, 0)) == 3, timeout=WAIT_MS)
    exclude_first(qtbot, page)
    left_out = ["imported: median", "imported: median", "left out: a backup ran"]
    qtbot.waitUntil(lambda: verdicts(page) == left_out, timeout=WAIT_MS)
    assert not page.include_button.isEnabled()
    page.table.select_rows([1], 1)
    assert not page.include_button.isEnabled()
    page.table.select_rows([2], 2)
    assert not page.exclude_button.isEnabled()

    click(qtbot, page.include_button)

    told = "Taken in again: net0 (was left out: a backup ran)"
    qtbot.waitUntil(lambda: told in page.facts.text(), timeout=WAIT_MS)
    assert verdicts(page) == ["imported: median"] * 3
    assert cells(page.signatures, 4) == ["active", "", ""]
    undo = Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
    with qtbot.waitActive(wizard):  # no window manager does it when the dialog goes
        wizard.activateWindow()
    for rows, active in ((left_out, ["active", ""]), (["imported: median"] * 3, ["active"])):
        qtbot.keyClick(wizard, *undo)
        qtbot.waitUntil(lambda a=active: cells(page.signatures, 4) == a, timeout=WAIT_MS)
        assert verdicts(page) == rows
    assert told not in page.facts.text()
    presenter.undo_stack.redo()
    qtbot.waitUntil(lambda: verdicts(page) == left_out, timeout=WAIT_MS)
    assert cells(page.signatures, 4) == ["active", ""]
    with open_probing(store) as probing:
        assert len(probing.signatures.deleted()) == 1  # nothing is lost


def test_a_probing_that_failed_its_checks_is_used_where_the_user_says_so(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    workspace: Workspace,
    qtbot: QtBot,
    quick_plan: Callable[[int], ProbePlan],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = replace(PASSED, drift=0.5)
    monkeypatch.setattr("predictor.services.probing.sessions.work_out", lambda *_: failed)
    presenter.run.start(quick_plan(1), TargetChoice(way=Way.THIS))
    wizard.show_page(MEASURE)
    qtbot.waitUntil(page_is(wizard, RESULT), timeout=WAIT_MS)
    page = wizard.result_page
    qtbot.waitUntil(lambda: cells(page.signatures, 4) == ["unstable"], timeout=WAIT_MS)
    assert "the machine's speed changed by 50 %" in page.belief.text()
    assert page.belief.text().endswith("or use it anyway?")
    assert page.activate_button.text() == "Use &Anyway"
    qtbot.waitUntil(lambda: bool(workspace.messages.messages), timeout=WAIT_MS)
    assert "failed its own checks" in workspace.messages.messages[-1].text
    assert not workspace.user_measurements.signatures.has_device("rpi5")

    click(qtbot, page.activate_button)

    qtbot.waitUntil(lambda: cells(page.signatures, 4) == ["active, unstable"], timeout=WAIT_MS)
    assert page.belief.text().startswith("It is used anyway, and its numbers are marked unstable")
    assert not page.activate_button.isEnabled()
    qtbot.waitUntil(
        lambda: workspace.user_measurements.signatures.has_device("rpi5"), timeout=WAIT_MS
    )
    (known,) = workspace.user_measurements.signatures.measured.values()
    assert known.unstable == failed.reason


def test_measuring_waits_for_an_idle_machine_where_the_user_wishes_it(
    wizard: ProbingWizard,
    presenter: ProbingPresenter,
    qtbot: QtBot,
    quick_plan: Callable[[int], ProbePlan],
    options: ViewOptions,
) -> None:
    cores = 1.5
    watch = LoadWatch(lambda: lambda: OtherLoad(cores, 2, {"compiler": cores}), presenter)
    page = PlanPage(presenter.planner, CoveragePlot(options), watch)
    qtbot.addWidget(page)
    starts: list[bool] = []
    page.idle.connect(lambda: starts.append(True))
    page.open(TargetChoice(way=Way.THIS))
    page.show()
    page.follow_load(is_open=True)
    look = watch._submit
    qtbot.waitUntil(lambda: not watch._worker.busy)
    look()
    qtbot.waitUntil(lambda: watch.load is not None)
    assert page.load.text().startswith("Other programs use 1.5 of 2 cores (compiler 1.5).")
    assert page.wait_button.isVisible()
    page.wait_button.click()
    assert page.load.text().endswith("Measuring starts when they rest.")
    quick = quick_plan(1)
    presenter.planner.planned = Planned(quick, coverage(quick))
    cores = 0.0
    for _ in range(QUIET_LOOKS):
        assert starts == []
        qtbot.waitUntil(lambda: not watch._worker.busy)
        look()
    qtbot.waitUntil(lambda: bool(starts))
    assert not page.wait_button.isChecked()
    page.follow_load(is_open=False)
    assert watch.load is None
    watch.close()


def test_the_adaptive_selector_has_a_width_at_which_it_stops(
    wizard: ProbingWizard, qtbot: QtBot
) -> None:
    page = wizard.plan_page
    wizard.target_page.form.device_box.choose("rpi5")
    click(qtbot, wizard.next_button)
    assert not page.within_box.isEnabled()
    page.selector_box.setCurrentIndex(list(SELECTORS).index("adaptive"))
    assert page.within_box.isEnabled()
    page.within_box.setValue(30)
    page.probes_box.setValue(4)
    qtbot.waitUntil(lambda: wizard.presenter.planner.planned is not None, timeout=WAIT_MS)
    assert wizard.presenter.planner.planned.plan.request.within == 0.3
    assert len(cells(page.table, 0)) == 3


def test_a_device_that_there_is_not_is_told(wizard: ProbingWizard, qtbot: QtBot) -> None:
    page = wizard.target_page
    page.form.device_box.setCurrentText("no such device")
    assert not wizard.next_button.isEnabled()
    assert "No device is called no such device." in texts(page)


def test_another_device_never_stands_for_this_machine_unasked(wizard: ProbingWizard) -> None:
    page = wizard.target_page
    page.choose(Way.SSH)
    page.form.device_box.choose("rpi5")
    assert page.form.threads_box.text() == "all 4 cores"
    assert page.form.address_edit.isVisible()
    page.choose(Way.THIS)
    assert page.form.threads_box.text() == "all cores"
    assert page.choice.device is None
    assert page.form.device_box.currentText() == "This PC, as detected"
    assert not page.form.address_edit.isVisible()


@pytest.mark.parametrize("trusted", [True, False], ids=["trust", "escape"])
def test_a_host_key_is_trusted_by_a_click_alone(
    wizard: ProbingWizard, presenter: ProbingPresenter, qtbot: QtBot, trusted: bool
) -> None:
    question = HostKeyQuestion("board", 2222, "ssh-ed25519", "SHA256:abcdef")
    presenter.run.host_key_requested.emit(question)
    (dialog,) = wizard.findChildren(HostKeyDialog)
    qtbot.waitUntil(dialog.isVisible)
    assert dialog.fingerprint.text() == "SHA256:abcdef"
    assert dialog.refuse_button.isDefault()
    assert any("board, port 2222" in text for text in texts(dialog))
    if trusted:
        click(qtbot, dialog.trust_button)
    else:
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert question.wait(CancelToken()) is trusted


def test_every_field_has_a_name_and_the_wizard_is_drawn_in_the_dark(
    wizard: ProbingWizard, options: ViewOptions
) -> None:
    options.set_theme(DARK)
    for page in range(wizard.pages.count()):
        wizard.show_page(page)
        assert wizard.grab().width() > 0
        for button in wizard.pages.currentWidget().findChildren(QPushButton):
            assert button.text()
    form = wizard.target_page.form
    for field in (form.device_box, form.runtime_box, form.threads_box, form.address_edit):
        assert field.accessibleName()
    plot = wizard.plan_page.plot
    assert plot.backgroundBrush().color().name() == DARK.surface


def test_the_fields_of_a_plan_fit_a_small_screen(wizard: ProbingWizard) -> None:
    assert wizard.plan_page.minimumSizeHint().width() <= 640  # of 1280 at 200 %


def test_the_menu_asks_for_the_wizard(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.probing_requested):
        window.actions_by_id["probe"].trigger()


# The last one: it makes no widgets and collects those of the tests before it.
def test_a_cancelled_run_trusts_no_key() -> None:
    cancelled = CancelToken()
    cancelled.cancel()
    assert not HostKeyQuestion("board", 22, "ssh-ed25519", "SHA256:a").wait(cancelled)
