"""Published transformers, built by code as exporters write them: attention as plain operators."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from tests.support.networks.builder import Builder


def _attention(b: Builder, data: str, width: int, heads: int) -> str:
    """Multi-head attention on [batch, length, width], shapes told by 0 and -1."""
    size = width // heads
    split = b.constant([0, -1, heads, size])
    projected = [b.node("Reshape", [b.linear(data, width, width), split]) for _ in range(3)]
    query = b.node("Transpose", [projected[0]], perm=[0, 2, 1, 3])
    key = b.node("Transpose", [projected[1]], perm=[0, 2, 3, 1])
    value = b.node("Transpose", [projected[2]], perm=[0, 2, 1, 3])
    scores = b.node("MatMul", [query, key])
    scaled = b.node("Div", [scores, b.constant(size**0.5, np.float32)])
    mixed = b.node("MatMul", [b.node("Softmax", [scaled], axis=-1), value])
    joined = b.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    flat = b.node("Reshape", [joined, b.constant([0, -1, width])])
    return b.linear(flat, width, width)


def _feed_forward(b: Builder, data: str, width: int) -> str:
    return b.linear(b.erf_gelu(b.linear(data, width, 4 * width)), 4 * width, width)


def vit_tiny(batch: int | str = 1) -> onnx.ModelProto:
    """Touvron et al. 2020, ViT-Ti/16 at 224: 5.72 M parameters, 1.25 G MACs with attention."""
    return _vit("vit_tiny", 192, 3, batch)


def vit_b16(batch: int | str = 1) -> onnx.ModelProto:
    """Dosovitskiy et al. 2020, ViT-B/16 at 224: 86.57 M parameters, 17.56 G MACs with attention."""
    return _vit("vit_b16", 768, 12, batch)


def _vit(name: str, width: int, heads: int, batch: int | str) -> onnx.ModelProto:
    b = Builder()
    image = b.input("image", [batch, 3, 224, 224])
    inputs = [image, b.weight(width, 3, 16, 16), b.weight(width)]
    patches = b.node("Conv", inputs, kernel_shape=[16, 16], strides=[16, 16])
    patches = b.node("Reshape", [patches, b.constant([0, width, 196])])
    patches = b.node("Transpose", [patches], perm=[0, 2, 1])
    # The class token is expanded to the batch, which Shape tells.
    size = b.node("Gather", [b.node("Shape", [image]), b.constant([0])], axis=0)
    target = b.node("Concat", [size, b.constant([1, width])], axis=0)
    token = b.node("Expand", [b.weight(1, 1, width), target])
    data = b.node("Concat", [token, patches], axis=1)
    data = b.node("Add", [data, b.weight(1, 197, width)])
    for _ in range(12):
        data = b.node("Add", [data, _attention(b, b.layer_norm(data, width), width, heads)])
        data = b.node("Add", [data, _feed_forward(b, b.layer_norm(data, width), width)])
    data = b.layer_norm(data, width)
    token = b.node("Gather", [data, b.constant(0)], axis=1)
    b.output(b.node("Gemm", [token, b.weight(1000, width), b.weight(1000)], ["logits"], transB=1))
    return b.model(name)


def bert_base(batch: int | str = 1, length: int | str = 128) -> onnx.ModelProto:
    """Devlin et al. 2018, BERT-base with pooler: 109.48 M parameters, 11.17 G MACs at 128."""
    b, width = Builder(), 768
    ids = b.input("input_ids", [batch, length], TensorProto.INT64)
    types = b.input("token_type_ids", [batch, length], TensorProto.INT64)
    size = b.node("Gather", [b.node("Shape", [ids]), b.constant(1)], axis=0)
    positions = b.node("Range", [b.constant(0), size, b.constant(1)])
    words = b.node("Gather", [b.weight(30522, width), ids])
    data = b.node("Add", [words, b.node("Gather", [b.weight(2, width), types])])
    data = b.node("Add", [data, b.node("Gather", [b.weight(512, width), positions])])
    data = b.layer_norm(data, width)
    for _ in range(12):
        data = b.layer_norm(b.node("Add", [data, _attention(b, data, width, 12)]), width)
        data = b.layer_norm(b.node("Add", [data, _feed_forward(b, data, width)]), width)
    first = b.node("Gather", [data, b.constant(0)], axis=1)
    pooled = b.node("Gemm", [first, b.weight(width, width), b.weight(width)], transB=1)
    b.output(b.node("Tanh", [pooled], ["pooled"]))
    b.output(data)
    return b.model("bert_base")
