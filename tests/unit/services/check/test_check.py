"""Rows of a check, held against limits and a base; and what is written of them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.services.check.budget_file import Check
from predictor.services.check.check import (
    Base,
    Checked,
    check_models,
    document,
    exit_code,
    read_base,
    unreadable,
)
from predictor.services.check.outputs import headline, junit, markdown
from tests.support.graphs import Op
from tests.support.models import make_model

BOARD = Device(
    id="board", name="Board", vendor="Me", family=Family.GPU,
    metrics={"fp32_tflops": 1.0, "dram_bw_gbps": 60.0, "dram_gb": 4.0},
    configurations=(Configuration("onnxruntime", Precision.FP32),),
)  # fmt: skip
TARGET = Target(BOARD, BOARD.configurations[0])
MODEL = make_model(Op(macs=2 * 10**9, weights=10**7, read=2 * 10**7))
NOTHING = Check(line=1, models=("net.onnx",), targets=("board",))


def row(check: Check = NOTHING, base: Base | None = None) -> Checked:
    (only,) = check_models(check, [("net.onnx", MODEL)], [TARGET], base or {})
    return only


PLAIN = row()
P50 = PLAIN.latency_ms or 0.0


def test_the_p50_decides_unless_a_chance_is_asked_for() -> None:
    assert row(replace(NOTHING, max_ms=P50)).over == ()
    (words,) = row(replace(NOTHING, max_ms=P50 * 0.99)).over
    assert words.endswith(f"ms is over {P50 * 0.99:g} ms")
    high = PLAIN.high80_ms or 0.0
    assert row(replace(NOTHING, max_ms=high * 1.01, chance=90.0)).over == ()
    (words,) = row(replace(NOTHING, max_ms=high * 0.9, chance=90.0)).over
    assert words.startswith("the chance of ")
    assert words.endswith("under 90 %")


def test_memory_is_weights_and_activations() -> None:
    assert PLAIN.memory_mb is not None
    assert PLAIN.memory_mb >= 10, "10 MB are weights"
    assert row(replace(NOTHING, max_memory_mb=PLAIN.memory_mb)).over == ()
    assert len(row(replace(NOTHING, max_memory_mb=9.0)).over) == 1


def test_growth_is_against_the_base_of_the_same_engine() -> None:
    check = replace(NOTHING, max_growth_percent=5.0)
    key = ("net.onnx", str(TARGET.id), 1)
    grown = row(check, {key: (PLAIN.engine, P50 / 1.06)})
    assert grown.growth == pytest.approx(0.06)
    assert grown.over == ("it grew by 6 %, over 5 %",)
    assert row(check, {key: (PLAIN.engine, P50 / 1.04)}).over == ()
    assert row(check, {key: ("closertome/1", P50 / 2)}).growth is None
    assert row(check).over == (), "a model that is new has not grown"


def test_a_row_without_a_number_never_passes() -> None:
    unable = Target(BOARD, Configuration("onnxruntime", Precision.INT8))
    (lost,) = check_models(replace(NOTHING, max_ms=9.0), [("net.onnx", MODEL)], [unable], {})
    missing = unreadable("gone.onnx", InputError("gone.onnx", "there is no such file", "check it"))
    over = row(replace(NOTHING, max_ms=P50 / 2))
    assert "does not run int8" in lost.problem
    assert [exit_code(rows) for rows in ([PLAIN], [PLAIN, over], [over, lost], [missing])] == [
        0, 1, 2, 2,
    ]  # fmt: skip
    assert headline([PLAIN]) == "1 check passed."
    assert headline([over, lost, PLAIN]) == "1 over budget and 1 without a number of 3 checks."


def test_the_document_is_the_base_of_the_next(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    path.write_text(json.dumps(document([PLAIN])), encoding="utf-8")
    assert read_base(path) == {("net.onnx", str(TARGET.id), 1): (PLAIN.engine, P50)}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "ctm-check/2", "checks": []}', "[" * 50_000,
             '{"schema": "ctm-check/1", "checks": [3]}', '{"schema": [], "checks": []}']
)  # fmt: skip
def test_another_document_is_no_base(tmp_path: Path, text: str) -> None:
    path = tmp_path / "base.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="it is no document of ctm-check/1"):
        read_base(path)


def test_junit_and_markdown_hold_hostile_names() -> None:
    hostile = replace(row(replace(NOTHING, max_ms=P50 / 2)), model='<a>|"*b*\x00\n&.onnx')
    lost = unreadable("gone.onnx", InputError("gone.onnx", "there is no such file", "check it"))
    suite = ET.fromstring(junit([PLAIN, hostile, lost]))  # noqa: S314 - of our own
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    cases = suite.findall("testcase")
    assert [len(case) for case in cases] == [0, 1, 1]
    assert float(cases[0].get("time", "")) == pytest.approx(P50 / 1e3, abs=1e-6)
    assert cases[1].get("classname", "").startswith('<a>|"*b*')
    lines = markdown([PLAIN, hostile, lost]).splitlines()
    assert lines[0] == "## Latency budgets"
    table = lines[4:]
    assert len(table) == 2 + 3
    assert table[2].startswith("| **no number** | gone")
    assert table[3].startswith("| **over** | \\<a")
    assert {line.replace("\\|", "").count("|") for line in table} == {11}
