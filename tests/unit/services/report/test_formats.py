"""The same report as Markdown and JSON, and files that are whole or not there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.core.errors import HostError, InputError
from predictor.core.left_over import partial_path
from predictor.core.tensors import DynamicDimension
from predictor.graph.model import NAMED_BATCH
from predictor.presentation.report import BarChart, Report
from predictor.services.report.build import build_report
from predictor.services.report.files import (
    SCHEMA,
    check_report_path,
    report_document,
    report_markdown,
    report_of,
    save_report,
)
from predictor.services.report.request import RequestedSettings
from predictor.services.report.versions import command_line, command_lines
from predictor.services.signatures.adaptation import ADAPTATIONS
from tests.support.report_requests import (
    FAST,
    SLOW,
    attending,
    fine_tuned_request,
    hostile_request,
    make_request,
    make_signature,
    with_intervals,
)


@pytest.fixture
def report() -> Report:
    known = make_signature(FAST.device)
    request = make_request(explain=attending, signatures=(known,), budget_ms=1.0, commands=("ctm",))
    return build_report(with_intervals(request))


def no_pdf(_: Report) -> bytes:
    raise AssertionError("no PDF was asked for")


def test_json_gives_the_report_back(report: Report) -> None:
    document = json.loads(json.dumps(report_document(report), allow_nan=False))

    assert document["schema"] == SCHEMA
    assert report_of(document) == report
    assert report_of(json.loads(json.dumps(report_document(build_report(hostile_request())))))


def test_a_document_of_another_schema_is_refused(report: Report) -> None:
    with pytest.raises(ValueError, match="ctm-report/1"):
        report_of({**report_document(report), "schema": "ctm-report/9"})


def test_json_figures_have_text_and_value(report: Report) -> None:
    comparison = report_document(report)["sections"][2]  # type: ignore[index]
    table = next(block for block in comparison["blocks"] if block["kind"] == "table")
    row = dict(zip([c["key"] for c in table["columns"]], table["rows"][0]["cells"], strict=True))

    assert float(row["latency"]["text"]) == pytest.approx(row["latency"]["value"], rel=0.005)


def test_markdown_has_every_section_and_every_row(report: Report) -> None:
    text = report_markdown(report)

    for section in report.sections:
        assert f"## {section.title}" in text
    assert "| Fast |" in text
    assert "\n    ctm\n" in text
    (chart,) = [block for block in report.sections[0].blocks if isinstance(block, BarChart)]
    assert all(bar.text.split()[0] in text for bar in chart.bars)
    assert f"| {chart.axis} |" in text
    tables = [line for line in text.split("\n") if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)


def test_markdown_and_json_name_the_adaptation() -> None:
    found = build_report(fine_tuned_request())
    words = ADAPTATIONS["film"]

    assert any(
        "Predictions adapted by" in line and words in line
        for line in report_markdown(found).splitlines()
    )
    blocks = {s["id"]: s["blocks"] for s in report_document(found)["sections"]}  # type: ignore[attr-defined]
    (facts,) = [block for block in blocks["probing"] if block["kind"] == "facts"]
    assert words in json.dumps(facts)


def test_hostile_names_are_no_markup_in_markdown() -> None:
    text = report_markdown(build_report(hostile_request()))

    assert not re.search(r"(?<!\\)<", text)
    assert not re.search(r"(?<!\\)&", text)
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("name", "words"),
    [("report.txt", "its ending is .txt"), ("report", "its ending is missing")],
)
def test_another_ending_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_report_path(tmp_path / name)


def test_a_folder_of_the_files_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        check_report_path(tmp_path / "report.pdf")


def test_the_ending_says_the_format(report: Report, tmp_path: Path) -> None:
    save_report(report, tmp_path / "a.MD", no_pdf)
    save_report(report, tmp_path / "a.json", no_pdf)
    save_report(report, tmp_path / "a.pdf", lambda _: b"%PDF")

    assert (tmp_path / "a.MD").read_text(encoding="utf-8") == report_markdown(report)
    assert report_of(json.loads((tmp_path / "a.json").read_bytes())) == report
    assert (tmp_path / "a.pdf").read_bytes() == b"%PDF"
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_that_cannot_be_written_stays_as_it_was(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("before")
    partial_path(path).mkdir()  # nothing can be written there

    with pytest.raises(HostError, match="could not be written"):
        save_report(report, path, no_pdf)
    assert path.read_text() == "before"


def test_the_command_is_safe_to_paste() -> None:
    line = command_line(
        ["my net.onnx", "$(rm -rf).onnx"], ["rpi5"], RequestedSettings(batch=2), budget_ms=30
    )

    assert line == (
        "ctm report 'my net.onnx' '$(rm -rf).onnx' --device rpi5 --batch 2 --budget-ms 30"
        " -o report.pdf"
    )


def test_targets_of_another_configuration_have_a_line_of_their_own() -> None:
    request = make_request()
    models = [one.model for one in request.models]
    other = SLOW.configuration.__class__("onnxruntime", SLOW.configuration.precision, 2)
    unusual = SLOW.__class__(SLOW.device, other)

    (one,) = command_lines(models, [SLOW, FAST], RequestedSettings(), None)
    assert "--device slow --device fast" in one
    usual, own = command_lines(models, [FAST, unusual], RequestedSettings(), None)
    assert "--device fast -o" in usual
    assert "--runtime onnxruntime" in own
    assert "--threads 2" in own
    assert "--batch" not in own


def test_a_batch_of_a_target_is_an_option_and_takes_the_place_of_its_dimension() -> None:
    dynamic = (
        DynamicDimension("n", 4, 1, NAMED_BATCH),
        DynamicDimension("length", 7, 128, "named like a sequence length"),
    )
    model = replace(make_request().models[0].model, dynamic=dynamic)
    at_eight = replace(FAST, configuration=replace(FAST.configuration, batch=8))

    own, eight = command_lines([model], [FAST, at_eight], RequestedSettings(), None)
    assert "--dim n=4 --dim length=7" in own
    assert "--batch 8" in eight
    assert "--dim length=7" in eight
    assert "--dim n=" not in eight
