"""Small networks, quick settings and plans to measure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from predictor.probing.measuring.interface import MeasuringPlan, NetworkFile, RunConfiguration
from predictor.probing.runner.settings import Settings

QUICK = Settings(
    warm_up_runs=2,
    warm_up_s=0.0,
    settle_limit_s=0.0,
    least_runs=5,
    least_s=0.0,
    interval=10.0,
    cap_s=4.0,
    agreement=1000.0,
    silence_limit_s=20.0,
    profile_s=0.0,
)
"""Settings by which a network that takes microseconds is measured in milliseconds."""

PLAN_ID = "0123456789abcdef" * 2


def network(folder: Path, name: str, data: bytes | None = None) -> NetworkFile:
    """Write a network: y = relu(x) with x of [1, 64], unless bytes are given."""
    content = relu_network() if data is None else data
    path = folder / f"{name}.onnx"
    path.write_bytes(content)
    return NetworkFile(
        name=name,
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        fingerprint=name.encode().hex() * 4,
    )


def plan(
    networks: Sequence[NetworkFile],
    sentinel: NetworkFile | None = None,
    settings: Settings = QUICK,
    **configuration: object,
) -> MeasuringPlan:
    """Return a plan of networks."""
    return MeasuringPlan(
        PLAN_ID,
        tuple(networks),
        sentinel,
        replace(RunConfiguration(), **configuration),  # type: ignore[arg-type]
        settings,
    )


def relu_network(op_type: str = "Relu", dims: Sequence[int | str] = (1, 64)) -> bytes:
    """Return the file of a network of one operator."""
    return model_bytes([helper.make_node(op_type, ["x"], ["y"], name="node")], dims)


def endless_network(runs: int) -> bytes:
    """Return a network whose run takes as long as a loop of ``runs`` additions."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["carried", "carried"], ["sum"]),
            helper.make_node("Identity", ["condition"], ["again"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("trip", TensorProto.INT64, []),
            helper.make_tensor_value_info("condition", TensorProto.BOOL, []),
            helper.make_tensor_value_info("carried", TensorProto.FLOAT, [1, 64]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1, 64]),
        ],
    )
    trips = numpy_helper.from_array(np.array(runs, np.int64), "trips")
    always = numpy_helper.from_array(np.array(True), "always")
    loop = helper.make_node("Loop", ["trips", "always", "x"], ["y"], body=body, name="node")
    return model_bytes([loop], (1, 64), [trips, always])


def too_large_network() -> bytes:
    """Return a network that asks for four tebibytes of memory when it runs."""
    shape = numpy_helper.from_array(np.array([1 << 20, 1 << 20], np.int64), "shape")
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Expand", ["sum", "shape"], ["large"]),
        helper.make_node("Exp", ["large"], ["y"]),
    ]
    return model_bytes(nodes, (1, 64), [shape], out=(1 << 20, 1 << 20))


def model_bytes(
    nodes: Sequence[onnx.NodeProto],
    dims: Sequence[int | str],
    initializers: Sequence[TensorProto] = (),
    out: Sequence[int | str] | None = None,
) -> bytes:
    """Return the file of a network from x to y."""
    graph = helper.make_graph(
        list(nodes),
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out or dims)],
        list(initializers),
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    data: bytes = model.SerializeToString()
    return data
