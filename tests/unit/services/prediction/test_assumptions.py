"""What an INT8 number takes for granted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision
from predictor.graph.model import Model
from predictor.services.prediction.assumptions import (
    assumptions,
    assumptions_by_prediction,
    needs_quantising,
    quantised_share,
)
from tests.support.graphs import QUANTISED
from tests.support.models import model_of
from tests.support.operator_graphs import Named

INT8 = Prediction(
    model="net.onnx",
    fingerprint="0",
    device_id="rpi5",
    configuration=Configuration("ncnn", Precision.INT8),
    engine="roofline/1",
    basis=Basis.ANALYTIC,
    latency_ms=2.0,
)


def partly_quantised(flags: list[int]) -> Model:
    model = model_of([Named(macs=1000)] * len(flags))
    return replace(model, graph=replace(model.graph, flags=np.array(flags, np.uint16)))


def test_a_float_file_is_said_to_be_taken_as_quantised() -> None:
    (note,) = assumptions(partly_quantised([0, 0]), INT8)
    assert "assumes that the whole model is quantised" in note
    assert "floating point" in note


def test_a_part_is_told_in_percent() -> None:
    (note,) = assumptions(partly_quantised([QUANTISED, 0, 0, 0]), INT8)
    assert "25 % of the multiplications" in note


@pytest.mark.parametrize(
    "prediction",
    [
        replace(INT8, configuration=Configuration("ncnn", Precision.FP16)),
        replace(INT8, latency_ms=None, basis=None),
        replace(INT8, basis=Basis.MEASURED),
    ],
)
def test_other_numbers_assume_nothing(prediction: Prediction) -> None:
    alone, beside = assumptions_by_prediction(partly_quantised([0, 0]), [prediction, INT8])
    assert alone == ()
    assert len(beside) == 1
    assert assumptions(partly_quantised([0, 0]), prediction) == ()


def test_a_quantised_file_and_one_without_products_assume_nothing() -> None:
    assert assumptions(partly_quantised([QUANTISED, QUANTISED]), INT8) == ()
    assert assumptions(model_of([Named("Relu", macs=0)]), INT8) == ()
    assert quantised_share(model_of([])) is None


@pytest.mark.parametrize(
    ("requested", "run", "flags", "words"),
    [
        (Precision.FP32, Precision.INT8, [QUANTISED], "All of the multiplications in the file"),
        (Precision.FP16, Precision.INT8, [QUANTISED, 0], "50 % of the multiplications in the file"),
        (Precision.FP32, Precision.FP32, [QUANTISED], "has no INT8; they are predicted in FP32"),
        (Precision.FP16, Precision.FP32, [0], "computes in FP32 and casts"),
    ],
)
def test_a_run_in_another_precision_than_the_requested_one_is_said(
    requested: Precision, run: Precision, flags: list[int], words: str
) -> None:
    configuration = Configuration("onnxruntime", requested)
    prediction = replace(INT8, configuration=configuration, run_precision=run)
    model = partly_quantised(flags)
    (note,) = assumptions(model, prediction)
    assert words in note
    assert not needs_quantising(model, prediction)
