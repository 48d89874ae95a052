"""Shape inference of one node by onnx, given the types and values of its inputs."""

from __future__ import annotations

import onnx

from predictor.core.text import shortened
from predictor.graph.flatten import type_from_proto
from predictor.graph.misfits import ONNX_MISFIT, misfit
from predictor.graph.network import UNKNOWN_DTYPE, Network, Node, TensorType
from predictor.graph.operators import BLOCKED_DOMAIN, DTYPE_CODE, ONNX_OF_DTYPE, PARAMETER_INPUTS
from predictor.graph.values import ValueTable, to_tensor

_NEEDED_BY_VALUE = {**PARAMETER_INPUTS, "MelWeightMatrix": (0, 1)}
# Runtimes take a vector of one element here, onnx wants a scalar.
_SCALARS = {"DFT": (1, 2), "Range": (0, 1, 2), "STFT": (1, 3)}
# Fused operators with the shapes of the operator that they grew from.
_SHAPED_LIKE = {
    "FusedConv": "Conv",
    "FusedGemm": "Gemm",
    "GemmFastGelu": "MatMul",
    "QLinearAveragePool": "AveragePool",
    "QLinearReduceMean": "ReduceMean",
}
_FLOAT32 = DTYPE_CODE["float32"]
_STANDARD_DOMAINS = frozenset({"", "ai.onnx"})


def infer_by_schema(network: Network, node: Node, values: ValueTable) -> list[TensorType] | None:
    """Return the types of a node's outputs, None where onnx does not know the operator.

    Raises:
        InputError: the inputs do not fit the operator.
    """
    schema = _schema(network, node)
    if schema is None or node.proto is None:
        return None
    try:
        return _infer(network, node, schema, values, None)
    except onnx.checker.ValidationError as error:
        # Runtimes take types that onnx does not list for the operator: shapes are those of float.
        stranger = network.type_of(node.inputs[0]).dtype if node.inputs else _FLOAT32
        if stranger == _FLOAT32 or "unsupported type" not in str(error):
            raise misfit(node, _first_line(error)) from error
    try:
        return _infer(network, node, schema, values, stranger)
    except onnx.checker.ValidationError as error:
        raise misfit(node, _first_line(error)) from error


def _input_types(
    network: Network, node: Node, values: ValueTable, stranger: int | None
) -> tuple[dict[str, onnx.TypeProto], dict[str, onnx.TensorProto]]:
    """Return types and small values of the inputs; the type ``stranger`` reads as float."""
    types, data = {}, {}
    by_value = _NEEDED_BY_VALUE.get(node.op, ())
    for position, (local, name) in enumerate(zip(node.local_inputs, node.inputs, strict=True)):
        if not name:
            continue
        known = network.type_of(name)
        value = values.get(name) if position in by_value else None
        if value is not None and value.size == 1 and position in _SCALARS.get(node.op, ()):
            value, known = value.reshape(()), TensorType(known.dtype, ())
        if known.dtype == stranger:
            known = TensorType(_FLOAT32, known.shape)
        types[local] = _type_proto(known)
        if value is not None:
            data[local] = to_tensor(value, known.dtype)
    return types, data


def _schema(network: Network, node: Node) -> onnx.defs.OpSchema | None:
    """Return the schema in the file's opset; runtimes also write newer operators into old ones."""
    op = _SHAPED_LIKE.get(node.op, node.op)
    borrowed = op != node.op or node.domain == BLOCKED_DOMAIN
    domain = "" if borrowed or node.domain in _STANDARD_DOMAINS else node.domain
    version = network.opsets.get(domain, network.opsets.get("ai.onnx", 1))
    try:
        return onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        pass
    try:
        return onnx.defs.get_schema(op)
    except onnx.defs.SchemaError:
        return None


def _infer(
    network: Network,
    node: Node,
    schema: onnx.defs.OpSchema,
    values: ValueTable,
    stranger: int | None,
) -> list[TensorType]:
    versions = {**network.opsets, schema.domain: schema.since_version}
    opsets = [onnx.helper.make_opsetid(d, v) for d, v in versions.items()]
    proto = _fitted(node, schema)
    types, data = _input_types(network, node, values, stranger)
    try:
        inferred = onnx.shape_inference.infer_node_outputs(
            schema, proto, types, data, opset_imports=opsets, ir_version=onnx.IR_VERSION
        )
    except onnx.checker.ValidationError:
        raise
    except ONNX_MISFIT as error:
        raise misfit(node, _first_line(error)) from error
    outputs = [
        type_from_proto(inferred[name]) if name in inferred else TensorType(UNKNOWN_DTYPE, None)
        for name in node.local_outputs
    ]
    if stranger is None:
        return outputs
    return [TensorType(stranger, t.shape) if t.dtype == _FLOAT32 else t for t in outputs]


def _fitted(node: Node, schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """Return the node as its schema knows it: what fused operators add is left out."""
    proto = onnx.NodeProto()
    if node.proto is not None:
        proto.CopyFrom(node.proto)
    if node.domain in _STANDARD_DOMAINS and node.op == schema.name:
        return proto
    proto.op_type, proto.domain = schema.name, schema.domain
    del proto.input[schema.max_input :]
    del proto.output[schema.max_output :]
    kept = [a for a in proto.attribute if a.name in schema.attributes]
    del proto.attribute[:]
    proto.attribute.extend(kept)
    return proto


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
