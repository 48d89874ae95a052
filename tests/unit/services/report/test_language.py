"""The report on a language model."""

from __future__ import annotations

from datetime import UTC, datetime

from predictor.presentation.report import BarChart, Bullets, Table
from predictor.services.generation.generate import generate
from predictor.services.generation.records import GenerationRequest
from predictor.services.report.build import report_alone
from predictor.services.report.files import report_document, report_of
from predictor.services.serving.records import LanguageRun
from tests.support.decoder_architectures import CATALOGUE, LLAMA

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def report_on(*devices: str, **request: object):
    run = GenerationRequest(**request)
    results = generate(LLAMA, [CATALOGUE[device] for device in devices], run)
    return results, report_alone([LanguageRun(LLAMA, run, results)], (), NOW)


def test_the_fastest_is_first_and_what_has_no_number_says_why():
    results, report = report_on("hailo-8", "gtx1080", "rtx4090", weights="f16")
    (section,) = report.sections
    chart, table, reasons = (
        next(block for block in section.blocks if isinstance(block, kind))
        for kind in (BarChart, Table, Bullets)
    )
    assert [bar.label for bar in chart.bars] == [
        "NVIDIA GeForce RTX 4090", "NVIDIA GeForce GTX 1080", "Hailo-8",
    ]  # fmt: skip
    fastest = chart.bars[0]
    assert fastest.low80 < fastest.value < fastest.high80
    assert fastest.value == results[2].decode_tokens_per_s
    assert chart.bars[2].value is None
    titles = [column.title for column in table.columns]
    assert table.rows[0].cells[titles.index("At most")].value >= fastest.high80
    assert {"First token ms", "Tokens/s", "Memory GiB", "Longest context"} <= set(titles)
    assert [row.cells[titles.index("Memory")].text for row in table.rows] == [
        "fits", "does not fit", "not known",
    ]  # fmt: skip
    first, small, none = (item.text for item in reasons.items)
    assert "tokens bound by reading the weights" in first
    assert "14 GiB of weights" in first
    assert "90 % of the card's 24 GiB" in first
    assert "it does not fit" in small
    assert "no runtime of language models" in none
    assert report_of(report_document(report)) == report


def test_devices_without_a_number_make_no_chart():
    _, report = report_on("hailo-8")
    assert not any(isinstance(block, BarChart) for block in report.sections[0].blocks)
