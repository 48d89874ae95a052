"""Reports compare like with like: how a target runs, what is only a limit, what INT8 needs."""

from __future__ import annotations

from dataclasses import replace

from predictor.core.records import Configuration, Precision
from predictor.core.units import LatencyUnit
from predictor.graph.operator_graph import OperatorFlag
from predictor.presentation.report import Bullets, Cell, Limit, Tone
from predictor.presentation.wording import runtime_text
from predictor.services.report.build import build_report
from predictor.services.report.comparison import latency_chart
from predictor.services.report.request import ReportRequest
from tests.support.graphs import Op
from tests.support.models import make_model
from tests.support.report_requests import FAST, SLOW, make_request


def first_answer(request: ReportRequest) -> Cell:
    """Return the sentence on the first model."""
    (answers, *_) = (
        block for block in build_report(request).sections[0].blocks if isinstance(block, Bullets)
    )
    return answers.items[0]


def test_targets_that_run_otherwise_are_named_with_how_they_run() -> None:
    half = replace(SLOW, configuration=Configuration("tensorrt", Precision.FP16))
    device = replace(SLOW.device, configurations=(*SLOW.device.configurations, half.configuration))
    request = make_request(targets=(FAST, replace(half, device=device)))
    named = request.target_name(request.targets[1])
    assert named == f"{SLOW.device.name} · tensorrt fp16"
    assert request.target_name(FAST).endswith(f" · {runtime_text(FAST.configuration)}")
    chart = latency_chart(request)
    assert all(bar.is_configuration for bar in chart.bars)
    assert {bar.detail for bar in chart.bars} >= {"tensorrt, fp16"}
    alike = make_request(targets=(FAST, replace(SLOW, configuration=FAST.configuration)))
    assert alike.target_name(FAST) == FAST.device.name


def test_a_lower_limit_is_an_arrow_and_no_verdict() -> None:
    unknown = make_model(Op(macs=10**9, read=10**6, written=10**6), Op(flags=OperatorFlag.UNKNOWN))
    request = make_request(unknown, budget_ms=1e6)
    cell = first_answer(request)
    assert cell.text.startswith("net0.onnx has lower limits only: ")
    assert "≥ " in cell.text
    assert "meets" not in cell.text
    assert cell.tone is Tone.WARN
    bars = latency_chart(request).bars
    assert {bar.limit for bar in bars} == {Limit.LOWER}
    assert all(bar.text.startswith("≥ ") and bar.low80 is None for bar in bars)
    assert "An arrow stands for a limit" in latency_chart(request).note
    of_rate = latency_chart(replace(request, unit=LatencyUnit.FPS))
    assert {bar.limit for bar in of_rate.bars} == {Limit.UPPER}


def test_the_fastest_is_of_what_runs_the_file_as_it_is() -> None:
    int8 = Configuration(FAST.configuration.runtime, Precision.INT8)
    metrics = {**FAST.device.metrics, "int8_tops": 1e3}
    device = replace(
        FAST.device, metrics=metrics, configurations=(*FAST.device.configurations, int8)
    )
    npu = replace(FAST, device=replace(device, id="npu", name="NPU"), configuration=int8)
    text = first_answer(make_request(targets=(npu, FAST))).text
    first, second = text.split("; a shorter time on ")
    assert f" on {FAST.device.name} · " in first
    assert second.startswith("NPU · ")
    assert "needs a quantised model" in second
    (bar,) = (bar for bar in latency_chart(make_request(targets=(npu, FAST))).bars
              if bar.label == "NPU")  # fmt: skip
    assert bar.text.endswith(" · needs a quantised model")
