"""The command line as a user starts it, in a folder of its own.

``ctm`` runs it in the process of the tests, where all it imports is there already; ``ctm_process``
and ``start_ctm`` as a process, for what a process alone shows and once for each command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from predictor.cli.program import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "resources" / "samples"

PLACES = os.pathsep.join(map(str, (ROOT, ROOT / "research")))  # of the packages of a checkout

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def working_folder(tmp_path: Path) -> Path:
    """The folder that a command is started in."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    return folder


@pytest.fixture
def start_ctm(working_folder: Path) -> Iterator[Start]:
    """Start ``ctm`` with these arguments and environment; what still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "predictor.cli", *map(str, arguments)],
            cwd=working_folder,
            env={**os.environ, "PYTHONPATH": PLACES, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def ctm_process(start_ctm: Start) -> Run:
    """Run ``ctm`` as a process to its end and return what it printed and its exit code."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        process = start_ctm(*arguments, **environment)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return run


@pytest.fixture
def ctm(
    working_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Run:
    """Run ``ctm`` in this process and return what it and its children printed and its exit code."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(working_folder)
            for name, value in environment.items():
                patch.setenv(name, value)
            code = main(list(map(str, arguments)))
        return subprocess.CompletedProcess(arguments, code, *capfd.readouterr())

    return run


@pytest.fixture
def mobilenet() -> Path:
    return SAMPLES / "mobilenetv2-1.0-224.onnx"


@pytest.fixture
def distilbert() -> Path:
    return SAMPLES / "distilbert-base.onnx"


@pytest.fixture
def custom_model(tmp_path: Path) -> Path:
    """A convolution and an operator of a domain that nobody knows."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [8, 3, 3, 3], [0.5] * 216)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv"),
        helper.make_node("MyOp", ["a"], ["y"], name="mine", domain="my.company"),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 3, 66, 66]), ("y", [1, 8, 64, 64]))
    ]
    graph = helper.make_graph(nodes, "custom", ends[:1], ends[1:], [weight])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.company", 1)]
    path = tmp_path / "custom.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)
    return path


@pytest.fixture
def fixed_model(tmp_path: Path) -> Path:
    """A matrix product whose file fixes every dimension, with a Reshape that pins the batch."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [8, 4], [0.5] * 32)
    shape = helper.make_tensor("s", TensorProto.INT64, [2], [1, 8])
    graph = helper.make_graph(
        [
            helper.make_node("Reshape", ["x", "s"], ["flat"], name="pin"),
            helper.make_node("MatMul", ["flat", "w"], ["y"], name="product"),
        ],
        "fixed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [weight, shape],
    )
    path = tmp_path / "fixed.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A device file of the user: a small board that runs fp32 and int8."""
    path = tmp_path / "board.json"
    path.write_text(
        """{"schema": "ctm-hcv/1", "id": "my-board", "name": "My Board", "vendor": "Me",
            "family": "mobile_cpu",
            "configurations": [{"runtime": "onnxruntime", "precision": "fp32"},
                               {"runtime": "ncnn", "precision": "int8"}],
            "metrics": {"core_count": 4, "clock_mhz": 1500, "fp32_au_per_core": 8,
                        "fp32_tflops": 0.096, "dram_bw_gbps": 4, "dram_gb": 4}}""",
        encoding="utf-8",
    )
    return path
