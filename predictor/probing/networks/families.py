"""Small networks of one kind of work each, rare in the published search spaces.

They serve users of transformers, of grouped and wide convolutions, of gates and of large products.
None is a published network made smaller: each repeats one block at one size. A code is a row of
numbers, its positions named in :data:`FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import onnx

from predictor.probing.networks import layers, tokens
from predictor.probing.networks.codes import checked_batch, checked_code
from predictor.probing.networks.weights import unit_gain_bound
from predictor.probing.networks.writer import NetworkWriter, Value

_WIDTHS = (32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640)
_SIZES = (7, 10, 14, 20, 28, 40, 56)


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of network.

    Attributes:
        positions: names of the numbers of a code.
        choices: the allowed values of each.
        build: writes the network of a checked code and returns its output.
    """

    positions: tuple[str, ...]
    choices: tuple[Sequence[int], ...]
    build: Callable[[NetworkWriter, int, list[int]], Value]


def family_network(
    space: str, code: Sequence[int], batch: int = 1, *, with_weights: bool = True
) -> onnx.ModelProto:
    """Build the network of a code.

    Args:
        space: a key of :data:`FAMILIES`.
        code: one number a position.
        batch: inputs at once.
        with_weights: see :class:`NetworkWriter`.

    Raises:
        InputError: code or batch are wrong.
    """
    family = FAMILIES[space]
    numbers = checked_code(space, code, family.choices)
    writer = NetworkWriter(f"{space}-{'-'.join(map(str, numbers))}", with_weights=with_weights)
    return writer.finish(family.build(writer, checked_batch(batch), numbers))


def _transformer(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    depth, heads, head, count, expansion = code
    x = writer.input("tokens", (batch, count, heads * head))
    for index in range(depth):
        x = tokens.encoder_layer(writer, f"layer{index}", x, heads, expansion)
    return tokens.layer_norm(writer, "norm", x)


def _patches(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Cut an image into patches, a token each, before the layers."""
    depth, heads, head, side, patch = code
    width, count = heads * head, side * side
    x = writer.input("image", (batch, 3, side * patch, side * patch))
    weight = writer.weight("patch.weight", (width, 3, patch, patch), 1.0 / patch)
    window = {"kernel_shape": [patch, patch], "strides": [patch, patch], "pads": [0] * 4}
    cut = (batch, width, side, side)
    x = writer.node("Conv", "patch", [x, weight], cut, **window, dilations=[1, 1], group=1)
    x = layers.channels_joined(writer, "patch.join", x)
    x = writer.node("Transpose", "patch.swap", [x], (batch, count, width), perm=(0, 2, 1))
    for index in range(depth):
        x = tokens.encoder_layer(writer, f"layer{index}", x, heads, 4)
    return x


def _products(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    depth, rows, width, inner = code
    x = writer.input("rows", (batch, rows, width))
    for index in range(depth):
        x = tokens.project(writer, f"up{index}", x, inner)
        x = layers.relu(writer, f"relu{index}", x)
        x = tokens.project(writer, f"down{index}", x, width)
    return x


def _decode(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Feed-forward blocks of a decoder at one token: thin products over weights that fill no cache.

    Reading the weights takes nearly all of their time, as it does when a language model generates.
    """
    depth, width, inner = code
    x = writer.input("tokens", (batch, 1, width))
    for index in range(depth):
        name = f"layer{index}"
        y = tokens.layer_norm(writer, f"{name}.norm", x)
        gate = layers.silu(writer, f"{name}.act", _thin(writer, f"{name}.gate", y, inner))
        up = _thin(writer, f"{name}.up", y, inner)
        y = writer.node("Mul", f"{name}.gated", [gate, up], up.shape)
        x = layers.add(writer, f"{name}.add", x, _thin(writer, f"{name}.down", y, width))
    return x


# Deflate looks back 32 KiB: weights of this period shrink to a hundredth in a kit. A prime, so that
# rows of a matrix differ.
_PERIOD = 4099


def _thin(writer: NetworkWriter, name: str, x: Value, width: int) -> Value:
    shape = (x.shape[-1], width)
    weight = writer.weight(f"{name}.weight", shape, unit_gain_bound(x.shape[-1]), _PERIOD)
    return writer.node("MatMul", name, [x, weight], (*x.shape[:-1], width))


def _gated(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Residual blocks of a wide depthwise window, x sigmoid(x) and a gate over the channels."""
    depth, width, size, kernel = code
    x = writer.input("image", (batch, width, size, size))
    for index in range(depth):
        name = f"block{index}"
        y = layers.silu(writer, f"{name}.act1", layers.conv(writer, f"{name}.up", x, 4 * width))
        y = layers.depthwise(writer, f"{name}.depthwise", y, kernel=kernel)
        y = layers.silu(writer, f"{name}.act2", y)
        y = layers.channel_gate(writer, f"{name}.gate", y, squeezed=width)
        y = layers.conv(writer, f"{name}.down", y, width)
        x = layers.add(writer, f"{name}.add", x, y)
    return x


def _windows(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Encoder layers whose tokens attend within windows of an image."""
    depth, heads, head, windows, side = code
    size, width = windows * side, heads * head
    x = writer.input("image", (batch, size, size, width))
    for index in range(depth):
        x = tokens.window_layer(writer, f"layer{index}", x, heads, windows)
    return x


def _dense(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Residual blocks of two full convolutions."""
    depth, width, size, kernel = code
    x = writer.input("image", (batch, width, size, size))
    for index in range(depth):
        name = f"block{index}"
        y = layers.conv(writer, f"{name}.a", x, width, kernel=kernel)
        y = layers.relu(writer, f"{name}.relu", y)
        y = layers.conv(writer, f"{name}.b", y, width, kernel=kernel)
        x = layers.relu(writer, f"{name}.out", layers.add(writer, f"{name}.add", x, y))
    return x


def _grouped(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Residual blocks of a grouped convolution between two pointwise ones."""
    depth, groups, group, size = code
    width = groups * group
    x = writer.input("image", (batch, width, size, size))
    for index in range(depth):
        name = f"block{index}"
        y = layers.relu(writer, f"{name}.relu1", layers.conv(writer, f"{name}.a", x, width))
        y = layers.conv(writer, f"{name}.b", y, width, kernel=3, groups=groups)
        y = layers.conv(writer, f"{name}.c", layers.relu(writer, f"{name}.relu2", y), width)
        x = layers.relu(writer, f"{name}.out", layers.add(writer, f"{name}.add", x, y))
    return x


def _depthwise(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Residual blocks of a wide depthwise window, then a normalised product over the channels."""
    depth, width, size, kernel = code
    x = writer.input("image", (batch, width, size, size))
    last = (batch, size, size, width)
    for index in range(depth):
        name = f"block{index}"
        y = layers.depthwise(writer, f"{name}.depthwise", x, kernel=kernel)
        # LayerNormalization and MatMul work along the last axis: channels go there and back.
        y = writer.node("Transpose", f"{name}.last", [y], last, perm=(0, 2, 3, 1))
        y = tokens.layer_norm(writer, f"{name}.norm", y)
        y = tokens.gelu(writer, f"{name}.gelu", tokens.project(writer, f"{name}.up", y, 2 * width))
        y = tokens.project(writer, f"{name}.down", y, width)
        y = writer.node("Transpose", f"{name}.first", [y], x.shape, perm=(0, 3, 1, 2))
        x = layers.add(writer, f"{name}.add", x, y)
    return x


def _concatenated(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Layers that each see the outputs of all before them."""
    depth, width, growth, size = code
    x = writer.input("image", (batch, width, size, size))
    for index in range(depth):
        name = f"layer{index}"
        y = layers.relu(writer, f"{name}.relu", layers.batch_norm(writer, f"{name}.norm", x))
        y = layers.conv(writer, f"{name}.conv", y, growth, kernel=3)
        shape = (batch, x.shape[1] + growth, size, size)
        x = writer.node("Concat", f"{name}.concat", [x, y], shape, axis=1)
    return x


def _elementwise(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """Operators of one input element an output element, on large tensors."""
    depth, width, size = code
    x = writer.input("image", (batch, width, size, size))
    for index in range(depth):
        name = f"step{index}"
        y = layers.silu(writer, name, x)
        y = layers.hard_swish(writer, f"{name}.swish", y)
        x = layers.add(writer, f"{name}.add", x, y)
    return x


def _operator(writer: NetworkWriter, batch: int, code: list[int]) -> Value:
    """One operator, a few times one after the other."""
    kind, repeats, width, size = code
    x = writer.input("image", (batch, width, size, size))
    for index in range(repeats):
        x = OPERATORS[kind](writer, f"step{index}", x)
    return x


def _softmax(writer: NetworkWriter, name: str, x: Value) -> Value:
    return writer.node("Softmax", name, [x], x.shape, axis=-1)


def _max_pool(writer: NetworkWriter, name: str, x: Value) -> Value:
    attributes = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1] * 4}
    return writer.node("MaxPool", name, [x], x.shape, **attributes)


def _pointwise(writer: NetworkWriter, name: str, x: Value) -> Value:
    return layers.conv(writer, name, x, x.shape[1])


def _full(writer: NetworkWriter, name: str, x: Value) -> Value:
    return layers.conv(writer, name, x, x.shape[1], kernel=3)


OPERATORS: tuple[Callable[[NetworkWriter, str, Value], Value], ...] = (
    _full,
    _pointwise,
    partial(layers.depthwise, kernel=3),
    partial(layers.depthwise, kernel=5),
    layers.relu,
    layers.hard_swish,
    _softmax,
    _max_pool,
    tokens.layer_norm,
    tokens.gelu,
    layers.batch_norm,
)
"""Meaning of the first number of an ``operator`` code."""

_DEPTHS = (1, 2, 3, 4, 6)
FAMILIES: dict[str, Family] = {
    "transformer": Family(
        ("depth", "heads", "width of a head", "tokens", "expansion"),
        (_DEPTHS, (2, 3, 4, 5, 6, 8, 10), (32, 64), (32, 49, 64, 98, 160, 224, 320), (2, 3, 4)),
        _transformer,
    ),
    "patches": Family(
        ("depth", "heads", "width of a head", "patches a side", "pixels a patch"),
        (_DEPTHS, (2, 4, 5, 6), (32, 64), (8, 10, 12, 16), (8, 14, 16)),
        _patches,
    ),
    "products": Family(
        ("depth", "rows", "width", "inner width"),
        (_DEPTHS, (1, 4, 16, 64, 128, 256), _WIDTHS, (*_WIDTHS, 1024, 1536, 2048, 3072)),
        _products,
    ),
    # Matrices that leave a core's caches.
    "matrices": Family(
        ("depth", "rows", "width", "inner width"),
        ((1, 2), (32, 64, 98, 128), (576, 768, 896, 1024), (1536, 2048, 2560, 3072)),
        _products,
    ),
    # 35 to 277 MB of weights: more than the caches of most devices.
    "decode": Family(
        ("depth", "width", "inner width"),
        ((1, 2), (1024, 1536, 2048), (2816, 4096, 5632)),
        _decode,
    ),
    "gated": Family(
        ("depth", "width", "size", "kernel"),
        (_DEPTHS, (16, 24, 40, 56, 80, 112, 144, 192), _SIZES, (3, 5)),
        _gated,
    ),
    "windows": Family(
        ("depth", "heads", "width of a head", "windows a side", "tokens a side"),
        (_DEPTHS, (2, 3, 4, 6, 8), (16, 24, 32), (2, 3, 4, 6, 8), (4, 6, 7, 8)),
        _windows,
    ),
    "dense": Family(
        ("depth", "width", "size", "kernel"), (_DEPTHS, _WIDTHS, _SIZES, (1, 3, 5)), _dense
    ),
    "grouped": Family(
        ("depth", "groups", "width of a group", "size"),
        (_DEPTHS, (2, 4, 8, 16, 32), (8, 16, 24, 32), _SIZES),
        _grouped,
    ),
    "depthwise": Family(
        ("depth", "width", "size", "kernel"), (_DEPTHS, _WIDTHS, _SIZES, (3, 5, 7)), _depthwise
    ),
    "concatenated": Family(
        ("depth", "width", "growth", "size"),
        (_DEPTHS, _WIDTHS[:8], (12, 16, 24, 40), _SIZES),
        _concatenated,
    ),
    "elementwise": Family(("depth", "width", "size"), (_DEPTHS, _WIDTHS, _SIZES), _elementwise),
    "operator": Family(
        ("kind", "repeats", "width", "size"),
        (range(len(OPERATORS)), _DEPTHS, _WIDTHS, _SIZES),
        _operator,
    ),
}
