"""How numbers and names are written."""

import pytest

from predictor.core.records import Configuration, Precision
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import (
    configuration_text,
    interval_in_unit,
    interval_text,
    latency_text,
    memory_text,
    number,
    plain_number,
    shown,
)


@pytest.mark.parametrize(
    ("unit", "batch", "text"),
    [
        (LatencyUnit.MS, 1, "12.3 ms"),
        (LatencyUnit.US, 1, "12300 µs"),
        (LatencyUnit.FPS, 1, "81.3 FPS"),
        (LatencyUnit.FPS, 8, "650 FPS"),
    ],
)
def test_a_latency_is_written_in_each_unit(unit, batch, text):
    assert latency_text(12.3, unit, batch) == text


def test_a_rate_of_no_time_is_not_written_as_infinite():
    assert latency_text(0.0, LatencyUnit.FPS) == "—"
    assert latency_text(None, LatencyUnit.MS) == "—"


def test_an_interval_of_a_rate_has_its_smaller_end_first(make_row):
    prediction = make_row(latency_ms=10.0, low80_ms=8.0, high80_ms=20.0).prediction
    assert interval_in_unit(prediction, LatencyUnit.FPS) == (50.0, 125.0)
    assert interval_text(prediction, LatencyUnit.MS) == "8 – 20"
    assert interval_text(make_row().prediction, LatencyUnit.MS) == "—"


def test_numbers_without_a_finite_value_are_a_dash_or_empty():
    assert number(float("nan")) == "—"
    assert plain_number(None) == ""
    assert plain_number(1234567.0) == "1.23457e+06"
    assert number(1.5e20) == "1.50e+20"


def test_names_are_escaped_and_long_ones_lose_their_middle():
    assert shown("\u05d0\x1b[31m") == "\u05d0\\x1b[31m"
    long = shown("a" * 500 + "b" * 500)
    assert long == "a" * 120 + "…" + "b" * 120


def test_configurations_name_what_is_known_and_unusual():
    assert configuration_text(Configuration()) == "fp32"
    full = Configuration("ncnn", Precision.FP16, 1, 8)
    assert configuration_text(full) == "ncnn, fp16, 1 thread, batch 8"
    assert configuration_text(Configuration("ncnn", Precision.FP16, 4)) == "ncnn, fp16, 4 threads"


def test_memory_is_told_in_words():
    assert [memory_text(fits) for fits in (True, False, None)] == [
        "fits",
        "does not fit",
        "not known",
    ]
