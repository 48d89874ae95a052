"""Peak memory of a run, against numbers worked by hand."""

from __future__ import annotations

import pytest

from predictor.core.records import Precision
from predictor.core.units import LatencyUnit
from predictor.cost.memory import memory_uses
from predictor.cost.roofline import RooflineEngine
from predictor.presentation.columns import COLUMN_BY_ID
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.wording import memory_details, memory_text
from predictor.services.prediction.engines import ROOFLINE
from predictor.services.prediction.predict import predict
from tests.support.graphs import GPU_METRICS, Op, make_graph, make_target
from tests.support.models import make_model

# 8 MB of FP32 weights, 3 MB of live activations.
GRAPH = make_graph(
    [Op(macs=10, read=4, weights=8 * 10**6, written=4)], peak_activation_bytes=3 * 10**6
)


@pytest.mark.parametrize(
    ("precision", "weights", "activations"),
    [
        (Precision.FP32, 8e6, 3e6),
        (Precision.FP16, 4e6, 1.5e6),
        (Precision.INT8, 2e6, 0.75e6),
        (Precision.AMP_FP16, 8e6, 1.5e6),
    ],
)
def test_memory_follows_the_precision(
    precision: Precision, weights: float, activations: float
) -> None:
    (use,) = memory_uses(GRAPH, [make_target(precision=precision)])
    assert (use.weights_bytes, use.activations_bytes) == (weights, activations)
    assert use.peak_bytes == weights + activations


@pytest.mark.parametrize("precision", list(Precision))
def test_memory_is_that_of_the_engine(precision: Precision) -> None:
    metrics = {
        **GPU_METRICS,
        "fp16_tflops": 4.0,
        "bf16_tflops": 4.0,
        "int8_tops": 8.0,
        "dram_gb": 1e-2,
    }
    target = make_target(metrics, precision=precision)
    table = RooflineEngine().predict([GRAPH], [target], {})
    (use,) = memory_uses(GRAPH, [target])
    assert use.peak_bytes == pytest.approx(table.memory_bytes[0, 0])
    assert use.device_bytes == round(1e-2 * 2**30)
    assert table.fits_memory[0][0] is (use.peak_bytes <= 1e-2 * 2**30)


def test_memory_is_shown_with_that_of_the_device() -> None:
    model = make_model(Op(macs=10, read=4, weights=8 * 10**6, written=4))
    (prediction,) = predict([model], [make_target({**GPU_METRICS, "dram_gb": 0.004})], ROOFLINE)
    row = PredictionRow(prediction=prediction, device_name="Board", model_label="net")
    for place in (Place.COMPARE, Place.TEXT, Place.REPORT):
        context = TableContext(place, LatencyUnit.MS)
        column = COLUMN_BY_ID["memory"]
        assert column.title(context) == "Memory"
        assert column.text(row, context) == "8 MB of 0.004 GiB"
    assert memory_details(prediction) == (
        "8 MB of 0.004 GiB, does not fit; 8 MB weights, 0 B activations"
    )
    assert memory_text(None) == "not known"
