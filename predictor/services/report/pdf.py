"""A report as PDF: a child process lays it out, for this package knows neither Qt nor pages.

The writer is a module that the installed program registers, an entry point; it is run by ``-m`` and
answers one request: it gets ``{"id", "report", "page"}`` as a line and returns the file in base64.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from predictor.core.child_process import ChildProcess, result_of
from predictor.core.errors import HostError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.presentation.report import Report
from predictor.services.report.files import report_document

WRITER_FLAG = "--report-writer"
"""First argument of a frozen program that is to be the writer; its entry knows it."""

_WHAT = "the PDF writer"
_WRITERS = "closertome.report_writers"  # group of the entry point that is named pdf


def report_pdf(
    report: Report,
    page: str = "a4",
    cancel: CancelToken | None = None,
    progress: ProgressCallback = no_progress,
) -> bytes:
    """Return a report as a PDF file.

    Args:
        report: the report.
        page: ``a4`` or ``letter``.
        cancel: asks to stop.
        progress: called for each block and page.

    Raises:
        HostError: there is no writer, or it fails, for example for lack of a library.
        CancelledError: it was cancelled.
    """
    child = ChildProcess(_command(), _WHAT, "install the program again, or write report.md")
    request = {"id": 1, "report": report_document(report), "page": page}

    def on_step(step: Mapping[str, Any]) -> None:
        progress(Progress(step["done"], step["total"], step["message"]))

    # The protocol is lines of JSON, which has no bytes.
    return base64.b64decode(result_of(child, request, cancel, on_step)["pdf"])


def _command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, WRITER_FLAG]
    # Looked up, not imported: the import rules keep this package free of the window.
    for writer in entry_points(group=_WRITERS, name="pdf"):
        return [sys.executable, "-P", "-X", "utf8", "-m", writer.module]
    raise HostError(
        _WHAT, "no installed program has one", "install CloserToMe again, or write report.md"
    )
