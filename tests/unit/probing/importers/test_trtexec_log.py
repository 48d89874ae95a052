"""The summary that trtexec prints."""

from __future__ import annotations

import pytest

from tests.support.import_samples import TRTEXEC_LOG
from tests.support.importing import changed, read, refusal


def test_the_host_latency_is_the_headline() -> None:
    (latency,) = read(TRTEXEC_LOG).latencies

    assert (latency.network, latency.value_ms) == ("models/resnet50.onnx", 2.25)
    assert (latency.statistic, latency.runtime, latency.precision) == ("median", "tensorrt", "fp16")
    assert latency.facts["gpu_compute_median_ms"] == "1.9"
    assert (latency.facts["min_ms"], latency.facts["max_ms"]) == ("2.125", "21.5")
    assert latency.place == "line 11"


@pytest.mark.parametrize(
    ("stated", "precision"),
    [("FP32", "fp32"), ("FP32+FP16+INT8", "int8"), ("FP32+BF16", "bf16"), ("strong", None)],
)
def test_precision_is_the_narrowest_that_may_be_chosen(stated: str, precision: str | None) -> None:
    (latency,) = read(changed(TRTEXEC_LOG, "FP32+FP16", stated)).latencies

    assert latency.precision == precision


def test_a_summary_alone_names_no_model() -> None:
    (latency,) = read(TRTEXEC_LOG[TRTEXEC_LOG.index("=== Perf") :]).latencies

    assert (latency.network, latency.precision) == ("", None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Inference Streams: 1", "Streams: 4", "4 streams ran at once"),
        ("median = 2.25 ms", "median = 2.25 us", "median is in us, not in ms"),
        ("median = 2.25 ms", "mode = 2.25 ms", "it has no median"),
        ("median = 2.25 ms", "median = x ms", "not a number"),
        ("median = 2.25 ms", "median = 2.1 ms", "median"),
        ("[I] Latency: ", "[I] Lat: ", "no line of latencies"),
        (TRTEXEC_LOG, TRTEXEC_LOG * 2, "another summary begins"),
    ],
)
def test_a_damaged_summary_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(TRTEXEC_LOG, old, new))
