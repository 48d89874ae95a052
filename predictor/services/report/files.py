"""Reports as files: the ending of the name says in which format; a file is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from predictor.core.errors import InputError
from predictor.core.files import is_folder, write_bytes
from predictor.core.report import Report
from predictor.services.report.json_form import report_document
from predictor.services.report.markdown import report_markdown

PDF: Final = ".pdf"
FORMATS: Final = (PDF, ".md", ".json")
PAGES: Final = ("a4", "letter")


def check_report_path(path: Path) -> None:
    """Refuse at once a path that would be refused only after the work.

    Raises:
        InputError: the ending is none that we write, or the folder is not there.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            str(path),
            f"its ending is {path.suffix or 'missing'}",
            f"name a file that ends with {', '.join(FORMATS)}",
        )
    if is_folder(path):
        raise InputError(str(path), "it is a folder", "name a file in it")
    if not is_folder(path.absolute().parent):
        raise InputError(str(path), "its folder does not exist", "make the folder or name another")


def save_report(report: Report, path: Path, as_pdf: Callable[[Report], bytes]) -> None:
    """Write a report in the format of the path's ending.

    Args:
        report: the report.
        path: that ``check_report_path`` accepts.
        as_pdf: makes the PDF file.

    Raises:
        InputError: see ``check_report_path``.
        HostError: the file cannot be written; one that was there is as it was.
        CancelledError: ``as_pdf`` was cancelled; nothing was written.
    """
    check_report_path(path)
    write_bytes(path, _content(report, path.suffix.lower(), as_pdf), "the report")


def _content(report: Report, suffix: str, as_pdf: Callable[[Report], bytes]) -> bytes:
    if suffix == PDF:
        return as_pdf(report)
    if suffix == ".md":
        return report_markdown(report).encode()
    document = report_document(report)
    return (json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n").encode()
