"""Quantised operators of torch's pt2e flow and of torchao."""

from __future__ import annotations

from typing import Final

from onnx import TensorProto

from predictor.formats.emitter import static
from predictor.formats.pytorch.call import Call, rule
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
    """Return weights of blocks: one block, rows, or blocks along one axis."""
    dims, shape = static(call.meta("input").dims), call.meta("scale").dims
    scale = call.cast(call.tensor("scale"), call.meta("scale").dtype, call.result().dtype)
    lengths = call.integers("block_size")
    blocks = [size // length for size, length in zip(dims, lengths, strict=True)]
    if len(shape) != len(blocks):
        scale = call.reshape(scale, blocks)
    return call.dequantized(call.tensor("input"), scale, dims, blocks)


@rule("_weight_int8pack_mm")
def _int8_product(call: Call) -> str:
    scales = call.cast(call.tensor("scales"), call.meta("scales").dtype, call.result().dtype)
    weight = call.emit("DequantizeLinear", [call.tensor("mat2"), scales], axis=0)
    return call.emit("MatMul", [call.tensor("self"), call.transpose(weight, (1, 0))])


@rule("_weight_int4pack_mm _weight_int4pack_mm_for_cpu")
def _int4_product(call: Call) -> str:
    """Return the product with weights of 4 bits; their scales are of groups of inputs."""
    rows, columns = static([call.meta("self").dims[-1], call.result().dims[-1]])
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
