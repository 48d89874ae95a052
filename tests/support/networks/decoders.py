"""Decoders as exporters write them: their names of inputs and outputs, their operators.

References:
    onnxruntime-genai, ``src/python/py/models/builder.py``: GroupQueryAttention, MatMulNBits,
    SkipSimplifiedLayerNormalization, past_key_values.%d.key and present.%d.key.
    optimum, ``exporters/onnx/config.py`` and ``onnx/graph_transformations.py``: the same names,
    plain operators, and for merged decoders an If on ``use_cache_branch``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.support.networks.builder import Builder

F16, F32, I64, U8 = (
    TensorProto.FLOAT16,
    TensorProto.FLOAT,
    TensorProto.INT64,
    TensorProto.UINT8,
)
_MS = "com.microsoft"


@dataclass(frozen=True)
class Size:
    """Counts of a decoder."""

    layers: int = 2
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 16
    wide: int = 96
    vocabulary: int = 1000

    @property
    def queries(self) -> int:
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        return self.kv_heads * self.head_dim


def _ids(b: Builder, total: str) -> str:
    b.input("attention_mask", ["batch_size", total], I64)
    return b.input("input_ids", ["batch_size", "sequence_length"], I64)


def _past(b: Builder, size: Size, dtype: int, part: str = "") -> list[list[str]]:
    dims = ["batch_size", size.kv_heads, "past_sequence_length", size.head_dim]
    return [
        [b.input(f"past_key_values.{layer}.{part}{kind}", dims, dtype) for kind in ("key", "value")]
        for layer in range(size.layers)
    ]


# onnxruntime-genai


def genai(
    size: Size,
    block: int = 0,
    fused: bool = True,
    zero_points: bool = True,
    experts: int = 0,
    apart: int = 0,
) -> Builder:
    """Llama in float16, or with 4-bit weights in blocks.

    Args:
        size: its counts.
        block: weights in a block; 0 for float16.
        fused: query, key and value in one product.
        zero_points: whether blocks have one.
        experts: of each layer in one operator, two of them for a token; 0 for a dense block.
        apart: the same with products of their own, as optimum writes them.
    """
    b = Builder(opset=21)
    ids = _ids(b, "total_sequence_length")
    past = _past(b, size, F16)
    mask = "attention_mask"
    counted = b.node("Sub", [b.node("ReduceSum", [mask, b.constant([1])]), b.constant([1])])
    lengths = b.node("Cast", [counted], to=TensorProto.INT32)
    whole = b.node("Gather", [b.node("Shape", [mask]), b.constant(1)], axis=0)
    whole = b.node("Cast", [whole], to=TensorProto.INT32)
    caches = [b.tensor([2048, size.head_dim // 2], F16) for _ in range(2)]
    state = b.node("Gather", [b.tensor([size.vocabulary, size.hidden], F16), ids])
    normed = b.node("SimplifiedLayerNormalization", [state, b.tensor([size.hidden], F16)], axis=-1)

    def product(data: str, inner: int, columns: int, *outputs: str) -> str:
        if not block:
            return b.node("MatMul", [data, b.tensor([inner, columns], F16)], outputs or None)
        blocks = inner // block
        inputs = [data, b.tensor([columns, blocks, block // 2], U8)]
        inputs.append(b.tensor([columns * blocks], F16))
        inputs += [b.tensor([columns * ((blocks + 1) // 2)], U8)] if zero_points else []
        attributes = {"K": inner, "N": columns, "bits": 4, "block_size": block}
        return b.node("MatMulNBits", inputs, outputs or None, _MS, **attributes)

    for layer in range(size.layers):
        if fused:
            heads = [product(normed, size.hidden, size.queries + 2 * size.kv_width), "", ""]
        else:
            widths = (size.queries, size.kv_width, size.kv_width)
            heads = [product(normed, size.hidden, width) for width in widths]
        mixed = b.node(
            "GroupQueryAttention",
            [*heads, *past[layer], lengths, whole, *caches],
            [f"attn_{layer}", f"present.{layer}.key", f"present.{layer}.value"],
            _MS,
            num_heads=size.heads,
            kv_num_heads=size.kv_heads,
            do_rotary=1,
        )
        for kind in ("key", "value"):
            dims = ["batch_size", size.kv_heads, "total_sequence_length", size.head_dim]
            b.output(f"present.{layer}.{kind}", dims, F16)
        out = product(mixed, size.queries, size.hidden)
        normed, state = _skip(b, state, out, size, f"ffn_{layer}")
        if experts:
            out = _experts(b, normed, product(normed, size.hidden, experts), size, experts)
        else:
            blocks = []
            for _ in range(apart or 1):
                gate, up = (product(normed, size.hidden, size.wide) for _ in range(2))
                active = b.node("Mul", [gate, b.node("Sigmoid", [gate])])
                blocks.append(product(b.node("Mul", [active, up]), size.wide, size.hidden))
            out = blocks[0] if len(blocks) == 1 else b.node("Sum", blocks)
            if apart:
                scores = product(normed, size.hidden, apart)
                best = [f"best_{layer}", f"which_{layer}"]
                b.node("TopK", [scores, b.constant([2])], best)
                share = b.node("ReduceSum", [best[0], b.constant([-1])])
                out = b.node("Mul", [out, share])
        normed, state = _skip(b, state, out, size, f"attn_{layer + 1}")
    product(normed, size.hidden, size.vocabulary, "logits")
    b.output("logits", ["batch_size", "sequence_length", size.vocabulary], F16)
    return b


def _experts(b: Builder, normed: str, scores: str, size: Size, experts: int) -> str:
    """The mixture of GPT-OSS: gate and up projection of each expert interleaved."""
    scores = b.node("Reshape", [scores, b.constant([-1, experts])])
    first = b.tensor([experts, 2 * size.wide, size.hidden], F16)
    second = b.tensor([experts, size.hidden, size.wide], F16)
    inputs = [normed, scores, first, "", second]
    return b.node("MoE", inputs, None, _MS, k=2, activation_type="swiglu", swiglu_fusion=1)


def _skip(b: Builder, state: str, out: str, size: Size, name: str) -> tuple[str, str]:
    results = [f"{name}_normed", "", "", f"{name}_sum"]
    inputs = [state, out, b.tensor([size.hidden], F16)]
    b.node("SkipSimplifiedLayerNormalization", inputs, results, _MS, epsilon=1e-5)
    return results[0], results[3]


# optimum


def optimum(size: Size, with_past: bool = True) -> Builder:
    """Llama in plain operators; without past it still gives out its keys and values."""
    b = Builder(opset=17)
    ids = _ids(b, "past_sequence_length + sequence_length" if with_past else "sequence_length")
    positions = b.input("position_ids", ["batch_size", "sequence_length"], I64)
    past = _past(b, size, F32) if with_past else None
    logits, presents = _llama(b, size, ids, positions, past, _Weights(b, size))
    b.node("Identity", [logits], ["logits"])
    _give_out(b, size, presents)
    return b


def merged(size: Size) -> onnx.ModelProto:
    """Optimum's decoder_model_merged: with past under ``use_cache_branch``, without it else."""
    outer = Builder(opset=17)
    ids = _ids(outer, "past_sequence_length + sequence_length")
    positions = outer.input("position_ids", ["batch_size", "sequence_length"], I64)
    past = _past(outer, size, F32)
    outer.input("use_cache_branch", [1], TensorProto.BOOL)
    weights = _Weights(outer, size)
    branches = []
    for kept in (past, None):
        body = Builder(opset=17)
        logits, presents = _llama(body, size, ids, positions, kept, weights)
        names = [logits, *(name for pair in presents for name in pair)]
        outputs = [helper.make_tensor_value_info(name, F32, None) for name in names]
        branches.append(
            helper.make_graph(body.nodes, "branch", [], outputs, initializer=body.initializers)
        )
    kinds = [f"present.{i}.{kind}" for i in range(size.layers) for kind in ("key", "value")]
    then_branch, else_branch = branches
    outer.node(
        "If",
        ["use_cache_branch"],
        ["logits", *kinds],
        then_branch=then_branch,
        else_branch=else_branch,
    )
    _give_out(outer, size, None)
    return outer.model()


def _give_out(b: Builder, size: Size, presents: list[tuple[str, str]] | None) -> None:
    b.output("logits", ["batch_size", "sequence_length", size.vocabulary])
    dims = ["batch_size", size.kv_heads, "past_sequence_length + sequence_length", size.head_dim]
    for layer in range(size.layers):
        for i, kind in enumerate(("key", "value")):
            if presents:
                b.node("Identity", [presents[layer][i]], [f"present.{layer}.{kind}"])
            b.output(f"present.{layer}.{kind}", dims)


class _Weights:
    """Stored tensors, shared by the branches of a merged decoder."""

    def __init__(self, b: Builder, size: Size) -> None:
        h, q, k = size.hidden, size.queries, size.kv_width
        self.table = b.tensor([size.vocabulary, h])
        shapes = ([h], [h, q], [h, k], [h, k], [q, h], [h], *([[h, size.wide]] * 2), [size.wide, h])
        self.layers = [[b.tensor(shape) for shape in shapes] for _ in range(size.layers)]
        self.norm, self.head = b.tensor([h]), b.tensor([h, size.vocabulary])
        self.frequencies = b.constant(np.ones((1, size.head_dim // 2, 1)), np.float32)


def _llama(
    b: Builder,
    size: Size,
    ids: str,
    positions: str,
    past: list[list[str]] | None,
    weights: _Weights,
) -> tuple[str, list[tuple[str, str]]]:
    """Return the logits, and keys and values of each layer."""
    state = b.node("Gather", [weights.table, ids])
    where = b.node("Cast", [b.node("Unsqueeze", [positions, b.constant([1])])], to=F32)
    angles = b.node("Transpose", [b.node("MatMul", [weights.frequencies, where])], perm=[0, 2, 1])
    angles = b.node("Concat", [angles, angles], axis=-1)
    turns = [b.node("Unsqueeze", [b.node(op, [angles]), b.constant([1])]) for op in ("Cos", "Sin")]
    presents = []
    for layer, (norm, q, k, v, out, block_norm, gate, up, down) in enumerate(weights.layers):
        normed = _rms(b, state, norm)
        query, key, value = (
            _split(b, b.node("MatMul", [normed, w]), count, size.head_dim)
            for w, count in ((q, size.heads), (k, size.kv_heads), (v, size.kv_heads))
        )
        query, key = (_turned(b, x, turns, size.head_dim) for x in (query, key))
        if past:
            key = b.node("Concat", [past[layer][0], key], axis=2)
            value = b.node("Concat", [past[layer][1], value], axis=2)
        presents.append((key, value))
        mixed = _attend(b, query, *(_repeated(b, x, size) for x in (key, value)))
        state = b.node("Add", [state, b.node("MatMul", [mixed, out])])
        normed = _rms(b, state, block_norm)
        opened = b.node("MatMul", [normed, gate])
        opened = b.node("Mul", [opened, b.node("Sigmoid", [opened])])
        wide = b.node("Mul", [opened, b.node("MatMul", [normed, up])])
        state = b.node("Add", [state, b.node("MatMul", [wide, down])])
    return b.node("MatMul", [_rms(b, state, weights.norm), weights.head]), presents


def _rms(b: Builder, state: str, weight: str) -> str:
    square = b.node("Pow", [state, b.constant(2, np.float32)])
    mean = b.node("ReduceMean", [square], axes=[-1], keepdims=1)
    root = b.node("Sqrt", [b.node("Add", [mean, b.constant(1e-5, np.float32)])])
    scale = b.node("Div", [b.constant(1, np.float32), root])
    return b.node("Mul", [weight, b.node("Mul", [state, scale])])


def _dim(b: Builder, data: str, axis: int) -> str:
    size = b.node("Gather", [b.node("Shape", [data]), b.constant(axis)], axis=0)
    return b.node("Unsqueeze", [size, b.constant([0])])


def _split(b: Builder, data: str, heads: int, head_dim: int) -> str:
    sizes = [_dim(b, data, 0), _dim(b, data, 1), b.constant([heads]), b.constant([head_dim])]
    split = b.node("Reshape", [data, b.node("Concat", sizes, axis=0)])
    return b.node("Transpose", [split], perm=[0, 2, 1, 3])


def _turned(b: Builder, data: str, turns: list[str], head_dim: int) -> str:
    half, end, axis = b.constant([head_dim // 2]), b.constant([2**62]), b.constant([3])
    first = b.node("Slice", [data, b.constant([0]), half, axis])
    second = b.node("Neg", [b.node("Slice", [data, half, end, axis])])
    turned = b.node("Concat", [second, first], axis=-1)
    return b.node("Add", [b.node("Mul", [data, turns[0]]), b.node("Mul", [turned, turns[1]])])


def _repeated(b: Builder, data: str, size: Size) -> str:
    """Keys or values of each head that shares them: [B, KV, T, D] to [B, heads, T, D]."""
    shared = size.heads // size.kv_heads
    batch, length = _dim(b, data, 0), _dim(b, data, 2)
    kv, each = b.constant([size.kv_heads]), b.constant([shared])
    width, heads = b.constant([size.head_dim]), b.constant([size.heads])
    wanted = b.node("Concat", [batch, kv, each, length, width], axis=0)
    spread = b.node("Expand", [b.node("Unsqueeze", [data, b.constant([2])]), wanted])
    joined = b.node("Concat", [batch, heads, length, width], axis=0)
    return b.node("Reshape", [spread, joined])


def _attend(b: Builder, query: str, key: str, value: str) -> str:
    scores = b.node("MatMul", [query, b.node("Transpose", [key], perm=[0, 1, 3, 2])])
    scores = b.node("Div", [scores, b.constant(4, np.float32)])
    mixed = b.node("MatMul", [b.node("Softmax", [scores], axis=-1), value])
    mixed = b.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    sizes = [_dim(b, mixed, 0), _dim(b, mixed, 1), b.constant([-1])]
    return b.node("Reshape", [mixed, b.node("Concat", sizes, axis=0)])


# torch.onnx.export


def gpt2(size: Size, cached: bool = True) -> Builder:
    """GPT-2: Gemm with fused query, key and value, learned positions, LayerNorm, causal mask."""
    b = Builder(opset=17)
    h = size.hidden
    ids = b.input("input_ids", ["batch", "sequence"], I64)
    table = b.tensor([size.vocabulary, h])
    count = _dim(b, ids, 1)
    zero, one = b.constant(0), b.constant(1)
    scalar = b.node("Squeeze", [count, b.constant([0])])
    places = b.node("Range", [zero, scalar, one])
    state = b.node(
        "Add", [b.node("Gather", [table, ids]), b.node("Gather", [b.tensor([512, h]), places])]
    )

    def dense(data: str, inner: int, columns: int) -> str:
        flat = b.node("Reshape", [data, b.constant([-1, inner])])
        made = b.node("Gemm", [flat, b.tensor([inner, columns]), b.tensor([columns])])
        sizes = [_dim(b, data, 0), _dim(b, data, 1), b.constant([columns])]
        return b.node("Reshape", [made, b.node("Concat", sizes, axis=0)])

    shape = b.node("Concat", [count, count], axis=0)
    ones = b.node("ConstantOfShape", [shape], value=helper.make_tensor("v", F32, [1], [1]))
    mask = b.node("Trilu", [ones], upper=0)
    for layer in range(size.layers):
        joint = dense(b.layer_norm(state, h), h, 3 * h)
        names = [f"{kind}_{layer}" for kind in "qkv"]
        b.node("Split", [joint, b.constant([h] * 3)], names, axis=2)
        query, key, value = (_split(b, name, size.heads, size.head_dim) for name in names)
        if cached:
            for kind, made in (("key", key), ("value", value)):
                b.node("Identity", [made], [f"present.{layer}.{kind}"])
                b.output(f"present.{layer}.{kind}", None)
        scores = b.node("MatMul", [query, b.node("Transpose", [key], perm=[0, 1, 3, 2])])
        weights = b.node("Softmax", [b.node("Mul", [scores, mask])], axis=-1)
        mixed = b.node("Transpose", [b.node("MatMul", [weights, value])], perm=[0, 2, 1, 3])
        sizes = [_dim(b, mixed, 0), _dim(b, mixed, 1), b.constant([h])]
        mixed = b.node("Reshape", [mixed, b.node("Concat", sizes, axis=0)])
        state = b.node("Add", [state, dense(mixed, h, h)])
        wide = b.erf_gelu(dense(b.layer_norm(state, h), h, size.wide))
        state = b.node("Add", [state, dense(wide, size.wide, h)])
    turned = b.node("Transpose", [table], perm=[1, 0])
    b.node("MatMul", [b.layer_norm(state, h), turned], ["logits"])
    b.output("logits", ["batch", "sequence", size.vocabulary])
    return b


def save(proto: onnx.ModelProto, path: Path) -> None:
    """Write a decoder in half precision; its matrices, which have no data, get zeros."""
    for tensor in proto.graph.initializer:
        if not tensor.HasField("raw_data"):
            tensor.raw_data = bytes(2 * math.prod(tensor.dims))
    onnx.save(proto, path)


def in_int8_cache(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Give the cache of a decoder 8 bits an element."""
    for info in (*proto.graph.input, *proto.graph.output):
        if "key_values" in info.name:
            info.type.tensor_type.elem_type = TensorProto.INT8
    return proto


def in_int4(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Give the half-precision matrices of a decoder 4 bits, dequantised in blocks of 32."""
    proto.opset_import[0].version = 21
    matrices = {t.name: t for t in proto.graph.initializer if len(t.dims) == 2}
    products = [n for n in proto.graph.node if n.op_type == "MatMul" and n.input[1] in matrices]
    for node in products:
        inner, columns = matrices[node.input[1]].dims
        name = node.input[1]
        weights = helper.make_tensor(
            f"{name}_int4",
            TensorProto.INT4,
            [inner, columns],
            bytes(inner * columns // 2),
            raw=True,
        )
        scales = helper.make_tensor(
            f"{name}_scales", F16, [inner // 32, columns], bytes(inner // 16 * columns), raw=True
        )
        proto.graph.initializer.extend([weights, scales])
        proto.graph.initializer.remove(matrices[name])
        inputs = [weights.name, scales.name]
        proto.graph.node.insert(
            0, helper.make_node("DequantizeLinear", inputs, [name], axis=0, block_size=32)
        )
    return proto
