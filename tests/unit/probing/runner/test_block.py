"""A block with the real runtime: what it measures, and how each kind of failure is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

from predictor.probing.runner.bundle import RUNNER_FILE, runner_bytes
from predictor.probing.runner.failures import MeasuringError, failure_of
from predictor.probing.runner.messages import Controls
from predictor.probing.runner.process import Block
from tests.support.probe_plans import (
    QUICK,
    endless_network,
    relu_network,
    too_large_network,
)
from tests.unit.probing.runner.jobs import job

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runner") / RUNNER_FILE
    path.write_bytes(runner_bytes())
    return path


def measure(runner: Path, job: dict[str, Any]) -> list[dict[str, Any]]:
    block = Block([sys.executable, str(runner), "block"], job)
    try:
        return list(block.messages(Controls()))
    finally:
        block.close()


def written(folder: Path, data: bytes) -> Path:
    path = folder / "network.onnx"
    path.write_bytes(data)
    return path


def test_a_network_is_measured_with_all_its_samples(runner: Path, tmp_path: Path) -> None:
    *progress, result = measure(runner, job(written(tmp_path, relu_network())))
    payload = result["payload"]
    assert [m["payload"]["event"] for m in progress] == ["loaded", "samples"]
    assert progress[1]["payload"]["samples_ns"] == payload["samples_ns"]
    assert len(payload["samples_ns"]) >= QUICK.least_runs
    assert all(sample > 0 for sample in payload["samples_ns"])
    assert payload["median_ns"] == sorted(payload["samples_ns"])[len(payload["samples_ns"]) // 2]
    assert payload["warm_up"]["runs"] >= QUICK.warm_up_runs
    assert payload["ended_by"] == "interval"
    assert isinstance(payload["contended"], bool)


def failure(runner: Path, job: dict[str, Any]) -> MeasuringError:
    with pytest.raises(MeasuringError) as error:
        measure(runner, job)
    return error.value


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"no network", "bad-network", "Protobuf parsing failed"),
        (relu_network("NoSuchOperator"), "missing-operator", "NoSuchOperator"),
        (too_large_network(), "out-of-memory", "allocate"),
        (relu_network(dims=("n", 64)), "bad-network", "input x has open dimensions: ['n', 64]"),
    ],
    ids=["rubbish", "operator", "memory", "open"],
)
def test_what_a_network_fails_of_is_told(
    runner: Path, tmp_path: Path, data: bytes, code: str, words: str
) -> None:
    error = failure(runner, job(written(tmp_path, data)))
    assert error.code == code
    assert words in error.reason
    assert "\n" not in error.reason


def test_an_open_dimension_is_bound_by_the_plan(runner: Path, tmp_path: Path) -> None:
    path = written(tmp_path, relu_network(dims=("n", 64)))
    *_, result = measure(runner, job(path, inputs={"x": [2, 64]}))
    assert result["kind"] == "result"


@pytest.mark.parametrize(
    "kind", [TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT16, TensorProto.DOUBLE]
)
def test_inputs_of_other_types_are_generated(runner: Path, tmp_path: Path, kind: int) -> None:
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "network",
        [helper.make_tensor_value_info("x", kind, (2, 3))],
        [helper.make_tensor_value_info("y", kind, (2, 3))],
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    *_, result = measure(runner, job(written(tmp_path, model.SerializeToString())))
    assert result["payload"]["median_ns"] > 0


def test_a_provider_that_is_not_installed_is_an_error(runner: Path, tmp_path: Path) -> None:
    asked = {"provider": "NoSuchExecutionProvider"}
    path = written(tmp_path, relu_network())
    error = failure(runner, job(path, configuration=asked))
    assert error.code == "provider-missing"
    assert "NoSuchExecutionProvider; it has " in error.reason
    assert "CPUExecutionProvider" in error.reason


def test_a_silent_fall_back_to_the_processor_is_an_error(runner: Path, tmp_path: Path) -> None:
    """The wheels of onnxruntime have a provider for remote calls, which runs no operator itself."""
    asked = {"provider": "AzureExecutionProvider"}
    error = failure(runner, job(written(tmp_path, relu_network()), configuration=asked))
    assert error.code == "fall-back"
    assert error.reason.startswith("This session contains graph nodes that are assigned to the")


def test_a_network_that_takes_too_long_is_given_up(runner: Path, tmp_path: Path) -> None:
    path = written(tmp_path, endless_network(2**40))
    error = failure(runner, job(path, settings={"silence_limit_s": 0.5}))
    assert (error.code, error.reason) == ("time-out", "nothing was heard of it for 0.5 s")


def test_a_block_ends_when_its_parent_is_gone(runner: Path, tmp_path: Path) -> None:
    """Its standard input closes, whatever else happens to the parent."""
    path = written(tmp_path, endless_network(2**40))
    with subprocess.Popen(
        [sys.executable, str(runner), "block"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(job(path)).encode() + b"\n")
        process.stdin.flush()
        assert b"loaded" in process.stdout.readline()
        process.stdin.close()
        assert process.wait(30) == 3


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), "out-of-memory"),
        (ImportError("libonnx.so: cannot open"), "no-runtime"),
        (
            RuntimeError("[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find"),
            "missing-operator",
        ),
        (RuntimeError("... fallback to CPU EP has been explicitly disabled by"), "fall-back"),
        (RuntimeError("std::bad_alloc"), "out-of-memory"),
        (RuntimeError("CUDA failure 2: out of memory"), "out-of-memory"),
        (RuntimeError(""), "bad-network"),
    ],
)
def test_the_words_of_the_runtime_decide_the_failure(error: Exception, code: str) -> None:
    assert failure_of(error).code == code
