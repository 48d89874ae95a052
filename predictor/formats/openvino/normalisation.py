"""Normalisations, with the scale and shift that follow one as layers of their own."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from predictor.formats.openvino.document import Layer, Port
from predictor.formats.openvino.operation import Handler, Operation


def _batch_norm(op: Operation) -> None:
    """Opset 1 has the data third."""
    order = (0, 1, 2, 3, 4)
    if op.rank(0) == 1 and op.rank(2) > 1:
        order = (2, 0, 1, 3, 4)
    op.emit("BatchNormalization", [op.inputs[i] for i in order])


def _group_norm(op: Operation) -> None:
    op.emit("GroupNormalization", num_groups=max(op.integer("num_groups", 1), 1))


def _rms(op: Operation) -> None:
    op.emit("SimplifiedLayerNormalization", domain="com.microsoft", axis=-1)


def _mvn(op: Operation) -> None:
    """With its scale and shift it is a layer or instance normalisation, else its steps."""
    axes = _axes(op)
    rank = op.rank()
    is_tail = axes == list(range(axes[0], rank)) if axes else False
    affine = _affine(op)
    if op.flag("normalize_variance", True) and is_tail and affine is not None:
        shape = op.out().static
        readers, scale, shift = affine
        constants, epsilon = (scale, shift), op.number("eps", 1e-5)
        if axes[0] == 2 and rank > 2 and shape is not None and _is_of(op, constants, shape[1]):
            inputs = [op.inputs[0], *(op.reshaped(name, [shape[1]]) for name, _ in constants)]
            op.emit_joined(readers, "InstanceNormalization", inputs, epsilon=epsilon)
            return
        if all(_is_tail(op, port.dims, axes[0]) for _, port in constants):
            sizes = [size or 1 for size in scale[1].dims[-(rank - axes[0]) :]]
            inputs = [op.inputs[0], *(op.reshaped(name, sizes) for name, _ in constants)]
            axis = axes[0] - rank
            op.emit_joined(readers, "LayerNormalization", inputs, epsilon=epsilon, axis=axis)
            return
    _steps(op, axes)


def _axes(op: Operation) -> list[int]:
    rank = op.rank()
    if op.has(1):
        return sorted(axis % rank if rank else 0 for axis in op.needed(1))
    if stated := op.integers("reduction_axes"):
        return stated
    return list(range(1 if op.flag("across_channels") else 2, rank))


_Constant: TypeAlias = tuple[str, Port]


def _affine(op: Operation) -> tuple[list[Layer], _Constant, _Constant] | None:
    """Return the layers that scale and shift the result, and their constants."""
    scaled = op.sole_reader()
    if scaled is None or scaled[0].type != "Multiply":
        return None
    scale = op.scope.constant_operand(*scaled)
    output = scaled[0].outputs[:1]
    shifted = op.scope.sole_reader((scaled[0].id, output[0].id)) if output else None
    if scale is None or shifted is None or shifted[0].type != "Add":
        return None
    shift = op.scope.constant_operand(*shifted)
    if shift is None:
        return None
    return [scaled[0], shifted[0]], scale, shift


def _is_of(op: Operation, constants: tuple[_Constant, _Constant], channels: int) -> bool:
    """Whether scale and shift have one element a channel."""
    shape = [channels, *[1] * (op.rank() - 2)]
    return all(port.dims in ([1, *shape], shape) for _, port in constants)


def _is_tail(op: Operation, dims: list[int | None], axis: int) -> bool:
    """Whether sizes are those of the normalised axes, with ones before them."""
    tail = op.rank() - axis
    before = dims[:-tail] if len(dims) > tail else []
    return dims[-tail:] == list(op.out().dims[axis:]) and all(size == 1 for size in before)


def _steps(op: Operation, axes: list[int]) -> None:
    places = op.builder.constant(np.array(axes, np.int64))
    data = op.inputs[0]
    centred = op.step("Sub", [data, op.step("ReduceMean", [data, places])])
    if not op.flag("normalize_variance", True):
        op.emit("Identity", [centred])
        return
    square = op.step("Pow", [centred, op.scalar(2.0)])
    variance = op.step("ReduceMean", [square, places])
    shifted = op.step("Add", [variance, op.scalar(op.number("eps", 1e-5))])
    op.emit("Div", [centred, op.step("Sqrt", [shifted])])


HANDLERS: Final[dict[str, Handler]] = {
    "batchnorminference": _batch_norm,
    "groupnormalization": _group_norm,
    "mvn": _mvn,
    "rms": _rms,
    "rmsnorm": _rms,
}
"""Handlers by operation in lower case."""
