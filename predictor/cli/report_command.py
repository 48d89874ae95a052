"""``ctm report``: predictions and all that explains them, as a document."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.predict_command import choose_targets, read_models
from predictor.cli.progress_line import progress_on
from predictor.core.errors import CtmError
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Measurement, Precision, Prediction, Target
from predictor.core.report import Report, SectionId
from predictor.core.text import printable
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.history.history import History, open_history
from predictor.services.models.inspection import Model
from predictor.services.prediction.predict import explain, predict
from predictor.services.report.build import build_report
from predictor.services.report.files import save_report
from predictor.services.report.pdf import report_pdf
from predictor.services.report.probing import known_signatures
from predictor.services.report.request import (
    Asked,
    KnownSignature,
    ReportRequest,
    labelled,
)
from predictor.services.report.versions import command_line
from predictor.services.signatures.own import KnownTargets

_DONE = 0
_HOST_FAILED = 3


def run(options: argparse.Namespace, console: Console, readings: Sequence[Future[Model]]) -> int:
    """Predict every model on every target and write the report.

    A model that cannot be read is named and left out; a store that fails costs the record of the
    report and not the report. Both decide the exit code.
    """
    targets = choose_targets(options, load_catalogue(user_devices_of(options.store)))
    models, code = read_models(readings, console)
    if not models:
        return code
    store = _Store(options.store, console)
    try:
        known = store.measured_on(targets)
        predictions = predict(models, targets, options.engine, store.measured(models), known)
        request = _request(options, models, targets, predictions, store, known)
        report = _write(options, request, _progress(console))
        store.record(models, predictions, report.title, Path(options.output))
    finally:
        store.close()
    console.result(f"{printable(options.output)}: {printable(report.title)}")
    return code or (_HOST_FAILED if store.failed else _DONE)


def _progress(console: Console) -> ProgressCallback:
    """Return what shows the progress: on a terminal only, it is a matter of seconds."""
    return progress_on(console) if sys.stderr.isatty() else no_progress


def _request(
    options: argparse.Namespace,
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    store: _Store,
    known: KnownTargets,
) -> ReportRequest:
    precision = Precision(options.precision) if options.precision else None
    asked = Asked(options.runtime, precision, options.threads, options.batch)
    return ReportRequest(
        models=labelled(models),
        targets=tuple(targets),
        predictions=tuple(predictions),
        explain=partial(explain, engine=options.engine, signatures=known),
        created=datetime.now(UTC).astimezone(),
        budget_ms=options.budget_ms,
        asked=asked,
        signatures=store.signatures(targets, predictions),
        commands=(_command(options, targets, asked),),
        title=options.title,
        operators=options.top,
    )


def _command(options: argparse.Namespace, targets: Sequence[Target], asked: Asked) -> str:
    """Return the command that makes the report again, with every device named by its id."""
    files = [text for text in options.device if text.casefold().endswith(".json")]
    ids = [target.device.id for target in targets]
    return command_line(
        options.models,
        ids if not files else [*options.device, *(["--all"] if options.all else [])],
        asked,
        budget_ms=options.budget_ms,
        dimensions=options.dim,
        shapes=options.shape,
        engine=options.engine,
        output=options.output,
    )


def _write(options: argparse.Namespace, request: ReportRequest, tell: ProgressCallback) -> Report:
    sections = [SectionId(name) for name in options.sections]
    report = build_report(request, sections, report=tell)
    save_report(report, Path(options.output), partial(report_pdf, page=options.page, progress=tell))
    tell(Progress(1, 1, ""))
    return report


class _Store:
    """The store; its failure costs no report."""

    def __init__(self, path: str | None, console: Console) -> None:
        self._console = console
        self._history: History | None = None
        self.failed = False
        try:
            self._history = open_history(Path(path) if path else None)
        except CtmError as error:
            self._fail(error)

    def measured(self, models: Sequence[Model]) -> list[Measurement]:
        """Return what the user measured of the models; nothing where the store fails."""
        try:
            return self._history.measured(models) if self._history is not None else []
        except CtmError as error:
            self._fail(error)
            return []

    def measured_on(self, targets: Sequence[Target]) -> KnownTargets:
        """Return what the user measured on targets; nothing where the store fails."""
        try:
            return self._history.own_signatures().of(targets) if self._history is not None else {}
        except CtmError as error:
            self._fail(error)
            return {}

    def signatures(
        self, targets: Sequence[Target], predictions: Sequence[Prediction]
    ) -> tuple[KnownSignature, ...]:
        """Return what was measured on the targets; nothing where the store fails."""
        if self._history is None:
            return ()
        ids = [target.device.id for target in targets]
        used = [p.signature for p in predictions if p.signature is not None]
        try:
            return known_signatures(self._history.signatures, ids, used)
        except CtmError as error:
            self._fail(error)
            return ()

    def record(
        self, models: Sequence[Model], predictions: Sequence[Prediction], title: str, path: Path
    ) -> None:
        """Store the predictions and the report on them."""
        if self._history is None:
            return
        try:
            self._history.record(models, predictions)
            self._history.record_report(title, path.absolute(), models, predictions)
        except CtmError as error:
            self._fail(error)

    def close(self) -> None:
        if self._history is not None:
            self._history.close()

    def _fail(self, error: CtmError) -> None:
        self.failed = True
        self._console.error(f"ctm: the report is not in the store: {error}")
