"""Normalisations, with the scale and shift that follow one as layers of their own."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from predictor.formats.openvino.document import Layer, Source
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
        last, scale, shift = affine
        if axes[0] == 2 and rank > 2 and shape is not None and _is_of(op, affine, shape[1]):
            sizes = [shape[1]]
            inputs = [op.reshaped(scale[0], sizes), op.reshaped(shift[0], sizes)]
            _finish(op, last, "InstanceNormalization", inputs)
            return
        if all(_is_tail(op, dims, axes[0]) for _, dims in (scale, shift)):
            sizes = [size or 1 for size in scale[1][-(rank - axes[0]) :]]
            inputs = [op.reshaped(scale[0], sizes), op.reshaped(shift[0], sizes)]
            _finish(op, last, "LayerNormalization", inputs, axis=axes[0] - rank)
            return
    _steps(op, axes)


def _axes(op: Operation) -> list[int]:
    rank = op.rank()
    if op.has(1):
        return sorted(axis % rank if rank else 0 for axis in op.needed(1))
    if stated := op.integers("reduction_axes"):
        return stated
    return list(range(1 if op.flag("across_channels") else 2, rank))


_Constant = tuple[str, list[int | None]]


def _affine(op: Operation) -> tuple[Layer, _Constant, _Constant] | None:
    """Return the layer that shifts last, and scale and shift with their sizes."""
    scaled = op.sole_reader()
    if scaled is None or scaled[0].type != "Multiply":
        return None
    scale = _other(op, *scaled)
    output = scaled[0].outputs[:1]
    shifted = op.scope.sole_reader((scaled[0].id, output[0].id)) if output else None
    if scale is None or shifted is None or shifted[0].type != "Add":
        return None
    shift = _other(op, *shifted)
    if shift is None:
        return None
    return shifted[0], scale, shift


def _other(op: Operation, layer: Layer, position: int) -> _Constant | None:
    if len(layer.inputs) != 2:
        return None
    port = layer.inputs[1 - position]
    source: Source = op.scope.net.edges[layer.id, port.id]
    if source[0] not in op.scope.constant_layers:
        return None
    return op.scope.sources[source], port.dims


def _is_of(op: Operation, affine: tuple[Layer, _Constant, _Constant], channels: int) -> bool:
    """Whether scale and shift have one element a channel."""
    shape = [channels, *[1] * (op.rank() - 2)]
    return all(dims in ([1, *shape], shape) for _, dims in affine[1:])


def _is_tail(op: Operation, dims: list[int | None], axis: int) -> bool:
    """Whether sizes are those of the normalised axes, with ones before them."""
    tail = op.rank() - axis
    before = dims[:-tail] if len(dims) > tail else []
    return dims[-tail:] == list(op.out().dims[axis:]) and all(size == 1 for size in before)


def _finish(op: Operation, last: Layer, op_type: str, inputs: list[str], **attributes: Any) -> None:
    """Add a normalisation in place of the layers up to ``last``."""
    scaled = op.sole_reader()
    name = op.scope.free_name(last.name)
    op.builder.node(
        op_type,
        [op.inputs[0], *inputs],
        [name],
        name=op.layer.name,
        epsilon=op.number("eps", 1e-5),
        **attributes,
    )
    op.give([name], last)
    op.scope.done.update({last.id, *([scaled[0].id] if scaled else [])})


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
