"""Output types of windows over tensors whose channels stand last, as onnxruntime writes them.

Reference: onnxruntime, docs/ContribOperators.md (NhwcMaxPool, QLinearAveragePool, QLinearConv) and
its NHWC transformer: the weights keep their layout, output channels first.
"""

from __future__ import annotations

from predictor.graph.network import Network, Node, TensorType
from predictor.graph.shape_rule import Outputs, Rule, of_known


def is_channels_last(node: Node) -> bool:
    """Whether the channels of a node's data and output stand last."""
    return node.op.startswith("Nhwc") or bool(node.attributes.integer("channels_last"))


def _convolution_at(weights_at: int, zero_point_at: int | None = None) -> Rule:
    @of_known(0, weights_at)
    def rule(network: Network, node: Node, data: TensorType, weights: TensorType) -> Outputs | None:
        if not is_channels_last(node):
            return None
        result = data if zero_point_at is None else network.input_type(node, zero_point_at)
        kernel = node.attributes.integers("kernel_shape") or weights.dims[2:]
        spatial = _windows(node, data.dims[1:-1], kernel)
        return [TensorType(result.dtype, (data.dims[0], *spatial, weights.dims[0]))]

    return rule


@of_known(0)
def _pooling(_: Network, node: Node, data: TensorType) -> Outputs | None:
    if not is_channels_last(node):
        return None
    spatial = _windows(node, data.dims[1:-1], node.attributes.integers("kernel_shape"))
    return [TensorType(data.dtype, (data.dims[0], *spatial, data.dims[-1]))]


def _windows(node: Node, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> list[int]:
    """Return the number of windows along each axis.

    Raises:
        ArithmeticError: a stride of 0.
        LookupError: the attributes have fewer axes than the data.
    """
    attributes, axes = node.attributes, len(sizes)
    strides = attributes.integers("strides") or (1,) * axes
    padding = attributes.string("auto_pad", "NOTSET")
    if padding.startswith("SAME"):
        return [-(-size // stride) for size, stride in zip(sizes, strides, strict=True)]
    pads = (attributes.integers("pads") if padding == "NOTSET" else ()) or (0,) * (2 * axes)
    dilations = attributes.integers("dilations") or (1,) * axes
    up = bool(attributes.integer("ceil_mode"))
    counts = []
    for i, size in enumerate(sizes):
        room = size + pads[i] + pads[i + axes] - dilations[i] * (kernel[i] - 1) - 1
        count = (-(-room // strides[i]) if up else room // strides[i]) + 1
        if up and (count - 1) * strides[i] >= size + pads[i]:
            count -= 1  # a window that starts in the padding after the data does not count
        counts.append(count)
    return counts


CHANNELS_LAST_RULES: dict[str, Rule] = {
    "NhwcConv": _convolution_at(1),
    "NhwcFusedConv": _convolution_at(1),
    "NhwcMaxPool": _pooling,
    "NhwcQLinearConv": _convolution_at(3, zero_point_at=7),
    "QLinearAveragePool": _pooling,
    "QLinearConv": _convolution_at(3, zero_point_at=7),
}
