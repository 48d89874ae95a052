"""Convolutions, matrix products and attention of ATen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from onnx import TensorProto

from predictor.formats.emitter import Dim, UnreadError
from predictor.formats.pytorch.call import Call, rule


@rule("conv1d conv2d conv3d convolution _convolution")
def convolution(call: Call) -> str:
    """Return a convolution, transposed or not, of data with or without a batch."""
    if call.get("transposed", False):
        return _transposed(call)
    axes = call.rank("weight") - 2
    kernel = _kernel(call.meta("weight").dims)
    padding = call.get("padding", 0)
    dilations = call.integers("dilation", axes, 1)
    attributes = {
        "dilations": dilations,
        "group": int(call.number("groups", 1)),
        "kernel_shape": kernel,
        "strides": call.integers("stride", axes, 1),
    }
    if isinstance(padding, str):
        pads = _named_pads(padding, kernel, dilations)
    else:
        pads = call.integers("padding", axes) * 2
    return _batched(call, "Conv", axes, pads=pads, **attributes)


def _transposed(call: Call) -> str:
    axes = call.rank("weight") - 2
    return _batched(
        call,
        "ConvTranspose",
        axes,
        dilations=call.integers("dilation", axes, 1),
        group=int(call.number("groups", 1)),
        kernel_shape=_kernel(call.meta("weight").dims),
        output_padding=call.integers("output_padding", axes),
        pads=call.integers("padding", axes) * 2,
        strides=call.integers("stride", axes, 1),
    )


rule("conv_transpose1d conv_transpose2d conv_transpose3d")(_transposed)


def _kernel(dims: Sequence[Dim]) -> list[int]:
    return [int(size) for size in dims[2:]]


def _named_pads(name: str, kernel: Sequence[int], dilations: Sequence[int]) -> list[int]:
    if name != "same":
        return [0] * (2 * len(kernel))
    totals = [(size - 1) * step for size, step in zip(kernel, dilations, strict=True)]
    return [total // 2 for total in totals] + [total - total // 2 for total in totals]


def _batched(call: Call, op_type: str, axes: int, **attributes: Any) -> str:
    data, bias = call.tensor("input"), call.tensor("bias")
    has_batch = call.rank("input") == axes + 2
    data = data if has_batch else call.unsqueeze(data, [0])
    inputs = [data, call.tensor("weight"), *([bias] if bias else [])]
    result = call.emit(op_type, inputs, **attributes)
    return result if has_batch else call.squeeze(result, [0])


@rule("linear")
def _linear(call: Call) -> str:
    data, weight, bias = call.tensor("input"), call.tensor("weight"), call.tensor("bias")
    if call.rank("weight") == 2 == call.rank("input"):
        return call.emit("Gemm", [data, weight, *([bias] if bias else [])], transB=1)
    if call.rank("weight") == 2:
        weight = call.transpose(weight, (1, 0))
    result = call.emit("MatMul", [data, weight])
    return call.emit("Add", [result, bias]) if bias else result


@rule("matmul mm bmm mv dot vdot inner _int_mm")
def _matmul(call: Call) -> str:
    right = next(key for key in ("other", "mat2", "vec", "tensor") if call.has(key))
    data = [call.tensor("self"), call.tensor(right)]
    if call.kind == "inner" and call.rank(right) > 1:
        if call.rank(right) > 2:
            raise UnreadError(right)
        data[1] = call.transpose(data[1], (1, 0))
    target = call.result().dtype
    if call.meta("self").dtype == TensorProto.INT8:
        return call.emit("MatMulInteger", data)
    keys = ("self", right)
    data = [
        call.cast(name, call.meta(key).dtype, target) for name, key in zip(data, keys, strict=True)
    ]
    return call.emit("MatMul", data)


@rule("addmm")
def _addmm(call: Call) -> str:
    inputs = [call.tensor("mat1"), call.tensor("mat2"), call.tensor("self")]
    alpha, beta = float(call.number("alpha", 1)), float(call.number("beta", 1))
    return call.emit("Gemm", inputs, alpha=alpha, beta=beta)


@rule("baddbmm addbmm addmv")
def _added_product(call: Call) -> str:
    keys = ("mat", "vec") if call.has("vec") else ("batch1", "batch2")
    product = call.emit("MatMul", [call.tensor(key) for key in keys])
    if call.kind == "addbmm":
        product = call.emit("ReduceSum", [product, call.integer_constant([0])], keepdims=0)
    product = _scaled(call, product, "alpha")
    return call.emit("Add", [product, _scaled(call, call.tensor("self"), "beta")])


def _scaled(call: Call, data: str, key: str) -> str:
    factor = call.number(key, 1)
    return (
        data
        if factor == 1
        else call.emit("Mul", [data, call.constant(factor, call.result().dtype)])
    )


@rule("einsum")
def _einsum(call: Call) -> str:
    equation = str(call.get("equation")).replace(" ", "")
    return call.emit("Einsum", call.tensors("tensors"), equation=equation)


@rule("outer ger")
def _outer(call: Call) -> str:
    right = "vec2" if call.has("vec2") else "other"
    left = call.unsqueeze(call.tensor("self"), [1])
    return call.emit("Mul", [left, call.unsqueeze(call.tensor(right), [0])])


@rule(
    "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu"
    " _scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention"
    " _scaled_dot_product_cudnn_attention _scaled_dot_product_attention_math"
    " _scaled_dot_product_fused_attention_overrideable"
)
def _attention(call: Call) -> str:
    """Return attention as its two products and a softmax, as torch's exporter writes it."""
    query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
    dims, dtype = call.meta("query").dims, call.meta("query").dtype
    rank = len(dims)
    if call.get("enable_gqa", False):
        key, value = (_repeated_heads(call, name) for name in ("key", "value"))
    scale = call.get("scale") or 1 / math.sqrt(int(dims[-1]))
    root = call.constant(math.sqrt(scale), dtype)
    keys = call.transpose(key, (*range(rank - 2), rank - 1, rank - 2))
    scores = call.emit("MatMul", [call.emit("Mul", [query, root]), call.emit("Mul", [keys, root])])
    scores = _masked(call, scores, dtype)
    return call.emit("MatMul", [call.emit("Softmax", [scores], axis=-1), value])


def _masked(call: Call, scores: str, dtype: int) -> str:
    mask = next((key for key in ("attn_mask", "attn_bias") if call.has(key)), "")
    if mask:
        bias = call.tensor(mask)
        if call.meta(mask).dtype == TensorProto.BOOL:
            numbers = [call.constant(0, dtype), call.constant(-math.inf, dtype)]
            bias = call.emit("Where", [bias, *numbers])
        return call.emit("Add", [scores, bias])
    if not call.get("is_causal", False):
        return scores
    query, key = call.meta("query").dims, call.meta("key").dims
    sizes = [
        call.size(call.tensor("query"), query, len(query) - 2),
        call.size(call.tensor("key"), key, len(key) - 2),
    ]
    ones = call.emit("Expand", [call.constant(True, TensorProto.BOOL), call.vector(sizes)])
    lower = call.emit("Trilu", [ones], upper=0)
    numbers = [call.constant(0, dtype), call.constant(-math.inf, dtype)]
    return call.emit("Add", [scores, call.emit("Where", [lower, *numbers])])


def _repeated_heads(call: Call, key: str) -> str:
    """Return keys or values with as many heads as the queries have."""
    dims, heads = call.meta(key).dims, call.meta("query").dims[-3]
    if dims[-3] == heads:
        return call.tensor(key)
    if not isinstance(heads, int) or not isinstance(dims[-3], int):
        raise UnreadError(key)
    sizes = call.sizes(call.tensor(key), dims)
    rank = len(dims)
    repeated = [*sizes[:-2], heads // dims[-3], *sizes[-2:]]
    wide = call.unsqueeze(call.tensor(key), [rank - 2])
    wide = call.emit("Expand", [wide, call.vector(repeated)])
    return call.reshape(wide, [*sizes[:-3], heads, *sizes[-2:]])
