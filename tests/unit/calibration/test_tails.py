"""P90 and P99 of predictions: from what ships, and absent where nothing tells them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from predictor.calibration.tails import SCHEMA, spread_of
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.core.resources import resources_dir
from predictor.core.runtimes import RUNTIMES
from predictor.services.prediction.predict import predict
from tests.support.graphs import Op
from tests.support.models import make_model

MODEL = make_model(Op(macs=10**9, read=10**7))
FACTS = {"fp32_tflops": 1.0, "fp16_tflops": 2.0, "dram_bw_gbps": 60.0}


def target(family: Family, runtime: str) -> Target:
    runs = Configuration(runtime, Precision.FP32)
    return Target(
        Device(
            id="it", name="It", vendor="Me", family=family, metrics=FACTS, configurations=(runs,)
        ),
        runs,
    )


def test_tails_are_those_of_runtime_and_kind_of_device() -> None:
    on_gpu = spread_of(target(Family.GPU, "tensorrt"), 1)
    on_cpu = spread_of(target(Family.MOBILE_CPU, "tflite"), 1)
    assert on_gpu is not None
    assert on_cpu is not None
    assert 1 < on_gpu.p90.ratio < on_gpu.p99.ratio < on_cpu.p99.ratio < 1.5
    assert on_gpu.p90.deviation > 0


@pytest.mark.parametrize(
    ("family", "runtime", "batch"),
    [
        (Family.MCU, "tflite", 1),
        (Family.NPU, "coreml", 1),
        (Family.GPU, "openvino", 1),
        (Family.GPU, "tensorrt", 8),
    ],
)
def test_nothing_is_said_of_what_no_log_tells(family: Family, runtime: str, batch: int) -> None:
    assert spread_of(target(family, runtime), batch) is None


def test_a_prediction_states_them_and_an_analytic_one_does_not() -> None:
    of_gpu = target(Family.GPU, "tensorrt")
    (learned,) = predict([MODEL], [of_gpu])
    assert learned.latency_ms is not None
    spread = spread_of(of_gpu, 1)
    assert spread is not None
    assert learned.p90_ms == pytest.approx(learned.latency_ms * spread.p90.ratio)
    assert learned.p99_ms == pytest.approx(learned.latency_ms * spread.p99.ratio)
    slower = replace(learned, latency_ms=2 * learned.latency_ms)
    assert slower.p90_ms == pytest.approx(2 * learned.p90_ms)
    (analytic,) = predict([MODEL], [of_gpu], "roofline")
    assert (analytic.p90_ms, analytic.p99_ms) == (None, None)


def test_what_ships_is_of_runtimes_that_there_are_and_more_chips_than_the_least() -> None:
    path = resources_dir() / "tails" / "mlperf.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["schema"] == SCHEMA
    for group in document["groups"]:
        assert group["runtime"] in RUNTIMES
        assert group["chips"] > 3
        assert group["p99"]["mean"] > group["p90"]["mean"]
