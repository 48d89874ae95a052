"""Values of small shape-carrying tensors, computed with numpy on demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray

from predictor.graph.network import MISFIT, Network, Node
from predictor.graph.operators import ONNX_OF_DTYPE

Array: TypeAlias = NDArray[Any]
LARGEST_VALUE = 1 << 16  # elements; shapes, axes, anchors and position ids stay far below


class ValueTable:
    """Evaluates values of a network on demand; None where that is not possible."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._evaluated: dict[str, Array | None] = {}

    @cached_property
    def _producer(self) -> dict[str, Node]:
        return {name: node for node in self._network.nodes for name in node.outputs if name}

    def get(self, name: str) -> Array | None:
        """Return a value, None where it depends on the model's inputs or is not small."""
        # An explicit stack: chains of shape arithmetic go deeper than Python recurses.
        stack = [name]
        while stack:
            current = stack[-1]
            if current in self._evaluated:
                stack.pop()
                continue
            missing = self._missing_inputs(current)
            if missing:
                stack += missing
                continue
            stack.pop()
            if current not in self._evaluated:
                self._evaluated[current] = self._evaluate(current)
        return self._evaluated[name]

    def _missing_inputs(self, name: str) -> list[str]:
        """Return inputs to evaluate first; nothing where they are not needed."""
        node = self._producer.get(name)
        if node is not None and node.op == "If":
            needed = [node.inputs[0]]
            if node.inputs[0] in self._evaluated:
                needed = [n for n in (self._branch_value(node, name),) if n is not None]
            return [n for n in needed if n not in self._evaluated]
        if node is None or node.op not in _EVALUATORS:
            return []
        if self._network.type_of(name).elements > LARGEST_VALUE:
            return []
        return [i for i in node.inputs if i and i not in self._evaluated]

    def _evaluate(self, name: str) -> Array | None:
        tensor = self._network.tensors.get(name)
        if tensor is not None:
            return stored_value(tensor)
        node = self._producer.get(name)
        return None if node is None else self._made_by(node, name)

    def _made_by(self, node: Node, name: str) -> Array | None:
        match node.op:
            case "Shape" | "Size":
                return self._of_shape(node)
            case "OptionalHasElement" | "SequenceLength":
                return self._of_container(node)
            case "If":
                source = self._branch_value(node, name)
                return None if source is None else self._evaluated[source]
        return self._computed(node, name)

    def _computed(self, node: Node, name: str) -> Array | None:
        evaluator = _EVALUATORS.get(node.op)
        if evaluator is None or not self._is_small(name):
            return None
        inputs = [self._evaluated.get(i) if i else None for i in node.inputs]
        if not inputs or inputs[0] is None:
            return None
        if any(v is None and i for v, i in zip(inputs, node.inputs, strict=True)):
            return None
        return self._run(evaluator, node, inputs, name)

    def _of_container(self, node: Node) -> Array | None:
        """Return the length of a sequence, or whether an optional is filled; None where unknown."""
        if node.op == "SequenceLength":
            length = self._network.lengths.get(node.inputs[0])
            return None if length is None else np.array(length, np.int64)
        if not node.inputs or not node.inputs[0]:
            return np.array(False)
        maker = self._producer.get(node.inputs[0])
        if maker is None or maker.op != "Optional":
            return None
        return np.array(bool(maker.inputs and maker.inputs[0]))

    def _branch_value(self, node: Node, output: str) -> str | None:
        """Return the value that an If hands out, None where its condition is not known."""
        condition = self._evaluated[node.inputs[0]]
        if condition is None or condition.size != 1:
            return None
        body = node.bodies[0 if bool(condition.reshape(-1)[0]) else 1]
        return body.outputs[node.outputs.index(output)]

    def _is_small(self, name: str) -> bool:
        value_type = self._network.type_of(name)
        return not value_type.is_static or value_type.elements <= LARGEST_VALUE

    def _of_shape(self, node: Node) -> Array | None:
        value_type = self._network.type_of(node.inputs[0])
        if not value_type.is_static:
            return None
        if node.op == "Size":
            return np.array(value_type.elements, np.int64)
        start = node.attributes.integer("start")
        end = node.attributes.integer("end", len(value_type.dims))
        return np.array(value_type.dims[start:end], np.int64)

    def _run(
        self,
        evaluator: Callable[[Node, Sequence[Any]], Any],
        node: Node,
        inputs: Sequence[Array | None],
        name: str,
    ) -> Array | None:
        try:
            with np.errstate(all="ignore"):
                result = evaluator(node, inputs)
        except (*MISFIT, AttributeError):
            return None  # the file's values do not fit; the operator's shape inference names it
        if isinstance(result, list):
            for output, part in zip(node.outputs, result, strict=False):
                self._evaluated[output] = part
            return self._evaluated.get(name)
        array = np.asarray(result)
        return array if array.size <= LARGEST_VALUE else None


def stored_value(tensor: onnx.TensorProto) -> Array | None:
    """Return the value of a small stored tensor, None where it is large or not kept."""
    if math.prod(tensor.dims) > LARGEST_VALUE or tensor.data_type == onnx.TensorProto.STRING:
        return None
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return None
    try:
        return onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):
        return None  # its data was too large to keep, or is not of the size that it states


def _numpy_dtype(onnx_type: int) -> np.dtype[Any]:
    return onnx.helper.tensor_dtype_to_np_dtype(onnx_type)


def _axes(node: Node, inputs: Sequence[Any], position: int = 1) -> tuple[int, ...] | None:
    if len(inputs) > position and inputs[position] is not None:
        return tuple(int(a) for a in inputs[position].reshape(-1))
    return node.attributes.integers("axes") or None


def _slice(node: Node, inputs: Sequence[Any]) -> Any:
    data = inputs[0]
    if len(inputs) > 1:
        starts, ends = inputs[1].tolist(), inputs[2].tolist()
    else:
        starts, ends = node.attributes.integers("starts"), node.attributes.integers("ends")
    axes = _axes(node, inputs, 3) or tuple(range(len(starts)))
    has_steps = len(inputs) > 4 and inputs[4] is not None
    steps = inputs[4].tolist() if has_steps else [1] * len(starts)
    index = [slice(None)] * data.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        # An end below -size means "past the first element" for negative steps.
        stop = None if step < 0 and end < -data.shape[axis] else end
        index[axis] = slice(start, stop, step)
    return data[tuple(index)]


def _reshape(node: Node, inputs: Sequence[Any]) -> Any:
    data, target = inputs[0], [int(s) for s in inputs[1]]
    if not node.attributes.integer("allowzero"):
        # 0 copies the dim of the input unless allowzero is set.
        target = [data.shape[i] if s == 0 else s for i, s in enumerate(target)]
    return data.reshape(target)


def _split(node: Node, inputs: Sequence[Any]) -> Any:
    data, axis = inputs[0], node.attributes.integer("axis")
    sizes = inputs[1] if len(inputs) > 1 and inputs[1] is not None else None
    if sizes is None:
        stated = node.attributes.integers("split")
        sizes = np.array(stated) if stated else None
    if sizes is None:
        return np.array_split(data, len(node.outputs), axis)
    return np.split(data, np.cumsum(sizes)[:-1], axis)


def _reduce(function: Callable[..., Any]) -> Callable[[Node, Sequence[Any]], Any]:
    def run(node: Node, inputs: Sequence[Any]) -> Any:
        keep = bool(node.attributes.integer("keepdims", 1))
        axes = _axes(node, inputs)
        # numpy widens sums of small integers, ONNX keeps the type.
        return np.asarray(function(inputs[0], axis=axes, keepdims=keep), inputs[0].dtype)

    return run


def _divide(_: Node, inputs: Sequence[Any]) -> Any:
    a, b = inputs[0], inputs[1]
    if not np.issubdtype(a.dtype, np.integer):
        return a / b
    if not b.all():
        raise ValueError("division by zero")
    # ONNX truncates towards zero, numpy's // rounds down.
    return (np.sign(a) * np.sign(b) * (abs(a) // abs(b))).astype(a.dtype)


def _constant_of_shape(node: Node, inputs: Sequence[Any]) -> Any:
    fill = np.zeros(1, np.float32)
    for attribute in node.proto.attribute if node.proto else ():
        if attribute.name == "value":
            fill = onnx.numpy_helper.to_array(attribute.t)
    dims = [int(size) for size in inputs[0]]
    _check_size(dims)
    return np.full(dims, fill.reshape(-1)[0], fill.dtype)


def _cast(node: Node, inputs: Sequence[Any]) -> Any:
    return inputs[0].astype(_numpy_dtype(node.attributes.integer("to", 1)))


def _clip(_: Node, inputs: Sequence[Any]) -> Any:
    low = inputs[1] if len(inputs) > 1 else None
    high = inputs[2] if len(inputs) > 2 else None
    return inputs[0] if low is None and high is None else np.clip(inputs[0], low, high)


def _transpose(node: Node, inputs: Sequence[Any]) -> Any:
    return np.transpose(inputs[0], node.attributes.integers("perm") or None)


def _check_size(dims: Sequence[float]) -> None:
    """Check the dims of a result before memory is taken for it.

    Raises:
        ValueError: it has more elements than a value that we follow.
    """
    if math.prod(max(size, 1) for size in dims) > LARGEST_VALUE:
        raise ValueError(dims)


def _expand(_: Node, inputs: Sequence[Any]) -> Any:
    shape = np.broadcast_shapes(inputs[0].shape, tuple(int(s) for s in inputs[1]))
    _check_size(shape)
    return np.broadcast_to(inputs[0], shape)


def _tile(_: Node, inputs: Sequence[Any]) -> Any:
    _check_size([inputs[0].size, *inputs[1].reshape(-1).tolist()])
    return np.tile(inputs[0], inputs[1])


def _range(_: Node, inputs: Sequence[Any]) -> Any:
    start, limit, delta = (value.item() for value in inputs)
    _check_size([(limit - start) / delta])
    return np.arange(start, limit, delta, dtype=inputs[0].dtype)


def _concat(node: Node, inputs: Sequence[Any]) -> Any:
    _check_size([sum(value.size for value in inputs)])
    return np.concatenate(inputs, node.attributes.integer("axis"))


def _gather(node: Node, inputs: Sequence[Any]) -> Any:
    data, indices, axis = inputs[0], inputs[1], node.attributes.integer("axis")
    _check_size([data.size // max(data.shape[axis], 1), indices.size])
    return np.take(data, indices, axis)


def _squeeze(node: Node, inputs: Sequence[Any]) -> Any:
    return np.squeeze(inputs[0], _axes(node, inputs))


def _unsqueeze(node: Node, inputs: Sequence[Any]) -> Any:
    return np.expand_dims(inputs[0], _axes(node, inputs) or ())


def _elementwise(function: Callable[..., Any]) -> Callable[[Node, Sequence[Any]], Any]:
    def run(_: Node, inputs: Sequence[Any]) -> Any:
        _check_size(np.broadcast_shapes(*(value.shape for value in inputs)))
        return function(*inputs)

    return run


def _folded(function: Callable[..., Any]) -> Callable[[Node, Sequence[Any]], Any]:
    def run(_: Node, inputs: Sequence[Any]) -> Any:
        result = inputs[0]
        _check_size(np.broadcast_shapes(*(value.shape for value in inputs)))
        for value in inputs[1:]:
            result = function(result, value)
        return result

    return run


def _mod(node: Node, inputs: Sequence[Any]) -> Any:
    function = np.fmod if node.attributes.integer("fmod") else np.mod
    return _elementwise(function)(node, inputs)


_EVALUATORS: dict[str, Callable[[Node, Sequence[Any]], Any]] = {
    "Abs": _elementwise(np.abs),
    "Add": _elementwise(np.add),
    "And": _elementwise(np.logical_and),
    "Cast": _cast,
    "Ceil": _elementwise(np.ceil),
    "Clip": _clip,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Div": _divide,
    "Equal": _elementwise(np.equal),
    "Expand": _expand,
    "Exp": _elementwise(np.exp),
    "Floor": _elementwise(np.floor),
    "Gather": _gather,
    "Greater": _elementwise(np.greater),
    "GreaterOrEqual": _elementwise(np.greater_equal),
    "Identity": _elementwise(np.asarray),
    "Less": _elementwise(np.less),
    "LessOrEqual": _elementwise(np.less_equal),
    "Log": _elementwise(np.log),
    "Max": _folded(np.maximum),
    "Min": _folded(np.minimum),
    "Mod": _mod,
    "Mul": _elementwise(np.multiply),
    "Neg": _elementwise(np.negative),
    "NonZero": lambda _, v: np.array(np.nonzero(v[0]), np.int64),
    "Not": _elementwise(np.logical_not),
    "Or": _elementwise(np.logical_or),
    # ONNX keeps the base's type, numpy promotes.
    "Pow": _elementwise(lambda base, power: np.power(base, power).astype(base.dtype)),
    "Range": _range,
    "ReduceMax": _reduce(np.max),
    "ReduceMin": _reduce(np.min),
    "ReduceProd": _reduce(np.prod),
    "ReduceSum": _reduce(np.sum),
    "Reshape": _reshape,
    "Round": _elementwise(np.round),
    "Slice": _slice,
    "Split": _split,
    "Sqrt": _elementwise(np.sqrt),
    "Squeeze": _squeeze,
    "Sub": _elementwise(np.subtract),
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _elementwise(np.where),
}


def to_tensor(array: Array, dtype: int) -> onnx.TensorProto:
    """Convert a small value for onnx's shape inference."""
    tensor = onnx.numpy_helper.from_array(np.array(array))
    if tensor.data_type != ONNX_OF_DTYPE.get(dtype, tensor.data_type):
        return onnx.numpy_helper.from_array(np.asarray(array, _numpy_dtype(ONNX_OF_DTYPE[dtype])))
    return tensor
