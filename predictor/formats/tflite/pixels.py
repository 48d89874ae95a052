"""Operators on images, channels first: convolutions, poolings, changes of size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tflite

from predictor.formats.tflite.file import Operator
from predictor.formats.tflite.layouts import Layout, channels_first
from predictor.formats.tflite.translation import Translation

# Output, row, column, input to output, input, row, column; of depthwise weights 1, row, column,
# channel to channel, 1, row, column; of 3-D ones depth, row, column, input, output to output, ...
_WEIGHTS: Final = (0, 3, 1, 2)
_DEPTHWISE_WEIGHTS: Final = (3, 0, 1, 2)
_TRANSPOSED_WEIGHTS: Final = (3, 0, 1, 2)
_VOLUME_WEIGHTS: Final = (4, 3, 0, 1, 2)
# Depth, row, column, output, input to input, output, ...
_TRANSPOSED_VOLUME_WEIGHTS: Final = (4, 3, 0, 1, 2)
_POOLS: Final = {
    "AVERAGE_POOL_2D": "AveragePool",
    "L2_POOL_2D": "LpPool",
    "MAX_POOL_2D": "MaxPool",
}


def _padding(operator: Operator) -> str:
    return "VALID" if operator.option("Padding") == tflite.Padding.VALID else "SAME_UPPER"


def _steps(operator: Operator, name: str, suffix: str = "") -> list[int] | None:
    """Return an option for rows and columns; None where it is 1."""
    axes = "DHW" if operator.option(f"{name}D{suffix}", 0) else "HW"
    steps = [operator.option(f"{name}{axis}{suffix}", 1) for axis in axes]
    if min(steps) < 1:
        raise ValueError(steps)
    return steps if any(step != 1 for step in steps) else None


def convolution(translation: Translation, operator: Operator) -> None:
    """Translate a convolution of two or three dimensions, grouped where its weights are."""
    data, weights = operator.inputs[:2]
    dims = translation.tensor(weights).dims
    layout = _WEIGHTS if len(dims) == 4 else _VOLUME_WEIGHTS
    inner = dims[layout[1]]
    groups = translation.tensor(data).dims[-1] // inner
    _convolve(translation, operator, layout, dims, groups if groups > 1 else None)


def depthwise(translation: Translation, operator: Operator) -> None:
    """Translate a convolution of single channels."""
    data, weights = operator.inputs[:2]
    channels = translation.tensor(data).dims[-1]
    dims = translation.tensor(weights).dims
    _convolve(translation, operator, _DEPTHWISE_WEIGHTS, dims, channels if channels > 1 else None)


def _convolve(
    translation: Translation,
    operator: Operator,
    layout: Layout,
    dims: Sequence[int],
    groups: int | None,
) -> None:
    image = channels_first(len(dims))
    is_integer = translation.is_integer(operator, "Conv")
    operands = [translation.operand(operator.inputs[0], image, is_integer=is_integer)]
    operands.append(translation.operand(operator.inputs[1], layout, is_integer=is_integer))
    operands += _bias(translation, operator, is_integer=is_integer)
    translation.node(
        operator,
        "Conv",
        operands,
        image,
        is_integer=is_integer,
        auto_pad=_padding(operator),
        dilations=_steps(operator, "Dilation", "Factor"),
        group=groups,
        kernel_shape=[dims[axis] for axis in layout[2:]],
        strides=_steps(operator, "Stride"),
    )


def _bias(
    translation: Translation, operator: Operator, at: int = 2, *, is_integer: bool
) -> list[str]:
    if not translation.has(operator, at):
        return []
    return [translation.operand(operator.inputs[at], None, is_integer=is_integer)]


def transposed_convolution(translation: Translation, operator: Operator) -> None:
    """Translate a transposed convolution: the size of its result, weights, data, bias."""
    data, weights = operator.inputs[2], operator.inputs[1]
    _transpose_convolve(translation, operator, data, weights, 3)


def transposed_convolution_with_bias(translation: Translation, operator: Operator) -> None:
    """Translate the custom operator of this name: data, weights, bias; steps follow from sizes."""
    data, weights = operator.inputs[:2]
    _transpose_convolve(translation, operator, data, weights, 2)


def _transpose_convolve(
    translation: Translation, operator: Operator, data: int, weights: int, bias_at: int
) -> None:
    dims = translation.tensor(weights).dims
    image = channels_first(len(dims))
    layout = _TRANSPOSED_WEIGHTS if len(dims) == 4 else _TRANSPOSED_VOLUME_WEIGHTS
    is_integer = translation.is_integer(operator, "ConvTranspose")
    sizes = translation.tensor(data).dims[1:-1]
    results = translation.tensor(operator.outputs[0]).dims[1:-1]
    kernel = [dims[axis] for axis in layout[2:]]
    strides = _steps(operator, "Stride")
    if operator.is_custom:
        strides = [
            max(result // max(size, 1), 1) for result, size in zip(results, sizes, strict=True)
        ]
    rows = zip(sizes, results, kernel, strides or [1] * len(sizes), strict=True)
    # The sum of all windows is cut to the size of the result, more behind than before.
    totals = [(size - 1) * step + width - result for size, result, width, step in rows]
    pads = [max(total, 0) // 2 for total in totals]
    pads += [max(total, 0) - pad for total, pad in zip(totals, pads, strict=True)]
    extra = [max(-total, 0) for total in totals]
    operands = [translation.operand(data, image, is_integer=is_integer)]
    operands.append(translation.operand(weights, layout, is_integer=is_integer))
    operands += _bias(translation, operator, bias_at, is_integer=is_integer)
    translation.node(
        operator,
        "ConvTranspose",
        operands,
        image,
        is_integer=is_integer,
        kernel_shape=kernel,
        output_padding=extra if any(extra) else None,
        pads=pads if any(pads) else None,
        strides=strides,
    )


def pool(translation: Translation, operator: Operator) -> None:
    """Translate a pooling of windows; a Pad that it alone reads is its padding."""
    data, op_type = operator.inputs[0], _POOLS[operator.type]
    kernel = [operator.option("FilterHeight", 1), operator.option("FilterWidth", 1)]
    if min(kernel) < 1:
        raise ValueError(kernel)
    attributes: dict[str, Any] = {"auto_pad": _padding(operator)}
    pad = translation.producers.get(data)
    pads = None if pad is None else padding_of(translation, pad, operator)
    if pad is not None and pads is not None and op_type != "LpPool":
        data = pad.inputs[0]
        attributes = {"pads": [p for pair in zip(*pads[1:3], strict=True) for p in pair]}
        if op_type == "AveragePool":
            attributes["count_include_pad"] = 1
    image = channels_first(4)
    translation.node(
        operator,
        op_type,
        [data],
        image,
        operand_layout=image,
        kernel_shape=kernel,
        strides=_steps(operator, "Stride"),
        **attributes,
    )


def padding_of(
    translation: Translation, pad: Operator, pooling: Operator
) -> list[list[int]] | None:
    """Return the paddings of a Pad that belongs to a pooling: starts and ends by axis."""
    wanted = {"MAX_POOL_2D": ("PADV2",), "AVERAGE_POOL_2D": ("PAD", "PADV2")}
    if (
        pad.type not in wanted.get(pooling.type, ())
        or len(translation.users.get(pad.outputs[0], ())) != 1
        or pad.outputs[0] in translation.graph.outputs
        or _padding(pooling) != "VALID"
        or len(pad.inputs) < 2
    ):
        return None
    paddings = translation.values(pad.inputs[1])
    if paddings is None or paddings.shape != (4, 2) or paddings[[0, 3]].any():
        return None
    kernel = (pooling.option("FilterHeight", 1), pooling.option("FilterWidth", 1))
    if not all(0 <= p < k for row, k in zip(paddings[1:3], kernel, strict=True) for p in row):
        return None
    if len(pad.inputs) > 2 and not _is_neutral(translation, pad.inputs[2], pooling.type):
        return None
    rows: list[list[int]] = paddings.astype(np.int64).tolist()
    return rows


def _is_neutral(translation: Translation, index: int, pooling: str) -> bool:
    """Whether a number does not change the result of a pooling."""
    value = translation.values(index)
    if value is None or value.size != 1:
        return False
    number = value.reshape(-1)[0]
    if pooling == "AVERAGE_POOL_2D":
        return bool(number == 0)
    lowest = np.iinfo(value.dtype).min if value.dtype.kind in "iu" else np.finfo(value.dtype).min
    return bool(number <= lowest)


def resize(translation: Translation, operator: Operator) -> None:
    """Translate a change of size, bilinear or to the nearest pixel."""
    data, image = operator.inputs[0], channels_first(4)
    size = operator.inputs[1]
    pixels = translation.integers(size)
    mode = "nearest" if operator.type == "RESIZE_NEAREST_NEIGHBOR" else "linear"
    transformation = "asymmetric"
    if operator.option("AlignCorners"):
        transformation = "align_corners"
    elif operator.option("HalfPixelCenters"):
        transformation = "half_pixel"
    builder = translation.builder
    target = translation.as_int64(size) if pixels is None else builder.constant(pixels)
    shape = builder.node("Shape", [translation.value(data, image)], end=2)
    inputs = ["", "", builder.node("Concat", [shape, target], axis=0)]
    translation.node(
        operator,
        "Resize",
        [data, *inputs],
        image,
        operand_layout=image,
        coordinate_transformation_mode=transformation,
        mode=mode,
        nearest_mode="floor" if mode == "nearest" else None,
    )


def blocks(translation: Translation, operator: Operator) -> None:
    """Translate moves of blocks of pixels to channels and back."""
    op_type = "DepthToSpace" if operator.type == "DEPTH_TO_SPACE" else "SpaceToDepth"
    image = channels_first(4)
    translation.node(
        operator,
        op_type,
        operator.inputs[:1],
        image,
        operand_layout=image,
        blocksize=operator.option("BlockSize", 1),
    )


def response_normalization(translation: Translation, operator: Operator) -> None:
    """Translate a normalisation over neighbouring channels."""
    image = channels_first(4)
    translation.node(
        operator,
        "LRN",
        operator.inputs[:1],
        image,
        operand_layout=image,
        alpha=float(operator.option("Alpha", 1.0)),
        beta=float(operator.option("Beta", 0.5)),
        bias=float(operator.option("Bias", 1.0)),
        size=2 * operator.option("Radius", 5) + 1,
    )


def _blocks(
    translation: Translation, operator: Operator
) -> tuple[list[int], list[int], list[int], int]:
    """Return the sizes of blocks, their margins, and the pixels and channels of an image."""
    _, *pixels, channels = translation.tensor(operator.inputs[0]).dims
    return translation.steering(operator, 1), translation.steering(operator, 2), pixels, channels


def space_to_batch(translation: Translation, operator: Operator) -> None:
    """Translate pixels that become images of a batch: a Pad and a Transpose."""
    block, paddings, pixels, channels = _blocks(translation, operator)
    builder, image = translation.builder, channels_first(2 + len(pixels))
    pads = [0, 0, *paddings[::2], 0, 0, *paddings[1::2]]
    value = translation.value(operator.inputs[0], image)
    if any(pads):
        value = builder.node("Pad", [value, builder.constant(pads)])
    padded = [size + sum(paddings[2 * i : 2 * i + 2]) for i, size in enumerate(pixels)]
    split = [
        part for size, step in zip(padded, block, strict=True) for part in (size // step, step)
    ]
    value = translation.reshaped(value, [-1, channels, *split])
    inner = range(3, 3 + 2 * len(block), 2)
    order = [*inner, 0, 1, *(position - 1 for position in inner)]
    value = builder.node("Transpose", [value], perm=order)
    sizes = [-1, channels, *split[::2]]
    _reshaped_image(translation, operator, value, sizes, image)


def batch_to_space(translation: Translation, operator: Operator) -> None:
    """Translate images of a batch that become pixels: a Transpose and a Slice."""
    block, crops, pixels, channels = _blocks(translation, operator)
    builder, image = translation.builder, channels_first(2 + len(pixels))
    count = len(block)
    value = translation.value(operator.inputs[0], image)
    value = translation.reshaped(value, [*block, -1, channels, *pixels])
    order = [count, count + 1]
    order += [axis for i in range(count) for axis in (count + 2 + i, i)]
    value = builder.node("Transpose", [value], perm=order)
    sizes = [size * step for size, step in zip(pixels, block, strict=True)]
    if not any(crops):
        _reshaped_image(translation, operator, value, [-1, channels, *sizes], image)
        return
    value = translation.reshaped(value, [-1, channels, *sizes])
    ends = [size - crops[2 * i + 1] for i, size in enumerate(sizes)]
    bounds = [crops[::2], ends, list(range(2, 2 + len(pixels)))]
    inputs: list[int | str] = [value, *map(builder.constant, bounds)]
    translation.node(operator, "Slice", inputs, image)


def _reshaped_image(
    translation: Translation, operator: Operator, value: str, sizes: list[int], image: Layout
) -> None:
    target = translation.builder.constant(sizes)
    translation.node(operator, "Reshape", [value, target], image)


RULES: Final = {
    **dict.fromkeys(_POOLS, pool),
    "BATCH_TO_SPACE_ND": batch_to_space,
    "CONV_2D": convolution,
    "CONV_3D": convolution,
    "CONV_3D_TRANSPOSE": transposed_convolution,
    "Convolution2DTransposeBias": transposed_convolution_with_bias,
    "DEPTHWISE_CONV_2D": depthwise,
    "DEPTH_TO_SPACE": blocks,
    "LOCAL_RESPONSE_NORMALIZATION": response_normalization,
    "RESIZE_BILINEAR": resize,
    "RESIZE_NEAREST_NEIGHBOR": resize,
    "SPACE_TO_BATCH_ND": space_to_batch,
    "SPACE_TO_DEPTH": blocks,
    "TRANSPOSE_CONV": transposed_convolution,
}
