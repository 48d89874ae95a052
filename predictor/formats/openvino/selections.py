"""Operations that resize, choose, sort or generate."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from onnx import TensorProto

from predictor.formats.openvino.document import element_type
from predictor.formats.openvino.operation import Handler, Operation


def _reverse_sequence(op: Operation) -> None:
    op.emit(
        "ReverseSequence",
        [op.inputs[0], op.int64(1)],
        batch_axis=op.integer("batch_axis"),
        time_axis=op.integer("seq_axis", 1),
    )


def _range_of(op: Operation) -> None:
    dtype = element_type(op.text("output_type")) or op.out().dtype
    bounds = [
        name if port.dtype == dtype else op.step("Cast", [name], to=dtype)
        for name, port in zip(op.inputs, op.layer.inputs, strict=True)
    ]
    op.emit("Range", bounds)


def _one_hot(op: Operation) -> None:
    values = [
        op.step("Unsqueeze", [name, op.builder.constant([0])])
        for name in (op.inputs[3], op.inputs[2])
    ]
    pair = op.step("Concat", values, axis=0)
    op.emit("OneHot", [op.inputs[0], op.as_int64(1), pair], axis=op.integer("axis", -1))


def _top_k(op: Operation) -> None:
    axis = op.integer("axis", -1)
    count = op.out().dims[axis]
    number = op.vector(1, None if count is None else [count])
    names = op.names()
    op.builder.node(
        "TopK",
        [op.inputs[0], number],
        [*names, op.builder.fresh("indices")][:2],
        name=op.layer.name,
        axis=axis,
        largest=int(op.text("mode") != "min"),
    )


def _non_zero(op: Operation) -> None:
    op.emit("NonZero")


def _resize(op: Operation) -> None:
    """Interpolate of opset 1, 4 or 11: by sizes, or by scales of axes."""
    mode = {"nearest": "nearest", "cubic": "cubic", "bicubic_pillow": "cubic"}.get(
        op.text("mode"), "linear"
    )
    stated, rank = op.out().static, op.rank()
    coordinates = op.text("coordinate_transformation_mode") or None
    scales = _scales(op)
    axes = _resized_axes(op)
    if scales is not None and len(scales) == len(axes):
        all_scales = np.ones(rank, np.float32)
        all_scales[axes] = scales
        inputs = [op.inputs[0], "", op.builder.constant(all_scales)]
        op.emit("Resize", inputs, mode=mode, coordinate_transformation_mode=coordinates)
    elif stated is not None:
        inputs = [op.inputs[0], "", "", op.builder.constant(list(stated))]
        op.emit("Resize", inputs, mode=mode, coordinate_transformation_mode=coordinates)
    else:
        inputs = [op.inputs[0], "", "", op.as_int64(1)]
        op.emit("Resize", inputs, mode=mode, axes=axes, coordinate_transformation_mode=coordinates)


def _scales(op: Operation) -> Any:
    """Return scales of the axes where the file scales by them."""
    if op.text("shape_calculation_mode") != "scales":
        return None
    at = 1 if op.port(1).dtype in {TensorProto.FLOAT, TensorProto.FLOAT16} else 2
    values = op.values(at) if op.has(at) else None
    return None if values is None else values.reshape(-1).astype(np.float32)


def _resized_axes(op: Operation) -> list[int]:
    """Return the axes that are resized, all from the last where the file does not say which."""
    at = 3 if op.port(1).dtype not in {TensorProto.FLOAT, TensorProto.FLOAT16} else 2
    if op.text("axes"):
        return op.integers("axes")
    for index in (at, 2):
        values = op.values(index) if op.has(index) else None
        if values is not None and np.issubdtype(values.dtype, np.integer):
            return [int(axis) for axis in values.reshape(-1)]
    count = op.port(1).dims[0] if op.port(1).dims else 0
    return list(range(op.rank() - (count or 0), op.rank()))


def _non_max_suppression(op: Operation) -> None:
    """Indices of boxes; scores and their count, where they are read, have no ONNX counterpart."""
    read = [op.scope.sole_reader((op.layer.id, port.id)) for port in op.layer.outputs[1:]]
    if any(read) or op.rank(1) != 3:
        op.unknown(_box_limit(op))
        return
    count = op.as_int64(2) if op.has(2) else op.builder.constant([0])
    op.emit(
        "NonMaxSuppression",
        [*op.inputs[:2], count, *op.inputs[3:5]],
        outputs=1,
        center_point_box=int(op.text("box_encoding") == "center"),
    )


def _box_limit(op: Operation) -> int | None:
    """Return how many boxes of all images and classes a suppression leaves at most."""
    scores, limit = op.port(1).static, op.values(2) if op.has(2) else None
    if scores is None or len(scores) != 3 or limit is None or limit.size != 1:
        return None
    images, classes, boxes = scores
    return images * classes * max(min(int(limit.item()), boxes), 1)


def _grid_sample(op: Operation) -> None:
    modes = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}
    op.emit(
        "GridSample",
        align_corners=int(op.flag("align_corners")),
        mode=modes.get(op.text("mode"), "linear"),
        padding_mode=op.text("padding_mode") or None,
    )


def _fourier(*, inverse: bool) -> Handler:
    """Return the handler of a Fourier transform along one axis or several."""

    def convert(op: Operation) -> None:
        if op.has(2):  # of another length
            op.unknown()
            return
        value = op.inputs[0]
        for axis in op.needed(1):
            # Axes from behind do not count the last, of real and imaginary parts.
            value = _transformed(op, value, axis % max(op.rank() - 1, 1), inverse=int(inverse))
        op.emit("Identity", [value])

    return convert


def _transformed(op: Operation, value: str, axis: int, **attributes: int) -> str:
    place = op.builder.constant(np.array(axis, np.int64))
    return op.step("DFT", [value, "", place], **attributes)


def _real_fourier(op: Operation) -> None:
    """Of real numbers: along the last axis half of the results, of complex numbers the others."""
    if op.has(2):
        op.unknown()
        return
    *rest, last = [axis % max(op.rank(), 1) for axis in op.needed(1)]
    value = op.step("Unsqueeze", [op.inputs[0], op.builder.constant([-1])])
    value = _transformed(op, value, last, onesided=1)
    for axis in rest:
        value = _transformed(op, value, axis)
    op.emit("Identity", [value])


def _unique(op: Operation) -> None:
    axis = op.needed(1)[0] if op.has(1) else None
    # OpenVINO gives the first occurrences second, as ONNX does.
    is_sorted = op.flag("sorted", True)
    op.emit("Unique", op.inputs[:1], outputs=4, axis=axis, sorted=int(is_sorted))


HANDLERS: Final[dict[str, Handler]] = {
    "dft": _fourier(inverse=False),
    "gridsample": _grid_sample,
    "idft": _fourier(inverse=True),
    "interpolate": _resize,
    "nonmaxsuppression": _non_max_suppression,
    "nonzero": _non_zero,
    "onehot": _one_hot,
    "range": _range_of,
    "rdft": _real_fourier,
    "reversesequence": _reverse_sequence,
    "topk": _top_k,
    "unique": _unique,
}
"""Handlers by operation in lower case."""
