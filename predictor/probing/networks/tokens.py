"""Layers over tokens. Activations are [batch, tokens, width], float32."""

from __future__ import annotations

import math

import numpy as np

from predictor.probing.networks.layers import BIAS_BOUND
from predictor.probing.networks.weights import unit_gain_bound
from predictor.probing.networks.writer import NetworkWriter, Value


def project(writer: NetworkWriter, name: str, x: Value, width: int) -> Value:
    """Return x W + b along the last axis, as a product and a sum."""
    features = x.shape[-1]
    weight = writer.weight(f"{name}.weight", (features, width), unit_gain_bound(features))
    bias = writer.weight(f"{name}.bias", (width,), BIAS_BOUND)
    shape = (*x.shape[:-1], width)
    y = writer.node("MatMul", f"{name}.product", [x, weight], shape)
    return writer.node("Add", f"{name}.sum", [y, bias], shape)


def layer_norm(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Normalise over the last axis."""
    width = x.shape[-1]
    scale = writer.weight(f"{name}.scale", (width,), 1.0)
    shift = writer.weight(f"{name}.shift", (width,), BIAS_BOUND)
    return writer.node("LayerNormalization", name, [x, scale, shift], x.shape, axis=-1)


def gelu(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Return x (1 + erf(x / sqrt(2))) / 2 in the five operators that exporters write."""
    root = writer.constant("sqrt2", np.array(math.sqrt(2), np.float32))
    one = writer.constant("one", np.array(1, np.float32))
    half = writer.constant("half", np.array(0.5, np.float32))
    y = writer.node("Div", f"{name}.div", [x, root], x.shape)
    y = writer.node("Erf", f"{name}.erf", [y], x.shape)
    y = writer.node("Add", f"{name}.add", [y, one], x.shape)
    y = writer.node("Mul", f"{name}.mul", [x, y], x.shape)
    return writer.node("Mul", f"{name}.half", [y, half], x.shape)


def attention(writer: NetworkWriter, name: str, x: Value, heads: int) -> Value:
    """Attend from each token to every token, in ``heads`` heads.

    A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.
    """
    batch, tokens, width = x.shape
    head = width // heads
    query, key, value = (project(writer, f"{name}.{part}", x, width) for part in "qkv")
    query = _split(writer, f"{name}.q", query, heads, (0, 2, 1, 3))
    # Transposed already, [batch, heads, head, tokens], for the product with queries.
    key = _split(writer, f"{name}.k", key, heads, (0, 2, 3, 1))
    value = _split(writer, f"{name}.v", value, heads, (0, 2, 1, 3))
    scale = writer.constant(f"sqrt{head}", np.array(math.sqrt(head), np.float32))
    scores = (batch, heads, tokens, tokens)
    y = writer.node("MatMul", f"{name}.scores", [query, key], scores)
    y = writer.node("Div", f"{name}.scale", [y, scale], scores)
    y = writer.node("Softmax", f"{name}.softmax", [y], scores, axis=-1)
    y = writer.node("MatMul", f"{name}.mix", [y, value], (batch, heads, tokens, head))
    y = writer.node(
        "Transpose", f"{name}.back", [y], (batch, tokens, heads, head), perm=(0, 2, 1, 3)
    )
    joined = writer.constant(f"shape[{tokens},{width}]", np.array((-1, tokens, width), np.int64))
    y = writer.node("Reshape", f"{name}.join", [y, joined], x.shape)
    return project(writer, f"{name}.out", y, width)


def _split(
    writer: NetworkWriter, name: str, x: Value, heads: int, order: tuple[int, int, int, int]
) -> Value:
    """Return [batch, tokens, heads, head] in another order of its axes."""
    batch, tokens, width = x.shape
    per_head = (batch, tokens, heads, width // heads)
    y = _reshaped(writer, f"{name}.split", x, per_head)
    swapped = tuple(per_head[axis] for axis in order)
    return writer.node("Transpose", f"{name}.swap", [y], swapped, perm=order)


def encoder_layer(writer: NetworkWriter, name: str, x: Value, heads: int, expansion: int) -> Value:
    """Attend and feed forward, each normalised before and added to its input."""
    y = attention(writer, f"{name}.attention", layer_norm(writer, f"{name}.norm1", x), heads)
    x = writer.node("Add", f"{name}.add1", [x, y], x.shape)
    width = x.shape[-1]
    y = project(writer, f"{name}.expand", layer_norm(writer, f"{name}.norm2", x), width * expansion)
    y = project(writer, f"{name}.reduce", gelu(writer, f"{name}.gelu", y), width)
    return writer.node("Add", f"{name}.add2", [x, y], x.shape)


def window_layer(writer: NetworkWriter, name: str, x: Value, heads: int, windows: int) -> Value:
    """An encoder layer over [batch, height, width, channels] that attends within windows.

    As in Z. Liu et al., "Swin Transformer", ICCV 2021, section 3.2, without the shift.

    Args:
        writer: of the network.
        name: of the layer.
        x: an image whose sides are multiples of ``windows``.
        heads: of the attention.
        windows: along each side.
    """
    batch, size, _, width = x.shape
    side = size // windows
    # The first is in the order of the image; the second has each window's tokens side by side.
    separate, joined = (windows, side, windows, side, width), (windows, windows, side, side, width)
    y = _reshaped(writer, f"{name}.cut", x, (batch, *separate))
    y = _windows_swapped(writer, f"{name}.gather", y)
    y = _reshaped(writer, f"{name}.flat", y, (batch * windows * windows, side * side, width))
    y = encoder_layer(writer, name, y, heads, 4)
    y = _reshaped(writer, f"{name}.apart", y, (batch, *joined))
    y = _windows_swapped(writer, f"{name}.scatter", y)
    return _reshaped(writer, f"{name}.whole", y, x.shape)


def _reshaped(writer: NetworkWriter, name: str, x: Value, shape: tuple[int, ...]) -> Value:
    # -1 for the batch: the batch of an ingested file can still be changed.
    wanted = writer.constant(f"shape{list(shape[1:])}", np.array((-1, *shape[1:]), np.int64))
    return writer.node("Reshape", name, [x, wanted], shape)


def _windows_swapped(writer: NetworkWriter, name: str, x: Value) -> Value:
    # Its own inverse, so it gathers windows and scatters them again.
    batch, first, second, third, fourth, width = x.shape
    shape = (batch, first, third, second, fourth, width)
    return writer.node("Transpose", name, [x], shape, perm=(0, 1, 3, 2, 4, 5))
