"""Slices."""

from __future__ import annotations

from typing import Any, Final

from predictor.formats.builder import MisfitError
from predictor.formats.openvino.operation import Handler, Operation

_LARGEST: Final = 2**63 - 1


def _new_slice(op: Operation) -> None:
    bounds = [op.as_int64(index) for index in (1, 2)]
    axes = op.as_int64(4) if op.has(4) else ""
    op.emit("Slice", [op.inputs[0], *bounds, axes, op.as_int64(3)])


def _strided_slice(op: Operation) -> None:
    """A slice of the first axes, of which masks leave bounds open, add and drop axes."""
    count = op.port(1).dims[0] if op.port(1).dims else 0
    if count is None:
        raise MisfitError("slices an open number of axes")
    masks = {key: _mask(op, key, count) for key in ("new_axis", "shrink_axis", "ellipsis")}
    places = _places(op, count, masks)
    sliced = [i for i in range(count) if not masks["new_axis"][i] and not masks["ellipsis"][i]]
    value = op.inputs[0]
    if sliced:
        value = _sliced(op, [(i, places[i]) for i in sliced], masks["shrink_axis"])
    # Axes count in the result: those that are dropped first, then those that are new.
    dropped = [places[i] for i in sliced if masks["shrink_axis"][i]]
    if dropped:
        value = op.step("Squeeze", [value, op.builder.constant(dropped)])
    added = _added(op, count, masks)
    if added:
        value = op.step("Unsqueeze", [value, op.builder.constant(added)])
    op.emit("Identity", [value])


def _mask(op: Operation, key: str, count: int) -> list[bool]:
    bits = [bool(bit) for bit in op.integers(f"{key}_mask")][:count]
    return bits + [False] * (count - len(bits))


def _places(op: Operation, count: int, masks: dict[str, list[bool]]) -> list[int]:
    """Return the axis of the data that each bound is of."""
    real = sum(not masks["new_axis"][i] and not masks["ellipsis"][i] for i in range(count))
    places, axis = [], 0
    for i in range(count):
        places.append(axis)
        if masks["ellipsis"][i]:
            axis += max(op.rank() - real, 0)
        elif not masks["new_axis"][i]:
            axis += 1
    return places


def _added(op: Operation, count: int, masks: dict[str, list[bool]]) -> list[int]:
    """Return the axes of the result that are new."""
    added, axis = [], 0
    real = sum(not masks["new_axis"][i] and not masks["ellipsis"][i] for i in range(count))
    for i in range(count):
        if masks["ellipsis"][i]:
            axis += max(op.rank() - real, 0)
        elif masks["new_axis"][i]:
            added.append(axis)
            axis += 1
        elif not masks["shrink_axis"][i]:
            axis += 1
    return added


def _sliced(op: Operation, bounds: list[tuple[int, int]], shrunk: list[bool]) -> str:
    chosen = [i for i, _ in bounds]
    steps = op.values(3) if op.has(3) else None
    strides = [1 if steps is None else int(steps[i]) for i in chosen]
    starts = _bounds(op, 1, chosen, strides, op.integers("begin_mask"), (0, -1))
    ends = _bounds(op, 2, chosen, strides, op.integers("end_mask"), (_LARGEST, -_LARGEST))
    first = op.values(1)
    if first is not None:
        # One element is taken whatever the end says.
        for at, i in enumerate(chosen):
            if shrunk[i]:
                starts[at] = int(first[i])
                ends[at] = starts[at] + 1 if starts[at] != -1 else _LARGEST
    inputs = [_joined(op, starts), _joined(op, ends)]
    axes = op.builder.constant([axis for _, axis in bounds])
    return op.step("Slice", [op.inputs[0], *inputs, axes, op.builder.constant(strides)])


def _bounds(
    op: Operation,
    index: int,
    chosen: list[int],
    strides: list[int],
    mask: list[int],
    open_bounds: tuple[int, int],
) -> list[Any]:
    """Return bounds of axes: numbers, and names of values that are computed."""
    values = op.values(index)
    bounds: list[Any] = []
    for i, stride in zip(chosen, strides, strict=True):
        if i < len(mask) and mask[i]:
            bounds.append(open_bounds[stride < 0])
        elif values is not None:
            bounds.append(int(values[i]))
        elif op.is_constant(index) and op.maker(index).type == "Const":
            bounds.append(op.needed(index)[i])  # raises: the file is missing
        else:
            picked = op.builder.constant([i])
            bounds.append(op.step("Gather", [op.as_int64(index), picked], axis=0))
    return bounds


def _joined(op: Operation, bounds: list[Any]) -> str:
    if all(isinstance(bound, int) for bound in bounds):
        return op.builder.constant(bounds)
    names = [bound if isinstance(bound, str) else op.builder.constant([bound]) for bound in bounds]
    return op.step("Concat", names, axis=0)


HANDLERS: Final[dict[str, Handler]] = {
    "slice": _new_slice,
    "stridedslice": _strided_slice,
}
"""Handlers by operation in lower case."""
