"""Operators of ATen that choose or place elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx import TensorProto

from predictor.formats.emitter import LARGEST_INT, UnreadError
from predictor.formats.pytorch.call import Call, rule


@rule("select select_copy")
def _select(call: Call) -> str:
    index = call.symbol("index")
    if isinstance(index, str):
        place = call.squeeze(index, [0])
    else:
        place = call.constant(index, TensorProto.INT64)
    return call.emit("Gather", [call.tensor("self"), place], axis=call.axis("dim"))


@rule("index_select")
def _index_select(call: Call) -> str:
    return call.emit("Gather", [call.tensor("self"), call.tensor("index")], axis=call.axis("dim"))


@rule("embedding")
def _embedding(call: Call) -> str:
    return call.emit("Gather", [call.tensor("weight"), call.tensor("indices")])


@rule("gather take_along_dim")
def _gather(call: Call) -> str:
    index = call.tensor("index" if call.has("index") else "indices")
    return call.emit("GatherElements", [call.tensor("self"), index], axis=call.axis("dim"))


_REDUCTIONS: Final = {
    "add": "add",
    "amax": "max",
    "amin": "min",
    "multiply": "mul",
    "prod": "mul",
    "sum": "add",
}


@rule("scatter scatter_add scatter_reduce")
def _scatter(call: Call) -> str:
    if not call.has("src"):
        raise UnreadError("src")
    inputs = [call.tensor(key) for key in ("self", "index", "src")]
    word = call.get("reduce", "add" if call.kind == "scatter_add" else None)
    reduction = None if word is None else _REDUCTIONS[word]
    return call.emit("ScatterElements", inputs, axis=call.axis("dim"), reduction=reduction)


@rule("index")
def _index(call: Call) -> str:
    """Return elements at the places of one or several tensors of indices."""
    names, axes = call.tensors("indices"), _indexed_axes(call)
    if axes is None:
        return _masked(call, names)
    if len(axes) == 1:
        return call.emit("Gather", [call.tensor("self"), names[axes[0]]], axis=axes[0])
    return _gathered(call, [names[axis] for axis in axes], axes)


def _indexed_axes(call: Call) -> list[int] | None:
    """Return the axes that have indices; None if a mask chooses the elements."""
    metas = {axis: meta for axis, meta in enumerate(call.metas("indices")) if meta is not None}
    is_mask = any(meta.dtype == TensorProto.BOOL for meta in metas.values())
    return None if is_mask else list(metas)


def _masked(call: Call, names: Sequence[str]) -> str:
    if len(names) > 1:
        raise UnreadError("indices")
    places = call.emit("Transpose", [call.emit("NonZero", [names[0]])], perm=[1, 0])
    return call.emit("GatherND", [call.tensor("self"), places])


def _gathered(call: Call, names: Sequence[str], axes: Sequence[int]) -> str:
    rank, first = call.rank("self"), axes[0]
    remaining = [axis for axis in range(rank) if axis not in axes]
    data = call.transpose(call.tensor("self"), [*axes, *remaining])
    result = call.emit("GatherND", [data, _places(call, names)])
    if list(axes) != list(range(first, first + len(axes))) or not first:
        return result
    # Adjacent indices stay in their place.
    width = len(call.result().dims) - len(remaining)
    order = [*range(width, width + first), *range(width)]
    return call.transpose(result, [*order, *range(width + first, len(call.result().dims))])


def _places(call: Call, names: Sequence[str]) -> str:
    """Return indices of several axes as one tensor, broadcast to one shape."""
    total = names[0]
    for name in names[1:]:
        total = call.emit("Add", [total, name])
    shape = call.emit("Shape", [total])
    wide = [call.unsqueeze(call.emit("Expand", [name, shape]), [-1]) for name in names]
    return call.emit("Concat", wide, axis=-1)


@rule("index_put _unsafe_index_put")
def _index_put(call: Call) -> str:
    names, axes = call.tensors("indices"), _indexed_axes(call)
    if axes is None:
        return _masked_put(call, names)
    if axes != list(range(len(axes))) and len(axes) > 1:
        raise UnreadError("indices")
    rank, axis = call.rank("self"), axes[0]
    source = call.tensor("self"), _wide_values(call, axes)
    order = list(range(rank))
    if axis:
        order[0], order[axis] = axis, 0
        source = call.transpose(source[0], order), call.transpose(source[1], order)
    places = _places(call, [names[a] for a in axes])
    result = call.emit("ScatterND", [source[0], places, source[1]])
    return call.transpose(result, order) if axis else result


def _wide_values(call: Call, axes: Sequence[int]) -> str:
    """Return new elements in the shape of the places that take them."""
    meta, indices = call.meta("values"), call.metas("indices")
    dims, first = call.meta("self").dims, indices[axes[0]]
    if len(axes) > 1 or first is None:
        return call.tensor("values")
    target = (*dims[: axes[0]], *first.dims, *dims[axes[0] + 1 :])
    if meta.dims == target or not all(isinstance(size, int) for size in target):
        return call.tensor("values")
    return call.emit("Expand", [call.tensor("values"), call.vector(target)])


def _masked_put(call: Call, names: Sequence[str]) -> str:
    if len(names) > 1 or call.meta("values").dims not in ((), (1,)):
        raise UnreadError("indices")
    return call.emit("Where", [names[0], call.tensor("values"), call.tensor("self")])


@rule("index_copy index_fill")
def _index_copy(call: Call) -> str:
    if not call.has("source") or call.axis("dim"):
        raise UnreadError("source")
    places = call.unsqueeze(call.tensor("index"), [-1])
    return call.emit("ScatterND", [call.tensor("self"), places, call.tensor("source")])


@rule("one_hot")
def _one_hot(call: Call) -> str:
    depth = call.constant(call.integers("num_classes"), TensorProto.INT64)
    pair = call.constant([0, 1], TensorProto.INT64)
    return call.emit("OneHot", [call.tensor("self"), depth, pair])


@rule("nonzero")
def _nonzero(call: Call) -> str:
    return call.emit("Transpose", [call.emit("NonZero", [call.tensor("self")])], perm=[1, 0])


@rule("masked_select")
def _masked_select(call: Call) -> str:
    return call.emit("Compress", [call.tensor("self"), call.tensor("mask")])


@rule("diagonal diagonal_copy")
def _diagonal(call: Call) -> str:
    dims = call.meta("self").dims
    if len(dims) != 2 or dims[0] != dims[1] or call.number("offset", 0):
        raise UnreadError("offset")
    flat = call.reshape(call.tensor("self"), [-1])
    return call.emit("Gather", [flat, call.indices([int(dims[0])])])


@rule("torchvision::nms")
def _non_max_suppression(call: Call) -> str:
    boxes = call.unsqueeze(call.tensor("dets"), [0])
    scores = call.unsqueeze(call.tensor("scores"), [0, 1])
    count = call.constant([LARGEST_INT], TensorProto.INT64)
    limit = call.constant([call.number("iou_threshold")])
    rows = call.emit("NonMaxSuppression", [boxes, scores, count, limit])
    chosen = call.constant(2, TensorProto.INT64)
    return call.emit("Gather", [rows, chosen], axis=1)


@rule("torchvision::roi_align")
def _roi_align(call: Call) -> str:
    rois, dtype = call.tensor("rois"), call.meta("rois").dtype
    parts = call.emit_all("Split", [rois, call.integer_constant([1, 4])], 2, axis=1)
    batch = call.cast(call.squeeze(parts[0], [1]), dtype, TensorProto.INT64)
    return call.emit(
        "RoiAlign",
        [call.tensor("input"), parts[1], batch],
        output_height=int(call.number("pooled_height")),
        output_width=int(call.number("pooled_width")),
        sampling_ratio=max(int(call.number("sampling_ratio", 0)), 0),
        spatial_scale=float(call.number("spatial_scale", 1)),
    )
