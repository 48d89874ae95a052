"""The child process that turns reports into PDF: JSON lines on stdin, answers on stdout.

A request is ``{"id", "report", "page"}``; an answer ``{"id", "kind", "payload"}``, kind one of
progress, result (``{"pdf": base64}``) and error. It needs no display.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from functools import partial
from typing import Any

from predictor.core.documents import Document
from predictor.core.errors import CtmError, HostError
from predictor.core.progress import Progress
from predictor.presentation.report import Report
from predictor.services.report.files import report_of


def main() -> int:
    """Answer requests until stdin ends; returns the exit code."""
    # Set before Qt is loaded; the user's own choice of a platform is for windows.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    for line in sys.stdin:
        request = Document.from_json(line).content
        try:
            pdf = _pdf(report_of(request["report"]), request["page"], request["id"])
        except CtmError as error:
            _answer(request["id"], "error", error.to_dict())
        else:
            _answer(request["id"], "result", {"pdf": base64.b64encode(pdf).decode("ascii")})
    return 0


def _pdf(report: Report, page: str, number: int) -> bytes:
    try:
        from PySide6.QtGui import QGuiApplication
    except ImportError as error:
        # Said in a sentence and not before it is asked for: a server may lack Qt's libraries.
        raise HostError(
            "the PDF writer",
            f"a library is missing ({error})",
            "install it (on Debian and Ubuntu: apt-get install libgl1 libegl1 libxkbcommon0 "
            "libfontconfig1 libdbus-1-3), or write report.md or report.json",
        ) from error
    from ctm_gui.report.compose import compose
    from ctm_gui.report.marks import PageSize, register_fonts
    from ctm_gui.report.painting import pdf_of

    application = QGuiApplication.instance() or QGuiApplication([])
    register_fonts()
    report_step = partial(_send_step, number)
    pages = compose(report, PageSize[page.upper()], progress=report_step)
    pdf = pdf_of(pages, progress=report_step)
    del application
    return pdf


def _send_step(number: int, progress: Progress) -> None:
    payload = {"done": progress.done, "total": progress.total, "message": progress.message}
    _answer(number, "progress", payload)


def _answer(number: int, kind: str, payload: dict[str, Any]) -> None:
    print(json.dumps({"id": number, "kind": kind, "payload": payload}), flush=True)  # noqa: T201
