"""Quantised files and their float networks on the shipped engine, and runs between casts."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from onnxruntime.quantization import QuantFormat

from benchmarks.quantised_files import NETWORKS, RUNS, float_file, quantised
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.devices.catalogue import shipped_devices
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from tests.support.estimates import shipped_engine
from tests.support.explanations import explanation_of

pytestmark = pytest.mark.slow


@pytest.fixture(params=NETWORKS)
def forms(request: pytest.FixtureRequest) -> Mapping[str, OperatorGraph]:
    """Return one network in floating point, quantised, and quantised but for its first product."""
    return forms_of(request.param)


@cache  # no fixture of a module: tests of both networks come mixed, and each change makes it anew
def forms_of(network: str) -> Mapping[str, OperatorGraph]:
    with tempfile.TemporaryDirectory() as name:
        path = float_file(network, Path(name))
        graph = ingest(str(path)).graph
        first = graph.names[graph.op_types.index("Conv")]
        return {
            "float": graph,
            "qdq": quantised(path, QuantFormat.QDQ),
            "operators": quantised(path, QuantFormat.QOperator),
            "partly": quantised(path, QuantFormat.QDQ, (first,)),
        }


def device(device_id: str) -> Device:
    return next(device for device in shipped_devices() if device.id == device_id)


def target(device_id: str, runtime: str, precision: Precision) -> Target:
    return Target(device(device_id), Configuration(runtime, precision))


def targets_in(precision: Precision) -> list[Target]:
    return [target(*run, precision) for run in RUNS]


def test_a_quantised_file_takes_as_long_as_its_float_file_in_int8(
    forms: Mapping[str, OperatorGraph],
) -> None:
    engine = shipped_engine()
    promised = engine.predict([forms["float"]], targets_in(Precision.INT8), {})
    quantised = [forms["qdq"], forms["operators"]]
    for precision in (Precision.FP32, Precision.INT8):
        table = engine.predict(quantised, targets_in(precision), {})
        ratio = table.latency_ms / promised.latency_ms
        assert (np.abs(np.log(ratio)) < 0.1).all(), ratio
        assert (table.low95_ms >= table.bound_ms).all()
        assert (table.bound_ms >= promised.bound_ms * (1 - 1e-9)).all()
        assert table.facts["evidence"][0] == promised.facts["evidence"][0]
        assert list(table.facts["run_precision"][0]) == [Precision.INT8] * len(RUNS)
    assert list(promised.facts["run_precision"][0]) == [None] * len(RUNS)


def test_float_operators_of_a_quantised_file_keep_their_rate(
    forms: Mapping[str, OperatorGraph],
) -> None:
    rows = [forms[name] for name in ("qdq", "partly", "float")]
    floats = shipped_engine().predict(rows, targets_in(Precision.FP32), {}).latency_ms
    integers = shipped_engine().predict(rows, targets_in(Precision.INT8), {}).latency_ms
    assert (floats[0] * 1.01 < floats[1]).all()
    assert (floats[1] < floats[2]).all()
    # In INT8 the rest is taken as quantised too.
    assert integers[1] == pytest.approx(integers[0], rel=0.03)


def test_no_batch_of_a_quantised_file_is_faster_than_a_smaller_one(
    forms: Mapping[str, OperatorGraph],
) -> None:
    batches = [at_batch(forms["partly"], factor) for factor in (1, 2, 3, 8, 64)]
    table = shipped_engine().predict(batches, targets_in(Precision.FP32), {})
    assert (np.diff(table.latency_ms, axis=0) >= 0).all()
    assert (table.latency_ms >= 1.05 * table.bound_ms * (1 - 1e-9)).all()


def test_the_parts_of_an_explanation_sum_to_the_prediction(
    forms: Mapping[str, OperatorGraph],
) -> None:
    graph, engine = forms["partly"], shipped_engine()
    for run in targets_in(Precision.FP32):
        predicted = engine.predict([graph], [run], {}).latency_ms[0, 0]
        explained = explanation_of(engine, graph, run)
        assert explained.latency_ms.sum() == pytest.approx(predicted)
        assert explained.attention is not None
        assert explained.attention.operator_to_metric.sum(axis=1) == pytest.approx(1, abs=1e-5)
        assert explained.attention.learned is not None
        assert explained.attention.learned.shape == explained.attention.operator_to_metric.shape
        assert (explained.attention.learned >= 0.5).all()
        assert (explained.attention.learned <= 2).all()
        varied = engine.varied(graph, run, [run.device])
        assert varied.latency_ms[0] == pytest.approx(predicted)


def test_without_int8_integers_are_predicted_in_the_requested_precision(
    forms: Mapping[str, OperatorGraph],
) -> None:
    run = target("rpi4", "pytorch", Precision.FP32)
    table = shipped_engine().predict([forms["qdq"]], [run], {})
    assert list(table.facts["run_precision"][0]) == [Precision.FP32]
    floats_alone = replace(
        run.device,
        configurations=tuple(
            c for c in run.device.configurations if c.precision is not Precision.INT8
        ),
    )
    without = Target(floats_alone, Configuration("onnxruntime"))
    both = [without, target("rpi4", "onnxruntime", Precision.FP32)]
    table = shipped_engine().predict([forms["qdq"]], both, {})
    assert list(table.facts["run_precision"][0]) == [Precision.FP32, Precision.INT8]
    assert table.latency_ms[0, 0] > table.latency_ms[0, 1]


def test_what_a_target_does_not_run_is_no_run_in_int8(forms: Mapping[str, OperatorGraph]) -> None:
    table = shipped_engine().predict(
        [forms["qdq"]], [target("rpi4", "onnxruntime", Precision.BF16)], {}
    )
    assert "does not run bf16" in table.problems[0, 0]
    assert np.isnan(table.latency_ms).all()


def test_halves_run_between_casts_where_the_processor_has_none(
    forms: Mapping[str, OperatorGraph],
) -> None:
    engine, graph = shipped_engine(), forms["float"]
    halves, floats = (target("rpi4", "onnxruntime", p) for p in (Precision.FP16, Precision.FP32))
    table = engine.predict([graph], [halves, floats], {})
    cast_ms, float_ms = table.latency_ms[0]
    # 150 528 inputs and 1000 outputs, of 2 + 4 bytes: at 12.8 GB/s 0.07 ms at least.
    assert 0.07 < cast_ms - float_ms < 0.05 * float_ms
    assert list(table.facts["run_precision"][0]) == [Precision.FP32, None]
    assert table.memory_bytes[0, 0] == table.memory_bytes[0, 1]
    assert [use.weights_bytes for use in table.facts["memory"][0]] == [
        graph.weights_total_bytes
    ] * 2
    # Another runtime has no such run, and a processor with halves multiplies them.
    refused = engine.predict([graph], [target("rpi4", "ncnn", Precision.FP16)], {})
    assert "does not run fp16" in refused.problems[0, 0]
    multiplied = engine.predict([graph], [target("rpi5", "onnxruntime", Precision.FP16)], {})
    assert list(multiplied.facts["run_precision"][0]) == [None]
