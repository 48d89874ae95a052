"""The report's dialog on a real comparison: choosing, previewing, saving, printing, cancelling."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from ctm_gui.application import Application
from ctm_gui.report.dialog import ReportDialog, print_pages
from ctm_gui.report.marks import PageSize
from ctm_gui.report.presenter import ReportPresenter, ReportSubject
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.units import LatencyUnit
from predictor.presentation.report import USUAL_SECTIONS, SectionId
from predictor.presentation.wording import number
from tests.gui.conftest import SETTLE_MS, MakeModel
from tests.support.what_ifs import ask_what_if


@pytest.fixture
def compared(
    workspace: Workspace, make_model: MakeModel, settle: Callable[[Workspace], None]
) -> Workspace:
    workspace.open_paths([str(make_model())])
    settle(workspace)
    return workspace


@pytest.fixture
def dialog(
    qtbot: QtBot, compared: Workspace, tmp_path: Path, options: ViewOptions
) -> Iterator[ReportDialog]:
    presenter = ReportPresenter(compared.recorder)
    dialog = ReportDialog(options, presenter, str(tmp_path))
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.show_subject(
        ReportSubject(comparison=compared.comparison, unit=LatencyUnit.MS, budget_ms=5.0)
    )
    wait(qtbot, dialog)
    yield dialog
    dialog.stop()


def wait(qtbot: QtBot, dialog: ReportDialog) -> None:
    images = dialog.preview.images
    qtbot.waitUntil(lambda: not dialog.presenter.busy and images.settled, timeout=SETTLE_MS)


def press(qtbot: QtBot, button: object) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)  # type: ignore[arg-type]


def texts(dialog: ReportDialog) -> str:
    assert dialog.presenter.draft is not None
    marks = [mark for page in dialog.presenter.draft.pages.pages for mark in page.marks]
    return "\n".join(getattr(mark, "text", "") for mark in marks)


def test_the_pages_show_the_figures_of_the_window(
    dialog: ReportDialog, compared: Workspace
) -> None:
    shown = texts(dialog).split("\n")

    latencies = [row.prediction.latency_ms for row in compared.comparison.rows]
    assert any(latency is not None for latency in latencies)
    for latency in latencies:
        assert number(latency) in shown
    assert dialog.preview.count > 1
    assert dialog.page_words.text() == f"Page 1 of {dialog.preview.count}"


def test_the_preview_is_painted(dialog: ReportDialog, qtbot: QtBot) -> None:
    dialog.preview.viewport().repaint()
    wait(qtbot, dialog)
    image = dialog.preview.images.image(0)

    assert image is not None
    colours = {image.pixelColor(x, 40).name() for x in range(0, image.width(), 3)}
    colours |= {image.pixelColor(image.width() // 3, y).name() for y in range(image.height() // 4)}
    assert "#ffffff" in colours
    assert len(colours) > 2


def test_an_appendix_is_chosen_and_brings_its_pages(dialog: ReportDialog, qtbot: QtBot) -> None:
    chosen = {section for section, box in dialog.section_boxes.items() if box.isChecked()}
    assert chosen == set(USUAL_SECTIONS)
    before = dialog.preview.count
    assert before <= 4
    dialog.section_boxes[SectionId.DEVICES].setChecked(True)
    wait(qtbot, dialog)

    assert dialog.preview.count > before
    assert "Hardware Capability Vector" in texts(dialog)
    dialog.section_boxes[SectionId.DEVICES].setChecked(False)
    wait(qtbot, dialog)
    assert dialog.preview.count == before


def test_a_section_with_nothing_to_say_cannot_be_chosen(
    dialog: ReportDialog, compared: Workspace, qtbot: QtBot
) -> None:
    assert dialog.section_boxes[SectionId.OPERATORS].isEnabled()
    rows = tuple(
        replace(row, prediction=replace(row.prediction, latency_ms=None, basis=None, problem="why"))
        for row in compared.comparison.rows
    )
    nothing = replace(compared.comparison, rows=rows)
    dialog.show_subject(ReportSubject(comparison=nothing, unit=LatencyUnit.MS))
    wait(qtbot, dialog)

    assert not dialog.section_boxes[SectionId.OPERATORS].isEnabled()
    assert dialog.section_boxes[SectionId.SUMMARY].isEnabled()


def test_paper_and_title_are_chosen(dialog: ReportDialog, qtbot: QtBot) -> None:
    dialog.size_box.setCurrentIndex(1)
    dialog.title_box.setText("<b>For</b> a customer")
    qtbot.waitUntil(lambda: dialog.presenter.choice.title != "", timeout=SETTLE_MS)
    wait(qtbot, dialog)

    draft = dialog.presenter.draft
    assert draft is not None
    assert draft.pages.size is PageSize.LETTER
    assert draft.pages.title == "<b>For</b> a customer"


@pytest.mark.parametrize("ending", [".pdf", ".md", ".json"])
def test_a_report_is_saved_and_noted_in_the_store(
    dialog: ReportDialog,
    compared: Workspace,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
) -> None:
    path = tmp_path / f"customer{ending}"
    answer = (str(path), "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    press(qtbot, dialog.save_button)
    wait(qtbot, dialog)

    assert dialog.words.text() == f"Saved {path}"
    content = path.read_bytes()
    if ending == ".pdf":
        assert content.startswith(b"%PDF-")
    else:
        assert b"meets the budget of 5 ms" in content
    if ending == ".json":
        assert json.loads(content)["schema"] == "ctm-report/1"
    rows: list = []
    read = "SELECT path FROM reports JOIN report_predictions ON report_id = reports.id"
    compared.recorder.run(
        lambda h: list(h.database.tables.query(read)), on_result=rows.extend, on_error=print
    )
    qtbot.waitUntil(lambda: bool(rows), timeout=SETTLE_MS)
    assert {row["path"] for row in rows} == {str(path)}
    numbers = [r for r in compared.comparison.rows if r.prediction.latency_ms is not None]
    assert len(rows) >= len(numbers)


def test_an_ending_is_added_by_the_chosen_kind(
    dialog: ReportDialog, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = (str(tmp_path / "plain"), "Markdown (*.md)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    press(qtbot, dialog.save_button)
    wait(qtbot, dialog)

    assert (tmp_path / "plain.md").exists()


def test_a_report_that_cannot_be_saved_is_told_in_a_sentence(
    dialog: ReportDialog, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    answer = (str(tmp_path / "file" / "a.pdf"), "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    press(qtbot, dialog.save_button)
    wait(qtbot, dialog)

    assert "a.pdf: the report could not be written" in dialog.words.text()
    assert dialog.words.property("role") == "bad"
    assert dialog.save_button.isEnabled()


def test_the_printer_gets_every_page(dialog: ReportDialog, qtbot: QtBot, tmp_path: Path) -> None:
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    path = tmp_path / "printed.pdf"
    printer.setOutputFileName(str(path))
    printer.setFullPage(True)
    dialog.presenter.print_pages(lambda pages, context: print_pages(printer, pages, context))
    wait(qtbot, dialog)

    assert dialog.words.text() == f"Sent {dialog.preview.count} pages to the printer."
    assert path.read_bytes().count(b"/Type /Page\n") == dialog.preview.count


def test_a_cancel_leaves_nothing_and_a_choice_begins_again(
    dialog: ReportDialog, compared: Workspace, qtbot: QtBot
) -> None:
    subject = ReportSubject(comparison=compared.comparison, unit=LatencyUnit.US)
    dialog.show_subject(subject)
    assert dialog.cancel_button.isVisible()
    press(qtbot, dialog.cancel_button)

    assert not dialog.presenter.busy
    assert dialog.presenter.draft is None
    assert not dialog.save_button.isEnabled()
    dialog.section_boxes[SectionId.METHODS].setChecked(True)
    wait(qtbot, dialog)
    assert dialog.presenter.draft is not None


def test_the_wheel_zooms_with_control(dialog: ReportDialog, qtbot: QtBot) -> None:
    preview = dialog.preview
    preview.viewport().repaint()
    wait(qtbot, dialog)
    before = preview.verticalScrollBar().maximum()
    place = QPointF(preview.viewport().rect().center())
    event = QWheelEvent(
        place,
        preview.viewport().mapToGlobal(place),
        QPointF(0, 0).toPoint(),
        QPointF(0, 240).toPoint(),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(preview.viewport(), event)

    assert preview.verticalScrollBar().maximum() > before
    dialog.fit_button.click()
    assert preview.verticalScrollBar().maximum() == before
    assert event.type() is QEvent.Type.Wheel


def test_every_control_has_a_name(dialog: ReportDialog) -> None:
    controls = [dialog.preview, dialog.size_box, dialog.title_box, dialog.bar]
    assert all(control.accessibleName() for control in controls)
    buttons = (dialog.save_button, dialog.print_button, dialog.cancel_button, dialog.close_button)
    assert all(button.text() for button in buttons)


def test_the_menu_asks_for_a_report_once_something_is_compared(
    window: MainWindow,
    workspace: Workspace,
    qtbot: QtBot,
    make_model: MakeModel,
    settle: Callable[[Workspace], None],
) -> None:
    action = window.actions_by_id["report"]
    assert not action.isEnabled()
    window.open_paths([str(make_model())])
    settle(workspace)

    assert action.isEnabled()
    with qtbot.waitSignal(window.report_requested):
        action.trigger()


@pytest.mark.usefixtures("own_folders")
def test_the_action_shows_the_report_of_what_the_window_compares(
    qtbot: QtBot,
    make_application: Callable[..., Application],
    make_model: MakeModel,
    settle: Callable[[Workspace], None],
) -> None:
    application = make_application()
    window, workspace = application.window, application.workspace
    action = window.actions_by_id["report"]
    with qtbot.waitSignal(workspace.recorder.opened, timeout=SETTLE_MS):
        application.start([str(make_model("reported.onnx"))])
    assert not action.isEnabled(), "there is nothing to report yet"
    qtbot.waitUntil(lambda: bool(workspace.shelf.entries))
    settle(workspace)
    window.options.set_budget_ms(5.0)

    action.trigger()
    dialog = application.report
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.presenter.draft is not None, timeout=SETTLE_MS)
    wait(qtbot, dialog)
    assert dialog.isVisible()
    shown = texts(dialog)
    assert "reported.onnx" in shown
    assert "budget of 5 ms" in shown

    dialog.close()
    ask_what_if(workspace, batch=3)
    settle(workspace)
    action.trigger()
    assert application.report is dialog, "one dialog for all reports"
    qtbot.waitUntil(lambda: bool(dialog.presenter.draft) and "batch 3" in texts(dialog))
