"""Operators that give a value another shape or order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from predictor.formats.tflite.file import Operator
from predictor.formats.tflite.layouts import (
    Layout,
    arranged,
    as_filed,
    channels_first,
    is_regrouped,
    is_view,
    without,
)
from predictor.formats.tflite.translation import Translation

# Their weights are constants, so that elements of a row may stand in any order before and after.
_DENSE: Final = "FULLY_CONNECTED"
_FOLLOWED: Final = 8  # operators between a dense layer and the Reshape of its result


def reshape(translation: Translation, operator: Operator) -> None:
    """Translate a new shape, after a Transpose where it mixes channels and pixels."""
    data, result = operator.inputs[0], operator.outputs[0]
    target = _target(translation, operator)
    if translation.stacks.get(data, ("", ()))[1] == tuple(target):
        translation.define(result, translation.stacks[data][0], as_filed(len(target)))
        return
    if _exchanges_batch(translation.tensor(data).signature, target):
        value = translation.value(data, as_filed(3))
        translation.node(operator, "Transpose", [value], perm=[1, 0, 2])
        return
    _note_stack(translation, data, result, target)
    if target.count(-1) > 1:
        _computed_reshape(translation, operator)
        return
    source, present = translation.tensor(data).signature, translation.layout(data)
    ordered, plain = as_filed(len(source)), as_filed(len(target))
    image = channels_first(len(target)) if len(target) in (4, 5) else plain
    layout = image if result in translation.images else plain
    value = translation.value(data)
    if is_regrouped(source, present, target, layout):
        pass
    elif present != ordered and is_regrouped(source, present, target, image):
        layout = image
    elif present != ordered and _is_free_after(translation, operator, target):
        layout = plain
    elif present == ordered and _is_free_before(translation, data, target):
        layout = image
    elif layout == plain and _joins_pixels(source, present, target):
        value = translation.reshaped(value, [target[0], target[2], target[1]])
        value = translation.builder.node("Transpose", [value], perm=[0, 2, 1])
        translation.node(operator, "Identity", [value])
        return
    elif present == ordered and layout != plain and _splits_pixels(source, target):
        value = translation.builder.node("Transpose", [value], perm=[0, 2, 1])
    else:
        value, layout = translation.value(data, ordered), plain
    _reshape_to(translation, operator, value, arranged(target, layout), layout)


def _reshape_to(
    translation: Translation, operator: Operator, value: str, sizes: Sequence[int], layout: Layout
) -> None:
    name = translation.free_name(operator.outputs[0])
    translation.reshaped(value, sizes, name)
    translation.define(operator.outputs[0], name, layout)


def _exchanges_batch(source: Sequence[int], target: Sequence[int]) -> bool:
    """Whether a sequence and its batch of one change places: a view at that batch alone."""
    if len(source) != 3 or len(target) != 3 or source[0] == source[1]:
        return False
    return [source[1], source[0], source[2]] == [*target] and 1 in source[:2]


def _note_stack(translation: Translation, data: int, result: int, target: Sequence[int]) -> None:
    """Note matrices of a stack whose leading axes are joined."""
    dims = translation.tensor(data).signature
    is_joined = len(dims) == 4 and len(target) == 3 and [*dims[2:]] == [*target[1:]]
    if is_joined and -1 not in dims and translation.layout(data) == as_filed(4):
        translation.stacks[result] = translation.value(data), dims


def _target(translation: Translation, operator: Operator) -> list[int]:
    """Return the sizes of a result: those that the file states, an open one as -1."""
    result = translation.tensor(operator.outputs[0])
    source = translation.tensor(operator.inputs[0])
    if -1 not in result.signature and math.prod(result.dims) == math.prod(source.dims):
        return _with_open_batch(source.signature, [*result.signature])
    stated = operator.integers("NewShape")
    if len(operator.inputs) > 1 and operator.inputs[1] >= 0:
        stated = translation.integers(operator.inputs[1]) or stated
    target = stated if len(stated) == len(result.dims) else [*result.signature]
    return _with_one_open(source.signature, target)


def _with_one_open(source: Sequence[int], target: list[int]) -> list[int]:
    """Fill in one of two open sizes where the batch is the other."""
    is_batched = source[:1] == (-1,) and source.count(-1) == 1 and target[:1] == [-1]
    if not is_batched or target.count(-1) != 2:
        return target
    rest, remainder = divmod(math.prod(source[1:]), max(math.prod(s for s in target if s != -1), 1))
    return target if remainder else [-1, *(rest if size == -1 else size for size in target[1:])]


def _with_open_batch(source: Sequence[int], target: list[int]) -> list[int]:
    """Leave a size open that the file fixes though it is that of an open batch."""
    if source[:1] == (-1,) and source.count(-1) == 1 and target:
        target[0] = -1
    return target


def _computed_reshape(translation: Translation, operator: Operator) -> None:
    """Translate a shape of several open sizes, which the network computes."""
    data = translation.value(operator.inputs[0], as_filed(translation.rank(operator.inputs[0])))
    sizes = translation.as_int64(operator.inputs[1])
    translation.node(operator, "Reshape", [data, sizes])


def _joins_pixels(source: Sequence[int], layout: Layout, target: Sequence[int]) -> bool:
    """Whether an image with channels first becomes rows of pixels."""
    is_image = len(source) == 4 and layout == channels_first(4) and len(target) == 3
    return is_image and target[2] == source[3] and target[0] in (source[0], -1)


def _splits_pixels(source: Sequence[int], target: Sequence[int]) -> bool:
    """Whether rows of pixels become an image."""
    is_rows = len(source) == 3 and len(target) == 4
    return is_rows and target[3] == source[2] and target[0] in (source[0], -1)


def _is_free_after(translation: Translation, operator: Operator, target: Sequence[int]) -> bool:
    """Whether dense layers alone read a flattened image."""
    users = translation.users.get(operator.outputs[0], ())
    is_output = operator.outputs[0] in translation.graph.outputs
    image = translation.tensor(operator.inputs[0]).dims
    return (
        len(target) == 2
        and target[1] == math.prod(image[1:])
        and not is_output
        and bool(users)
        and all(u.type == _DENSE and translation.is_constant(u.inputs[1]) for u in users)
    )


def _is_free_before(translation: Translation, data: int, target: Sequence[int]) -> bool:
    """Whether a dense layer made the elements of an image, activations behind it."""
    if translation.tensor(data).signature[:1] != tuple(target[:1]):
        return False
    for _ in range(_FOLLOWED):
        maker = translation.producers.get(data)
        if maker is None or len(target) != 4 or len(translation.users.get(data, ())) != 1:
            return False
        if maker.type == _DENSE:
            return translation.is_constant(maker.inputs[1])
        dynamic = [i for i in maker.inputs if i >= 0 and not translation.is_constant(i)]
        if len(dynamic) != 1 or translation.rank(dynamic[0]) != 2 or maker.type == "SOFTMAX":
            return False
        data = dynamic[0]
    return False


def transpose(translation: Translation, operator: Operator) -> None:
    """Translate another order of axes.

    One between the two orders of an image is none in the model: its result is the same value.
    """
    if operator.type == "TRANSPOSE":
        order = translation.steering(operator, 1)
    else:
        order = operator.integers("Permutation")
    data, result = operator.inputs[0], operator.outputs[0]
    rank = translation.rank(data)
    order = [axis % rank for axis in order]
    if sorted(order) != list(range(rank)):
        raise ValueError(order)
    present = translation.layout(data)
    same = tuple(order.index(axis) for axis in present)
    image = channels_first(rank) if rank in (4, 5) else as_filed(rank)
    wanted = image if result in translation.images else as_filed(rank)
    if same == wanted != present or (present == same == wanted):
        translation.define(result, translation.value(data), same)
        return
    target = tuple(order[axis] for axis in wanted)
    if is_view(translation.tensor(data).signature, present, target):
        sizes = arranged(translation.tensor(data).signature, target)
        _reshape_to(translation, operator, translation.value(data), sizes, wanted)
        return
    translation.transposed[result] = data, order
    perm = [present.index(axis) for axis in target]
    translation.node(operator, "Transpose", [translation.value(data)], wanted, perm=perm)


def squeeze(translation: Translation, operator: Operator) -> None:
    """Translate axes of one element that are dropped."""
    data = operator.inputs[0]
    dims = translation.tensor(data).dims
    axes = [axis % len(dims) for axis in operator.integers("SqueezeDims")]
    axes = axes or [axis for axis, size in enumerate(dims) if size == 1]
    layout = translation.layout(data)
    inputs = [
        translation.value(data),
        translation.builder.constant([layout.index(axis) for axis in axes]),
    ]
    translation.node(operator, "Squeeze", inputs, without(layout, axes))


def expand_dims(translation: Translation, operator: Operator) -> None:
    """Translate an axis of one element that is added; channels stay first."""
    data = operator.inputs[0]
    layout = translation.layout(data)
    rank = len(layout)
    axis = translation.steering(operator, 1)[0] % (rank + 1)
    is_image = layout == channels_first(rank) != as_filed(rank) and 0 < axis < rank
    layout = channels_first(rank + 1) if is_image else as_filed(rank + 1)
    value = translation.value(data, None if is_image else as_filed(rank))
    inputs = [value, translation.builder.constant([layout.index(axis)])]
    translation.node(operator, "Unsqueeze", inputs, layout)


def shape(translation: Translation, operator: Operator) -> None:
    """Translate the sizes of a value, in the file's order."""
    data, builder = operator.inputs[0], translation.builder
    sizes = builder.node("Shape", [translation.value(data)])
    layout = translation.layout(data)
    if layout != as_filed(len(layout)):
        order = builder.constant([layout.index(axis) for axis in range(len(layout))])
        sizes = builder.node("Gather", [sizes, order])
    dtype = translation.tensor(operator.outputs[0]).dtype
    translation.node(operator, "Cast", [sizes], to=dtype)


def rank_of(translation: Translation, operator: Operator) -> None:
    """Translate the number of axes of a value."""
    index = operator.outputs[0]
    number = translation.builder.constant([translation.rank(operator.inputs[0])])
    translation.define(index, translation.reshaped(number, []), ())


def broadcast_to(translation: Translation, operator: Operator) -> None:
    """Translate a value that is repeated to a shape."""
    data = operator.inputs[0]
    result = translation.tensor(operator.outputs[0])
    sizes = translation.integers(operator.inputs[1])
    builder = translation.builder
    if sizes is None:
        sizes = [] if -1 in result.signature else [*result.dims]
    target = builder.constant(sizes) if sizes else translation.as_int64(operator.inputs[1])
    value = translation.value(data, as_filed(translation.rank(data)))
    translation.node(operator, "Expand", [value, target])


def tile(translation: Translation, operator: Operator) -> None:
    """Translate a value that is repeated along its axes."""
    data, repeats = operator.inputs[0], translation.integers(operator.inputs[1])
    layout, builder = translation.layout(data), translation.builder
    if repeats is None:
        value = translation.value(data, as_filed(translation.rank(data)))
        counts = translation.as_int64(operator.inputs[1])
        translation.node(operator, "Tile", [value, counts])
        return
    counts = builder.constant(arranged(repeats, layout))
    translation.node(operator, "Tile", [data, counts], layout)


def fill(translation: Translation, operator: Operator) -> None:
    """Translate a constant in a computed shape."""
    sizes = translation.as_int64(operator.inputs[0])
    translation.node(operator, "Expand", [translation.value(operator.inputs[1]), sizes])


RULES: Final = {
    "BROADCAST_TO": broadcast_to,
    "EXPAND_DIMS": expand_dims,
    "FILL": fill,
    "RANK": rank_of,
    "RESHAPE": reshape,
    "SHAPE": shape,
    "SQUEEZE": squeeze,
    "STABLEHLO_RESHAPE": reshape,
    "STABLEHLO_TRANSPOSE": transpose,
    "TILE": tile,
    "TRANSPOSE": transpose,
}
