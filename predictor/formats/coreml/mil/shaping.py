"""Operations of MIL that change shapes, choose elements, pool or resize."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from onnx import TensorProto

from predictor.formats.coreml.mil.contractions import window
from predictor.formats.coreml.mil.step import Step, rule
from predictor.formats.emitter import LARGEST_INT, UnreadError, static


@rule("reshape")
def _reshape(step: Step) -> str:
    return step.emit("Reshape", [step.tensor("x"), step.integers_of("shape")])


@rule("reshape_like")
def _reshape_like(step: Step) -> str:
    return step.reshape(step.tensor("x"), static(step.result().dims))


@rule("transpose")
def _transpose(step: Step) -> str:
    return step.transpose(step.tensor("x"), step.axes("perm"))


@rule("expand_dims")
def _expand_dims(step: Step) -> str:
    rank = step.rank() + len(step.numbers("axes"))
    return step.unsqueeze(step.tensor("x"), sorted(int(a) % rank for a in step.numbers("axes")))


@rule("squeeze")
def _squeeze(step: Step) -> str:
    dims = step.info("x").dims
    axes = step.axes() if step.has("axes") else [a for a, size in enumerate(dims) if size == 1]
    return step.squeeze(step.tensor("x"), axes)


@rule("flatten2d")
def _flatten(step: Step) -> str:
    return step.emit("Flatten", [step.tensor("x")], axis=int(step.number("axis", 1)))


@rule("concat")
def _concat(step: Step) -> str:
    axis = step.axis(of="values")
    result = step.emit("Concat", step.tensors("values"), axis=axis)
    if not step.number("interleave", False):
        return result
    count, dims = len(step.inputs["values"]), static(step.result().dims)
    split = step.reshape(result, [*dims[:axis], count, dims[axis] // count, *dims[axis + 1 :]])
    order = list(range(len(dims) + 1))
    order[axis], order[axis + 1] = axis + 1, axis
    return step.reshape(step.transpose(split, order), dims)


@rule("stack")
def _stack(step: Step) -> str:
    rank = step.rank("values") + 1
    axis = int(step.number("axis")) % rank
    wide = [step.unsqueeze(name, [axis]) for name in step.tensors("values")]
    return step.emit("Concat", wide, axis=axis)


@rule("split")
def _split(step: Step) -> list[str]:
    axis, count = step.axis(), len(step.outputs)
    if step.has("split_sizes"):
        return step.emit_all(
            "Split", [step.tensor("x"), step.integers_of("split_sizes")], count, axis=axis
        )
    return step.emit_all("Split", [step.tensor("x")], count, axis=axis, num_outputs=count)


@rule("slice_by_index")
def _slice(step: Step) -> str:
    """Return a part of the data; masks leave bounds out, or squeeze an axis of one element."""
    rank = step.rank()
    nothing = [False] * rank
    masks = {key: step.numbers(f"{key}_mask", nothing) for key in ("begin", "end", "squeeze")}
    strides = [int(item) for item in step.numbers("stride", [1] * rank)]
    begin, end = step.elements("begin"), step.elements("end")
    squeezed = [axis for axis in range(rank) if masks["squeeze"][axis]]
    if begin is None or end is None:
        return _computed_slice(step, squeezed)
    starts, stops = [], []
    for axis in range(rank):
        first = 0 if strides[axis] > 0 else LARGEST_INT
        last = LARGEST_INT if strides[axis] > 0 else -LARGEST_INT
        start = first if masks["begin"][axis] else int(begin[axis])
        stop = last if masks["end"][axis] else int(end[axis])
        if masks["squeeze"][axis]:
            stop = start + 1 if start != -1 else LARGEST_INT
        starts.append(start)
        stops.append(stop)
    cut = [
        axis
        for axis in range(rank)
        if strides[axis] != 1 or starts[axis] or stops[axis] < _size(step, axis)
    ]
    data = step.tensor("x")
    if cut:
        rows = [[row[axis] for axis in cut] for row in (starts, stops, range(rank), strides)]
        data = step.cut(data, *rows)
    return step.squeeze(data, squeezed)


def _size(step: Step, axis: int) -> int:
    size = step.info("x").dims[axis]
    return size if isinstance(size, int) else LARGEST_INT


def _computed_slice(step: Step, squeezed: Sequence[int]) -> str:
    """Return a part whose bounds are computed; those that a mask leaves out are put in."""
    rank = step.rank()
    bounds = []
    for key, left_out in (("begin", 0), ("end", LARGEST_INT)):
        bound = step.integers_of(key)
        mask = [bool(item) for item in step.numbers(f"{key}_mask", [False] * rank)]
        if any(mask):
            chosen = step.constant(mask, TensorProto.BOOL)
            number = step.constant(left_out, TensorProto.INT64)
            bound = step.emit("Where", [chosen, number, bound])
        bounds.append(bound)
    axes = step.integer_constant(list(range(rank)))
    stride = step.integer_constant([int(item) for item in step.numbers("stride", [1] * rank)])
    return step.squeeze(step.emit("Slice", [step.tensor("x"), *bounds, axes, stride]), squeezed)


@rule("slice_by_size")
def _slice_by_size(step: Step) -> str:
    begin, size = step.integers_of("begin"), step.elements("size")
    if size is None:
        ends = step.emit("Add", [begin, step.integers_of("size")])
    else:
        wide = [LARGEST_INT if item == -1 else int(item) for item in size]
        if -1 in size and step.elements("begin") is None:
            raise UnreadError("begin")
        starts = step.elements("begin") or [0] * len(wide)
        ends = step.integer_constant(
            [min(int(a) + b, LARGEST_INT) for a, b in zip(starts, wide, strict=True)]
        )
    return step.emit("Slice", [step.tensor("x"), begin, ends])


@rule("gather")
def _gather(step: Step) -> str:
    if int(step.number("batch_dims", 0)):
        raise UnreadError("batch_dims")
    return step.emit(
        "Gather", [step.tensor("x"), step.tensor("indices")], axis=step.axis(default=0)
    )


@rule("gather_along_axis")
def _gather_along(step: Step) -> str:
    inputs = [step.tensor("x"), step.tensor("indices")]
    return step.emit("GatherElements", inputs, axis=step.axis(default=0))


@rule("gather_nd")
def _gather_nd(step: Step) -> str:
    indices = step.cast(step.tensor("indices"), step.info("indices").dtype, TensorProto.INT64)
    count = int(step.number("batch_dims", 0))
    return step.emit("GatherND", [step.tensor("x"), indices], batch_dims=count)


_MODES: Final = {"add": "add", "mul": "mul", "max": "max", "min": "min"}


@rule("scatter_along_axis")
def _scatter_along(step: Step) -> str:
    inputs = [step.tensor(key) for key in ("data", "indices", "updates")]
    mode = _MODES.get(str(step.number("mode", "add")))
    return step.emit(
        "ScatterElements", inputs, axis=step.axis(of="data", default=0), reduction=mode
    )


@rule("scatter_nd scatter")
def _scatter_nd(step: Step) -> str:
    if step.kind == "scatter" and step.axis(of="data", default=0):
        raise UnreadError("axis")
    indices = step.cast(step.tensor("indices"), step.info("indices").dtype, TensorProto.INT64)
    indices = step.unsqueeze(indices, [-1]) if step.kind == "scatter" else indices
    return step.emit("ScatterND", [step.tensor("data"), indices, step.tensor("updates")])


@rule("tile")
def _tile(step: Step) -> str:
    return step.emit("Tile", [step.tensor("x"), step.integers_of("reps")])


@rule("fill")
def _fill(step: Step) -> str:
    return step.emit("Expand", [step.tensor("value"), step.integers_of("shape")])


@rule("fill_like")
def _fill_like(step: Step) -> str:
    return step.emit(
        "Expand", [step.tensor("value"), step.emit("Shape", [step.tensor("ref_tensor")])]
    )


@rule("shape")
def _shape(step: Step) -> str:
    sizes = step.emit("Shape", [step.tensor("x")])
    return step.cast(sizes, TensorProto.INT64, step.result().dtype)


@rule("range_1d")
def _range(step: Step) -> str:
    return step.emit("Range", [step.tensor(key) for key in ("start", "end", "step")])


@rule("reverse")
def _reverse(step: Step) -> str:
    axes = step.axes()
    count = len(axes)
    return step.cut(step.tensor("x"), [-1] * count, [-LARGEST_INT] * count, axes, [-1] * count)


@rule("band_part")
def _band(step: Step) -> str:
    lower, upper = int(step.number("lower", -1)), int(step.number("upper", -1))
    data = step.tensor("x")
    for bound, sign, is_upper in ((upper, 1, 0), (lower, -1, 1)):
        if bound >= 0:
            diagonal = step.constant(sign * bound, TensorProto.INT64)
            data = step.emit("Trilu", [data, diagonal], upper=is_upper)
    return data


@rule("one_hot")
def _one_hot(step: Step) -> str:
    depth = step.constant([int(step.number("one_hot_vector_size"))], TensorProto.INT64)
    values = [int(step.number("off_value", 0)), int(step.number("on_value", 1))]
    pair = step.constant(values, step.result().dtype)
    axis = int(step.number("axis", -1))
    return step.emit("OneHot", [step.tensor("indices"), depth, pair], axis=axis)


@rule("topk")
def _topk(step: Step) -> list[str]:
    count = step.integer_constant([int(step.number("k", 1))])
    ascending = bool(step.number("ascending", False))
    values, places = step.emit_all(
        "TopK", [step.tensor("x"), count], 2, axis=step.axis(default=-1), largest=int(not ascending)
    )
    return [values, step.cast(places, TensorProto.INT64, TensorProto.INT32)][: len(step.outputs)]


@rule("argsort")
def _argsort(step: Step) -> str:
    axis = step.axis(default=-1)
    count = step.emit("Shape", [step.tensor("x")], start=axis, end=axis + 1)
    ascending = int(bool(step.number("ascending", False)))
    inputs = [step.tensor("x"), count]
    places = step.emit_all("TopK", inputs, 2, axis=axis, largest=1 - ascending)[1]
    return step.cast(places, TensorProto.INT64, step.result().dtype)


@rule("non_zero")
def _non_zero(step: Step) -> str:
    return step.emit("Transpose", [step.emit("NonZero", [step.tensor("x")])], perm=[1, 0])


@rule("pad")
def _pad(step: Step) -> str:
    pads = [int(item) for item in step.numbers("pad")]
    missing = step.rank() - len(pads) // 2
    before = [0] * missing + pads[0::2]
    after = [0] * missing + pads[1::2]
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
    mode = modes[str(step.number("mode", "constant"))]
    inputs = [step.tensor("x"), step.integer_constant(before + after)]
    if mode == "constant" and step.has("constant_val"):
        inputs.append(step.tensor("constant_val"))
    return step.emit("Pad", inputs, mode=mode)


@rule("pixel_shuffle depth_to_space")
def _depth_to_space(step: Step) -> str:
    key = "upscale_factor" if step.kind == "pixel_shuffle" else "block_size"
    mode = "CRD" if step.kind == "pixel_shuffle" else "DCR"
    return step.emit("DepthToSpace", [step.tensor("x")], blocksize=int(step.number(key)), mode=mode)


@rule("pixel_unshuffle space_to_depth")
def _space_to_depth(step: Step) -> str:
    key = "downscale_factor" if step.kind == "pixel_unshuffle" else "block_size"
    return step.emit("SpaceToDepth", [step.tensor("x")], blocksize=int(step.number(key)))


@rule("sliding_windows")
def _sliding(step: Step) -> str:
    axis, size = step.axis(), int(step.number("size"))
    stride, length = int(step.number("stride", 1)), step.info("x").dims[axis]
    if not isinstance(length, int) or stride < 1 or not 0 < size <= length:
        raise UnreadError("size")
    places = step.indices([(length - size) // stride + 1, size])
    return step.emit("Gather", [step.tensor("x"), places], axis=axis)


@rule("max_pool avg_pool l2_pool")
def _pool(step: Step) -> str:
    kernel = [int(size) for size in step.numbers("kernel_sizes")]
    data, attributes = step.tensor("x"), window(step, kernel)
    ceil_mode = int(bool(step.number("ceil_mode", False)))
    if step.kind == "l2_pool":
        return step.emit("LpPool", [data], p=2, ceil_mode=ceil_mode, **attributes)
    if step.kind == "max_pool":
        return step.emit("MaxPool", [data], ceil_mode=ceil_mode, **attributes)
    includes = int(not step.number("exclude_padding_from_average", False))
    return step.emit(
        "AveragePool", [data], ceil_mode=ceil_mode, count_include_pad=includes, **attributes
    )


@rule("upsample_nearest_neighbor upsample_bilinear")
def _upsample(step: Step) -> str:
    factors = [float(step.number(f"scale_factor_{side}", 1)) for side in ("height", "width")]
    ones = [1.0] * (step.rank() - 2)
    scales = step.constant([*ones, *factors])
    if step.kind == "upsample_nearest_neighbor":
        attributes = {"mode": "nearest", "nearest_mode": "floor"}
        coordinates = "asymmetric"
    else:
        attributes = {"mode": "linear"}
        corners = step.number("align_corners", True)
        coordinates = "align_corners" if corners else "pytorch_half_pixel"
    inputs = [step.tensor("x"), "", scales]
    return step.emit("Resize", inputs, coordinate_transformation_mode=coordinates, **attributes)


@rule("resize_nearest_neighbor resize_bilinear resize")
def _resize(step: Step) -> str:
    is_linear = step.kind == "resize_bilinear" or (
        step.has("interpolation_mode") and "LINEAR" in str(step.number("interpolation_mode"))
    )
    mode = "linear" if is_linear else "nearest"
    targets = static(step.result().dims[-2:])
    sizes = step.sizes(step.tensor("x"), step.info("x").dims)
    inputs = [step.tensor("x"), "", "", step.vector([*sizes[:-2], *targets])]
    return step.emit("Resize", inputs, mode=mode)


@rule("resample")
def _resample(step: Step) -> str:
    mode = "linear" if str(step.number("sampling_mode", "bilinear")) == "bilinear" else "nearest"
    return step.emit("GridSample", [step.tensor("x"), step.tensor("coordinates")], mode=mode)


@rule("crop")
def _crop(step: Step) -> str:
    rank = step.rank()
    edges = [[int(i) for i in step.numbers(key)] for key in ("crop_height", "crop_width")]
    ends = [-edge[1] if edge[1] else LARGEST_INT for edge in edges]
    return step.cut(step.tensor("x"), [edge[0] for edge in edges], ends, [rank - 2, rank - 1])


@rule("crop_resize")
def _crop_resize(step: Step) -> str:
    """Return boxes resampled to one size: what a RoiAlign does."""
    height, width = int(step.number("target_height")), int(step.number("target_width"))
    dims = static(step.result().dims)
    if len(dims) < 4:
        raise UnreadError("roi")
    count = math.prod(dims[:-3])
    name = step.values.name(f"{step.name}/boxes")
    boxes = step.values.builder.weight(name, step.info("x").dtype, [count, 4])
    batch = step.indices([count])
    crops = step.emit(
        "RoiAlign", [step.tensor("x"), boxes, batch], output_height=height, output_width=width
    )
    return step.reshape(crops, dims)
