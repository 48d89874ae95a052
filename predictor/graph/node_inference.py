"""Shape inference of one node by onnx, given the types and values of its inputs."""

from __future__ import annotations

import onnx

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.flatten import type_from_proto
from predictor.graph.network import UNKNOWN_DTYPE, Network, Node, TensorType
from predictor.graph.operators import ONNX_OF_DTYPE, PARAMETER_INPUTS
from predictor.graph.values import ValueTable, to_tensor

_NEEDED_BY_VALUE = {**PARAMETER_INPUTS, "Col2Im": (1, 2), "MelWeightMatrix": (0, 1)}


def infer_by_schema(network: Network, node: Node, values: ValueTable) -> list[TensorType] | None:
    """Return the types of a node's outputs, None where onnx does not know the operator.

    Raises:
        InputError: the inputs do not fit the operator.
    """
    schema = _schema(network, node)
    if schema is None:
        return None
    types, data = {}, {}
    by_value = _NEEDED_BY_VALUE.get(node.op, ())
    for position, (local, name) in enumerate(zip(node.local_inputs, node.inputs, strict=True)):
        if not name:
            continue
        known = network.type_of(name)
        types[local] = _type_proto(known)
        value = values.get(name) if position in by_value else None
        if value is not None:
            data[local] = to_tensor(value, known.dtype)
    return _infer(network, node, schema, types, data)


def _schema(network: Network, node: Node) -> onnx.defs.OpSchema | None:
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = network.opsets.get(domain, network.opsets.get("ai.onnx", 1))
    try:
        return onnx.defs.get_schema(node.op, version, domain)
    except onnx.defs.SchemaError:
        return None


def _infer(
    network: Network,
    node: Node,
    schema: onnx.defs.OpSchema,
    types: dict[str, onnx.TypeProto],
    data: dict[str, onnx.TensorProto],
) -> list[TensorType]:
    if node.proto is None:
        return [TensorType(UNKNOWN_DTYPE, None) for _ in node.outputs]
    opsets = [onnx.helper.make_opsetid(d, v) for d, v in network.opsets.items()]
    try:
        inferred = onnx.shape_inference.infer_node_outputs(
            schema, node.proto, types, data, opset_imports=opsets, ir_version=onnx.IR_VERSION
        )
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
        raise InputError(
            f"node {node.name}",
            f"its inputs do not fit {node.op_type}: {_first_line(error)}",
            "check the dimensions that the model is bound to, or export it again",
        ) from error
    return [
        type_from_proto(inferred[name]) if name in inferred else TensorType(UNKNOWN_DTYPE, None)
        for name in node.local_outputs
    ]


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shortened(lines[0] if lines else "shape inference failed", 200)


def _type_proto(known: TensorType) -> onnx.TypeProto:
    proto = onnx.TypeProto()
    tensor = proto.tensor_type
    tensor.elem_type = ONNX_OF_DTYPE[known.dtype]
    if known.shape is not None:
        tensor.shape.SetInParent()
        for size in known.shape:
            dim = tensor.shape.dim.add()
            if size is not None:
                dim.dim_value = size
    return proto
