"""Operations that move data: shapes, splits, gathers, scatters, paddings."""

from __future__ import annotations

from typing import Final

import numpy as np
from onnx import TensorProto

from predictor.formats.openvino.document import element_type
from predictor.formats.openvino.operation import Handler, Operation


def _reshape(op: Operation) -> None:
    target = op.as_int64(1, op.out().static)
    op.emit("Reshape", [op.inputs[0], target], allowzero=None if op.flag("special_zero") else 1)


def _squeeze(op: Operation) -> None:
    if not op.has(1):
        op.emit("Squeeze")
        return
    op.emit("Squeeze", [op.inputs[0], op.vector(1, _dropped(op))])


def _dropped(op: Operation) -> list[int] | None:
    """Return the axes of size 1 where all are dropped, for a file without values."""
    ones = [axis for axis, size in enumerate(op.dims(0)) if size == 1]
    return ones if len(ones) == op.rank() - len(op.out().dims) else None


def _unsqueeze(op: Operation) -> None:
    ones = [axis for axis, size in enumerate(op.out().dims) if size == 1]
    added = ones if len(ones) == len(op.out().dims) - op.rank() else None
    op.emit("Unsqueeze", [op.inputs[0], op.vector(1, added)])


def _transpose(op: Operation) -> None:
    before, after = op.dims(0), op.out().dims
    # Sizes of one axis each say where it goes.
    distinct = len(set(before)) == len(before) and sorted(after, key=str) == sorted(before, key=str)
    stated = [before.index(size) for size in after] if distinct else None
    op.emit("Transpose", op.inputs[:1], perm=op.needed(1, stated) or None)


def _concat(op: Operation) -> None:
    op.emit("Concat", axis=op.integer("axis"))


def _split_axis(op: Operation) -> int:
    """Return the axis that is split: the one of another size where the file has no values."""
    pairs = enumerate(zip(op.dims(0), op.out().dims, strict=True))
    changed = [axis for axis, (before, after) in pairs if before != after]
    return op.needed(1, changed if len(changed) == 1 else None)[0]


def _split(op: Operation) -> None:
    axis, before, outputs = _split_axis(op), op.dims(0), op.layer.outputs
    size = before[axis]
    if size is not None and outputs and size % len(outputs) == 0:
        sizes = op.builder.constant([size // len(outputs)] * len(outputs))
        op.emit("Split", [op.inputs[0], sizes], axis=axis)
    else:
        op.emit("Split", op.inputs[:1], axis=axis, num_outputs=len(outputs))


def _variadic_split(op: Operation) -> None:
    axis = _split_axis(op)
    sizes = [port.dims[axis] for port in op.layer.outputs]
    stated = [size for size in sizes if size is not None]
    is_stated = len(stated) == len(sizes)
    lengths = op.builder.constant(stated) if is_stated else _lengths(op, axis)
    op.emit("Split", [op.inputs[0], lengths], axis=axis)


def _lengths(op: Operation, axis: int) -> str:
    """Return lengths of parts, of which one of -1 is what the others leave."""
    stated, place = op.as_int64(2), op.builder.constant([axis])
    size = op.step("Gather", [op.step("Shape", op.inputs[:1]), place])
    one, zero = op.builder.constant([1]), op.builder.constant([0])
    total = op.step("Add", [op.step("ReduceSum", [stated, zero], keepdims=1), one])
    rest = op.step("Sub", [size, total])
    return op.step("Where", [op.step("Less", [stated, zero]), rest, stated])


def _gather(op: Operation) -> None:
    axis = op.needed(2)[0] if op.has(2) else op.integer("axis")
    batch = op.integer("batch_dims")
    if batch:
        _gather_in_batches(op, axis, batch)
        return
    indices = op.values(1)
    chosen = op.inputs[1] if indices is None else op.as_int64(1)
    op.emit("Gather", [op.inputs[0], chosen], axis=axis)


def _gather_in_batches(op: Operation, axis: int, batch: int) -> None:
    """Behind its batches a Gather is a GatherND of one index."""
    if axis % max(op.rank(), 1) != batch % max(op.rank(1), 1):
        op.unknown()
        return
    indices = op.step("Unsqueeze", [op.int64(1), op.builder.constant([-1])])
    op.emit("GatherND", [op.inputs[0], indices], batch_dims=axis % max(op.rank(), 1))


def _gather_elements(op: Operation) -> None:
    op.emit("GatherElements", axis=op.integer("axis"))


def _gather_nd(op: Operation) -> None:
    op.emit("GatherND", [op.inputs[0], op.int64(1)], batch_dims=op.integer("batch_dims"))


def _scatter_elements(op: Operation) -> None:
    reductions = {"sum": "add", "prod": "mul", "min": "min", "max": "max"}
    op.emit(
        "ScatterElements",
        op.inputs[:3],
        axis=op.needed(3)[0],
        reduction=reductions.get(op.text("reduction")),
    )


def _scatter_update(op: Operation) -> None:
    """Along axis 0 rows are replaced, which is a ScatterND."""
    if op.needed(3) != [0]:
        op.unknown()
        return
    last = op.builder.constant([-1])
    indices = op.step("Unsqueeze", [op.int64(1), last])
    op.emit("ScatterND", [op.inputs[0], indices, op.inputs[2]])


def _scatter_nd(op: Operation) -> None:
    op.emit("ScatterND", [op.inputs[0], op.int64(1), op.inputs[2]])


def _shape_of(op: Operation) -> None:
    dtype = element_type(op.text("output_type", "i64"))
    if dtype == TensorProto.INT64:
        op.emit("Shape")
    else:
        op.emit("Cast", [op.step("Shape", op.inputs)], to=dtype)


def _pad(op: Operation) -> None:
    begins, ends = (op.as_int64(index) for index in (1, 2))
    mode = {"reflect": "reflect", "symmetric": "reflect", "edge": "edge"}.get(op.text("pad_mode"))
    pads = op.step("Concat", [begins, ends], axis=0)
    first, second = (op.values(index) for index in (1, 2))
    if first is not None and second is not None:
        pads = op.builder.constant(np.concatenate([first, second]).astype(np.int64))
    op.emit("Pad", [op.inputs[0], pads], mode=mode)


def _broadcast(op: Operation) -> None:
    """To a shape; in the explicit form the axes of the data are those of input 2."""
    data = op.inputs[0]
    if op.text("mode") == "explicit" and op.has(2):
        axes, rank = op.needed(2), len(op.out().dims)
        places = [axis for axis in range(rank) if axis not in axes]
        data = op.step("Unsqueeze", [data, op.builder.constant(places)]) if places else data
    op.emit("Expand", [data, op.as_int64(1, op.out().static)])


def _tile(op: Operation) -> None:
    before, after = op.port(0).static, op.out().static
    fallback = None
    if before is not None and after is not None and len(before) == len(after):
        fallback = [b // max(a, 1) for a, b in zip(before, after, strict=True)]
    op.emit("Tile", [op.inputs[0], op.as_int64(1, fallback)])


def _roll(op: Operation) -> None:
    """Along an axis the end comes first, as exporters of ONNX write it."""
    shifts, axes, dims = op.needed(1), op.needed(2), op.dims(0)
    if len(shifts) != len(axes):
        shifts = shifts * len(axes)
    value = op.inputs[0]
    for shift, axis in zip(shifts, axes, strict=False):
        size = dims[axis]
        cut = -shift if size is None else -(shift % max(size, 1))
        bounds = [[cut], [2**63 - 1], [0], [cut]]
        names = [op.builder.constant(bound) for bound in (*bounds, [axis])]
        tail = op.step("Slice", [value, *names[:2], names[4]])
        head = op.step("Slice", [value, *names[2:]])
        value = op.step("Concat", [tail, head], axis=axis)
    op.emit("Identity", [value])


def _col2im(op: Operation) -> None:
    op.emit(
        "Col2Im",
        [op.inputs[0], op.as_int64(1), op.as_int64(2)],
        strides=op.integers("strides") or None,
        dilations=op.integers("dilations") or None,
        pads=[*op.integers("pads_begin"), *op.integers("pads_end")] or None,
    )


def _depth_to_space(op: Operation) -> None:
    mode = "DCR" if op.text("mode") != "depth_first" else "CRD"
    op.emit("DepthToSpace", blocksize=op.integer("block_size", 1), mode=mode)


def _space_to_depth(op: Operation) -> None:
    op.emit("SpaceToDepth", blocksize=op.integer("block_size", 1))


def _reorg(op: Operation) -> None:
    op.emit("SpaceToDepth", blocksize=op.integer("stride", 1))


def _shuffle_channels(op: Operation) -> None:
    dims, axis, groups = op.port(0).static, op.integer("axis", 1), op.integer("group", 1)
    if dims is None or groups < 1 or dims[axis] % groups:
        op.unknown()
        return
    axis %= len(dims)
    parted = [*dims[:axis], groups, dims[axis] // groups, *dims[axis + 1 :]]
    order = list(range(len(parted)))
    order[axis], order[axis + 1] = order[axis + 1], order[axis]
    value = op.transposed(op.reshaped(op.inputs[0], parted), order)
    op.emit("Reshape", [value, op.builder.constant(list(dims))])


HANDLERS: Final[dict[str, Handler]] = {
    "col2im": _col2im,
    "roll": _roll,
    "broadcast": _broadcast,
    "concat": _concat,
    "depthtospace": _depth_to_space,
    "gather": _gather,
    "gatherelements": _gather_elements,
    "gathernd": _gather_nd,
    "pad": _pad,
    "reorgyolo": _reorg,
    "reshape": _reshape,
    "scatterelementsupdate": _scatter_elements,
    "scatterndupdate": _scatter_nd,
    "scatterupdate": _scatter_update,
    "shapeof": _shape_of,
    "shufflechannels": _shuffle_channels,
    "spacetodepth": _space_to_depth,
    "split": _split,
    "squeeze": _squeeze,
    "tile": _tile,
    "transpose": _transpose,
    "unsqueeze": _unsqueeze,
    "variadicsplit": _variadic_split,
}
"""Handlers by operation in lower case."""
