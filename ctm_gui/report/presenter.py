"""The report of a comparison: made, laid out, saved and printed off the window's thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QColor, QImage, QPainter

from ctm_gui.prediction.comparison import ComparedModel, Comparison
from ctm_gui.report.compose import compose
from ctm_gui.report.marks import Page, Pages, PageSize
from ctm_gui.report.painting import paint_page, pdf_of
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from ctm_gui.tasks.store_client import Recorder
from ctm_gui.widgets.theme import LIGHT
from predictor.core.errors import CtmError, InputError
from predictor.core.progress import Progress
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.graph.model import Model
from predictor.presentation.report import USUAL_SECTIONS, Report, SectionId
from predictor.services.history.history import History
from predictor.services.loads.answers import Answer
from predictor.services.prediction.explain import explain
from predictor.services.prediction.sensitivity import sensitivity_of
from predictor.services.report.build import build_report, report_alone
from predictor.services.report.files import save_report
from predictor.services.report.probing import measured_signatures
from predictor.services.report.request import (
    MeasuredSignature,
    ReportedModel,
    ReportRequest,
    RequestedSettings,
)
from predictor.services.report.versions import command_lines
from predictor.services.serving.records import LanguageRun

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReportSubject:
    """The subject of a report: the window's present comparison.

    Attributes:
        comparison: with at least one row, or none where a language model is open.
        unit: of the latencies.
        budget_ms: that latencies are compared with, None without one.
        language: returns the runs of the open language models.
        chosen: model and target index of the pair that is looked at; None for none.
        load: the answer of the page Load, None where there is none.
    """

    comparison: Comparison
    unit: LatencyUnit
    budget_ms: float | None = None
    language: Callable[[], tuple[LanguageRun, ...]] = tuple
    chosen: tuple[int, int] | None = None
    load: Answer | None = None


@dataclass(frozen=True, slots=True)
class ReportChoice:
    """Choices of the user: sections, paper, and a title, empty for the usual one."""

    sections: frozenset[SectionId] = frozenset(USUAL_SECTIONS)
    size: PageSize = PageSize.A4
    title: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A report with every section, and its sections on pages as they were chosen."""

    report: Report
    choice: ReportChoice
    pages: Pages


class ReportPresenter(QObject):
    """Makes the report of one subject at a time.

    ``changed`` is emitted when ``draft`` or ``busy`` changes; ``progressed`` gives a Progress;
    ``done`` a sentence on the file written or the pages sent; ``failed`` gives a CtmError.

    Args:
        recorder: of the window's store.
        parent: owner.
    """

    changed = Signal()
    progressed = Signal(object)
    done = Signal(str)
    failed = Signal(object)

    def __init__(self, recorder: Recorder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recorder = recorder
        self._worker = SerialWorker("report", self)
        self._turn = 0  # what was asked of the store before it is no longer wanted
        self._is_reading = False
        self._subject: ReportSubject | None = None
        self._request: ReportRequest | None = None
        self.choice = ReportChoice()
        self.draft: Draft | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being made, written or printed."""
        return self._worker.busy or self._is_reading

    def start(self, subject: ReportSubject) -> None:
        """Make the report of a subject; ``cancel`` stops it."""
        self.cancel()
        self._subject, self._request, self.draft = subject, None, None
        self._is_reading = True
        self.changed.emit()
        self._recorder.run(
            partial(_signatures, subject),
            on_result=partial(self._begin, self._turn),
            on_error=partial(self._begin_without_store, self._turn),
        )

    def choose(self, choice: ReportChoice) -> None:
        """Lay the report out as chosen; sections that are there need not be made again."""
        if choice == self.choice:
            return
        self.choice = choice
        if self.draft is not None:
            self._lay_out(self.draft.report)
        elif self._subject is not None and not self.busy:
            self.start(self._subject)  # it was cancelled

    def save(self, path: Path) -> None:
        """Write the report in the format of the path's ending, and note it in the store."""
        draft = self.draft
        if draft is None:
            return
        chosen = _titled(draft.report, self.choice).only(self.choice.sections)
        self._run(
            lambda context: _save(chosen, draft.pages, path, context),
            partial(self._on_saved, path, chosen.title),
        )

    def print_pages(self, paint: Callable[[Pages, TaskContext], None]) -> None:
        """Have the pages painted onto paper, off the window's thread."""
        if self.draft is not None:
            pages = self.draft.pages
            words = f"Sent {plural(len(pages.pages), 'page')} to the printer."
            self._run(lambda context: paint(pages, context), lambda _: self.done.emit(words))

    def cancel(self) -> None:
        """Stop the running work; a finished draft stays."""
        self._turn += 1
        self._is_reading = False
        self._worker.cancel_all()
        self.changed.emit()

    def close(self) -> None:
        """Stop all work."""
        self._worker.close()

    def _begin_without_store(self, turn: int, error: CtmError) -> None:
        if turn == self._turn:
            self.failed.emit(error)
            self._begin(turn, ())

    def _begin(self, turn: int, signatures: tuple[MeasuredSignature, ...]) -> None:
        if turn != self._turn or self._subject is None:
            return
        self._is_reading = False
        request = self._request = _request_of(self._subject, signatures)
        work = partial(_draft, request, self._subject, self.choice)
        self._run(work, self._on_draft)

    def _lay_out(self, report: Report) -> None:
        self._run(partial(_laid_out, report, self.choice), self._on_draft)

    def _run(self, work: Callable[[TaskContext], T], on_result: Callable[[T], None]) -> None:
        """Cancel the running work and submit this instead."""
        self._worker.cancel_all()
        self._worker.submit(
            work,
            on_result=partial(self._settle, on_result),
            on_error=self._on_error,
            on_progress=self.progressed.emit,
        )
        self.changed.emit()

    def _settle(self, on_result: Callable[[T], None], result: T) -> None:
        on_result(result)
        self.changed.emit()

    def _on_draft(self, draft: Draft) -> None:
        self.draft = draft
        if draft.choice != self.choice:  # changed meanwhile
            self._lay_out(draft.report)

    def _on_saved(self, path: Path, title: str, _: None) -> None:
        self.done.emit(f"Saved {path}")
        request = self._request
        if request is not None:
            models = [
                model
                for reported in request.models
                for model in (reported.model, *reported.batches.values())
            ]
            self._recorder.run(
                lambda history: history.record_report(title, path, models, request.predictions),
                on_result=lambda _: None,
                on_error=self.failed.emit,
            )

    def _on_error(self, error: CtmError) -> None:
        self.failed.emit(error)
        self.changed.emit()


def _signatures(subject: ReportSubject, history: History) -> tuple[MeasuredSignature, ...]:
    predictions = [row.prediction for row in subject.comparison.rows]
    used = [p.signature for p in predictions if p.signature is not None]
    devices = [target.device.id for target in subject.comparison.targets]
    return measured_signatures(history.signatures, devices, used)


def _request_of(subject: ReportSubject, signatures: tuple[MeasuredSignature, ...]) -> ReportRequest:
    comparison = subject.comparison
    models = [compared.model for compared in comparison.models]
    chosen = None
    if subject.chosen is not None:
        model, target = subject.chosen
        chosen = comparison.models[model].label, comparison.targets[target].run_id
    return ReportRequest(
        models=tuple(map(_reported, comparison.models)),
        targets=comparison.targets,
        predictions=tuple(row.prediction for row in comparison.rows),
        explain=partial(explain, measured=comparison.signatures),
        sensitivity=partial(
            sensitivity_of, measured=comparison.signatures, measurements=comparison.measurements
        ),
        # Local time with its offset from UTC, which a naive time lacks.
        created=datetime.now(UTC).astimezone(),
        budget_ms=subject.budget_ms,
        unit=subject.unit,
        signatures=signatures,
        chosen=chosen,
        commands=command_lines(models, comparison.targets, RequestedSettings(), subject.budget_ms),
    )


def _reported(compared: ComparedModel) -> ReportedModel:
    read = {batch: model for batch, model in compared.batches.items() if isinstance(model, Model)}
    return ReportedModel(compared.label, compared.model, read)


def _draft(
    request: ReportRequest, subject: ReportSubject, choice: ReportChoice, context: TaskContext
) -> Draft:
    runs = subject.language()
    loads = () if subject.load is None else (subject.load,)
    if not request.predictions and not runs and not loads:
        raise InputError("report", "no target is ticked", "tick one, and open the report again")
    if request.predictions:
        complete = replace(request, language=runs, loads=loads)
        report = build_report(complete, cancel=context.token, report=context.report)
    else:
        report = report_alone(runs, loads, request.created)
    return _laid_out(report, choice, context)


def _laid_out(report: Report, choice: ReportChoice, context: TaskContext) -> Draft:
    chosen = _titled(report, choice).only(choice.sections)
    return Draft(report, choice, compose(chosen, choice.size, context.token, context.report))


def _titled(report: Report, choice: ReportChoice) -> Report:
    title = choice.title.strip()
    return replace(report, title=title) if title else report


def _save(report: Report, pages: Pages, path: Path, context: TaskContext) -> None:
    save_report(report, path, lambda _: pdf_of(pages, context.token, context.report))
    context.report(Progress(1, 1, "Saved"))


_CACHED_PAGES = 12


class PageImages(QObject):
    """Paints requested pages, and keeps the last of them.

    ``painted`` is emitted when a requested picture is ready.

    Args:
        parent: owner.
    """

    painted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = SerialWorker("pages", self)
        self._pages: Pages | None = None
        self._size = QSize(1, 1)
        self._images: OrderedDict[int, QImage] = OrderedDict()
        self._tasks: dict[int, Task] = {}

    @property
    def settled(self) -> bool:
        """Whether every requested picture is there."""
        return not self._tasks

    def show(self, pages: Pages | None, size_px: QSize) -> None:
        """Paint other pages from now on, or the same ones in another size."""
        self._worker.cancel_all()
        self._tasks.clear()
        self._images.clear()
        self._pages, self._size = pages, size_px

    def image(self, index: int) -> QImage | None:
        """Return the picture of a page; None while it is being painted."""
        image = self._images.get(index)
        if image is not None:
            self._images.move_to_end(index)
        elif self._pages is not None and index not in self._tasks:
            page, width = self._pages.pages[index], self._pages.size.width
            self._tasks[index] = self._worker.submit(
                lambda _: _painted(page, width, self._size),
                on_result=partial(self._keep, index),
                on_error=lambda _: None,  # painting raises no expected error
            )
        return image

    def close(self) -> None:
        """Stop painting; pages requested afterwards stay blank."""
        self.show(None, self._size)
        self._worker.close()

    def _keep(self, index: int, image: QImage) -> None:
        self._tasks.pop(index, None)
        self._images[index] = image
        while len(self._images) > _CACHED_PAGES:
            self._images.popitem(last=False)
        self.painted.emit()


def _painted(page: Page, width: float, size_px: QSize) -> QImage:
    # Not a QPixmap, which only the window's thread may paint.
    image = QImage(size_px, QImage.Format.Format_RGB32)
    image.fill(QColor(LIGHT.surface))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size_px.width() / width, size_px.width() / width)
    paint_page(painter, page)
    painter.end()
    return image
