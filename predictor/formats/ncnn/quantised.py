"""Layers whose weights ncnn stores as 8-bit integers: they work on integers."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import TensorProto

from predictor.formats.ncnn.layers import Operation


def is_quantised(op: Operation, key: int = 8) -> bool:
    """Whether a layer has integer weights, by its parameter ``int8_scale_term``."""
    return op.integer(key) != 0


def stored_weight(op: Operation, what: str, dims: Sequence[int], key: int = 8) -> str:
    """Return weights in floats, or in integers with a scale for each output."""
    if not is_quantised(op, key):
        return op.weight(what, dims)
    integers = op.weight(what, dims, TensorProto.INT8)
    scales = op.weight(f"{what}_scale", dims[:1])
    return op.step("DequantizeLinear", [integers, scales], axis=0)


def integer_input(op: Operation, index: int = 0, key: int = 8) -> str:
    """Return an input as a quantised layer reads it, rounded to integers of 8 bits."""
    name = op.inputs[index]
    if not is_quantised(op, key):
        return name
    scale = op.weight("scale", [])
    zero = op.weight("zero", [], TensorProto.INT8)
    return op.step(
        "DequantizeLinear", [op.step("QuantizeLinear", [name, scale, zero]), scale, zero]
    )
