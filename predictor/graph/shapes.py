"""Static shapes of every value: the whole graph at once by onnx, then a walk over the gaps."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import onnx

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.contrib_rules import Outputs
from predictor.graph.control_flow import settle_trips
from predictor.graph.flatten import type_from_proto
from predictor.graph.network import (
    MISFIT,
    ONNX_MISFIT,
    UNKNOWN_DTYPE,
    UNKNOWN_TYPE,
    Network,
    Node,
    TensorType,
    first_line,
    misfit,
)
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import (
    BLOCKED_DOMAIN,
    DTYPE_CODE,
    ONNX_OF_DTYPE,
    PARAMETER_INPUTS,
    UNCOUNTED,
)
from predictor.graph.sequences import set_lengths
from predictor.graph.shape_rules import RULES
from predictor.graph.values import ValueTable, to_tensor

# Inputs whose values, not only their types, decide the shape of the output.
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
            raise misfit(node, first_line(error)) from error
    try:
        return _infer(network, node, schema, values, stranger)
    except onnx.checker.ValidationError as error:
        raise misfit(node, first_line(error)) from error


def _input_types(
    network: Network, node: Node, values: ValueTable, stranger: int | None
) -> tuple[dict[str, onnx.TypeProto], dict[str, onnx.TensorProto]]:
    """Return types and small values of the inputs; the type ``stranger`` reads as float."""
    types, data = {}, {}
    by_value = _NEEDED_BY_VALUE.get(node.op, ())
    for position, (local, name) in enumerate(zip(node.local_inputs, node.inputs, strict=True)):
        if not name:
            continue
        value_type = network.type_of(name)
        value = values.get(name) if position in by_value else None
        if value is not None and value.size == 1 and position in _SCALARS.get(node.op, ()):
            value, value_type = value.reshape(()), TensorType(value_type.dtype, ())
        if value_type.dtype == stranger:
            value_type = TensorType(_FLOAT32, value_type.shape)
        types[local] = _type_proto(value_type)
        if value is not None:
            data[local] = to_tensor(value, value_type.dtype)
    return types, data


def _schema(network: Network, node: Node) -> onnx.defs.OpSchema | None:
    """Return the schema in the file's opset; runtimes also write newer operators into old ones."""
    op = _SHAPED_LIKE.get(node.op, node.op)
    borrowed = op != node.op or node.domain == BLOCKED_DOMAIN
    domain = "" if borrowed or node.domain in _STANDARD_DOMAINS else node.domain
    version = network.opsets.get(domain, network.opsets.get("ai.onnx", 1))
    try:
        schema = onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        pass
    else:
        return _inferring(schema, len(node.inputs))
    try:
        return onnx.defs.get_schema(op)
    except onnx.defs.SchemaError:
        return None


@lru_cache(maxsize=256)
def _inferring(schema: onnx.defs.OpSchema, inputs: int) -> onnx.defs.OpSchema:
    """Return a schema, or the next one by which onnx infers types.

    The first versions of many operators have no inference.
    """
    newest = onnx.defs.onnx_opset_version()
    for version in range(schema.since_version, newest + 1):
        later = onnx.defs.get_schema(schema.name, version, schema.domain)
        if later.has_type_and_shape_inference_function and inputs <= later.max_input:
            return later
    return schema


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
    # ONNX_MISFIT holds it too, but the caller may try again with another type.
    except onnx.checker.ValidationError:
        raise
    except ONNX_MISFIT as error:
        raise misfit(node, first_line(error)) from error
    outputs = [
        type_from_proto(inferred[name]) if name in inferred else TensorType(UNKNOWN_DTYPE, None)
        for name in node.local_outputs
    ]
    if stranger is None:
        return outputs
    return [TensorType(stranger, t.shape) if t.dtype == _FLOAT32 else t for t in outputs]


def _fitted(node: Node, schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """Return the node in its schema's form, without the parts that fused operators add."""
    proto = onnx.NodeProto()
    if node.proto is not None:
        proto.CopyFrom(node.proto)
    if node.domain in _STANDARD_DOMAINS and node.op == schema.name:
        return proto
    proto.op_type, proto.domain = schema.name, schema.domain
    del proto.input[schema.max_input :]
    del proto.output[schema.max_output :]
    supported = [a for a in proto.attribute if a.name in schema.attributes]
    del proto.attribute[:]
    proto.attribute.extend(supported)
    return proto


def _type_proto(value_type: TensorType) -> onnx.TypeProto:
    proto = onnx.TypeProto()
    tensor = proto.tensor_type
    tensor.elem_type = ONNX_OF_DTYPE[value_type.dtype]
    if value_type.shape is not None:
        # A scalar has a shape of no dims, which protobuf would otherwise leave out.
        tensor.shape.SetInParent()
        for size in value_type.shape:
            dim = tensor.shape.dim.add()
            if size is not None:
                dim.dim_value = size
    return proto


_MAX_ELEMENTS = 2**50  # a petabyte and more: no real tensor, and sums stay within 64 bits


def infer_all_types(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Infer all types of a model with bound inputs at once; gaps are left for the walk.

    Without onnx's own propagation of data, which writes out every vector that it meets, whatever
    its length: the walk computes the small values.
    """
    try:
        return onnx.shape_inference.infer_shapes(proto)
    except ONNX_MISFIT:
        return proto  # the walk finds the operator that does not fit, and names it


def complete_types(
    network: Network, values: ValueTable, fit: Callable[[Node], None] | None = None
) -> None:
    """Fill in the type of every value that is not known yet, in topological order.

    Args:
        network: gets the types.
        values: of the network.
        fit: may change a node before its own types are inferred; those of its inputs are known.

    Raises:
        InputError: a shape stays unknown, or an operator's inputs do not fit together.
    """
    types = network.types
    read = {name for node in network.nodes for name in node.consumed} | set(network.outputs)
    for node in network.nodes:
        if node.scope is not None:
            settle_trips(network, node.scope, values)
        for body in node.bodies:
            # Outputs that a loop stacks have its trip count as first dim.
            settle_trips(network, body.scope, values)
        if fit is not None:
            fit(node)
        _set_lengths(network, node, values)
        if node.op == "Unknown" or node.op in UNCOUNTED:
            _mark_unknown(network, node)
        for name in node.outputs:
            if name and not (name in types and types[name].is_static):
                _complete_node(network, node, values, read)
                break
        _check_sizes(network, node)


def _set_lengths(network: Network, node: Node, values: ValueTable) -> None:
    try:
        set_lengths(network, node, values)
    except MISFIT as error:
        raise misfit(node) from error


def _check_sizes(network: Network, node: Node) -> None:
    for name in node.outputs:
        dims = network.types[name].dims if name else ()
        if _is_sound(dims):
            continue
        for axis, size in enumerate(dims):
            if size < 0:
                raise InputError(
                    node.subject,
                    f"dimension {axis} of its output comes out as {size}",
                    "bind the model's dynamic dimensions to larger values",
                )
        raise misfit(node, f"its output would have more than {_MAX_ELEMENTS} elements")


# Deep networks repeat the same few shapes.
@lru_cache(maxsize=4096)
def _is_sound(dims: tuple[int, ...]) -> bool:
    # An empty axis must not hide the product of the others.
    return min(dims, default=0) >= 0 and math.prod(max(d, 1) for d in dims) <= _MAX_ELEMENTS


def _complete_node(network: Network, node: Node, values: ValueTable, read: set[str]) -> None:
    try:
        outputs = _inferred(network, node, values)
        settled = None if outputs is None else _settle_all(network, node, outputs, read)
    except InputError:
        # After an operator that is not known, or where the file itself states the types.
        if not (_is_guess(network, node) or _all_stored(network, node)):
            raise
        settled = None
    if settled is None:
        _assume_outputs(network, node)
        return
    network.types.update(settled)
    if network.assumed and _is_guess(network, node):
        network.assumed.update(node.outputs)


def _inferred(network: Network, node: Node, values: ValueTable) -> Outputs | None:
    rule = RULES.get(node.op)
    try:
        outputs = rule(network, node, values) if rule is not None else None
    except MISFIT as error:
        raise misfit(node) from error
    if outputs is None and node.op != "Unknown":
        outputs = infer_by_schema(network, node, values)
    return outputs


def _settle_all(
    network: Network, node: Node, outputs: Outputs, read: set[str]
) -> dict[str, TensorType]:
    """Return the types of a node's outputs; one that nothing reads may stay unknown."""
    missing = [UNKNOWN_TYPE] * (len(node.outputs) - len(outputs))
    return {
        name: _settled(network, node, name, inferred) if name in read else inferred
        for name, inferred in zip(node.outputs, [*outputs, *missing], strict=False)
        if name
    }


def _is_guess(network: Network, node: Node) -> bool:
    return any(name in network.assumed for name in node.inputs)


def _all_stored(network: Network, node: Node) -> bool:
    stored = network.stored_types
    return all(name in stored and stored[name].is_static for name in node.outputs if name)


def _settled(network: Network, node: Node, name: str, inferred: TensorType) -> TensorType:
    """Take the inferred type; a dimension that stays open is an error that names it."""
    if inferred.shape is None and inferred.dtype == UNKNOWN_DTYPE:
        return inferred  # an optional, a map: no tensor, no size
    if inferred.shape is None and name in network.lengths:
        return inferred  # an empty sequence
    if inferred.is_static:
        return inferred
    stored = network.stored_types.get(name)
    if stored is not None and stored.is_static and _agrees(inferred, stored):
        return stored
    if inferred.shape is None:
        missing = "the number of dimensions"
    else:
        missing = f"dimension {inferred.shape.index(None)}"
    raise InputError(
        node.subject,
        f"{missing} of its output {shortened(name, 60)} ({node.op_type}) cannot be inferred "
        "from the file and the inputs",
        "bind the model's dynamic dimensions or export it with static shapes",
    )


def _agrees(inferred: TensorType, stored: TensorType) -> bool:
    if inferred.shape is None:
        return True
    return len(inferred.shape) == len(stored.dims) and all(
        a is None or a == b for a, b in zip(inferred.shape, stored.dims, strict=True)
    )


def _mark_unknown(network: Network, node: Node) -> None:
    node.flags |= int(OperatorFlag.UNKNOWN)
    network.note(
        f"Operator {shortened(node.op_type, 60)} is not known: its bytes are counted, "
        "its arithmetic is not."
    )


def _assume_outputs(network: Network, node: Node) -> None:
    """Take the stored type of a node's outputs, else that of its first input."""
    first = next(
        (network.types[i] for i in node.inputs if i in network.types),
        TensorType(UNKNOWN_DTYPE, ()),
    )
    for name in node.outputs:
        stored = network.stored_types.get(name)
        if stored is not None and stored.is_static:
            network.types[name] = stored
        elif name and not network.type_of(name).is_static:
            network.types[name] = _assumed(first, stored)
            network.assumed.add(name)
            node.flags |= int(OperatorFlag.UNKNOWN)
            network.note(
                f"The output shape of {shortened(node.name, 60)} is not known: "
                f"it is taken to be {'x'.join(map(str, network.types[name].dims)) or 'a scalar'}."
            )


def _assumed(first: TensorType, stored: TensorType | None) -> TensorType:
    """Return a stored type with its open sizes taken from the first input, else that input's."""
    if stored is None or stored.shape is None:
        dtype = first.dtype if stored is None or stored.dtype == UNKNOWN_DTYPE else stored.dtype
        return TensorType(dtype, first.shape)
    like = first.dims if len(first.dims) == len(stored.shape) else (1,) * len(stored.shape)
    sizes = zip(stored.shape, like, strict=True)
    return TensorType(stored.dtype, tuple(b if a is None else a for a, b in sizes))
