"""Pooling, resizing and sampling of ATen."""

from __future__ import annotations

from typing import Any

from predictor.formats.emitter import Dim, UnreadError, static
from predictor.formats.pytorch.call import Call, rule

_FACTORS = ("scale_factors", "scales", "scales_h", "scales_w", "scales_d")


def _axes(call: Call) -> int:
    """Return the number of axes of a window, by the digit in the operator's name."""
    digit = next(letter for letter in call.kind if letter in "123")
    return int(digit)


@rule("max_pool1d max_pool2d max_pool3d")
@rule("max_pool2d_with_indices max_pool3d_with_indices max_pool1d_with_indices")
def _max_pool(call: Call) -> list[str]:
    count = 2 if len(call.outputs) > 1 and call.outputs[1] else 1
    axes = _axes(call)
    attributes = {**_window(call, axes), "dilations": call.integers("dilation", axes, 1)}
    return _batched(call, "MaxPool", axes, count, **attributes)


@rule("avg_pool1d avg_pool2d avg_pool3d")
def _average_pool(call: Call) -> list[str]:
    includes = int(bool(call.get("count_include_pad", True)))
    axes = _axes(call)
    return _batched(call, "AveragePool", axes, 1, count_include_pad=includes, **_window(call, axes))


def _window(call: Call, axes: int) -> dict[str, Any]:
    kernel = call.integers("kernel_size", axes)
    return {
        "ceil_mode": int(bool(call.get("ceil_mode", False))),
        "kernel_shape": kernel,
        "pads": call.integers("padding", axes) * 2,
        "strides": call.integers("stride", axes) if call.get("stride") else kernel,
    }


def _key(call: Call) -> str:
    return "self" if call.has("self") else "input"


def _batched(call: Call, op_type: str, axes: int, count: int, **attributes: Any) -> list[str]:
    key = _key(call)
    data, has_batch = call.tensor(key), call.rank(key) == axes + 2
    if has_batch:
        return call.emit_all(op_type, [data], count, **attributes)
    results = call.emit_all(op_type, [call.unsqueeze(data, [0])], count, **attributes)
    return [call.squeeze(result, [0]) for result in results]


@rule("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d")
@rule("_adaptive_avg_pool2d _adaptive_avg_pool3d")
@rule("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d")
def _adaptive_pool(call: Call) -> list[str]:
    axes = _axes(call)
    targets, dims = call.integers("output_size", axes), call.meta(_key(call)).dims[-axes:]
    is_mean = "avg" in call.kind
    if all(size == 1 for size in targets):
        return _batched(call, "GlobalAveragePool" if is_mean else "GlobalMaxPool", axes, 1)
    if list(dims) == targets:
        return [call.tensor(_key(call))]
    windows = [_window_of(size, target) for size, target in zip(dims, targets, strict=True)]
    kernel, strides = ([window[part] for window in windows] for part in (0, 1))
    attributes = {"kernel_shape": kernel, "strides": strides}
    return _batched(call, "AveragePool" if is_mean else "MaxPool", axes, 1, **attributes)


def _window_of(size: Dim, target: int) -> tuple[int, int]:
    """Return size and step of windows that come to a size; those that fit best if uneven."""
    if not isinstance(size, int) or not 1 <= target <= size:
        raise UnreadError("output_size")
    step = size // target
    return size - (target - 1) * step, step


@rule("upsample_nearest1d upsample_nearest2d upsample_nearest3d")
@rule("_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d")
def _nearest(call: Call) -> str:
    is_exact = "exact" in call.kind
    mode = "half_pixel" if is_exact else "asymmetric"
    nearest = "round_prefer_floor" if is_exact else "floor"
    return _resize(call, "nearest", mode, nearest_mode=nearest)


@rule("upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d")
@rule("_upsample_bilinear2d_aa _upsample_bicubic2d_aa")
def _interpolated(call: Call) -> str:
    mode = "align_corners" if call.get("align_corners", False) else "pytorch_half_pixel"
    kind = "cubic" if "bicubic" in call.kind else "linear"
    antialias = 1 if call.kind.endswith("_aa") else None
    return _resize(call, kind, mode, antialias=antialias)


def _resize(call: Call, mode: str, coordinates: str, **attributes: Any) -> str:
    data, meta, result = call.tensor(_key(call)), call.meta(_key(call)), call.result()
    attributes |= {"mode": mode, "coordinate_transformation_mode": coordinates}
    factors = [factor for key in _FACTORS for factor in _as_list(call.arguments.get(key))]
    if factors and len(factors) == len(meta.dims) - 2:
        scales = call.constant([1.0, 1.0, *factors])
        return call.emit("Resize", [data, "", scales], **attributes)
    if call.has("output_size"):
        sizes = [*call.sizes(data, meta.dims)[:2], *call.symbols("output_size")]
    else:
        sizes = list(static(result.dims))
    return call.emit("Resize", [data, "", "", call.vector(sizes)], **attributes)


def _as_list(value: object) -> list[float]:
    values = value if isinstance(value, list) else [value]
    return [float(item) for item in values if isinstance(item, int | float)]


@rule("grid_sampler grid_sampler_2d grid_sampler_3d")
def _grid_sample(call: Call) -> str:
    inputs = [call.tensor("input"), call.tensor("grid")]
    modes = ("linear", "nearest", "cubic")
    paddings = ("zeros", "border", "reflection")
    return call.emit(
        "GridSample",
        inputs,
        align_corners=int(bool(call.get("align_corners", False))),
        mode=modes[int(call.number("interpolation_mode", 0))],
        padding_mode=paddings[int(call.number("padding_mode", 0))],
    )


@rule("affine_grid_generator")
def _affine_grid(call: Call) -> str:
    corners = int(bool(call.get("align_corners", False)))
    return call.emit(
        "AffineGrid",
        [call.tensor("theta"), call.vector(call.symbols("size"))],
        align_corners=corners,
    )


@rule("col2im")
def _fold(call: Call) -> str:
    sizes = [call.integer_constant(call.integers(key, 2)) for key in ("output_size", "kernel_size")]
    return call.emit(
        "Col2Im",
        [call.tensor("self"), *sizes],
        dilations=call.integers("dilation", 2, 1),
        pads=call.integers("padding", 2) * 2,
        strides=call.integers("stride", 2, 1),
    )


@rule("im2col")
def _unfold(call: Call) -> str:
    """Return the windows of a picture, gathered along its rows and then its columns."""
    kernel, dilation = call.integers("kernel_size", 2), call.integers("dilation", 2, 1)
    padding, stride = call.integers("padding", 2), call.integers("stride", 2, 1)
    dims = static(call.meta("self").dims)
    data = call.tensor("self")
    if any(padding):
        pads = [0, 0, *padding] * 2
        data = call.emit("Pad", [data, call.integer_constant(pads)])
    for axis in (0, 1):
        span = dims[2 + axis] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1
        count = span // stride[axis] + 1
        if count < 1:
            raise UnreadError("kernel_size")
        indices = call.indices([kernel[axis], count])
        data = call.emit("Gather", [data, indices], axis=2 + 2 * axis)
    mixed = call.transpose(data, (0, 1, 2, 4, 3, 5))
    return call.reshape(mixed, [0, dims[1] * kernel[0] * kernel[1], -1])


@rule("torchvision::deform_conv2d")
def _deformable(call: Call) -> str:
    inputs = [call.tensor(key) for key in ("input", "weight", "offset", "bias", "mask")]
    pads = [int(call.number(key, 0)) for key in ("pad_h", "pad_w")]
    return call.emit(
        "DeformConv",
        inputs,
        dilations=[int(call.number(key, 1)) for key in ("dilation_h", "dilation_w")],
        group=int(call.number("groups", 1)),
        kernel_shape=static(call.meta("weight").dims[2:]),
        offset_group=int(call.number("offset_groups", 1)),
        pads=pads * 2,
        strides=[int(call.number(key, 1)) for key in ("stride_h", "stride_w")],
    )
