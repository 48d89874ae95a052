"""What the window and the command line get from the store."""

from __future__ import annotations

import dataclasses
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision
from predictor.graph.model import Model
from predictor.graph.operator_graph import ARRAYS, OperatorGraph
from predictor.services.history.history import History, open_history, settings_hash
from predictor.services.history.store_files import store_info, store_problems


def tiny_graph(fingerprint: str) -> OperatorGraph:
    """A graph without operators: the store looks at its bytes and its fingerprint only."""
    widths = {"gemm": (0, 4), "window": (0, 2), "stride": (0, 2), "edges": (2, 0)}
    arrays = {name: np.zeros(widths.get(name, (0,)), np.int64) for name in ARRAYS}
    arrays["shape_offsets"] = np.zeros(1, np.int32)
    return OperatorGraph(
        **arrays,  # type: ignore[arg-type]
        names=(),
        op_types=(),
        attributes=(),
        parameters=0,
        weights_total_bytes=0,
        input_bytes=0,
        output_bytes=0,
        peak_activation_bytes=0,
        fingerprint=fingerprint,
    )


def a_model(path: str, fingerprint: str) -> Model:
    return Model(
        path=path,
        size_bytes=10,
        modified_ns=20,
        ir_version=8,
        opsets={"": 17},
        producer="test",
        inputs=(),
        outputs=(),
        dynamic=(),
        notes=(),
        graph=tiny_graph(fingerprint),
    )


RESNET = a_model("/models/resnet.onnx", "a" * 64)
VIT = a_model("/models/vit.onnx", "b" * 64)
PI = Prediction(
    model="resnet.onnx",
    fingerprint="a" * 64,
    device_id="rpi5",
    configuration=Configuration("onnxruntime", Precision.FP32, 4, 1),
    engine="roofline/1",
    basis=Basis.ANALYTIC,
    latency_ms=5.0,
)
VIT_ON_PI = dataclasses.replace(PI, model="vit.onnx", fingerprint="b" * 64, latency_ms=9.0)


def test_recorded_predictions_are_there_after_reopening(path: Path) -> None:
    with open_history(path) as history:
        ids = history.record([RESNET, VIT], [PI, VIT_ON_PI]).ids
    with open_history(path) as history:
        newest, oldest = history.past.read(100).predictions
    assert (oldest.id, newest.id) == ids
    assert [oldest.prediction, newest.prediction] == [PI, VIT_ON_PI]
    assert [oldest.path, newest.path] == ["/models/resnet.onnx", "/models/vit.onnx"]


def test_the_same_prediction_twice_is_two_records_of_one_model(history: History) -> None:
    history.record([RESNET], [PI])
    history.record([RESNET], [PI])
    records = store_info(history.database.path)["records"]
    assert isinstance(records, dict)
    assert {k: n for k, n in records.items() if n} == {
        "targets": 1,
        "models": 1,
        "model_files": 1,
        "predictions": 2,
    }


def test_the_limit_keeps_the_newest(history: History) -> None:
    for latency_ms in (1.0, 2.0, 3.0):
        history.record([RESNET], [dataclasses.replace(PI, latency_ms=latency_ms)])
    assert [s.prediction.latency_ms for s in history.past.read(2).predictions] == [3.0, 2.0]


@pytest.mark.parametrize(
    "wrong",
    [
        dataclasses.replace(PI, latency_ms=-1.0),
        dataclasses.replace(PI, latency_ms=None),
        dataclasses.replace(PI, configuration=Configuration(threads=2**63)),
    ],
    ids=["below 0", "neither number nor problem", "not an int64"],
)
def test_a_prediction_that_the_store_refuses_costs_only_itself(
    history: History, wrong: Prediction
) -> None:
    recorded = history.record([RESNET, VIT], [PI, wrong, VIT_ON_PI])

    stored = history.past.read(100).predictions
    assert tuple(s.id for s in reversed(stored)) == recorded.ids
    assert [s.prediction for s in reversed(stored)] == [PI, VIT_ON_PI]
    (error,) = recorded.refused
    assert str(error).startswith(
        f"{PI.model} on {PI.device_id}: the prediction could not be stored"
    )
    assert store_problems(history.database.path) == []


def test_a_known_model_need_not_be_given_again(history: History) -> None:
    history.record([RESNET], [PI])
    history.record([], [PI])
    assert [s.path for s in history.past.read(100).predictions] == ["", "/models/resnet.onnx"]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"device_id": "rtx3090"}, True),
        ({"model": "vit.onnx", "fingerprint": "b" * 64}, True),
        ({"latency_ms": 7.0}, True),
        ({"engine": "roofline/2"}, False),
        ({"signature": "5" * 32}, False),
        ({"configuration": Configuration("onnxruntime", Precision.FP16, 4, 1)}, False),
        ({"configuration": Configuration("onnxruntime", Precision.FP32, 1, 1)}, False),
        ({"configuration": Configuration("onnxruntime", Precision.FP32, 4, 2)}, False),
        ({"configuration": Configuration("ncnn", Precision.FP32, 4, 1)}, False),
    ],
    ids=str,
)
def test_the_settings_hash_tells_how_a_prediction_was_made(
    change: dict[str, object], same: bool
) -> None:
    changed = dataclasses.replace(PI, **change)  # type: ignore[arg-type]
    assert (settings_hash(changed) == settings_hash(PI)) is same


def test_a_sound_store_has_no_problem(history: History) -> None:
    history.record([RESNET, VIT], [PI, VIT_ON_PI])
    assert store_problems(history.database.path) == []


@pytest.mark.parametrize(
    "graph",
    [b"no graph", tiny_graph("a" * 64).to_bytes()[:-1], VIT.graph.to_bytes(), b"CTMG1\n"],
    ids=["text", "cut", "another", "header"],
)
def test_check_finds_a_graph_that_is_not_the_models(path: Path, graph: bytes) -> None:
    with open_history(path) as history:
        history.record([RESNET, VIT], [PI])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE models SET graph = ? WHERE fingerprint = ?", (graph, "a" * 64))
    with open_history(path) as history:
        assert store_problems(history.database.path) == [
            f"The operator graph of model {'a' * 64} cannot be read."
        ]


def test_the_module_is_imported_without_sqlite_utils() -> None:
    script = "import sys, predictor.services.history.history; print('sqlite_utils' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_a_report_refers_to_the_predictions_that_it_shows(history: History) -> None:
    (known,) = history.record([RESNET], [PI]).ids
    new = dataclasses.replace(PI, device_id="rtx3090", latency_ms=0.5)
    history.record_report("Latency", Path("/reports/report.pdf"), [RESNET], [PI, new])

    (report,) = history.database.tables.table("reports").rows
    assert (report["title"], report["path"]) == ("Latency", "/reports/report.pdf")
    shown = [
        row["prediction_id"] for row in history.database.tables.table("report_predictions").rows
    ]
    assert shown[0] == known
    stored = {s.id: s.prediction for s in history.past.read(100).predictions}
    assert [stored[identity].device_id for identity in shown] == ["rpi5", "rtx3090"]
    assert len(stored) == 2
