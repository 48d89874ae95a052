"""Operators that join, cut, pick or place parts of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from onnx import TensorProto

from predictor.formats.tflite.file import Operator
from predictor.formats.tflite.layouts import Layout, arranged, as_filed, without
from predictor.formats.tflite.translation import Translation

_LAST: Final = 2**31 - 1


def concatenation(translation: Translation, operator: Operator) -> None:
    """Translate parts that are joined along an axis."""
    name = "Dimension" if operator.type == "STABLEHLO_CONCATENATE" else "Axis"
    layout = translation.result_layout(operator)
    axis = layout.index(operator.option(name) % len(layout))
    inputs = [i for i in operator.inputs if 0 not in translation.tensor(i).dims]
    translation.node(operator, "Concat", inputs, layout, operand_layout=layout, axis=axis)


def split(translation: Translation, operator: Operator) -> None:
    """Translate a value that is cut into parts along an axis."""
    is_sized = operator.type == "SPLIT_V"
    data = operator.inputs[0 if is_sized else 1]
    axis = translation.steering(operator, 2 if is_sized else 0)[0]
    layout = translation.layout(data)
    axis %= len(layout)
    sizes = [translation.tensor(index).dims[axis] for index in operator.outputs]
    if sum(sizes) != translation.tensor(data).dims[axis]:
        raise ValueError(sizes)
    outputs = [translation.free_name(index) for index in operator.outputs]
    inputs = [translation.value(data), translation.builder.constant(sizes)]
    translation.builder.node("Split", inputs, outputs, axis=layout.index(axis))
    for index, name in zip(operator.outputs, outputs, strict=True):
        translation.define(index, name, layout)


def pack(translation: Translation, operator: Operator) -> None:
    """Translate values that are stacked along a new axis."""
    builder = translation.builder
    rank = translation.rank(operator.outputs[0])
    axis = operator.option("Axis") % rank
    position = builder.constant([axis])
    inputs = [
        builder.node("Unsqueeze", [translation.value(i, as_filed(rank - 1)), position])
        for i in operator.inputs
    ]
    translation.node(operator, "Concat", inputs, axis=axis)


def unpack(translation: Translation, operator: Operator) -> None:
    """Translate a value that is cut along an axis, which is dropped."""
    data, builder = operator.inputs[0], translation.builder
    rank = translation.rank(data)
    axis = operator.option("Axis") % rank
    count = len(operator.outputs)
    parts = [builder.fresh("part") for _ in range(count)]
    inputs = [translation.value(data, as_filed(rank)), builder.constant([1] * count)]
    builder.node("Split", inputs, parts, axis=axis)
    position = builder.constant([axis])
    for index, part in zip(operator.outputs, parts, strict=True):
        name = translation.free_name(index)
        builder.node("Squeeze", [part, position], [name])
        translation.define(index, name, as_filed(rank - 1))


def part(translation: Translation, operator: Operator) -> None:
    """Translate SLICE: starts and sizes of a part, -1 for the rest."""
    data = operator.inputs[0]
    layout = translation.layout(data)
    starts, sizes = (translation.integers(index) for index in operator.inputs[1:3])
    if starts is None or sizes is None:
        _computed_part(translation, operator)
        return
    ends = [
        _LAST if size == -1 else start + size for start, size in zip(starts, sizes, strict=True)
    ]
    dims = translation.tensor(data).signature
    axes = [
        axis
        for axis, size in enumerate(dims)
        if starts[axis] or not (ends[axis] == _LAST or ends[axis] == size)
    ]
    bounds = [
        [starts[a] for a in axes],
        [ends[a] for a in axes],
        [layout.index(a) for a in axes],
    ]
    _slice(translation, operator, translation.value(data), bounds, layout)


def _computed_part(translation: Translation, operator: Operator) -> None:
    data, start, size = operator.inputs[:3]
    builder, rank = translation.builder, translation.rank(data)
    value = translation.value(data, as_filed(rank))
    starts = translation.as_int64(start)
    if translation.integers(size) == [-1] * rank:
        ends = builder.constant([_LAST] * rank)
    else:
        sizes = translation.as_int64(size)
        ends = builder.node("Add", [starts, sizes])
    translation.node(operator, "Slice", [value, starts, ends])


def _slice(
    translation: Translation,
    operator: Operator,
    value: str,
    bounds: Sequence[Sequence[int]],
    layout: Layout,
) -> None:
    if not bounds[0]:
        translation.node(operator, "Identity", [value], layout)
        return
    inputs = [value, *map(translation.builder.constant, bounds)]
    translation.node(operator, "Slice", inputs, layout)


def strided_slice(translation: Translation, operator: Operator) -> None:
    """Translate a part with steps; axes may be dropped or added."""
    data, builder = operator.inputs[0], translation.builder
    begins, ends, strides = (translation.integers(index) for index in operator.inputs[1:4])
    if begins is None or ends is None or strides is None or operator.option("EllipsisMask"):
        _computed_strided_slice(translation, operator)
        return
    masks = {
        name: operator.option(f"{name}Mask") for name in ("Begin", "End", "NewAxis", "ShrinkAxis")
    }
    dims = translation.tensor(data).signature
    rows: list[tuple[int, int, int, int]] = []
    dropped: list[int] = []
    added: list[int] = []
    axis = position = 0
    for bit, (begin, end, step) in enumerate(zip(begins, ends, strides, strict=True)):
        flag = 1 << bit
        if masks["NewAxis"] & flag:
            added.append(position)
            position += 1
            continue
        if masks["ShrinkAxis"] & flag:
            dropped.append(axis)
            rows.append((axis, begin, _LAST if begin == -1 else begin + 1, 1))
        else:
            position += 1
            backwards = step < 0
            start = (_LAST if backwards else 0) if masks["Begin"] & flag else begin
            stop = (-_LAST if backwards else _LAST) if masks["End"] & flag else end
            if start or step != 1 or not (stop == _LAST or stop == dims[axis]):
                rows.append((axis, start, stop, step))
        axis += 1
    layout = translation.layout(data) if not added else as_filed(len(dims))
    value = translation.value(data, layout)
    if rows:
        bounds = [
            [row[1] for row in rows],
            [row[2] for row in rows],
            [layout.index(row[0]) for row in rows],
            [row[3] for row in rows],
        ]
        value = builder.node("Slice", [value, *map(builder.constant, bounds)])
    if dropped:
        axes = builder.constant([layout.index(axis) for axis in dropped])
        value = builder.node("Squeeze", [value, axes])
    if added:
        value = builder.node("Unsqueeze", [value, builder.constant(added)])
    translation.node(operator, "Identity", [value], without(layout, dropped) if not added else None)


def _computed_strided_slice(translation: Translation, operator: Operator) -> None:
    """Translate a part whose bounds are computed, where it keeps its axes."""
    data, builder = operator.inputs[0], translation.builder
    rank = translation.rank(data)
    masks = [operator.option(f"{name}Mask") for name in ("Ellipsis", "NewAxis")]
    count = math.prod(translation.tensor(operator.inputs[1]).dims)
    if any(masks) or not 0 <= count <= rank:  # a damaged file may state any number of bounds
        translation.unknown(operator)
        return
    value = translation.value(data, as_filed(rank))
    bounds = [translation.as_int64(index) for index in operator.inputs[1:4]]
    axes = builder.constant(list(range(count)))
    value = builder.node("Slice", [value, *bounds[:2], axes, bounds[2]])
    shrunk = operator.option("ShrinkAxisMask")
    dropped = [axis for axis in range(rank) if shrunk & 1 << axis]
    if dropped:
        value = builder.node("Squeeze", [value, builder.constant(dropped)])
    translation.node(operator, "Identity", [value])


def pad(translation: Translation, operator: Operator) -> None:
    """Translate a margin of a constant or of mirrored elements."""
    data, builder = operator.inputs[0], translation.builder
    layout = translation.layout(data)
    # A mirror that repeats the edge, which ONNX has not, gives the same sizes.
    mode = "reflect" if operator.type == "MIRROR_PAD" else None
    paddings = translation.integers(operator.inputs[1])
    if paddings is None:
        value = translation.value(data, as_filed(len(layout)))
        rows = translation.as_int64(operator.inputs[1])
        columns = builder.node("Transpose", [rows], perm=[1, 0])
        pads = translation.reshaped(columns, [-1])
        translation.node(operator, "Pad", [value, pads], mode=mode)
        return
    pads = builder.constant([*arranged(paddings[::2], layout), *arranged(paddings[1::2], layout)])
    inputs: list[int | str] = [data, pads]
    if operator.type == "PADV2" and not translation.tensor(data).is_quantised:
        inputs.append(operator.inputs[2])
    translation.node(operator, "Pad", inputs, layout, mode=mode)


def gather(translation: Translation, operator: Operator) -> None:
    """Translate slices along an axis that are picked by their numbers."""
    data, indices = operator.inputs[:2]
    rank = translation.rank(data)
    batch = operator.option("BatchDims")
    axis = operator.option("Axis") % rank
    inputs = [
        translation.value(data, as_filed(rank)),
        translation.value(indices, as_filed(translation.rank(indices))),
    ]
    if batch:
        indices_rank = translation.rank(indices)
        if axis == batch and batch == indices_rank - 1:
            builder = translation.builder
            wide = builder.node("Unsqueeze", [inputs[1], builder.constant([indices_rank])])
            translation.node(operator, "GatherND", [inputs[0], wide], batch_dims=batch)
            return
        translation.unknown(operator)
        return
    translation.node(operator, "Gather", inputs, axis=axis)


def embedding(translation: Translation, operator: Operator) -> None:
    """Translate rows of a table that are picked by their numbers: numbers, then table."""
    indices, table = operator.inputs[:2]
    is_stored = translation.tensor(operator.outputs[0]).is_quantised
    value = translation.value(table) if is_stored else translation.real(table)
    translation.node(operator, "Gather", [value, translation.value(indices)])


def gather_nd(translation: Translation, operator: Operator) -> None:
    """Translate elements or slices that are picked by their positions."""
    data, indices = operator.inputs[:2]
    value = translation.value(data, as_filed(translation.rank(data)))
    translation.node(operator, "GatherND", [value, translation.as_int64(indices)])


def scatter_nd(translation: Translation, operator: Operator) -> None:
    """Translate values that are placed into zeros: positions, values, shape."""
    indices, updates, sizes = operator.inputs[:3]
    builder = translation.builder
    positions = translation.as_int64(indices)
    target = translation.as_int64(sizes)
    dtype = translation.tensor(updates).dtype
    zeros = builder.node("ConstantOfShape", [target])
    zeros = builder.node("Cast", [zeros], to=dtype)
    value = translation.value(updates, as_filed(translation.rank(updates)))
    translation.node(operator, "ScatterND", [zeros, positions, value])


def update_slice(translation: Translation, operator: Operator) -> None:
    """Translate a part of a value that is replaced, like the new tokens of a cache."""
    update(translation, operator, *operator.inputs[:2])


def update(translation: Translation, operator: Operator, data: int, element: int) -> None:
    """Add an operator that puts an element into its place in a value."""
    dims, part_dims = translation.tensor(data).dims, translation.tensor(element).dims
    # Axes behind the last one that is cut are replaced as they are.
    cut = [
        axis for axis, sizes in enumerate(zip(dims, part_dims, strict=True)) if len({*sizes}) > 1
    ]
    depth = max(cut, default=0) + 1
    positions = translation.builder.weight(
        translation.builder.fresh("positions"), TensorProto.INT64, [*part_dims[:depth], depth]
    )
    inputs = [
        translation.value(data, as_filed(len(dims))),
        positions,
        translation.value(element, as_filed(len(dims))),
    ]
    translation.node(operator, "ScatterND", inputs)


def reverse(translation: Translation, operator: Operator) -> None:
    """Translate axes that run backwards."""
    data, builder = operator.inputs[0], translation.builder
    layout = translation.layout(data)
    axes = [layout.index(axis % len(layout)) for axis in translation.steering(operator, 1)]
    bounds = [[-1] * len(axes), [-_LAST] * len(axes), axes, [-1] * len(axes)]
    translation.node(operator, "Slice", [data, *map(builder.constant, bounds)], layout)


def reverse_sequence(translation: Translation, operator: Operator) -> None:
    """Translate rows that run backwards up to their lengths."""
    data, lengths = operator.inputs[:2]
    value = translation.value(data, as_filed(translation.rank(data)))
    sizes = translation.as_int64(lengths)
    translation.node(
        operator,
        "ReverseSequence",
        [value, sizes],
        batch_axis=operator.option("BatchDim"),
        time_axis=operator.option("SeqDim"),
    )


def one_hot(translation: Translation, operator: Operator) -> None:
    """Translate classes that become rows of one 1: numbers, depth, the 1 and the 0."""
    builder = translation.builder
    indices, depth, on, off = (translation.value(index) for index in operator.inputs[:4])
    pair = [builder.node("Unsqueeze", [v, builder.constant([0])]) for v in (off, on)]
    values = builder.node("Concat", pair, axis=0)
    translation.node(operator, "OneHot", [indices, depth, values], axis=operator.option("Axis", -1))


def where(translation: Translation, operator: Operator) -> None:
    """Translate the positions of what is true."""
    value = translation.value(operator.inputs[0], as_filed(translation.rank(operator.inputs[0])))
    positions = translation.builder.node("NonZero", [value])
    translation.node(operator, "Transpose", [positions], perm=[1, 0])


def span(translation: Translation, operator: Operator) -> None:
    """Translate numbers from a start to an end by a step."""
    inputs = [translation.value(index) for index in operator.inputs[:3]]
    translation.node(operator, "Range", inputs)


RULES: Final = {
    "CONCATENATION": concatenation,
    "DYNAMIC_UPDATE_SLICE": update_slice,
    "EMBEDDING_LOOKUP": embedding,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "MIRROR_PAD": pad,
    "ONE_HOT": one_hot,
    "PACK": pack,
    "PAD": pad,
    "PADV2": pad,
    "RANGE": span,
    "REVERSE_SEQUENCE": reverse_sequence,
    "REVERSE_V2": reverse,
    "SCATTER_ND": scatter_nd,
    "SLICE": part,
    "SPLIT": split,
    "SPLIT_V": split,
    "STABLEHLO_CONCATENATE": concatenation,
    "STRIDED_SLICE": strided_slice,
    "UNPACK": unpack,
    "WHERE": where,
}
