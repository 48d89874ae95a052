"""Convolutions, poolings and matrix products."""

from __future__ import annotations

import math
from typing import Any, Final

from predictor.formats.builder import MisfitError
from predictor.formats.openvino.document import Layer, Port
from predictor.formats.openvino.operation import Handler, Operation

_PADDINGS = {"same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER", "valid": "VALID"}


def _window(op: Operation) -> dict[str, Any]:
    """Return strides, dilations and paddings as attributes of ONNX."""
    padding = _PADDINGS.get(op.text("auto_pad"))
    pads = [*op.integers("pads_begin"), *op.integers("pads_end")]
    return {
        "strides": op.integers("strides") or None,
        "dilations": op.integers("dilations") or None,
        "pads": pads or None if padding is None else None,
        "auto_pad": padding,
    }


def _joined_groups(op: Operation) -> tuple[str, int]:
    """Return weights [G, A, B, ...] as [G x A, B, ...], and the groups."""
    dims = op.port(1).static
    if dims is None or len(dims) < 3:
        raise MisfitError("has weights of an open shape")
    return op.reshaped(op.inputs[1], [dims[0] * dims[1], *dims[2:]]), dims[0]


def _convolution(op: Operation) -> None:
    _convolve(op, op.inputs[1], 1)


def _group_convolution(op: Operation) -> None:
    _convolve(op, *_joined_groups(op))


def _convolve(op: Operation, weights: str, groups: int) -> None:
    _emit_biased(op, "Conv", [op.inputs[0], weights], group=groups, **_window(op))


def _transposed_convolution(op: Operation) -> None:
    _transpose_convolve(op, op.inputs[1], 1)


def _group_transposed_convolution(op: Operation) -> None:
    _transpose_convolve(op, *_joined_groups(op))


def _transpose_convolve(op: Operation, weights: str, groups: int) -> None:
    window = _window(op)
    stated = op.out().static
    # Paddings follow from the sizes where they are an input.
    if op.has(2) and stated is not None:
        window |= {"output_shape": list(stated[2:]), "pads": None, "auto_pad": "SAME_UPPER"}
    else:
        window["output_padding"] = op.integers("output_padding") or None
    _emit_biased(op, "ConvTranspose", [op.inputs[0], weights], group=groups, **window)


def _deformable_convolution(op: Operation) -> None:
    mask = ["", op.inputs[3]] if op.has(3) else []
    op.emit(
        "DeformConv",
        [op.inputs[0], op.inputs[2], op.inputs[1], *mask],
        group=max(op.integer("group", 1), 1),
        offset_group=max(op.integer("deformable_group", 1), 1),
        **{key: value for key, value in _window(op).items() if key != "auto_pad"},
    )


def _emit_biased(op: Operation, op_type: str, inputs: list[str], **attributes: Any) -> None:
    """Add a convolution with the bias that its only reader adds to its channels."""
    dims = op.out().dims
    channels = dims[1] if len(dims) > 2 else None
    adding = _added(op)
    if adding is None or channels is None:
        op.emit(op_type, inputs, **attributes)
        return
    reader, name, port = adding
    if port.dims != [1, channels, *[1] * (len(dims) - 2)]:
        op.emit(op_type, inputs, **attributes)
        return
    bias = op.reshaped(name, [channels])
    op.emit_joined([reader], op_type, [*inputs, bias], **attributes)


def _added(op: Operation) -> tuple[Layer, str, Port] | None:
    """Return the layer that alone reads the result and adds a constant, and the constant."""
    reader = op.sole_reader()
    if reader is None or reader[0].type != "Add":
        return None
    constant = op.scope.constant_operand(*reader)
    return None if constant is None else (reader[0], *constant)


def _max_pool(op: Operation) -> None:
    """The second output, where there is one, holds indices."""
    op.emit("MaxPool", op.inputs[:1], outputs=2, **_pooling(op))


def _pooling(op: Operation) -> dict[str, Any]:
    window = _window(op)
    window["kernel_shape"] = op.integers("kernel")
    window["ceil_mode"] = 1 if op.text("rounding_type").startswith("ceil") else None
    return window


def _average_pool(op: Operation) -> None:
    excluded = op.flag("exclude-pad", True)
    op.emit("AveragePool", count_include_pad=None if excluded else 1, **_pooling(op))


def _adaptive_pool(op_type: str) -> Handler:
    """Return the handler of a pooling to a stated size, which is a window where it divides."""

    def convert(op: Operation) -> None:
        before, after = op.port(0).static, op.out().static
        if after is not None and all(size == 1 for size in after[2:]):
            op.emit(f"Global{op_type}", op.inputs[:1], outputs=1)
            return
        if (
            before is None
            or after is None
            or any(a % b for a, b in zip(before, after, strict=True))
        ):
            op.unknown()
            return
        steps = [a // b for a, b in zip(before[2:], after[2:], strict=True)]
        outputs = 1 if op_type == "AveragePool" else 2
        op.emit(op_type, op.inputs[:1], outputs=outputs, kernel_shape=steps, strides=steps)

    return convert


def _matmul(op: Operation) -> None:
    """A product; with a constant matrix and a bias of rows alone it is a Gemm."""
    left, right = op.inputs[:2]
    transpose_a, transpose_b = op.flag("transpose_a"), op.flag("transpose_b")
    if op.rank(0) == 2 and op.rank(1) == 2 and op.is_constant(1) and _add_gemm(op):
        return
    if transpose_a and op.rank(0) > 1:
        left = _swapped(op, left, op.rank(0))
    if transpose_b and op.rank(1) > 1:
        right = _swapped(op, right, op.rank(1))
    op.emit("MatMul", [left, right])


def _swapped(op: Operation, name: str, rank: int) -> str:
    return op.transposed(name, [*range(rank - 2), rank - 1, rank - 2])


def _add_gemm(op: Operation) -> bool:
    adding, columns = _added(op), op.out().dims[-1]
    if adding is None or columns is None:
        return False
    reader, name, port = adding
    sizes = [size or 0 for size in port.dims]
    if math.prod(sizes) != columns or sizes[-1:] != [columns] or len(sizes) > 2:
        return False
    op.emit_joined(
        [reader],
        "Gemm",
        [*op.inputs[:2], op.reshaped(name, [columns])],
        transA=int(op.flag("transpose_a")),
        transB=int(op.flag("transpose_b")),
    )
    return True


def _attention(op: Operation) -> None:
    """Scaled dot products as exporters of ONNX write them."""
    queries, keys, values = op.inputs[:3]
    width = op.dims(0)[-1]
    root = op.scalar(float(width or 1) ** -0.25)
    keys = op.step("Mul", [_swapped(op, keys, op.rank(1)), root])
    scores = op.step("MatMul", [op.step("Mul", [queries, root]), keys])
    if op.has(3) and op.rank(3) > 1:
        scores = op.step("Add", [scores, op.inputs[3]])
    op.emit("MatMul", [op.step("Softmax", [scores], axis=-1), values])


def _einsum(op: Operation) -> None:
    op.emit("Einsum", equation=op.layer.data.get("equation", ""))


def _roi_pooling(op: Operation) -> None:
    sides = [op.integer("pooled_h"), op.integer("pooled_w")]
    op.emit("MaxRoiPool", pooled_shape=sides, spatial_scale=op.number("spatial_scale", 1.0))


def _roi_align(op: Operation) -> None:
    op.emit(
        "RoiAlign",
        [*op.inputs[:2], op.as_int64(2)],
        output_height=op.integer("pooled_h", 1),
        output_width=op.integer("pooled_w", 1),
        sampling_ratio=op.integer("sampling_ratio"),
        spatial_scale=op.number("spatial_scale", 1.0),
        mode=op.text("mode") or None,
    )


HANDLERS: Final[dict[str, Handler]] = {
    "adaptiveavgpool": _adaptive_pool("AveragePool"),
    "adaptivemaxpool": _adaptive_pool("MaxPool"),
    "avgpool": _average_pool,
    "convolution": _convolution,
    "convolutionbackpropdata": _transposed_convolution,
    "deformableconvolution": _deformable_convolution,
    "einsum": _einsum,
    "groupconvolution": _group_convolution,
    "groupconvolutionbackpropdata": _group_transposed_convolution,
    "matmul": _matmul,
    "maxpool": _max_pool,
    "roialign": _roi_align,
    "roipooling": _roi_pooling,
    "scaleddotproductattention": _attention,
}
"""Handlers by operation in lower case."""
