"""Shape rules of our own: control flow, and sizes that depend on data."""

from __future__ import annotations

from predictor.graph.contrib_rules import CONTRIB_RULES, Outputs, Rule, of_types
from predictor.graph.dimensions import SEQUENCE_LENGTH
from predictor.graph.network import Network, Node, TensorType
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import DTYPE_CODE
from predictor.graph.sequences import SEQUENCE_RULES, counted_bodies
from predictor.graph.values import ValueTable

_INT64 = DTYPE_CODE["int64"]


def _bounded(network: Network, node: Node, outputs: Outputs) -> Outputs:
    """Mark a node whose output size depends on values."""
    node.flags |= int(OperatorFlag.DATA_DEPENDENT)
    network.data_dependent.update(name for name in node.outputs if name)
    network.note(f"The output size of {node.op_type} depends on values: an upper bound is counted.")
    return outputs


def _non_zero(network: Network, node: Node, values: ValueTable) -> Outputs | None:
    data = network.input_type(node, 0)
    if not data.is_static:
        return None
    value = values.get(node.outputs[0])
    if value is not None:
        return [TensorType(_INT64, value.shape)]
    return _bounded(network, node, [TensorType(_INT64, (len(data.dims), data.elements))])


def _non_max_suppression(network: Network, node: Node, values: ValueTable) -> Outputs | None:
    boxes, scores = network.input_type(node, 0), network.input_type(node, 1)
    if not (boxes.is_static and scores.is_static):
        return None
    per_class = boxes.dims[1]
    limit = values.get(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else None
    if limit is not None:
        per_class = min(per_class, max(int(limit.reshape(-1)[0]), 0))
    # scores [B, classes, boxes]; rows of the output are (batch, class, box).
    batches, classes = scores.dims[:2]
    return _bounded(network, node, [TensorType(_INT64, (batches * classes * per_class, 3))])


@of_types(0)
def _unique(network: Network, node: Node, data: TensorType) -> Outputs:
    # No axis has this number: it stands for an absent one, where the data is flattened.
    axis = node.attributes.integer("axis", -(2**31))
    count = data.elements if axis == -(2**31) else data.dims[axis]
    first = (count,) if axis == -(2**31) else data.dims
    indices = TensorType(_INT64, (count,))
    return _bounded(network, node, [TensorType(data.dtype, first), indices, indices, indices])


@of_types(0)
def _normalised_strings(network: Network, node: Node, data: TensorType) -> Outputs:
    outputs = [data]
    return _bounded(network, node, outputs) if node.attributes.get("stopwords") else outputs


@of_types(0)
def _text_pieces(network: Network, node: Node, data: TensorType) -> Outputs:
    """Types of the pieces of texts, and of their numbers."""
    pieces = node.attributes.integer("maxsplit") + 1 if "maxsplit" in node.attributes else None
    outputs = [
        TensorType(data.dtype, (*data.dims, pieces or SEQUENCE_LENGTH)),
        TensorType(_INT64, data.dims),
    ]
    if pieces is not None:
        return _bounded(network, node, outputs)
    node.flags |= int(OperatorFlag.DATA_DEPENDENT)
    network.data_dependent.update(name for name in node.outputs if name)
    network.note(
        f"How many pieces {node.op_type} makes of a text depends on it: "
        f"{SEQUENCE_LENGTH} are assumed."
    )
    return outputs


@of_types(0)
def _compress(network: Network, node: Node, data: TensorType) -> Outputs:
    shape = data.dims if "axis" in node.attributes else (data.elements,)
    return _bounded(network, node, [TensorType(data.dtype, shape)])


def _top_k(network: Network, node: Node, values: ValueTable) -> Outputs | None:
    data = network.input_type(node, 0)
    if not data.is_static or len(node.inputs) < 2 or values.get(node.inputs[1]) is not None:
        return None
    return _bounded(network, node, [data, TensorType(_INT64, data.dims)])


def _slice(network: Network, node: Node, values: ValueTable) -> Outputs | None:
    data = network.input_type(node, 0)
    if node.proto is None:  # a Scan's slice for its body: no first axis
        return [TensorType(data.dtype, data.shape[1:] if data.shape else data.shape)]
    if not data.is_static or len(node.inputs) < 3:
        return None
    if all(values.get(name) is not None for name in node.inputs[1:] if name):
        return None
    return _bounded(network, node, [data])


def _if(network: Network, node: Node, values: ValueTable) -> Outputs | None:
    """Take the branch of a known condition, else the larger of both types."""
    outputs = []
    bodies = counted_bodies(node, values)
    for candidates in zip(*(body.outputs for body in bodies), strict=False):
        types = [network.type_of(name) for name in candidates]
        static = [t for t in types if t.is_static] or types
        outputs.append(max(static, key=lambda t: t.bytes))
    return outputs


def _loop(network: Network, node: Node, _: ValueTable) -> Outputs | None:
    body = node.bodies[0]
    # The first output of the body is the condition.
    results = [network.type_of(name) for name in body.outputs[1:]]
    carried = max(len(node.inputs) - 2, 0)
    return results[:carried] + _stacked(results[carried:], body.scope.trips)


def _scan(network: Network, node: Node, _: ValueTable) -> Outputs | None:
    body = node.bodies[0]
    results = [network.type_of(name) for name in body.outputs]
    states = len(node.inputs) - node.attributes.integer("num_scan_inputs")
    return results[:states] + _stacked(results[states:], body.scope.trips)


def _stacked(types: Outputs, trips: int) -> Outputs:
    return [TensorType(t.dtype, None if t.shape is None else (trips, *t.shape)) for t in types]


RULES: dict[str, Rule] = {
    **CONTRIB_RULES,
    **SEQUENCE_RULES,
    "Compress": _compress,
    "If": _if,
    "Loop": _loop,
    "NonMaxSuppression": _non_max_suppression,
    "NonZero": _non_zero,
    "Scan": _scan,
    "Slice": _slice,
    "StringNormalizer": _normalised_strings,
    "StringSplit": _text_pieces,
    "Tokenizer": _text_pieces,
    "TopK": _top_k,
    "Unique": _unique,
}
