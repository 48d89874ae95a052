"""The order of axes that a value has in the ONNX model, and which values are images.

The file orders the axes of an image rows, columns, channels; the ONNX model has channels first. A
layout names, for each axis in the model, the axis of the file that it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from predictor.formats.tflite.file import Operator, Subgraph

Layout: TypeAlias = tuple[int, ...]


def as_filed(rank: int) -> Layout:
    """Return the layout of the file itself."""
    return tuple(range(rank))


def channels_first(rank: int) -> Layout:
    """Return the layout of an image: batch, channels, pixels."""
    return (0, rank - 1, *range(1, rank - 1))


def arranged(sizes: Sequence[int], layout: Layout) -> list[int]:
    """Return sizes of the axes of the file in the order of a layout."""
    return [sizes[axis] for axis in layout]


def is_view(sizes: Sequence[int], first: Layout, second: Layout) -> bool:
    """Whether two layouts order the elements alike: only axes of one element change places."""
    return [a for a in first if sizes[a] != 1] == [a for a in second if sizes[a] != 1]


def is_regrouped(
    first: Sequence[int], layout: Layout, second: Sequence[int], new_layout: Layout
) -> bool:
    """Whether axes are only split and joined: elements stand alike in two layouts of two shapes.

    Args:
        first: sizes of the axes in the file, an open one as -1.
        layout: of these.
        second: sizes that they are reshaped to.
        new_layout: of those.
    """
    groups = _groups(first, second)
    if groups is None:
        return False
    orders = []
    for numbers, order in zip(groups, (layout, new_layout), strict=True):
        axes = [axis for axis in order if axis in numbers]
        inside: dict[int, list[int]] = {}
        for axis in axes:
            inside.setdefault(numbers[axis], []).append(axis)
        merged = [
            n for i, n in enumerate(numbers[a] for a in axes) if not i or n != numbers[axes[i - 1]]
        ]
        if len(merged) > len(inside) or any(part != sorted(part) for part in inside.values()):
            return False
        orders.append(merged)
    return orders[0] == orders[1]


def _groups(
    first: Sequence[int], second: Sequence[int]
) -> tuple[dict[int, int], dict[int, int]] | None:
    """Return the groups of axes of two shapes that have the same elements, by axis.

    Axes of one element are in no group. None where the shapes do not fit together.
    """
    numbers: tuple[dict[int, int], dict[int, int]] = ({}, {})
    rests = [
        [(axis, size) for axis, size in enumerate(sizes) if size != 1] for sizes in (first, second)
    ]
    group = 0
    while rests[0] and rests[1]:
        group += 1
        products = [1, 1]
        while True:
            side = 0 if products[0] <= products[1] else 1
            if not rests[side]:
                return None
            axis, size = rests[side].pop(0)
            if size < 0 and (
                products != [1, 1] or (rests[1 - side][:1] and rests[1 - side][0][1] != size)
            ):
                return None
            numbers[side][axis] = group
            if size < 0:
                numbers[1 - side][rests[1 - side].pop(0)[0]] = group
                break
            products[side] *= size
            if products[0] == products[1]:
                break
    return numbers if not rests[0] and not rests[1] else None


def without(layout: Layout, axes: Sequence[int]) -> Layout:
    """Return the layout after axes of the file are dropped."""
    remaining = sorted(set(layout) - set(axes))
    return tuple(remaining.index(axis) for axis in layout if axis not in axes)


# Position of the image among the inputs of operators on pixels.
_IMAGE_INPUTS: Final = {
    **dict.fromkeys(
        (
            *("AVERAGE_POOL_2D", "BATCH_TO_SPACE_ND", "CONV_2D", "CONV_3D", "DEPTHWISE_CONV_2D"),
            *("DEPTH_TO_SPACE", "L2_POOL_2D", "LOCAL_RESPONSE_NORMALIZATION", "MAX_POOL_2D"),
            *("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH"),
            "Convolution2DTransposeBias",
        ),
        0,
    ),
    "CONV_3D_TRANSPOSE": 2,
    "TRANSPOSE_CONV": 2,
}
# Their result has the order of what they read, whichever it is.
_NEUTRAL_WORDS: Final = """
    ABS ADD ADD_N ATAN2 BITWISE_XOR CAST CEIL CONCATENATION COS DEQUANTIZE DIV ELU EQUAL EXP
    FAKE_QUANT FLOOR FLOOR_DIV FLOOR_MOD GELU GREATER GREATER_EQUAL HARD_SWISH L2_NORMALIZATION
    LEAKY_RELU LESS LESS_EQUAL LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOGISTIC LOG_SOFTMAX MAXIMUM
    MEAN MINIMUM MIRROR_PAD MUL NEG NOT_EQUAL PAD PADV2 POW PRELU QUANTIZE REDUCE_MAX REDUCE_MIN
    REDUCE_PROD RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 REVERSE_V2 ROUND RSQRT SELECT SELECT_V2 SIGN SIN
    SLICE SOFTMAX SPLIT SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM TANH TILE
    ZEROS_LIKE
"""
_NEUTRAL: Final = frozenset(_NEUTRAL_WORDS.split())
_IMAGE_RANKS: Final = (4, 5)


def images_of(graph: Subgraph) -> set[int]:
    """Return the tensors that operators on pixels read, also through neutral operators."""
    images: set[int] = set()
    for operator in reversed(graph.operators):
        for index in _image_inputs(operator, images):
            if index >= 0 and len(graph.tensors[index].dims) in _IMAGE_RANKS:
                images.add(index)
    return images


def _image_inputs(operator: Operator, images: set[int]) -> Sequence[int]:
    position = _IMAGE_INPUTS.get(operator.type)
    if position is not None:
        return operator.inputs[position : position + 1]
    if operator.type in _NEUTRAL and not images.isdisjoint(operator.outputs):
        return operator.inputs
    return ()
