from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.cli.predict.command import prediction_document
from predictor.cli.predict.text import model_text
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Target
from predictor.graph.model import Model
from tests.support.printed_pairs import empty_graph, pair

QUIET = Namespace(budget_ms=None, operators=False, sensitivity=False, engine="roofline")


@pytest.fixture
def model() -> Model:
    path = str(Path("folder") / "net\u202e.onnx")
    return Model(
        path=path,
        size_bytes=1,
        modified_ns=1,
        ir_version=8,
        opsets={"": 17},
        producer="",
        inputs=(),
        outputs=(),
        dynamic=(),
        notes=("A note.",),
        graph=empty_graph(),
    )


def table(model: Model, options: Namespace, *pairs: tuple[Target, Prediction]) -> list[str]:
    targets, predictions = zip(*pairs, strict=True)
    text = model_text(options, model, targets, predictions, {})
    return text.split("\n\n")[1].split("\n")


def test_the_fastest_target_comes_first_and_one_without_a_number_last(model: Model) -> None:
    lines = table(
        model,
        QUIET,
        pair("Nothing", None, problem="not supported: fp16"),
        pair("Slow", 40.0, bound_ms=20.0),
        pair("Fast", 4.0),
    )

    # A batch of 2 in 4 ms is 500 a second, in 40 ms 50 a second.
    assert [line.split() for line in lines[1:3]] == [
        ["Fast", "ncnn", "fp16", "4", "4", "500", "—", "analytic"],
        ["Slow", "ncnn", "fp16", "4", "40", "50", "20", "analytic"],
    ]
    assert lines[3].startswith("Nothing ")
    assert lines[3].endswith(" not supported: fp16")


def test_intervals_are_shown_where_an_engine_gives_them(model: Model) -> None:
    lines = table(model, QUIET, pair("A", 10.0, low80_ms=8.0, high80_ms=12.5), pair("B", 11.0))

    assert "80 % interval" in lines[0]
    assert " 8 – 12.5 " in lines[1]
    assert " — – — " not in lines[2]


def test_remarks_say_what_the_numbers_do_not(model: Model) -> None:
    options = Namespace(budget_ms=30.0, operators=False, sensitivity=False, engine="roofline")
    lines = table(
        model,
        options,
        pair("A", 30.0, fits_memory=False, flagged_operators=("x", "y")),
        pair("B", 30.1),
    )

    # The one that is counted in full comes first.
    assert lines[1].endswith("over 30 ms")
    assert " ≥ 30 " in lines[2]
    assert lines[2].endswith(
        "may be over 30 ms; does not fit in the device's memory; "
        "a lower limit: 2 operators not counted in full"
    )


def test_a_model_is_described_by_its_escaped_name_sums_and_notes(model: Model) -> None:
    (target, prediction) = pair("A", 1.0)
    text = model_text(QUIET, model, [target], [prediction], {})

    assert text.startswith(
        "net\\u202e.onnx: 0 parameters, 0 MACs, 0 operators, 0 B moved, opset 17\n  A note.\n\n"
    )


def test_the_document_has_null_where_there_is_no_number(model: Model) -> None:
    options = Namespace(budget_ms=5.0, operators=True, sensitivity=False, engine="roofline")
    target, prediction = pair("A", None, problem="not supported: fp16")

    document = prediction_document(options, [model], [target], [prediction], {})

    assert document == {
        "schema": "ctm-prediction/1",
        "predictions": [
            {
                "model": "net.onnx",
                "device": "a",
                "configuration": {
                    "runtime": "ncnn",
                    "precision": "fp16",
                    "threads": 4,
                    "batch": 2,
                },
                "latency_ms": None,
                "low80_ms": None,
                "high80_ms": None,
                "low95_ms": None,
                "high95_ms": None,
                "p90_ms": None,
                "p99_ms": None,
                "predicted_ms": None,
                "provenance": None,
                "basis": None,
                "bound_ms": None,
                "engine": "roofline/1",
                "signature": None,
                "adaptation": None,
                "fingerprint": "f" * 64,
                "out_of_distribution": None,
                "fits_memory": None,
                "problem": "not supported: fp16",
                "flagged_operators": [],
                "evidence": None,
                "unstable": None,
                "scaled": None,
                "memory": None,
                "unsupported": None,
                "notes": [],
                "budget_probability": None,
                "operators": [],
                "roofs": [],
            }
        ],
    }


@pytest.mark.parametrize(
    ("fine_tuned", "by_operators", "adaptation", "words"),
    [
        (False, False, "posterior", "posterior"),
        (False, True, "operators", "operator times"),
        (True, False, "film", "FiLM and posterior"),
    ],
)
def test_text_and_document_name_the_adaptation(
    model: Model, fine_tuned: bool, by_operators: bool, adaptation: str, words: str
) -> None:
    target, plain = pair(
        "A", 1.0, signature="5" * 32, fine_tuned=fine_tuned, by_operators=by_operators
    )
    prediction = replace(plain, basis=Basis.PROBED)

    document = prediction_document(QUIET, [model], [target], [prediction], {})

    (entry,) = document["predictions"]  # type: ignore[misc]
    assert (entry["signature"], entry["adaptation"]) == ("5" * 32, adaptation)
    line = table(model, QUIET, (target, prediction))[1]
    assert line.rstrip().endswith(f"adapted by {words}")
