"""Layers that move data: joins, slices, shapes, orders of axes, detections."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from predictor.formats.ncnn.layers import Dims, Handler, Operation

_OMITTED: Final = -233
# Orders of two, three and four axes by the parameter of Permute, from the innermost, as letters.
_ORDERS: Final = {
    1: ("w",),
    2: ("wh", "hw"),
    3: ("whc", "hwc", "wch", "cwh", "hcw", "chw"),
    4: (
        *("whdc", "hwdc", "wdhc", "dwhc", "hdwc", "dhwc", "whcd", "hwcd", "wchd", "cwhd", "hcwd"),
        *("chwd", "wdch", "dwch", "wcdh", "cwdh", "dcwh", "cdwh", "hdcw", "dhcw", "hcdw", "chdw"),
        *("dchw", "cdhw"),
    ),
}


def _split(op: Operation) -> None:
    for index in range(len(op.layer.outputs)):
        op.give(op.inputs[0], list(op.dims()), index)


def _concat(op: Operation) -> None:
    axis = op.axis(op.integer(0))
    sizes = [op.dims(index)[axis - 1] for index in range(len(op.inputs))]
    dims = list(op.dims())
    stated = [size for size in sizes if size is not None]
    dims[axis - 1] = sum(stated) if len(stated) == len(sizes) else None
    op.emit("Concat", dims, axis=axis)


def _slice(op: Operation) -> None:
    axis, count = op.axis(op.integer(1)), len(op.layer.outputs)
    size, stated = op.dims()[axis - 1], op.integers(0)
    bounds = op.integers(2)
    if bounds:
        stated = np.diff([0, *bounds, size or _OMITTED]).tolist() if size else []
    sizes: Dims = [None if part == _OMITTED else part for part in stated[:count]]
    sizes += [None] * (count - len(sizes))
    sizes = _filled(sizes, size)
    outputs = op.layer.outputs
    lengths = [part for part in sizes if part is not None]
    if len(lengths) == count:
        parts = op.builder.constant(lengths)
        op.builder.node("Split", [op.inputs[0], parts], outputs, name=op.layer.name, axis=axis)
    else:
        op.builder.node(
            "Split", op.inputs, outputs, name=op.layer.name, axis=axis, num_outputs=count
        )
    for index, part in enumerate(sizes):
        dims = list(op.dims())
        dims[axis - 1] = part
        op.give(outputs[index], dims, index)


def _filled(sizes: Dims, total: int | None) -> Dims:
    """Return parts, open ones as equal parts of what the others leave."""
    if total is None:
        return sizes
    left, missing = total - sum(size or 0 for size in sizes), sizes.count(None)
    result: Dims = []
    for size in sizes:
        part = size
        if size is None:
            part = left // missing
            left, missing = left - part, missing - 1
        result.append(part)
    return result


def _reshape(op: Operation) -> None:
    if 6 in op.layer.texts:
        _reshape_by_text(op, op.layer.texts[6].split(",")[::-1])
        return
    stated = {
        letter: op.integer(key, _OMITTED) for letter, key in zip("wdhc", (0, 11, 1, 2), strict=True)
    }
    letters = [letter for letter in "cdhw" if stated[letter] != _OMITTED]
    before = dict(zip(_letters(op.rank()), op.dims(), strict=True))
    sizes: Dims = []
    for letter in letters:
        size: int | None = stated[letter]
        sizes.append(before.get(letter) if size == 0 else size)
    dims = _inferred(sizes, op.dims())
    target = [-1 if size is None else size for size in dims]
    if target.count(-1) > 1:
        target = [-1 if size is None else size for size in sizes]
        # Sizes that are copied stand at their own places.
        places = _letters(op.rank())
        target = [
            0 if stated[letter] == 0 and letter in places and places.index(letter) == at else size
            for at, (letter, size) in enumerate(zip(letters, target, strict=True))
        ]
    op.emit("Reshape", dims, [op.inputs[0], op.builder.constant([0, *target])])


def _reshape_by_text(op: Operation, words: list[str]) -> None:
    """Reshape to sizes that are numbers or those of inputs: ``1h`` is the height of the second."""
    sizes: Dims = []
    parts = [op.builder.constant([0])]
    for word in words:
        if word[-1:] not in set("cdhw"):
            sizes.append(int(word))
            parts.append(op.builder.constant([int(word)]))
            continue
        index = int(word[:-1])
        place = _letters(op.rank(index)).index(word[-1])
        sizes.append(op.dims(index)[place])
        shape = op.step("Shape", [op.inputs[index]], start=place + 1, end=place + 2)
        parts.append(shape if sizes[-1] is None else op.builder.constant([sizes[-1] or 0]))
    dims = _inferred(sizes, op.dims())
    op.emit("Reshape", dims, [op.inputs[0], op.step("Concat", parts, axis=0)])


def _letters(rank: int) -> str:
    return {1: "w", 2: "hw", 3: "chw", 4: "cdhw"}[rank]


def _inferred(sizes: Dims, before: Dims) -> Dims:
    """Return sizes with one of -1 computed, where the others and the total are stated."""
    total = math.prod(size for size in before if size is not None)
    rest = math.prod(size for size in sizes if size not in (None, -1))
    if None in before or None in sizes or not rest:
        return [None if size == -1 else size for size in sizes]
    return [total // rest if size == -1 else size for size in sizes]


def _flatten(op: Operation) -> None:
    sizes = [size for size in op.dims() if size is not None]
    total = math.prod(sizes) if len(sizes) == op.rank() else None
    op.emit("Flatten", [total], axis=1)


def _permute(op: Operation) -> None:
    order, letters = _ORDERS[op.rank()][op.integer(0)], _letters(op.rank())
    places = [letters.index(letter) for letter in reversed(order)]
    dims = [op.dims()[place] for place in places]
    op.emit("Transpose", dims, perm=[0, *[place + 1 for place in places]])


def _expand(op: Operation) -> None:
    rank, stated = op.rank(), op.integers(3)
    if not stated:
        letters = {0: "w", 1: "h", 11: "d", 2: "c"}
        wanted = "".join(letter for key, letter in letters.items() if op.integer(key))
        after = _letters(rank + len(wanted))
        stated = [after.index(letter) for letter in wanted if letter in after]
    total = rank + len(stated)
    axes = sorted(axis % total for axis in stated)
    dims = list(op.dims())
    for axis in axes:
        dims.insert(axis, 1)
    places = op.builder.constant([axis + 1 for axis in axes])
    op.emit("Unsqueeze", dims, [op.inputs[0], places])


def _squeeze(op: Operation) -> None:
    rank, stated = op.rank(), op.integers(3)
    if not stated:
        letters = {0: "w", 1: "h", 11: "d", 2: "c"}
        places = _letters(rank)
        wanted = [letter for key, letter in letters.items() if op.integer(key)]
        stated = [places.index(letter) for letter in wanted if letter in places]
    axes = sorted({axis % rank for axis in stated if op.dims()[axis % rank] in (1, None)})
    dims = [size for axis, size in enumerate(op.dims()) if axis not in axes]
    if not axes or not dims:
        op.give(op.inputs[0], op.dims())
        return
    places_at = op.builder.constant([axis + 1 for axis in axes])
    op.emit("Squeeze", dims, [op.inputs[0], places_at])


def _tile(op: Operation) -> None:
    repeats = op.integers(2)
    if not repeats:
        repeats = [1] * op.rank()
        repeats[op.axis(op.integer(0)) - 1] = op.integer(1, 1)
    repeats = [1] * (op.rank() - len(repeats)) + repeats
    dims: Dims = [
        None if size is None else size * count
        for size, count in zip(op.dims(), repeats, strict=True)
    ]
    op.emit("Tile", dims, [op.inputs[0], op.builder.constant([1, *repeats])])


def _pixel_shuffle(op: Operation) -> None:
    factor = max(op.integer(0, 1), 1)
    channels, height, width = op.dims()
    dims: Dims = [
        None if channels is None else channels // factor**2,
        None if height is None else height * factor,
        None if width is None else width * factor,
    ]
    mode = "DCR" if op.integer(1) else "CRD"
    op.emit("DepthToSpace", dims, blocksize=factor, mode=mode)


def _reorg(op: Operation) -> None:
    factor = max(op.integer(0, 1), 1)
    channels, height, width = op.dims()
    dims: Dims = [
        None if channels is None else channels * factor**2,
        None if height is None else height // factor,
        None if width is None else width // factor,
    ]
    op.emit("SpaceToDepth", dims, blocksize=factor)


def _shuffle_channels(op: Operation) -> None:
    channels, groups = op.dims()[0], max(op.integer(0, 1), 1)
    if channels is None or channels % groups or op.rank() != 3:
        op.unknown()
        return
    parts = [channels // groups, groups] if op.integer(1) else [groups, channels // groups]
    # The sides are joined: of them one may be open.
    parted = op.reshaped(op.inputs[0], [0, *parts, -1])
    turned = op.step("Transpose", [parted], perm=[0, 2, 1, 3])
    shape = op.step("Shape", op.inputs)
    op.emit("Reshape", op.dims(), [turned, shape])


def _memory(op: Operation) -> None:
    dims = [op.integer(key) for key in (2, 11, 1, 0)]
    sizes = [size for size in dims if size > 0]
    op.give(op.weight("data", [1, *sizes]), list(sizes))


def _arg_max(op: Operation) -> None:
    count = max(op.integer(1, 1), 1)
    names = [op.output(), op.builder.fresh("indices")]
    number = op.builder.constant([count])
    data = op.step("Flatten", op.inputs, axis=1) if op.rank() > 1 else op.inputs[0]
    op.builder.node("TopK", [data, number], names, name=op.layer.name, axis=-1)
    op.give(names[0], [count])


def _detections(key: int) -> Handler:
    """Return the handler of a list of boxes, of which the file states the largest number."""

    def convert(op: Operation) -> None:
        op.unknown([max(op.integer(key, 100), 1), 6])

    return convert


def _prior_box(op: Operation) -> None:
    smallest, largest = (op.layer.arrays.get(key, []) for key in (0, 1))
    ratios = op.layer.arrays.get(2, [])
    height, width = (op.dims()[-2:]) if op.rank() == 3 else (None, None)
    if height is None or width is None:
        op.unknown([2, None])
        return
    flipped = 2 if op.integer(7, 1) else 1
    boxes = len(smallest) * (1 + len(ratios) * flipped) + len(largest)
    op.unknown([2, 4 * boxes * height * width])


def _unfold(op: Operation) -> None:
    op.unknown([None, None])


HANDLERS: Final[dict[str, Handler]] = {
    "ArgMax": _arg_max,
    "Concat": _concat,
    "DetectionOutput": _detections(3),
    "ExpandDims": _expand,
    "Flatten": _flatten,
    "MemoryData": _memory,
    "Permute": _permute,
    "PixelShuffle": _pixel_shuffle,
    "PriorBox": _prior_box,
    "Reorg": _reorg,
    "Reshape": _reshape,
    "ShuffleChannel": _shuffle_channels,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Unfold": _unfold,
    "YoloDetectionOutput": _detections(99),
    "Yolov3DetectionOutput": _detections(99),
}
"""Handlers by type of layer."""
