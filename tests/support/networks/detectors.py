"""YOLOv8 at its published depths and widths, built by code as Ultralytics exports it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx

from tests.support.networks.builder import Builder

CLASSES = 80  # of COCO
_BINS = 16  # of a box's side: distribution focal loss
_SIDE = 640


@dataclass(frozen=True, slots=True)
class _Size:
    """A size of the family: multiples of blocks and channels, and where channels end."""

    depth: float
    width: float
    most_channels: int

    def blocks(self, count: int) -> int:
        return max(round(count * self.depth), 1)

    def channels(self, count: int) -> int:
        return int(min(count, self.most_channels) * self.width)


def yolov8n(batch: int | str = 1) -> onnx.ModelProto:
    """Ultralytics 2023, nano at 640: 3.2 M parameters, 4.35 G MACs."""
    return _yolov8("yolov8n", _Size(1 / 3, 0.25, 1024), batch)


def yolov8s(batch: int | str = 1) -> onnx.ModelProto:
    """Ultralytics 2023, small at 640: 11.2 M parameters, 14.3 G MACs."""
    return _yolov8("yolov8s", _Size(1 / 3, 0.5, 1024), batch)


def yolov8m(batch: int | str = 1) -> onnx.ModelProto:
    """Ultralytics 2023, medium at 640: 25.9 M parameters, 39.45 G MACs."""
    return _yolov8("yolov8m", _Size(2 / 3, 0.75, 768), batch)


def _yolov8(name: str, size: _Size, batch: int | str) -> onnx.ModelProto:
    b = Builder()
    c64, c128, c256, c512, c1024 = (size.channels(64 << i) for i in range(5))
    data = _conv(b, b.input("images", [batch, 3, _SIDE, _SIDE]), 3, c64, 3, 2)
    data = _c2f(b, _conv(b, data, c64, c128, 3, 2), c128, c128, size.blocks(3))
    p3 = _c2f(b, _conv(b, data, c128, c256, 3, 2), c256, c256, size.blocks(6))
    p4 = _c2f(b, _conv(b, p3, c256, c512, 3, 2), c512, c512, size.blocks(6))
    data = _c2f(b, _conv(b, p4, c512, c1024, 3, 2), c1024, c1024, size.blocks(3))
    p5 = _sppf(b, data, c1024)
    # Down from the coarse level to the fine one and up again.
    neck = size.blocks(3)
    joined = b.node("Concat", [_upsampled(b, p5), p4], axis=1)
    middle = _c2f(b, joined, c1024 + c512, c512, neck, shortcut=False)
    joined = b.node("Concat", [_upsampled(b, middle), p3], axis=1)
    fine = _c2f(b, joined, c512 + c256, c256, neck, shortcut=False)
    joined = b.node("Concat", [_conv(b, fine, c256, c256, 3, 2), middle], axis=1)
    middle = _c2f(b, joined, c256 + c512, c512, neck, shortcut=False)
    joined = b.node("Concat", [_conv(b, middle, c512, c512, 3, 2), p5], axis=1)
    coarse = _c2f(b, joined, c512 + c1024, c1024, neck, shortcut=False)
    _detect(b, ((fine, c256, 8), (middle, c512, 16), (coarse, c1024, 32)))
    return b.model(name)


def _conv(b: Builder, data: str, channels: int, width: int, kernel: int, stride: int = 1) -> str:
    return b.conv_bn(data, channels, width, kernel, stride=stride, activation="Silu")


def _c2f(
    b: Builder, data: str, channels: int, width: int, blocks: int, *, shortcut: bool = True
) -> str:
    """Two halves, one of them through bottlenecks whose every result is joined."""
    half = width // 2
    both = _conv(b, data, channels, width, 1)
    parts = [b.fresh("half"), b.fresh("half")]
    b.node("Split", [both, b.constant([half, half])], parts, axis=1)
    for _ in range(blocks):
        inner = _conv(b, _conv(b, parts[-1], half, half, 3), half, half, 3)
        parts.append(b.node("Add", [parts[-1], inner]) if shortcut else inner)
    return _conv(b, b.node("Concat", parts, axis=1), (2 + blocks) * half, width, 1)


def _sppf(b: Builder, data: str, channels: int) -> str:
    parts = [_conv(b, data, channels, channels // 2, 1)]
    for _ in range(3):
        parts.append(b.node("MaxPool", [parts[-1]], kernel_shape=[5, 5], pads=[2] * 4))
    return _conv(b, b.node("Concat", parts, axis=1), channels * 2, channels, 1)


def _upsampled(b: Builder, data: str) -> str:
    return b.node("Resize", [data, "", b.constant([1, 1, 2, 2], np.float32)], mode="nearest")


def _detect(b: Builder, levels: tuple[tuple[str, int, int], ...]) -> None:
    """Heads of boxes and classes for (features, channels, stride), boxes decoded to pixels."""
    finest = levels[0][1]
    box_width, class_width = max(16, finest // 4, 4 * _BINS), max(finest, min(CLASSES, 100))
    anchors = sum((_SIDE // stride) ** 2 for _, _, stride in levels)
    rows = []
    for data, channels, _ in levels:
        boxes = _branch(b, data, channels, box_width, 4 * _BINS)
        classes = _branch(b, data, channels, class_width, CLASSES)
        joined = b.node("Concat", [boxes, classes], axis=1)
        rows.append(b.node("Reshape", [joined, b.constant([0, 4 * _BINS + CLASSES, -1])]))
    boxes, classes = b.fresh("boxes"), b.fresh("classes")
    sizes = b.constant([4 * _BINS, CLASSES])
    b.node("Split", [b.node("Concat", rows, axis=2), sizes], [boxes, classes], axis=1)
    bins = b.node("Reshape", [boxes, b.constant([0, 4, _BINS, anchors])])
    bins = b.node("Softmax", [b.node("Transpose", [bins], perm=[0, 2, 1, 3])], axis=1)
    sides = b.node("Reshape", [b.conv(bins, _BINS, 1, 1), b.constant([0, 4, anchors])])
    low, high = b.fresh("low"), b.fresh("high")
    b.node("Split", [sides, b.constant([2, 2])], [low, high], axis=1)
    centres, strides = b.weight(1, 2, anchors), b.weight(1, anchors)
    first, last = b.node("Sub", [centres, low]), b.node("Add", [centres, high])
    middle = b.node("Div", [b.node("Add", [first, last]), b.constant(2, np.float32)])
    box = b.node("Concat", [middle, b.node("Sub", [last, first])], axis=1)
    pixels = b.node("Mul", [box, strides])
    b.output(b.node("Concat", [pixels, b.node("Sigmoid", [classes])], ["output"], axis=1))


def _branch(b: Builder, data: str, channels: int, width: int, outputs: int) -> str:
    inner = _conv(b, _conv(b, data, channels, width, 3), width, width, 3)
    return b.conv(inner, width, outputs, 1, bias=True)
