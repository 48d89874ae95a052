from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from ctm_research.bridge import convert, prepare
from ctm_research.bridge.prepare import form_folder, job_of, reason_file
from ctm_research.bridge.weights import random_inputs, with_random_weights
from predictor.core.errors import InputError
from research.tests.bridge.prepared import NETWORKS

CONVERTER = """
import json, os, sys
for line in sys.stdin:
    job = json.loads(line)
    if job["runtime"] == "ncnn":
        os._exit(7)
    if job["runtime"] == "mnn":
        print(json.dumps({"reason": "no such operator"}), flush=True)
        continue
    os.makedirs(job["folder"])
    print("{}", flush=True)
"""


def weightless() -> onnx.ModelProto:
    """A convolution whose kernel is a node, as the graphs of the data folder have them."""
    fill = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.01])
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["kernel"], name="weight/kernel", value=fill),
        helper.make_node("Conv", ["image", "kernel"], ["out"]),
    ]
    shape = helper.make_tensor("s", TensorProto.INT64, [4], [16, 8, 3, 3])
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 8, 9, 9])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 16, 7, 7])
    graph = helper.make_graph(nodes, "g", [image], [out], [shape])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def write_archive(data: Path, content: bytes) -> None:
    (data / "graphs").mkdir(parents=True)
    with zipfile.ZipFile(data / "graphs" / "graphs.zip", "w") as archive:
        for network in NETWORKS:
            archive.writestr(f"graphs/{network.file}", content)


def test_random_weights_replace_the_nodes_of_weights() -> None:
    model = weightless()

    with_random_weights(model)

    assert [node.op_type for node in model.graph.node] == ["Conv"]
    kernel = onnx.numpy_helper.to_array(model.graph.initializer[0])
    assert kernel.std() == pytest.approx(np.sqrt(2 / (8 * 3 * 3)), rel=0.1)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    assert np.isfinite(session.run(None, random_inputs(model))[0]).all()


def test_a_variance_that_shares_its_tensor_with_a_bias_stays_above_zero() -> None:
    model = weightless()
    fill = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.01])
    node = helper.make_node("ConstantOfShape", ["n"], ["ones"], name="weight/ones", value=fill)
    norm = helper.make_node(
        "BatchNormalization", ["out", "ones", "ones", "ones", "copy"], ["normed"]
    )
    copy = helper.make_node("Identity", ["ones"], ["copy"])
    model.graph.initializer.append(helper.make_tensor("n", TensorProto.INT64, [1], [100]))
    model.graph.node.extend([node, copy, norm])

    with_random_weights(model)

    tensors = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    assert tensors["ones"].min() >= 0.5
    assert (tensors["copy"] == tensors["ones"]).all()


def test_a_damaged_graph_is_a_reason(tmp_path: Path) -> None:
    write_archive(tmp_path, b"\x08\xff no graph")
    form = form_folder(tmp_path, NETWORKS[0], "", "")

    answer = convert._answer(job_of(tmp_path, NETWORKS[0], form, "", ""))

    assert "DecodeError" in answer["reason"]
    assert not form.exists()


def test_a_graph_becomes_a_file_with_weights_and_inputs(tmp_path: Path) -> None:
    write_archive(tmp_path, weightless().SerializeToString())
    form = form_folder(tmp_path, NETWORKS[0], "", "")

    assert convert._answer(job_of(tmp_path, NETWORKS[0], form, "", "")) == {}

    assert sorted(path.name for path in form.iterdir()) == ["inputs.npz", "model.onnx"]


def test_what_fails_leaves_its_reason_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_archive(tmp_path / "data", b"")
    monkeypatch.setattr(prepare, "command", lambda *_: [sys.executable, "-c", CONVERTER])
    told: list[str] = []

    prepare.prepare(tmp_path / "data", tmp_path, NETWORKS, told.append)

    form = form_folder(tmp_path, NETWORKS[2], "ncnn", "fp32")
    assert reason_file(form).read_text(encoding="utf-8") == "its converter ended with exit code 7"
    form = form_folder(tmp_path, NETWORKS[2], "mnn", "fp32")
    assert reason_file(form).read_text(encoding="utf-8") == "no such operator"
    assert form_folder(tmp_path, NETWORKS[2], "openvino", "fp32").is_dir()
    before = len(told)
    prepare.prepare(tmp_path / "data", tmp_path, NETWORKS, told.append)
    assert len(told) == before


def test_a_converter_that_hangs_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_archive(tmp_path / "data", b"")
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(prepare, "command", lambda *_: sleeping)

    prepare.prepare(tmp_path / "data", tmp_path, NETWORKS[:1], lambda _: None, limit_s=0.2)

    form = form_folder(tmp_path, NETWORKS[0], "", "")
    assert reason_file(form).read_text(encoding="utf-8") == "it was not done within 0.2 s"


def test_a_data_folder_without_graphs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it has no graphs/graphs\.zip"):
        prepare.prepare(tmp_path, tmp_path, NETWORKS, lambda _: None)
