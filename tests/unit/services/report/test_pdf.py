"""The child process that writes PDF files for a program without Qt."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from predictor.core.errors import CancelledError, HostError
from predictor.core.progress import CancelToken, Progress
from predictor.presentation.report import Report
from predictor.services.report import pdf
from predictor.services.report.build import build_report
from predictor.services.report.files import report_document
from predictor.services.report.pdf import WRITER_FLAG, report_pdf
from tests.support.report_requests import make_request

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def report() -> Report:
    return build_report(make_request())


def test_a_child_writes_the_file_and_tells_how_far_it_is(report: Report) -> None:
    told: list[Progress] = []
    data = report_pdf(report, "letter", progress=told.append)

    assert data.startswith(b"%PDF-")
    assert re.search(rb"/MediaBox \[0 0 612(\.0+)? 792(\.0+)? *\]", data)
    assert {progress.message for progress in told} >= {"Laying out Answer", "Writing pages"}


def test_a_cancel_ends_the_child(report: Report) -> None:
    token = CancelToken()

    with pytest.raises(CancelledError):
        report_pdf(report, cancel=token, progress=lambda _: token.cancel())


def test_a_child_that_dies_is_told_in_a_sentence(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = EntryPoint("pdf", "ctm_gui.no_such_module", "closertome.report_writers")
    monkeypatch.setattr(pdf, "entry_points", lambda **_: [writer])

    with pytest.raises(HostError, match=r"the PDF writer: exit code 1: .*no_such_module"):
        report_pdf(report)


def test_a_program_without_a_writer_says_so(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "entry_points", lambda **_: [])

    with pytest.raises(HostError, match="the PDF writer: no installed program has one"):
        report_pdf(report)


def test_a_machine_without_qt_is_told_what_to_install(report: Report, tmp_path: Path) -> None:
    # A package that cannot be imported stands in for Qt's libraries that are not there.
    (tmp_path / "PySide6").mkdir()
    (tmp_path / "PySide6" / "__init__.py").write_text("raise ImportError('libEGL.so.1')")
    code = (
        "from predictor.services.report.pdf import report_pdf\n"
        "from predictor.services.report.files import report_of\n"
        "import json, sys\n"
        "report_pdf(report_of(json.load(sys.stdin)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(report_document(report)),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "the PDF writer: a library is missing (libEGL.so.1)" in done.stderr
    assert "apt-get install" in done.stderr


def test_the_frozen_entry_knows_the_flag() -> None:
    entry = ROOT / "packaging" / "entries" / "closertome.py"

    assert f'"{WRITER_FLAG}"' in entry.read_text(encoding="utf-8")
