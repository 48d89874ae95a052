"""Random weights of a sensible scale for a weightless graph.

The graphs of the data folder hold each large tensor as a ``ConstantOfShape`` node: a runtime would
fold equal values, and deep networks overflow on them. Here each becomes an initializer whose
distribution follows its consumer, so that activations neither vanish into denormal numbers, which
processors compute slowly, nor overflow.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

_PREFIX = "weight/"
# Places of the inputs of a batch norm: scale, bias, mean, variance.
_BATCH_NORM = {1: (0.5, 1.5), 2: (-0.1, 0.1), 3: (-0.1, 0.1), 4: (0.5, 1.5)}


def with_random_weights(model: onnx.ModelProto, gain: float = 1.0) -> None:
    """Replace the weight nodes of a model by initializers.

    Args:
        model: changed in place.
        gain: factor on the standard deviation of kernels and matrices.
    """
    graph = model.graph
    consumers = _consumers(graph)
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    kept, replaced = [], []
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            # Converters want kernels and biases as initializers.
            replaced.append(_named(node.attribute[0].t, node.output[0]))
            continue
        if node.op_type != "ConstantOfShape" or not node.name.startswith(_PREFIX):
            kept.append(node)
            continue
        fill = numpy_helper.to_array(node.attribute[0].t)
        shape = [int(size) for size in shapes[node.input[0]]]
        users = consumers.get(node.output[0], [])
        values = _values(node.output[0], shape, fill, users, gain)
        replaced.append(numpy_helper.from_array(values, node.output[0]))
    _spread_copies(kept, replaced, {t.name: t for t in graph.initializer})
    used = {name for node in kept for name in node.input}
    constants = [t for t in graph.initializer if t.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(kept)
    graph.initializer.extend([*constants, *replaced])


def _spread_copies(
    kept: list[Any], made: list[TensorProto], constants: Mapping[str, TensorProto]
) -> None:
    """Turn the Identity of a constant, by which exports share equal biases, into a constant."""
    known = {**constants, **{tensor.name: tensor for tensor in made}}
    for node in list(kept):
        if node.op_type == "Identity" and node.input[0] in known:
            kept.remove(node)
            made.append(_named(known[node.input[0]], node.output[0]))
            known[node.output[0]] = made[-1]


def _named(tensor: TensorProto, name: str) -> TensorProto:
    copy = TensorProto()
    copy.CopyFrom(tensor)
    copy.name = name
    return copy


def _consumers(graph: onnx.GraphProto) -> dict[str, list[tuple[Any, int]]]:
    """Return node and place of the input for each tensor; an Identity passes its own on."""
    consumers: dict[str, list[tuple[Any, int]]] = {}
    for node in reversed(graph.node):  # an Identity stands before its consumers
        for place, name in enumerate(node.input):
            passed = consumers.get(node.output[0], []) if node.op_type == "Identity" else None
            consumers.setdefault(name, []).extend([(node, place)] if passed is None else passed)
    return consumers


def _values(
    name: str,
    shape: Sequence[int],
    fill: NDArray[Any],
    users: Sequence[tuple[Any, int]],
    gain: float,
) -> NDArray[Any]:
    if fill.dtype.kind != "f":  # indices and masks keep their value
        return np.full(shape, fill.reshape(-1)[0])
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    deviation = _deviation(shape, *users[0]) if users else None
    if deviation is None:
        # A tensor that several share serves as a variance too.
        low, high = max((_range(*user) for user in users), default=(-0.1, 0.1))
        return generator.uniform(low, high, shape).astype(fill.dtype)
    drawn = generator.standard_normal(shape, np.float32)
    return (drawn * np.float32(deviation * gain)).astype(fill.dtype)


def _deviation(shape: Sequence[int], node: Any, place: int) -> float | None:
    """Return the standard deviation of a kernel or matrix, None for other tensors."""
    kind = node.op_type
    if kind == "Gather" and place == 0:
        return 1.0
    if len(shape) < 2 or kind in {"Add", "Sub", "Mul", "Div", "Concat", "Where"}:
        return None
    if kind == "Conv":
        return math.sqrt(2 / math.prod(shape[1:]))
    if kind == "Gemm":
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        return math.sqrt(1 / shape[1 if transposed else 0])
    if kind == "MatMul":
        return math.sqrt(1 / shape[-2 if place == 1 else -1])
    return math.sqrt(1 / math.prod(shape[1:]))


def _range(node: Any, place: int) -> tuple[float, float]:
    if node.op_type == "BatchNormalization":
        return _BATCH_NORM[place]
    if node.op_type in {"Mul", "Div"} or (node.op_type == "LayerNormalization" and place == 1):
        return 0.5, 1.5
    return -0.1, 0.1


def random_inputs(model: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    """Return values for the inputs: reals in [-1, 1), masks of ones, token ids 1 to 999.

    Raises:
        ValueError: an input has open dimensions.
    """
    generator = np.random.default_rng(0)
    values = {}
    constant = {t.name for t in model.graph.initializer}
    for tensor in model.graph.input:
        if tensor.name in constant:
            continue
        shape = [d.dim_value for d in tensor.type.tensor_type.shape.dim]
        if not all(shape):
            raise ValueError(f"input {tensor.name} has open dimensions")
        kind = helper.tensor_dtype_to_np_dtype(tensor.type.tensor_type.elem_type)
        if tensor.type.tensor_type.elem_type in {TensorProto.FLOAT, TensorProto.DOUBLE}:
            values[tensor.name] = generator.uniform(-1, 1, shape).astype(kind)
        elif "mask" in tensor.name:
            values[tensor.name] = np.ones(shape, kind)
        elif "type" in tensor.name:
            values[tensor.name] = np.zeros(shape, kind)
        else:
            values[tensor.name] = generator.integers(1, 1000, shape).astype(kind)
    return values
