"""Operators of ATen that change the shape of values or make new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx import TensorProto

from predictor.formats.emitter import LARGEST_INT, Symbol, UnreadError, static
from predictor.formats.pytorch.call import Call, rule
from predictor.formats.pytorch.elementwise import operand


def _is_same(call: Call, key: str = "self") -> bool:
    return call.meta(key).dims == call.result().dims


@rule("view reshape _unsafe_view _reshape_alias view_copy expand_as view_as")
def _view(call: Call) -> str:
    if call.has("other"):
        sizes = call.sizes(call.tensor("other"), call.meta("other").dims)
        return _as_wide(call, sizes) if call.kind == "expand_as" else _shaped(call, sizes)
    if call.has("dtype"):
        raise UnreadError("dtype")
    key = "shape" if call.has("shape") else "size"
    return _shaped(call, call.symbols(key))


def _shaped(call: Call, sizes: Sequence[Symbol]) -> str:
    return call.tensor("self") if _is_same(call) else call.reshape(call.tensor("self"), sizes)


@rule("flatten")
def _flatten(call: Call) -> str:
    if _is_same(call):
        return call.tensor("self")
    first, last = call.axis("start_dim"), call.axis("end_dim", default=-1)
    dims, data = call.meta("self").dims, call.tensor("self")
    if first == 1 and last == len(dims) - 1:
        return call.emit("Flatten", [data], axis=1)
    outer: list[Symbol] = [0] * first  # the sizes that the data has
    return call.reshape(data, [*outer, -1, *call.sizes(data, dims)[last + 1 :]])


@rule("unflatten")
def _unflatten(call: Call) -> str:
    data, axis = call.tensor("self"), call.axis("dim")
    before = call.sizes(data, call.meta("self").dims)
    return call.reshape(data, [*before[:axis], *call.symbols("sizes"), *before[axis + 1 :]])


@rule("squeeze squeeze_copy")
def _squeeze(call: Call) -> str:
    dims = call.meta("self").dims
    axes = [axis for axis in call.axes("dim") if dims[axis] == 1]
    return call.squeeze(call.tensor("self"), axes)


@rule("unsqueeze unsqueeze_copy")
def _unsqueeze(call: Call) -> str:
    return call.unsqueeze(call.tensor("self"), [call.axis("dim", extra=1)])


@rule("permute permute_copy")
def _permute(call: Call) -> str:
    return call.transpose(call.tensor("self"), call.axes("dims"))


@rule("transpose transpose_copy swapaxes")
def _transpose(call: Call) -> str:
    keys = ("axis0", "axis1") if call.has("axis0") else ("dim0", "dim1")
    order = list(range(call.rank("self")))
    if not order:
        return call.tensor("self")
    first, second = (call.axis(key) for key in keys)
    order[first], order[second] = second, first
    return call.transpose(call.tensor("self"), order)


@rule("t t_copy numpy_T mT adjoint")
def _matrix_transpose(call: Call) -> str:
    order = list(range(call.rank("self")))
    return call.transpose(call.tensor("self"), [*order[:-2], *order[-2:][::-1]])


@rule("movedim moveaxis")
def _move(call: Call) -> str:
    sources, targets = call.axes("source"), call.axes("destination")
    order = [axis for axis in range(call.rank("self")) if axis not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return call.transpose(call.tensor("self"), order)


def _as_wide(call: Call, sizes: Sequence[Symbol]) -> str:
    if _is_same(call):
        return call.tensor("self")
    ones = [1 if size == -1 else size for size in sizes]  # -1: the size that it has
    return call.emit("Expand", [call.tensor("self"), call.vector(ones)])


@rule("expand expand_copy broadcast_to")
def _expand(call: Call) -> str:
    return _as_wide(call, call.symbols("size"))


@rule("repeat tile")
def _repeat(call: Call) -> str:
    times = call.symbols("repeats" if call.has("repeats") else "dims")
    data, missing = call.tensor("self"), len(times) - call.rank("self")
    data = call.unsqueeze(data, list(range(missing)))
    return call.emit("Tile", [data, call.vector([*[1] * -missing, *times])])


@rule("repeat_interleave")
def _interleave(call: Call) -> str:
    axis, times = call.axis("dim"), call.symbol("repeats")
    if times is None or not call.has("dim"):
        raise UnreadError("repeats")
    data = call.tensor("self")
    sizes = call.sizes(data, call.meta("self").dims)
    wide = call.unsqueeze(data, [axis + 1])
    shape = call.vector([*sizes[: axis + 1], times, *sizes[axis + 1 :]])
    return call.reshape(call.emit("Expand", [wide, shape]), [*sizes[:axis], -1, *sizes[axis + 1 :]])


@rule("cat concat")
def _concat(call: Call) -> str:
    dtype, rank = call.result().dtype, len(call.result().dims)
    axis = int(call.number("dim", 0))
    if not -rank <= axis < rank:
        raise UnreadError("dim")
    pairs = zip(call.tensors("tensors"), call.metas("tensors"), strict=True)
    # An empty vector is no part of a result of higher rank.
    parts = [(name, meta) for name, meta in pairs if meta and len(meta.dims) == rank]
    names = [call.cast(name, meta.dtype, dtype) for name, meta in parts]
    return call.emit("Concat", names, axis=axis % rank)


@rule("stack")
def _stack(call: Call) -> str:
    rank = len(call.result().dims)
    axis = int(call.number("dim", 0)) % rank
    return call.emit(
        "Concat", [call.unsqueeze(name, [axis]) for name in call.tensors("tensors")], axis=axis
    )


@rule("split split_with_sizes chunk tensor_split split_with_sizes_copy unsafe_split unsafe_chunk")
def _split(call: Call) -> list[str]:
    axis, count = call.axis("dim"), len(call.outputs)
    sizes = [call.result(position).dims[axis] for position in range(count)]
    data = call.tensor("self")
    if count == 1:
        return [data]
    stated = call.arguments.get("split_sizes")
    if all(isinstance(size, int) for size in sizes):
        lengths = call.integer_constant([int(size) for size in sizes])
    elif stated is not None:
        lengths = call.vector(call.symbols("split_sizes"))
    else:
        return call.emit_all("Split", [data], count, axis=axis, num_outputs=count)
    return call.emit_all("Split", [data, lengths], count, axis=axis)


@rule("unbind unbind_copy")
def _unbind(call: Call) -> list[str]:
    axis, count = call.axis("dim"), len(call.outputs)
    parts = call.emit_all("Split", [call.tensor("self")], count, axis=axis, num_outputs=count)
    return [call.squeeze(part, [axis]) for part in parts]


@rule("slice slice_copy")
def _slice(call: Call) -> str:
    axis, step = call.axis("dim"), int(call.number("step", 1))
    if _is_same(call) and step == 1:
        return call.tensor("self")
    start, end = call.symbol("start") or 0, call.symbol("end", LARGEST_INT)
    end = LARGEST_INT if end is None else end
    return call.cut(call.tensor("self"), [start], [end], [axis], [step])


@rule("narrow narrow_copy")
def _narrow(call: Call) -> str:
    start, length = call.symbol("start"), call.symbol("length")
    if not isinstance(start, int) or not isinstance(length, int):
        raise UnreadError("length")
    return call.cut(call.tensor("self"), [start], [start + length], [call.axis("dim")], [1])


@rule("slice_scatter select_scatter")
def _placed(call: Call) -> str:
    """Return data of which a part is replaced: parts before it, itself and those after it."""
    axis, data, source = call.axis("dim"), call.tensor("self"), call.tensor("src")
    (size,) = static([call.meta("self").dims[axis]])
    if call.has("index"):
        start = int(call.number("index")) % size
        end = start + 1
        source = call.unsqueeze(source, [axis])
    else:
        stated = int(call.number("start", 0)), int(call.number("end", LARGEST_INT))
        start, end = (bound + size if bound < 0 else min(bound, size) for bound in stated)
    if call.number("step", 1) != 1:
        raise UnreadError("step")
    parts = [call.cut(data, [0], [start], [axis], [1])] if start else []
    parts.append(source)
    parts += [call.cut(data, [end], [size], [axis], [1])] if end < size else []
    return call.joined(parts, axis)


@rule("flip")
def _flip(call: Call) -> str:
    axes = call.axes("dims")
    count = len(axes)
    return call.cut(call.tensor("self"), [-1] * count, [-LARGEST_INT] * count, axes, [-1] * count)


@rule("roll")
def _roll(call: Call) -> str:
    """Return the data with its last part before its first, along one axis after the other."""
    data = call.tensor("self")
    axes = call.axes("dims")
    for axis, shift in zip(axes, call.integers("shifts"), strict=True):
        last = call.cut(data, [-shift], [LARGEST_INT], [axis])
        data = call.joined([last, call.cut(data, [0], [-shift], [axis])], axis)
    return data


_PADDINGS: Final = {
    "circular": "wrap",
    "constant": "constant",
    "reflect": "reflect",
    "reflection": "reflect",
    "replicate": "edge",
    "replication": "edge",
}


@rule("pad constant_pad_nd")
@rule("reflection_pad1d reflection_pad2d reflection_pad3d")
@rule("replication_pad1d replication_pad2d replication_pad3d")
def _pad(call: Call) -> str:
    stem = call.kind.split("_")[0]
    mode = _PADDINGS[str(call.get("mode", "constant")) if stem == "pad" else stem]
    pads, rank = call.integers("pad" if call.has("pad") else "padding"), call.rank("self")
    count = len(pads) // 2
    # torch states the last axis first.
    before = [0] * (rank - count) + pads[0::2][::-1]
    after = [0] * (rank - count) + pads[1::2][::-1]
    inputs = [call.tensor("self"), call.integer_constant(before + after)]
    if mode == "constant":
        inputs.append(operand(call, "value", call.result().dtype) if call.has("value") else "")
    return call.emit("Pad", inputs[: 3 if inputs[-1] else 2], mode=mode)


@rule("pixel_shuffle")
def _pixel_shuffle(call: Call) -> str:
    block = int(call.number("upscale_factor"))
    return call.emit("DepthToSpace", [call.tensor("self")], blocksize=block, mode="CRD")


@rule("pixel_unshuffle")
def _pixel_unshuffle(call: Call) -> str:
    """Return blocks of pixels as channels, the channels outermost."""
    block = int(call.number("downscale_factor"))
    rows, channels, height, width = call.sizes(call.tensor("self"), call.meta("self").dims)
    depth, high, wide = static([channels, height, width])
    split = call.reshape(
        call.tensor("self"), [rows, depth, high // block, block, wide // block, block]
    )
    mixed = call.transpose(split, (0, 1, 3, 5, 2, 4))
    return call.reshape(mixed, [rows, depth * block**2, high // block, wide // block])


@rule("channel_shuffle native_channel_shuffle")
def _channel_shuffle(call: Call) -> str:
    groups = int(call.number("groups"))
    sizes = call.sizes(call.tensor("self"), call.meta("self").dims)
    split = call.reshape(call.tensor("self"), [sizes[0], groups, -1, *sizes[2:]])
    order = (0, 2, 1, *range(3, len(sizes) + 1))
    return call.reshape(call.transpose(split, order), sizes)


@rule("tril triu")
def _triangle(call: Call) -> str:
    diagonal = call.integer_constant([int(call.number("diagonal", 0))])
    scalar = call.squeeze(diagonal, [0])
    return call.emit("Trilu", [call.tensor("self"), scalar], upper=int(call.kind == "triu"))


@rule("full ones zeros empty scalar_tensor full_like ones_like zeros_like empty_like")
@rule("new_full new_ones new_zeros new_empty")
def _full(call: Call) -> str:
    stem = call.kind.removeprefix("new_").removesuffix("_like")
    dtype = call.result().dtype
    if call.kind == "scalar_tensor":
        return operand(call, "s", dtype)
    value = (
        operand(call, "fill_value", dtype)
        if stem == "full"
        else call.constant(int(stem == "ones"), dtype)
    )
    if call.kind.endswith("_like"):
        sizes = call.sizes(call.tensor("self"), call.meta("self").dims)
    else:
        sizes = call.symbols("size")
    return call.emit("Expand", [value, call.vector(sizes)]) if sizes else value


@rule("arange")
def _arange(call: Call) -> str:
    dtype = call.result().dtype
    defaults = {"start": 0, "step": 1}
    bounds = []
    for key in ("start", "end", "step"):
        name = operand(call, key, dtype) if call.has(key) else call.constant(defaults[key], dtype)
        is_vector = call.is_reference(key) and isinstance(call.symbol(key), str)
        bounds.append(call.squeeze(name, [0]) if is_vector else name)
    return call.emit("Range", bounds)


@rule("linspace")
def _linspace(call: Call) -> str:
    steps, dtype = int(call.number("steps")), call.result().dtype
    start, end = float(call.number("start")), float(call.number("end"))
    step = (end - start) / max(steps - 1, 1)
    bounds = [call.constant(value, TensorProto.INT64) for value in (0, steps, 1)]
    ramp = call.cast(call.emit("Range", bounds), TensorProto.INT64, dtype)
    scaled = call.emit("Mul", [ramp, call.constant(step, dtype)])
    return call.emit("Add", [scaled, call.constant(start, dtype)])


@rule("meshgrid")
def _meshgrid(call: Call) -> list[str]:
    shape = call.vector(call.result().dims)
    rank = len(call.outputs)
    order = [*range(rank)]
    if call.get("indexing", "ij") == "xy" and rank > 1:
        order[:2] = [1, 0]
    return [
        call.emit("Expand", [call.unsqueeze(name, [a for a in range(rank) if a != axis]), shape])
        for axis, name in zip(order, call.tensors("tensors"), strict=True)
    ]


@rule("unfold")
def _windows(call: Call) -> str:
    """Return overlapping windows along an axis, as gathered elements."""
    axis, size, step = call.axis("dimension"), call.number("size"), call.number("step")
    length = call.meta("self").dims[axis]
    if not isinstance(length, int) or step < 1 or not 0 < size <= length:
        raise UnreadError("step")
    indices = call.indices([(length - size) // step + 1, size])
    parts = call.emit("Gather", [call.tensor("self"), indices], axis=axis)
    rank = call.rank("self")
    order = [a for a in range(rank + 1) if a != axis + 1]
    return call.transpose(parts, [*order, axis + 1])
