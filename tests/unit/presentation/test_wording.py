"""Words for people: one form for every reader."""

from __future__ import annotations

import math

import pytest

from predictor.core.records import Configuration, Precision
from predictor.presentation.wording import change_text, percent, runs_text, shape_text


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (0.16, "16 %"),
        (0.12345, "12.3 %"),
        (1.16, "116 %"),
        (-0.041, "−4.1 %"),
        (-0.0, "0 %"),
        (1.0, "100 %"),
        (None, "—"),
        (math.nan, "—"),
        (math.inf, "—"),
    ],
)
def test_a_part_is_a_percentage_of_three_digits(part: float | None, text: str) -> None:
    assert percent(part) == text


def test_a_signed_percentage_tells_gains_too_and_nothing_has_no_sign() -> None:
    assert [percent(part, signed=True) for part in (0.1, -0.5, 0.0)] == ["+10 %", "−50 %", "0 %"]


def test_fewer_digits_are_asked_for_where_there_is_no_room() -> None:
    assert percent(0.5678, 2) == "57 %"


def test_a_change_is_a_percentage_below_tenfold_and_a_factor_above() -> None:
    assert [change_text(ratio) for ratio in (0.766, 1.08, 1.0, 12.0)] == [
        "−23.4 %", "+8 %", "0 %", "12×",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("dims", "text"), [((1, 3, 224, 224), "1×3×224×224"), ((), "scalar"), (("n\n", 2), "n\\x0a×2")]
)
def test_shapes_are_written_with_crosses(dims: tuple[int | str, ...], text: str) -> None:
    assert shape_text(dims) == text


def test_what_a_device_runs_is_written_by_runtime() -> None:
    onnxruntime = Configuration("onnxruntime", Precision.FP32, 4), Configuration("onnxruntime")
    unknown = Configuration(precision=Precision.INT8)
    text = runs_text([*onnxruntime, Configuration("ncnn"), unknown])
    assert text == "onnxruntime fp32, 4 threads, fp32; ncnn fp32; another runtime int8"
    assert runs_text([unknown]) == "int8"
