"""Quantised operators of torch's pt2e flow and of torchao."""

from __future__ import annotations

from typing import Final

from onnx import TensorProto

from predictor.formats.pytorch.call import Call, UnreadError, rule
from predictor.formats.pytorch.program import TensorMeta

_SPACE: Final = "quantized_decomposed"


@rule(f"{_SPACE}::quantize_per_tensor {_SPACE}::quantize_per_channel")
def _quantize(call: Call) -> str:
    return _converted(call, "QuantizeLinear", call.result().dtype)


@rule(f"{_SPACE}::dequantize_per_tensor {_SPACE}::dequantize_per_channel")
def _dequantize(call: Call) -> str:
    return _converted(call, "DequantizeLinear", call.meta("input").dtype)


def _converted(call: Call, op_type: str, dtype: int) -> str:
    if call.kind.endswith("per_channel"):
        meta = call.meta("scales")
        scales = call.cast(call.tensor("scales"), meta.dtype, TensorProto.FLOAT)
        zeros = _zeros(call, meta, dtype)
        axis = call.axis("axis", of="input")
        return call.emit(op_type, [call.tensor("input"), scales, zeros], axis=axis)
    scale = call.get("scale", 1.0) if not call.is_tensor("scale") else 1.0
    inputs = [call.tensor("input"), call.constant(scale), call.constant(0, dtype)]
    return call.emit(op_type, inputs)


def _zeros(call: Call, meta: TensorMeta, dtype: int) -> str:
    """Return zero points in the type of the integers; torch stores them in 64 bits."""
    dims = [int(size) for size in meta.dims]
    return call.values.builder.weight(call.values.name(f"{call.name}/zeros"), dtype, dims)


@rule("torchao::dequantize_affine quant::dequantize_affine torchao::dequantize_affine_float8")
def _dequantize_blocks(call: Call) -> str:
    """Return weights of blocks: one block, rows, or blocks along the last axis."""
    meta = call.meta("input")
    shape = [int(size) for size in call.meta("scale").dims]
    dims = [int(size) for size in meta.dims]
    name = call.tensor("input")
    floats = call.result().dtype
    scale = call.cast(call.tensor("scale"), call.meta("scale").dtype, floats)
    blocks = call.integers("block_size")
    wide = [
        axis for axis, (block, size) in enumerate(zip(blocks, dims, strict=True)) if block < size
    ]
    if not wide:
        return call.emit("DequantizeLinear", [name, call.reshape(scale, [])])
    if len(wide) == 1 and blocks[wide[0]] == 1:
        return call.emit("DequantizeLinear", [name, call.reshape(scale, [-1])], axis=wide[0])
    axis = next(axis for axis in wide if blocks[axis] > 1)
    grid = [size // block for size, block in zip(dims, blocks, strict=True)]
    if len(shape) != len(grid):
        scale = call.reshape(scale, grid)
    size = blocks[axis]
    return call.emit("DequantizeLinear", [name, scale], axis=axis, block_size=size)


@rule("_weight_int8pack_mm")
def _int8_product(call: Call) -> str:
    scales = call.cast(call.tensor("scales"), call.meta("scales").dtype, call.result().dtype)
    weight = call.emit("DequantizeLinear", [call.tensor("mat2"), scales], axis=0)
    return call.emit("MatMul", [call.tensor("self"), call.transpose(weight, (1, 0))])


@rule("_weight_int4pack_mm _weight_int4pack_mm_for_cpu")
def _int4_product(call: Call) -> str:
    """Return the product with weights of 4 bits; their scales are of groups of inputs."""
    rows, columns = call.meta("self").dims[-1], call.result().dims[-1]
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise UnreadError("self")
    group = int(call.number("qGroupSize"))
    values, dtype = call.values, call.result().dtype
    weight = values.builder.weight(
        values.name(f"{call.name}/weight"), TensorProto.UINT4, [columns, rows]
    )
    scales = values.builder.weight(
        values.name(f"{call.name}/scales"), dtype, [columns, rows // group]
    )
    floats = call.emit("DequantizeLinear", [weight, scales], axis=1, block_size=group)
    return call.emit("MatMul", [call.tensor("self"), call.transpose(floats, (1, 0))])
