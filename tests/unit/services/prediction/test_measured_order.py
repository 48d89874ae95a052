"""Measured orders that nobody expects: said beside the number, and of measured targets alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictor.calibration.published import Published, read_published
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision, TargetId
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.remarks import remarks
from predictor.services.prediction.measured import with_measured
from predictor.services.prediction.measured_order import slower_words
from tests.support.published_latencies import published

FLOATS = TargetId("board", "ncnn", "fp32", 1)
INTEGERS = FLOATS._replace(precision="int8")
TWO, FOUR = FLOATS._replace(threads=2), FLOATS._replace(threads=4)
TARGETS = [FLOATS, INTEGERS, TWO, FOUR]


def measured(*times_ms: tuple[float, ...]) -> Published:
    """Return the times of networks on the four targets; a 0 was not measured."""
    entries = [
        (f"{network:02x}" * 32, target, time_ms)
        for network, row in enumerate(times_ms)
        for target, time_ms in enumerate(row)
        if time_ms
    ]
    return replace(published(*entries), targets=TARGETS)


def test_the_median_is_said_by_hand() -> None:
    """INT8 takes 2, 3, 4, 5 and 6 times as long; 4 threads 1.5 x that of 1 and 3 x that of 2."""
    times = measured(*((n, n * (n + 1), n / 2, n * 1.5) for n in range(1, 6)))
    assert slower_words(times, INTEGERS) == (
        "measured here, INT8 takes 4 x the time of FP32 (median of 5 networks)"
    )
    assert slower_words(times, FOUR) == (
        "measured here, 4 threads take 3 x the time of 2 (median of 5 networks)"
    )
    assert slower_words(times, FLOATS) == slower_words(times, TWO) == ""


def test_a_small_difference_too_few_networks_and_other_targets_say_nothing() -> None:
    assert slower_words(measured(*((n, n * 1.09) for n in range(1, 9))), INTEGERS) == ""
    assert slower_words(measured(*((n, n * 9) for n in range(1, 5))), INTEGERS) == ""
    one_each = measured(*((n, 0) for n in range(1, 9)), *((0, n) for n in range(1, 9)))
    assert slower_words(one_each, INTEGERS) == ""
    assert slower_words(one_each, INTEGERS._replace(device_id="another")) == ""


def test_layouts_of_a_network_count_once() -> None:
    assert slower_words(measured(*[(1, 9)] * 8), INTEGERS) == ""


@pytest.mark.parametrize(
    ("device", "precision", "threads", "batch", "words"),
    [
        ("jetson-agx-xavier-cpu", Precision.INT8, 8, 1, "INT8 takes"),
        ("rk3588-cpu", Precision.FP16, 8, 1, "8 threads take"),
        ("rk3588-cpu", Precision.FP16, 4, 1, ""),
        ("rk3588-cpu", Precision.FP16, 8, 2, ""),
    ],
)
def test_it_stands_beside_the_number(
    device: str, precision: Precision, threads: int, batch: int, words: str
) -> None:
    prediction = Prediction(
        model="net.onnx",
        fingerprint="0" * 64,
        device_id=device,
        configuration=Configuration("ncnn", precision, threads, batch),
        engine="roofline/1",
        basis=Basis.ANALYTIC,
        latency_ms=2.0,
    )
    (shown,) = with_measured([prediction])
    assert shown == prediction  # the number is as it was
    row = PredictionRow(prediction=shown, device_name=device, model_label="net")
    for place in (Place.COMPARE, Place.DETAILS, Place.TEXT, Place.REPORT):
        said = [text for text in remarks(row, TableContext(place)) if "measured here" in text]
        assert bool(said) is bool(words)
        assert all(words in text for text in said)
    (silent,) = with_measured([replace(prediction, latency_ms=None, problem="no memory")])
    assert silent.slower == ""


def test_the_shipped_measurements_say_so_of_some() -> None:
    shipped = read_published()
    said = [words for target in shipped.targets if (words := slower_words(shipped, target))]
    assert 30 < len(said) < len(shipped.targets) / 4
    assert any("INT8" in words for words in said)
    assert any("threads" in words for words in said)
