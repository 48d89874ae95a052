"""Layers with windows: convolutions, poolings, paddings, crops, resizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from predictor.formats.builder import MisfitError
from predictor.formats.ncnn.layers import Dims, Handler, Operation
from predictor.formats.ncnn.quantised import integer_input, stored_weight

# Parameters that say that the weights are a blob.
_WEIGHT_BLOB: Final = 19
_TRANSPOSED_WEIGHT_BLOB: Final = 28
_SAME: Final = {-233: "SAME_UPPER", -234: "SAME_LOWER"}


@dataclass(frozen=True, slots=True)
class _Axis:
    """Ids of the parameters of one axis; where they are left out, those of the width hold."""

    kernel: int
    dilation: int
    stride: int
    before: int
    after: int


_WIDTH: Final = _Axis(1, 2, 3, 4, 15)
_HEIGHT: Final = _Axis(11, 12, 13, 14, 16)
_DEPTH: Final = _Axis(21, 22, 23, 24, 17)
_AXES: Final = {1: (_WIDTH,), 2: (_HEIGHT, _WIDTH), 3: (_DEPTH, _HEIGHT, _WIDTH)}


def _window(op: Operation, axes: int) -> dict[str, Any]:
    """Return kernel, strides, dilations and paddings as attributes of ONNX."""
    rows = _AXES[axes]
    kernel, dilations, strides, before, after = [], [], [], [], []
    for row in rows:
        kernel.append(op.integer(row.kernel, op.integer(1)))
        dilations.append(op.integer(row.dilation, op.integer(2, 1)))
        strides.append(op.integer(row.stride, op.integer(3, 1)))
        first = op.integer(row.before, op.integer(4))
        before.append(first)
        after.append(op.integer(row.after, op.integer(15, first) if row is _WIDTH else first))
    same = _SAME.get(before[0])
    if min(*kernel, *strides, *dilations, 1) < 1:
        raise MisfitError("has a window, stride or dilation below 1")
    return {
        "kernel_shape": kernel,
        "strides": strides,
        "dilations": dilations,
        "auto_pad": same,
        "pads": None if same else [*before, *after],
    }


def _inner_channels(op: Operation, window: dict[str, Any]) -> int:
    """Return the channels of one filter, from the elements of all."""
    return op.inner_size(6, op.integer(0) * math.prod(window["kernel_shape"]))


def _slid(sizes: Dims, window: dict[str, Any]) -> Dims:
    """Return the sizes of the results of a window."""
    count = len(sizes)
    pads = window["pads"] or [0] * 2 * count
    result: Dims = []
    for axis, size in enumerate(sizes):
        stride = window["strides"][axis]
        if size is None or window["auto_pad"]:
            result.append(None if size is None else -(-size // stride))
            continue
        width = (window["kernel_shape"][axis] - 1) * window["dilations"][axis] + 1
        result.append((size + pads[axis] + pads[count + axis] - width) // stride + 1)
    return result


def _convolution(axes: int) -> Handler:
    def convert(op: Operation) -> None:
        if op.rank() != axes + 1:
            raise MisfitError(f"reads {op.rank()} axes, not {axes + 1}")
        if op.integer(_WEIGHT_BLOB):
            op.unknown([None] * op.rank())
            return
        outputs, groups = op.integer(0), max(op.integer(7, 1), 1)
        window = _window(op, axes)
        inner = _inner_channels(op, window)
        channels = op.dims()[0]
        if channels not in (inner * groups, None):
            raise MisfitError(f"reads {channels} channels, but has weights of {inner * groups}")
        weights = stored_weight(op, "weight", [outputs, inner, *window["kernel_shape"]])
        inputs = [integer_input(op), weights]
        if op.integer(5):
            inputs.append(op.weight("bias", [outputs]))
        value = op.activated(op.step("Conv", inputs, group=groups, **window))
        op.give(value, [outputs, *_slid(op.dims()[1:], window)])

    return convert


def _transposed_convolution(axes: int) -> Handler:
    def convert(op: Operation) -> None:
        if op.integer(_TRANSPOSED_WEIGHT_BLOB):
            op.unknown([None] * op.rank())
            return
        outputs, groups = op.integer(0), max(op.integer(7, 1), 1)
        window = _window(op, axes)
        channels = _inner_channels(op, window) * groups
        extra = [op.integer(key) for key in (20, 19, 18)[3 - axes :]]
        window["output_padding"] = extra if any(extra) else None
        sizes = (
            [op.integer(key) for key in (27, 26, 25)]
            if axes == 3
            else [op.integer(key) for key in (21, 20)[2 - axes :]]
        )
        if all(sizes):
            window |= {"output_shape": sizes, "pads": None, "auto_pad": "SAME_UPPER"}
        weights = op.weight("weight", [channels, outputs // groups, *window["kernel_shape"]])
        bias = [op.weight("bias", [outputs])] if op.integer(5) else []
        value = op.step("ConvTranspose", [op.inputs[0], weights, *bias], group=groups, **window)
        op.give(op.activated(value), [outputs, *[None] * axes])

    return convert


def _deformable(op: Operation) -> None:
    outputs, window = op.integer(0), _window(op, 2)
    inner = _inner_channels(op, window)
    weights = op.weight("weight", [outputs, inner, *window["kernel_shape"]])
    bias = op.weight("bias", [outputs]) if op.integer(5) else ""
    dims = [outputs, *_slid(op.dims()[1:], window)]
    window.pop("auto_pad")
    inputs = [op.inputs[0], weights, op.inputs[1], bias, *op.inputs[2:3]]
    op.give(op.activated(op.step("DeformConv", inputs, **window)), dims)


_POOL_AXES: Final = {
    1: ((1, 2, 3, 14),),
    2: ((11, 12, 13, 15), (1, 2, 3, 14)),
    3: ((21, 22, 23, 16), (11, 12, 13, 15), (1, 2, 3, 14)),
}


def _pooling(axes: int) -> Handler:
    def convert(op: Operation) -> None:
        op_type = "AveragePool" if op.integer(0) else "MaxPool"
        channels = op.dims()[:1]
        if op.integer(4):  # the whole image
            value = op.step(f"Global{op_type}", op.inputs)
            op.give(op.step("Flatten", [value]), channels)
        elif op.integer(7):
            _adaptive(op, op_type, axes)
        else:
            window = _pool_window(op, axes)
            dims = [*channels, *_slid(op.dims()[1:], {**window, "dilations": [1] * axes})]
            if window["ceil_mode"]:
                dims = [*channels, *[None] * axes]
            op.emit(op_type, dims, count_include_pad=_padded(op, op_type), **window)

    return convert


def _padded(op: Operation, op_type: str) -> int | None:
    return 1 if op_type == "AveragePool" and op.integer(6) else None


def _pool_window(op: Operation, axes: int) -> dict[str, Any]:
    kernel, strides, before, after = [], [], [], []
    for size, stride, start, end in _POOL_AXES[axes]:
        kernel.append(op.integer(size, op.integer(1)))
        strides.append(op.integer(stride, op.integer(2, 1)))
        before.append(op.integer(start, op.integer(3)))
        after.append(op.integer(end, before[-1]))
    mode = op.integer(5)
    same = {2: "SAME_UPPER", 3: "SAME_LOWER"}.get(mode)
    if min(*kernel, *strides, 1) < 1:
        raise MisfitError("has a window or stride below 1")
    return {
        "kernel_shape": kernel,
        "strides": strides,
        "auto_pad": same,
        "pads": None if same else [*before, *after],
        "ceil_mode": 1 if mode == 0 and not same else None,
    }


def _adaptive(op: Operation, op_type: str, axes: int) -> None:
    """Pooling to a size is a window where it divides the size of the image."""
    keys = (28, 18, 8)[3 - axes :]
    after = [op.integer(key, op.integer(8)) for key in keys]
    before = op.dims()[1:]
    dims: Dims = [
        op.dims()[0],
        *[b if a == -233 else a for a, b in zip(after, before, strict=True)],
    ]
    if all(size == 1 for size in after):
        op.emit(f"Global{op_type}", dims)
        return
    pairs = list(zip(before, dims[1:], strict=True))
    if any(a is None or not b or a % b for a, b in pairs):
        op.unknown(dims)
        return
    steps = [(a or 1) // (b or 1) for a, b in pairs]
    op.emit(op_type, dims, kernel_shape=steps, strides=steps)


def _padding(op: Operation) -> None:
    rank = op.rank()
    pairs = [(op.integer(7), op.integer(8)), (op.integer(0), op.integer(1))]
    pairs = [(0, 0), *pairs, (op.integer(2), op.integer(3))][-rank:]
    dims: Dims = [
        None if size is None else size + sum(pair)
        for size, pair in zip(op.dims(), pairs, strict=True)
    ]
    pads = [0, *[a for a, _ in pairs], 0, *[b for _, b in pairs]]
    mode = {1: "edge", 2: "reflect"}.get(op.integer(4))
    op.emit("Pad", dims, [op.inputs[0], op.builder.constant(pads)], mode=mode)


def _interp(op: Operation) -> None:
    mode = {1: "nearest", 2: "linear", 3: "cubic"}.get(op.integer(0), "nearest")
    dims, rank = list(op.dims()), op.rank()
    if len(op.inputs) > 1 or rank < 2:  # the size of another blob
        _resize_like(op, mode)
        return
    sizes = [op.integer(3), op.integer(4)][3 - rank :]
    scales = [op.number(1, 1.0), op.number(2, 1.0)][3 - rank :]
    if all(sizes):
        target = op.builder.constant(sizes)
        inputs, after = [op.inputs[0], "", "", target], [*dims[: -len(sizes)], *sizes]
        op.emit("Resize", after, inputs, mode=mode, axes=list(range(2, rank + 1)))
        return
    factors = np.array([1, 1, *scales], np.float32)
    after = [dims[0], *[_scaled(size, s) for size, s in zip(dims[1:], scales, strict=True)]]
    op.emit("Resize", after, [op.inputs[0], "", op.builder.constant(factors)], mode=mode)


def _scaled(size: int | None, scale: float) -> int | None:
    return None if size is None else int(size * scale)


def _resize_like(op: Operation, mode: str) -> None:
    rank = op.rank()
    if rank < 2 or len(op.inputs) < 2 or op.rank(1) < 2:
        op.unknown()
        return
    shape = op.step("Shape", [op.inputs[1]], start=op.rank(1) + 3 - rank - 1 if rank == 2 else 2)
    axes = list(range(2, rank + 1))
    after = [op.dims()[0], *op.dims(1)[1:]]
    op.emit("Resize", after, [op.inputs[0], "", "", shape], mode=mode, axes=axes)


def _crop(op: Operation) -> None:
    rank = op.rank()
    starts, ends = op.integers(9), op.integers(10)
    if starts and len(starts) == len(ends):
        axes = [op.axis(axis) for axis in op.integers(11)] or list(range(1, len(starts) + 1))
        _slice(op, starts, [2**31 if end == -233 else end for end in ends], axes)
        return
    offsets = [op.integer(key) for key in (2, 13, 1, 0)]
    sizes = [op.integer(key) for key in (5, 14, 4, 3)]
    cuts = [op.integer(key) for key in (8, 15, 7, 6)]
    chosen = {1: (3,), 2: (2, 3), 3: (0, 2, 3), 4: (0, 1, 2, 3)}[rank]
    if len(op.inputs) > 1 and op.rank(1) == rank:
        stated = [op.dims(1)[axis] for axis in range(rank)]
        if None in stated:
            op.unknown()
            return
        sizes = [0] * 4
        for place, size in zip(chosen, stated, strict=True):
            sizes[place] = size or 0
    starts = [max(offsets[i], 0) for i in chosen]
    ends = []
    for i, start in zip(chosen, starts, strict=True):
        size, cut = sizes[i], cuts[i]
        ends.append(start + size if size > 0 else -cut if cut > 0 else 2**31)
    _slice(op, starts, ends, list(range(1, rank + 1)))


def _slice(op: Operation, starts: list[int], ends: list[int], axes: list[int]) -> None:
    dims = list(op.dims())
    for start, end, axis in zip(starts, ends, axes, strict=True):
        size = dims[axis - 1]
        dims[axis - 1] = None if size is None else len(range(size)[start:end])
    bounds = [op.builder.constant(values) for values in (starts, ends, axes)]
    op.emit("Slice", dims, [op.inputs[0], *bounds])


def _roi(op: Operation) -> None:
    op.unknown([op.dims()[0], op.integer(1), op.integer(0)])


HANDLERS: Final[dict[str, Handler]] = {
    "Convolution": _convolution(2),
    "Convolution1D": _convolution(1),
    "Convolution3D": _convolution(3),
    "ConvolutionDepthWise": _convolution(2),
    "ConvolutionDepthWise1D": _convolution(1),
    "ConvolutionDepthWise3D": _convolution(3),
    "Crop": _crop,
    "Deconvolution": _transposed_convolution(2),
    "Deconvolution1D": _transposed_convolution(1),
    "Deconvolution3D": _transposed_convolution(3),
    "DeconvolutionDepthWise": _transposed_convolution(2),
    "DeconvolutionDepthWise1D": _transposed_convolution(1),
    "DeconvolutionDepthWise3D": _transposed_convolution(3),
    "DeformableConv2D": _deformable,
    "Interp": _interp,
    "Padding": _padding,
    "Pooling": _pooling(2),
    "Pooling1D": _pooling(1),
    "Pooling3D": _pooling(3),
    "ROIAlign": _roi,
    "ROIPooling": _roi,
}
"""Handlers by type of layer."""
