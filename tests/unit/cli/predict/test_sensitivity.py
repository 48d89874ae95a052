"""The sensitivity of a prediction in the text and in the document of ``ctm predict``."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

import numpy as np

from predictor.cli.predict.command import prediction_document
from predictor.cli.predict.sensitivity import (
    add_sensitivity,
    sensitivities,
    sensitivity_blocks,
    strongest,
)
from predictor.cli.predict.text import model_text
from predictor.core.records import Basis, Configuration, Precision
from predictor.graph.model import Model
from predictor.services.prediction.sensitivity import Alternative, FactSensitivity, Sensitivity
from tests.support.printed_pairs import empty_graph, pair

OPTIONS = Namespace(budget_ms=None, operators=False, sensitivity=True, engine="roofline")
MODEL = Model(
    path="net.onnx",
    size_bytes=1,
    modified_ns=1,
    ir_version=8,
    opsets={"": 17},
    producer="",
    inputs=(),
    outputs=(),
    dynamic=(),
    notes=(),
    graph=empty_graph(),
)
SENSITIVITY = Sensitivity(
    (
        FactSensitivity(
            fact="clock_mhz",
            label="Clock",
            unit="MHz",
            value=2400.0,
            elasticity=-0.7,
            more=0.93,
            operators=np.array([-0.2, np.nan, -0.9]),
        ),
        FactSensitivity(
            fact="core_count",
            label="Cores",
            unit="",
            value=4.0,
            elasticity=-0.25,
            more=0.97,
            operators=np.array([-0.75, np.nan, 0.0]),
        ),
    ),
    (
        Alternative(
            kind="precision",
            configuration=Configuration("ncnn", Precision.INT8),
            latency_ms=21.0,
            latency_factor=0.42,
            low80_factor=0.2,
            high80_factor=0.9,
            throughput_factor=1 / 0.42,
            fits_memory=True,
            needs_quantising=True,
        ),
        Alternative(
            kind="batch",
            configuration=Configuration(batch=4),
            latency_ms=100.0,
            latency_factor=2.0,
            low80_factor=None,
            high80_factor=None,
            throughput_factor=2.0,
            fits_memory=False,
        ),
    ),
)


def test_the_text_has_a_sentence_and_two_tables() -> None:
    sentence, facts, alternatives = sensitivity_blocks(SENSITIVITY)

    assert sentence == (
        "To make it faster: clock +10 % saves 7 %; INT8 would save 58 %, but needs a quantised "
        "model; batch 4 does 100 % more items a second."
    )
    assert [line.split() for line in facts.splitlines()] == [
        ["Fact", "Value", "Elasticity", "+10", "%"],
        ["Clock", "2400", "MHz", "−0.7", "−7", "%"],
        ["Cores", "4", "−0.25", "−3", "%"],
    ]
    rows = alternatives.splitlines()[1:]
    assert rows[0].split("  ")[-1].strip() == "fits"
    assert "−80 % to −10 %" in rows[0]
    assert "+140 %" in rows[0]
    assert rows[1].endswith("does not fit")
    assert " — " in rows[1]


def test_what_nothing_changes_has_no_text() -> None:
    assert sensitivity_blocks(Sensitivity((), ())) == []


def test_an_operator_has_its_strongest_facts() -> None:
    assert strongest(SENSITIVITY, 0) == "Cores −0.75, Clock −0.2"
    assert strongest(SENSITIVITY, 1) == ""


def test_the_document_has_it_for_the_whole_and_each_operator() -> None:
    entry: dict[str, object] = {"operators": [{}, {}, {}]}

    add_sensitivity(entry, SENSITIVITY)

    assert entry["operators"] == [
        {"sensitivity": {"clock_mhz": -0.2, "core_count": -0.75}},
        {"sensitivity": {}},
        {"sensitivity": {"clock_mhz": -0.9, "core_count": 0.0}},
    ]
    sensitivity = entry["sensitivity"]
    assert isinstance(sensitivity, dict)
    assert sensitivity["facts"][0] == {
        "fact": "clock_mhz",
        "unit": "MHz",
        "value": 2400.0,
        "elasticity": -0.7,
        "factor_at_plus_10_percent": 0.93,
    }
    assert sensitivity["alternatives"][1] == {
        "change": "batch 4",
        "latency_ms": 100.0,
        "latency_factor": 2.0,
        "low80_factor": None,
        "high80_factor": None,
        "throughput_factor": 2.0,
        "fits_memory": False,
    }


def test_each_target_has_its_own_below_the_table() -> None:
    (slow, of_slow), (fast, of_fast) = pair("Slow", 40.0), pair("Fast", 4.0)
    text = model_text(OPTIONS, MODEL, [slow, fast], [of_slow, of_fast], {}, [SENSITIVITY, None])

    assert text.split("\n\n")[2].splitlines()[0] == "Slow, 40 ms"
    assert "Fast, 4 ms" not in text


def test_without_a_number_of_the_engine_there_is_none() -> None:
    nothing = pair("Nothing", None, problem="not supported: fp16")
    seen = pair("Seen", 4.0)  # measured, but the engine has no number
    predictions = [nothing[1], replace(seen[1], basis=Basis.MEASURED, predicted_ms=None)]
    targets = [nothing[0], seen[0]]

    moved = sensitivities(OPTIONS, MODEL, targets, predictions, {}, [])

    assert moved == [None, None]
    document = prediction_document(OPTIONS, [MODEL], targets, predictions, {}, moved)
    assert [entry["sensitivity"] for entry in document["predictions"]] == [None, None]  # type: ignore[attr-defined]
