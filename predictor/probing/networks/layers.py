"""Layers of vision networks. Activations are [batch, channels, height, width], float32.

Batch normalisation is folded: at inference it is a factor in the convolution before it and a bias,
and every runtime folds it when it loads a model. So each convolution carries a bias that stands for
it. It is a node of its own only where no convolution comes before it.
"""

from __future__ import annotations

import math

import numpy as np

from predictor.probing.networks.weights import unit_gain_bound
from predictor.probing.networks.writer import NetworkWriter, Value

BIAS_BOUND = 0.1
"""Large enough that no activation decays to subnormal numbers, which some processors run slowly."""


def conv(
    writer: NetworkWriter,
    name: str,
    x: Value,
    width: int,
    *,
    kernel: int = 1,
    stride: int = 1,
    groups: int = 1,
    bias: bool = True,
) -> Value:
    """Convolve with padding ``kernel // 2``, the same on all sides.

    Args:
        writer: of the network.
        name: of the node.
        x: input.
        width: output channels.
        kernel: its height and width, odd.
        stride: in both directions.
        groups: of channels; as many as channels is a depthwise convolution.
        bias: whether to add one; it may be a folded batch normalisation too.
    """
    batch, channels, height, breadth = x.shape
    fan_in = channels // groups * kernel * kernel
    shape = (width, channels // groups, kernel, kernel)
    inputs = [x, writer.weight(f"{name}.weight", shape, unit_gain_bound(fan_in))]
    if bias:
        inputs.append(writer.weight(f"{name}.bias", (width,), BIAS_BOUND))
    out = (batch, width, *(_strided(size, kernel, stride) for size in (height, breadth)))
    return writer.node(
        "Conv",
        name,
        inputs,
        out,
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[kernel // 2] * 4,
        dilations=[1, 1],
        group=groups,
    )


def _strided(size: int, kernel: int, stride: int) -> int:
    return (size + 2 * (kernel // 2) - kernel) // stride + 1


def depthwise(writer: NetworkWriter, name: str, x: Value, *, kernel: int, stride: int = 1) -> Value:
    """Convolve each channel with a window of its own."""
    channels = x.shape[1]
    return conv(writer, name, x, channels, kernel=kernel, stride=stride, groups=channels)


def relu(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Return max(x, 0)."""
    return writer.node("Relu", name, [x], x.shape)


def hard_swish(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Return x * clip(x / 6 + 1 / 2, 0, 1)."""
    return writer.node("HardSwish", name, [x], x.shape)


def silu(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Return x * sigmoid(x), in the two operators that exporters write."""
    gate = writer.node("Sigmoid", f"{name}.sigmoid", [x], x.shape)
    return writer.node("Mul", f"{name}.mul", [x, gate], x.shape)


def add(writer: NetworkWriter, name: str, x: Value, y: Value) -> Value:
    """Return x + y; both have the same shape."""
    return writer.node("Add", name, [x, y], x.shape)


def times_zero(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Return x * 0; no compiler may fold it, since x could be infinite."""
    zero = writer.constant("zero", np.zeros((), np.float32))
    return writer.node("Mul", name, [x, zero], x.shape)


def batch_norm(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Normalise with stored statistics: mean 0 and variance 1, generated scale and shift."""
    channels = x.shape[1]
    scale = writer.weight(f"{name}.scale", (channels,), 1.0)
    shift = writer.weight(f"{name}.shift", (channels,), BIAS_BOUND)
    mean = writer.constant(f"{name}.mean", np.zeros(channels, np.float32))
    variance = writer.constant(f"{name}.variance", np.ones(channels, np.float32))
    inputs = [x, scale, shift, mean, variance]
    return writer.node("BatchNormalization", name, inputs, x.shape, epsilon=1e-5)


def average_pool(
    writer: NetworkWriter, name: str, x: Value, *, kernel: int, stride: int, padding: int = 0
) -> Value:
    """Average over a window; padding does not count."""
    batch, channels, *sizes = x.shape
    out = tuple((size + 2 * padding - kernel) // stride + 1 for size in sizes)
    return writer.node(
        "AveragePool",
        name,
        [x],
        (batch, channels, *out),
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[padding] * 4,
        count_include_pad=0,
    )


def channel_shuffle(writer: NetworkWriter, name: str, x: Value, *, groups: int) -> Value:
    """Interleave the channels of ``groups`` groups: channel g * n + i goes to i * groups + g.

    As in X. Zhang et al., "ShuffleNet", CVPR 2018, section 3.1: reshape, transpose, reshape.
    """
    batch, channels, height, width = x.shape
    split = (groups, channels // groups, height, width)
    joined = (channels, height, width)
    # -1 for the batch: the batch of an ingested file can still be changed.
    split_shape = writer.constant(f"shape{list(split)}", np.array((-1, *split), np.int64))
    joined_shape = writer.constant(f"shape{list(joined)}", np.array((-1, *joined), np.int64))
    y = writer.node("Reshape", f"{name}.split", [x, split_shape], (batch, *split))
    swapped = (batch, split[1], groups, height, width)
    y = writer.node("Transpose", f"{name}.swap", [y], swapped, perm=[0, 2, 1, 3, 4])
    return writer.node("Reshape", f"{name}.join", [y, joined_shape], x.shape)


def global_pool(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Average over height and width, to [batch, channels, 1, 1]."""
    return writer.node("GlobalAveragePool", name, [x], (*x.shape[:2], 1, 1))


def squeeze_excite(writer: NetworkWriter, name: str, x: Value, *, squeezed: int) -> Value:
    """Scale each channel by a gate computed from all channels' means.

    As in A. Howard et al., "Searching for MobileNetV3", ICCV 2019: the gate is a hard sigmoid.
    """
    y = global_pool(writer, f"{name}.pool", x)
    y = relu(writer, f"{name}.relu", conv(writer, f"{name}.reduce", y, squeezed))
    y = conv(writer, f"{name}.expand", y, x.shape[1])
    gate = writer.node("HardSigmoid", f"{name}.gate", [y], y.shape, alpha=1 / 6, beta=0.5)
    return writer.node("Mul", f"{name}.scale", [x, gate], x.shape)


def channel_gate(writer: NetworkWriter, name: str, x: Value, *, squeezed: int) -> Value:
    """Scale each channel by a sigmoid of all channels' means.

    As in J. Hu et al., "Squeeze-and-Excitation Networks", CVPR 2018, section 3.
    """
    # The axes are an attribute up to opset 17, and an input from 18 on.
    y = writer.node("ReduceMean", f"{name}.mean", [x], (*x.shape[:2], 1, 1), axes=[2, 3])
    y = silu(writer, f"{name}.act", conv(writer, f"{name}.reduce", y, squeezed))
    y = conv(writer, f"{name}.expand", y, x.shape[1])
    gate = writer.node("Sigmoid", f"{name}.sigmoid", [y], y.shape)
    return writer.node("Mul", f"{name}.scale", [x, gate], x.shape)


def flatten(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Return [batch, everything else]."""
    return writer.node("Flatten", name, [x], (x.shape[0], math.prod(x.shape[1:])), axis=1)


def channels_joined(writer: NetworkWriter, name: str, x: Value) -> Value:
    """Return [batch, channels, height * width]."""
    batch, channels, height, width = x.shape
    joined = (channels, height * width)
    # -1 for the batch: the batch of an ingested file can still be changed.
    shape = writer.constant(f"shape{list(joined)}", np.array((-1, *joined), np.int64))
    return writer.node("Reshape", name, [x, shape], (batch, *joined))


def linear(writer: NetworkWriter, name: str, x: Value, width: int) -> Value:
    """Return x W^T + b for x of [batch, features]."""
    batch, features = x.shape
    bound = unit_gain_bound(features)
    weight = writer.weight(f"{name}.weight", (width, features), bound)
    bias = writer.weight(f"{name}.bias", (width,), BIAS_BOUND)
    return writer.node("Gemm", name, [x, weight, bias], (batch, width), transB=1)


def classifier(writer: NetworkWriter, x: Value, classes: int) -> Value:
    """Average over the image and map to one number a class."""
    return linear(
        writer, "classifier", flatten(writer, "flatten", global_pool(writer, "pool", x)), classes
    )
