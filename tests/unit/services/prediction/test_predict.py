"""Predictions and explanations as the window and the command line get them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision, Target
from predictor.graph.operator_graph import OperatorFlag
from predictor.presentation.verdict import budget_probability
from predictor.services.models.operator_facts import operator_facts
from predictor.services.prediction.engines import ENGINES
from predictor.services.prediction.explain import explain
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets
from tests.support.graphs import FUSED, UNKNOWN, VIEW, Op, make_target
from tests.support.models import PHONE, make_model


def test_predictions_come_model_by_model_with_the_configuration_resolved() -> None:
    models = [make_model(path="/a/first.onnx", batch=4), make_model(path=r"C:\b\second.onnx")]
    targets = [Target(PHONE, Configuration("ncnn")), make_target()]

    predictions = predict(models, targets)

    assert [(p.model, p.device_id) for p in predictions] == [
        ("first.onnx", "phone"),
        ("first.onnx", "made-up"),
        ("second.onnx", "phone"),
        ("second.onnx", "made-up"),
    ]
    assert predictions[0].configuration == Configuration("ncnn", Precision.FP32, 8, 4)
    assert predictions[1].configuration == Configuration("pytorch", Precision.FP32, 0, 4)
    assert predictions[2].configuration.batch == 1


def test_a_network_of_views_alone_has_no_number_under_the_roofline() -> None:
    [prediction] = predict([make_model(Op(flags=VIEW))], [make_target()], "roofline")

    assert (prediction.latency_ms, prediction.basis) == (None, None)
    assert "move and multiply nothing" in prediction.problem


def test_an_analytic_prediction_has_a_bound_and_no_interval() -> None:
    [prediction] = predict([make_model()], [make_target()], "roofline")

    assert prediction.basis is Basis.ANALYTIC
    assert prediction.engine == "roofline/1"
    assert prediction.latency_ms == pytest.approx(1.0 + 0.006)
    assert prediction.bound_ms == pytest.approx(1.0)
    assert prediction.low80_ms is prediction.high80_ms is None
    assert prediction.low95_ms is prediction.high95_ms is None
    assert prediction.problem == ""


def test_the_usual_prediction_is_the_networks_with_intervals() -> None:
    [prediction] = predict([make_model()], [make_target()])

    assert prediction.basis is Basis.ZERO_SHOT
    assert prediction.engine.startswith("closertome/")
    numbers = [
        prediction.bound_ms,
        prediction.low95_ms,
        prediction.low80_ms,
        prediction.latency_ms,
        prediction.high80_ms,
        prediction.high95_ms,
    ]
    assert None not in numbers
    assert numbers == sorted(numbers, key=lambda value: value or 0.0)


def test_a_target_without_a_number_has_a_problem_in_words() -> None:
    [prediction] = predict([make_model()], [Target(PHONE, Configuration(precision=Precision.INT8))])

    assert prediction.latency_ms is None
    assert prediction.bound_ms is None
    assert prediction.basis is None
    assert prediction.fits_memory is None
    assert prediction.problem.startswith("not supported: Phone does not run int8")


def test_operators_that_are_not_counted_are_flagged_by_name() -> None:
    loop = int(OperatorFlag.UNKNOWN_TRIPS)
    [prediction] = predict(
        [make_model(Op(), Op(flags=UNKNOWN), Op(flags=loop), Op(flags=VIEW))], [make_target()]
    )

    assert prediction.flagged_operators == ("op_1", "op_2")


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InputError, match="no engine of this name; choose one of closertome, roofline"
    ):
        predict([make_model()], [make_target()], engine="crystal-ball")


def test_the_operator_table_sums_to_the_prediction() -> None:
    model = make_model(
        Op(macs=10**9, read=10**6, weights=10**5, written=10**6),
        Op(read=10**6, written=10**6, flags=FUSED, fused_into=0),
        Op(read=10**9, written=10**9),
        Op(read=10, written=10),
    )
    target = make_target()

    for engine in ENGINES:
        table = explain(model, target, engine)
        [prediction] = predict([model], [target], engine)

        assert table.latency_ms.sum() == pytest.approx(prediction.latency_ms, rel=1e-6)
        assert table.share.sum() == pytest.approx(1.0)
        assert table.bound_type[1] == "—"
        if engine == "roofline":
            assert table.bound_type == ("compute", "—", "memory", "launch")
        assert table.flags == ("", "fused into op_0", "", "")
        assert table.bytes_moved.tolist() == [2_100_000, 2_000_000, 2 * 10**9, 20]
        assert table.weight_bytes.tolist() == [100_000, 0, 0, 0]


def test_shares_of_a_graph_that_takes_no_time_are_zero() -> None:
    table = explain(make_model(Op(flags=VIEW)), make_target(), "roofline")

    assert table.share.tolist() == [0.0]


def test_operator_facts_need_no_target() -> None:
    model = make_model(Op(macs=5, read=1, weights=2, written=3), Op(flags=UNKNOWN | VIEW))

    facts = operator_facts(model)

    assert facts.names == ("op_0", "op_1")
    assert facts.output_shapes == ((1,), (1,))
    assert facts.macs.tolist() == [5, 0]
    assert facts.bytes_moved.tolist() == [6, 0]
    assert facts.flags == ("", "unknown operator, view")
    np.testing.assert_array_equal(facts.edges, [[0], [1]])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, Configuration("onnxruntime", Precision.FP32, 4)),
        # It computes in halves where it can.
        ({"runtime": "ncnn"}, Configuration("ncnn", Precision.FP16)),
        ({"precision": Precision.FP16}, Configuration("ncnn", Precision.FP16)),
        ({"threads": 1}, Configuration("onnxruntime", Precision.FP32, 1)),
        ({"threads": 0}, Configuration("onnxruntime", Precision.FP32, 0)),
        (
            {"runtime": "onnxruntime", "precision": Precision.FP16},
            Configuration("onnxruntime", Precision.FP16, 4),
        ),
        ({"precision": Precision.INT8}, Configuration("onnxruntime", Precision.INT8, 4)),
    ],
)
def test_a_target_is_the_usual_configuration_with_what_is_asked_for(
    asked: dict[str, object], expected: Configuration
) -> None:
    [target] = resolve_targets([PHONE], **asked)

    assert target.device is PHONE
    assert target.configuration == expected


def test_a_budget_has_a_probability_only_with_an_interval() -> None:
    analytic, learned = (
        predict([make_model()], [make_target()], engine)[0] for engine in ("roofline", "closertome")
    )

    assert budget_probability(analytic, 5.0) is None
    assert budget_probability(learned, learned.latency_ms or 0.0) == pytest.approx(0.5)


def test_the_probability_of_a_budget_follows_the_interval() -> None:
    [analytic] = predict([make_model()], [make_target()])
    prediction: Prediction = replace(analytic, latency_ms=10.0, low80_ms=8.0, high80_ms=15.0)

    # An 80 % interval leaves a tenth on either side.
    assert budget_probability(prediction, 10.0) == pytest.approx(0.5)
    assert budget_probability(prediction, 15.0) == pytest.approx(0.9)
    assert budget_probability(prediction, 8.0) == pytest.approx(0.1)
    assert budget_probability(prediction, 0.0) == 0.0
    exact = replace(prediction, low80_ms=10.0, high80_ms=10.0)
    assert [budget_probability(exact, ms) for ms in (9.9, 10.0)] == [0.0, 1.0]
