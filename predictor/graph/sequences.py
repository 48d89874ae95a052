"""Types and numbers of the tensors in sequences and optionals, in loops and outside of them.

The type of a sequence is that of its largest tensor; an optional has the type of its element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import onnx

from predictor.core.text import shortened
from predictor.graph.network import UNKNOWN_DTYPE, UNKNOWN_TYPE, Body, Network, Node, TensorType
from predictor.graph.operators import DTYPE_CODE, DTYPE_OF_ONNX
from predictor.graph.values import ValueTable

_BOOL = TensorType(DTYPE_CODE["bool"], ())
_INT64 = TensorType(DTYPE_CODE["int64"], ())


Rule: TypeAlias = Callable[[Network, Node, ValueTable], list[TensorType] | None]


def _empty(_: Network, node: Node, __: ValueTable) -> list[TensorType]:
    onnx_type = node.attributes.integer("dtype", onnx.TensorProto.FLOAT)
    return [TensorType(DTYPE_OF_ONNX.get(onnx_type, UNKNOWN_DTYPE), None)]


def _largest_input(network: Network, node: Node, _: ValueTable) -> list[TensorType]:
    return [_largest(network, node.inputs)]


def _largest(network: Network, names: list[str]) -> TensorType:
    types = [network.type_of(name) for name in names if name]
    static = [value_type for value_type in types if value_type.is_static]
    return max(static, key=lambda t: t.elements) if static else (types or [UNKNOWN_TYPE])[0]


def _at(network: Network, node: Node, _: ValueTable) -> list[TensorType]:
    sequence = node.inputs[0]
    element = network.type_of(sequence)
    if not element.is_static:
        # A loop hands its sequence on under one name: later trips read what this one inserts.
        inserting = [n for n in network.nodes if n.op == "SequenceInsert"]
        inserted = [n.inputs[1] for n in inserting if n.inputs[0] == sequence]
        element = _largest(network, [sequence, *inserted])
    return [element]


def _split(network: Network, node: Node, values: ValueTable) -> list[TensorType] | None:
    data = network.input_type(node, 0)
    if not data.is_static:
        return None
    axis, dims = node.attributes.integer("axis"), list(data.dims)
    dims[axis] = _pieces(network, node, values)[1]
    has_sizes = len(node.inputs) > 1 and bool(node.inputs[1])
    if not has_sizes and not node.attributes.integer("keepdims", 1):
        del dims[axis]
    return [TensorType(data.dtype, tuple(dims))]


def _pieces(network: Network, node: Node, values: ValueTable) -> tuple[int | None, int]:
    """Return number and largest size of the pieces that a tensor is split into.

    Without sizes each has length 1; sizes that depend on the model's inputs leave the number
    unknown, and a piece may be all of it.
    """
    size = network.dims_of(node, 0)[node.attributes.integer("axis")]
    if len(node.inputs) < 2 or not node.inputs[1]:
        return size, min(size, 1)
    sizes = values.get(node.inputs[1])
    if sizes is None:
        return None, size
    if sizes.ndim:
        return sizes.size, int(sizes.max(initial=0))
    step = max(int(sizes), 1)
    return -(-size // step), min(step, size)


def _concat(network: Network, node: Node, _: ValueTable) -> list[TensorType] | None:
    piece = network.input_type(node, 0)
    if not piece.is_static:
        return None
    axis, dims = node.attributes.integer("axis"), list(piece.dims)
    if node.attributes.integer("new_axis"):
        dims.insert(axis if axis >= 0 else axis + len(dims) + 1, _length(network, node.inputs[0]))
    else:
        dims[axis] = _joined_size(network, node.inputs[0], axis, dims[axis])
    return [TensorType(piece.dtype, tuple(dims))]


def _joined_size(network: Network, sequence: str, axis: int, size: int) -> int:
    """Return the sum of the sizes along one axis, which may differ where one node made them."""
    maker = next((n for n in network.nodes if sequence in n.outputs), None)
    if maker is not None and maker.op == "SequenceConstruct":
        return sum(network.type_of(name).dims[axis] for name in maker.inputs)
    if maker is not None and maker.op == "SplitToSequence":
        source, split_axis = network.input_type(maker, 0).dims, maker.attributes.integer("axis")
        if len(source) == len(network.type_of(sequence).dims) and split_axis % len(source) == (
            axis % len(source)
        ):
            return source[split_axis]
    return size * _length(network, sequence)


def _length(network: Network, sequence: str) -> int:
    length = network.lengths.get(sequence)
    if length is None:
        network.note(
            f"The number of tensors in {shortened(sequence, 60)} is not known: one is counted."
        )
        return 1
    return length


def set_lengths(network: Network, node: Node, values: ValueTable) -> None:
    """Set the number of tensors in the sequences that a node makes, where it is known.

    Args:
        network: gets the lengths; those of the node's inputs and bodies are set.
        node: of which the trips are settled if it is a loop.
        values: of the network.
    """
    before = network.lengths.get(node.inputs[0]) if node.inputs else None
    length: int | None = None
    match node.op:
        case "Loop":
            _set_carried(network, node)
        case "If":
            _set_chosen(network, node, values)
        case "SequenceEmpty":
            length = 0
        case "SequenceConstruct":
            length = len(node.inputs)
        case "SplitToSequence" if network.input_type(node, 0).is_static:
            length = _pieces(network, node, values)[0]
        case "SequenceInsert" if before is not None:
            length = before + 1
        case "SequenceErase" if before is not None:
            length = max(before - 1, 0)
        case "Identity" | "Optional" | "OptionalGetElement":
            length = before
    if length is not None:
        network.lengths[node.outputs[0]] = length


def _set_carried(network: Network, node: Node) -> None:
    body = node.bodies[0]
    for initial, result, output in zip(
        node.inputs[2:], body.outputs[1:], node.outputs, strict=False
    ):
        before, after = network.lengths.get(initial), network.lengths.get(result)
        if before is not None and after is not None:
            network.lengths[output] = max(before + body.scope.trips * (after - before), 0)


def _set_chosen(network: Network, node: Node, values: ValueTable) -> None:
    for position, output in enumerate(node.outputs):
        names = [body.outputs[position] for body in counted_bodies(node, values)]
        lengths = [network.lengths[name] for name in names if name in network.lengths]
        if lengths:
            network.lengths[output] = max(lengths)


def counted_bodies(node: Node, values: ValueTable) -> list[Body]:
    """Return the branch that an If takes, both where its condition is not known."""
    condition = values.get(node.inputs[0])
    if condition is None or condition.size != 1:
        return node.bodies
    return [node.bodies[0 if bool(condition.reshape(-1)[0]) else 1]]


def _first_input(network: Network, node: Node, _: ValueTable) -> list[TensorType]:
    return [network.input_type(node, 0)]


SEQUENCE_RULES: dict[str, Rule] = {
    "ConcatFromSequence": _concat,
    "Optional": _first_input,
    "OptionalGetElement": _first_input,
    "OptionalHasElement": lambda *_: [_BOOL],
    "SequenceAt": _at,
    "SequenceConstruct": _largest_input,
    "SequenceEmpty": _empty,
    "SequenceErase": _first_input,
    "SequenceInsert": _largest_input,
    "SequenceLength": lambda *_: [_INT64],
    "SplitToSequence": _split,
}
