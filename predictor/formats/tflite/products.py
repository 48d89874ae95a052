"""Operators that sum over axes: dense layers, matrix products, reductions."""

from __future__ import annotations

import math
from typing import Final

from predictor.formats.tflite.file import Operator
from predictor.formats.tflite.layouts import as_filed, without
from predictor.formats.tflite.translation import Translation

_REDUCTIONS: Final = {
    "MEAN": "ReduceMean",
    "REDUCE_ALL": "ReduceMin",
    "REDUCE_ANY": "ReduceMax",
    "REDUCE_MAX": "ReduceMax",
    "REDUCE_MIN": "ReduceMin",
    "REDUCE_PROD": "ReduceProd",
    "SUM": "ReduceSum",
}
_ALONG_LAST: Final = {
    "L2_NORMALIZATION": "LpNormalization",
    "LOG_SOFTMAX": "LogSoftmax",
    "SOFTMAX": "Softmax",
}


def dense(translation: Translation, operator: Operator) -> None:
    """Translate a dense layer: rows times weights of output, input."""
    data, weights = operator.inputs[:2]
    builder = translation.builder
    outputs, inner = translation.tensor(weights).dims
    source, result = translation.tensor(data), translation.tensor(operator.outputs[0])
    is_integer = translation.is_integer(operator, "Gemm")
    operands = [operator.inputs[1], *(operator.inputs[2:3] if translation.has(operator, 2) else ())]
    inputs = [translation.operand(index, None, is_integer=is_integer) for index in operands]
    inputs.insert(0, _rows(translation, data, inner, is_integer=is_integer))
    sizes = [*result.signature] if result.dims else [outputs]
    if -1 in source.signature and -1 not in sizes:
        sizes[0] = -1
    translation.result(
        operator,
        lambda names: builder.node("Gemm", inputs, names, transB=1),
        is_integer=is_integer,
        is_contraction=True,
        sizes=None if len(sizes) == 2 else sizes,
    )


def _rows(translation: Translation, data: int, width: int, *, is_integer: bool) -> str:
    """Return a value as rows of a width; pixels and channels of an image are in any order."""
    source, layout = translation.tensor(data), translation.layout(data)
    if source.dims[1:] == (width,):
        return translation.operand(data, None, is_integer=is_integer)
    is_flattened = math.prod(source.dims[1:]) == width
    value = translation.value(data, layout if is_flattened else as_filed(len(layout)))
    rows = -1 if -1 in source.signature else math.prod(source.dims) // width
    value = translation.reshaped(value, [rows, width])
    if not is_integer:
        return value
    return translation.builder.node("DequantizeLinear", [value, *translation.scale(data)])


def batch_product(translation: Translation, operator: Operator) -> None:
    """Translate a product of matrices, either of which may be read transposed."""
    if _product_of_stacks(translation, operator):
        return
    is_integer = translation.is_integer(operator, "MatMul")
    inputs = []
    for index, name in zip(operator.inputs, ("AdjX", "AdjY"), strict=False):
        rank = translation.rank(index)
        layout = as_filed(rank)
        if operator.option(name):
            layout = (*range(rank - 2), rank - 1, rank - 2)
        inputs.append(translation.operand(index, layout, is_integer=is_integer))
    translation.node(operator, "MatMul", inputs, is_integer=is_integer)


def _product_of_stacks(translation: Translation, operator: Operator) -> bool:
    """Add a product of two stacks of the same leading axes; False where they are none."""
    stacks = [translation.stacks.get(index) for index in operator.inputs]
    if len(stacks) != 2 or not stacks[0] or not stacks[1] or stacks[0][1][:2] != stacks[1][1][:2]:
        return False
    result = translation.tensor(operator.outputs[0])
    if operator.option("AdjX") or operator.option("AdjY") or result.is_quantised:
        return False
    value = translation.builder.node("MatMul", [stacks[0][0], stacks[1][0]])
    translation.stacked(operator, value, (*stacks[0][1][:2], *result.dims[-2:]))
    return True


def reduction(translation: Translation, operator: Operator) -> None:
    """Translate a sum, mean or extreme over axes."""
    data, builder = operator.inputs[0], translation.builder
    layout = translation.layout(data)
    rank = len(layout)
    axes = sorted({axis % rank for axis in translation.steering(operator, 1)})
    keeps = bool(operator.option("KeepDims"))
    positions = builder.constant(sorted(layout.index(axis) for axis in axes))
    translation.node(
        operator,
        _REDUCTIONS[operator.type],
        (data, positions),
        layout if keeps else without(layout, axes),
        keepdims=int(keeps),
    )


def extreme_index(translation: Translation, operator: Operator) -> None:
    """Translate the position of the largest or smallest element along an axis."""
    data = operator.inputs[0]
    layout = translation.layout(data)
    axis = translation.steering(operator, 1)[0] % len(layout)
    op_type = "ArgMax" if operator.type == "ARG_MAX" else "ArgMin"
    value = translation.builder.node(
        op_type, [translation.value(data)], axis=layout.index(axis), keepdims=0
    )
    dtype = translation.tensor(operator.outputs[0]).dtype
    translation.node(operator, "Cast", [value], without(layout, [axis]), to=dtype)


def along_last(translation: Translation, operator: Operator) -> None:
    """Translate a normalisation along the file's last axis."""
    data = operator.inputs[0]
    layout = translation.layout(data)
    op_type, axis = _ALONG_LAST[operator.type], layout.index(len(layout) - 1)
    is_last = axis == len(layout) - 1
    if data in translation.stacks and not translation.tensor(data).is_quantised:
        value, sizes = translation.stacks[data]
        translation.stacked(operator, translation.builder.node(op_type, [value], axis=-1), sizes)
        return
    translation.node(operator, op_type, [data], layout, axis=-1 if is_last else axis)


def cumulative_sum(translation: Translation, operator: Operator) -> None:
    """Translate sums up to each element along an axis."""
    data = operator.inputs[0]
    layout = translation.layout(data)
    axis = translation.steering(operator, 1)[0] % len(layout)
    position = translation.builder.constant([layout.index(axis)])
    scalar = translation.reshaped(position, [])
    translation.node(operator, "CumSum", [data, scalar], layout)


def largest(translation: Translation, operator: Operator) -> None:
    """Translate the largest elements along the last axis, and their positions."""
    data, builder = operator.inputs[0], translation.builder
    count = translation.as_int64(operator.inputs[1])
    count = translation.reshaped(count, [1])
    rank = translation.rank(data)
    values, positions = operator.outputs
    names = [translation.free_name(values), builder.fresh("positions")]
    builder.node("TopK", [translation.value(data, as_filed(rank)), count], names)
    translation.define(values, names[0], as_filed(rank))
    name = translation.free_name(positions)
    builder.node("Cast", [names[1]], [name], to=translation.tensor(positions).dtype)
    translation.define(positions, name, as_filed(rank))


RULES: Final = {
    **dict.fromkeys(_REDUCTIONS, reduction),
    **dict.fromkeys(_ALONG_LAST, along_last),
    "ARG_MAX": extreme_index,
    "ARG_MIN": extreme_index,
    "BATCH_MATMUL": batch_product,
    "CUMSUM": cumulative_sum,
    "FULLY_CONNECTED": dense,
    "TOPK_V2": largest,
}
