"""Results of ExecuTorch's benchmark app for Android."""

from __future__ import annotations

import json

import pytest

from tests.support.importing import changed, line_of, read, refusal
from tests.support.printed_samples import MINIBENCH


def _older(name: str, backend: str, quantization: str, value: float) -> dict[str, object]:
    model = {"backend": backend, "name": name, "quantization": quantization}
    return {
        "actual": value,
        "arch": "SM-S901U1 / 12",
        "benchmarkModel": model,
        "device": "samsung",
        "metric": "avg_inference_latency(ms)",
        "target": 0,
    }


def test_the_mean_of_a_model() -> None:
    (latency,) = read(MINIBENCH).latencies

    assert (latency.network, latency.value_ms, latency.statistic) == ("mv2", 9.5, "mean")
    assert (latency.runtime, latency.precision) == ("executorch", "int8")
    assert (latency.device, latency.threads) == ("samsung SM-S926U1", None)
    assert latency.facts == {"trimmean_inference_latency_ms": "9.25", "backend": "xnnpack"}


def test_the_form_of_2024_and_a_name_that_is_no_model_backend_and_precision() -> None:
    rows = [_older("resnet", "v2", "50", 30.5), _older("mv2_xnnpack", "", "", 9.0)]
    first, second = read(json.dumps(rows)).latencies

    assert (first.network, first.value_ms, first.precision) == ("resnet_v2_50", 30.5, None)
    assert (second.network, second.device) == ("mv2_xnnpack", "samsung SM-S901U1 / 12")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (changed(MINIBENCH, ":9.5", ":0"), 1, "above 0"),
        (changed(MINIBENCH, "avg_inference_latency(ms)", "ram_pss_usage(mb)"), 1, "has no avg_"),
        (changed(MINIBENCH, "trimmean_inf", "avg_inf"), 2, "stands twice"),
        (changed(MINIBENCH, '{"actualValue":0.0', '{"actualValue":35'), 3, "did not load"),
        (changed(MINIBENCH, "load_status", "token_per_sec"), 3, "language model"),
        (changed(MINIBENCH, '"benchmarkModel":{', '"model":{'), 1, "benchmarkModel"),
    ],
)
def test_a_damaged_metric_is_named(text: str, line: int, said: str) -> None:
    sentence = refusal(text)

    assert said in sentence
    assert line_of(sentence) == line
