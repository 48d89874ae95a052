"""Operations that work on elements: arithmetic, comparisons, activations, conversions."""

from __future__ import annotations

from typing import Final

import numpy as np
from onnx import TensorProto

from predictor.formats.openvino.document import element_type
from predictor.formats.openvino.operation import Handler, Operation

# ONNX operator of the same inputs by operation; the same name if empty.
_SAME: Final = {
    **dict.fromkeys(
        (
            *("Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh"),
            *("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Equal", "Erf", "Exp"),
            *("Floor", "Greater", "Identity", "IsInf", "IsNaN", "Less", "Log", "Mish", "PRelu"),
            *("Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt"),
            *("Tan", "Tanh"),
        ),
        "",
    ),
    "Ceiling": "Ceil",
    "Divide": "Div",
    "FloorMod": "Mod",
    "GreaterEqual": "GreaterOrEqual",
    "HSwish": "HardSwish",
    "LessEqual": "LessOrEqual",
    "LogicalAnd": "And",
    "LogicalNot": "Not",
    "LogicalOr": "Or",
    "LogicalXor": "Xor",
    "Maximum": "Max",
    "Minimum": "Min",
    "Multiply": "Mul",
    "Negative": "Neg",
    "Power": "Pow",
    "Select": "Where",
    "Subtract": "Sub",
}


def _same(op_type: str) -> Handler:
    """Return the handler of an operation that ONNX has with the same inputs."""

    def convert(op: Operation) -> None:
        op.emit(op_type)

    return convert


def _modulo(op: Operation) -> None:
    """Mod truncates, as C's ``fmod``."""
    op.emit("Mod", fmod=1)


def _not_equal(op: Operation) -> None:
    op.emit("Not", [op.step("Equal", op.inputs)])


def _squared_difference(op: Operation) -> None:
    difference = op.step("Sub", op.inputs)
    op.emit("Mul", [difference, difference])


def _is_finite(op: Operation) -> None:
    op.emit("Not", [op.step("Or", [op.step("IsNaN", op.inputs), op.step("IsInf", op.inputs)])])


def _bit_shift(direction: str) -> Handler:
    def convert(op: Operation) -> None:
        op.emit("BitShift", direction=direction)

    return convert


def _clamp(op: Operation) -> None:
    bounds = [op.scalar(op.number(key, default)) for key, default in (("min", 0), ("max", 0))]
    op.emit("Clip", [op.inputs[0], *bounds])


def _convert_type(op: Operation) -> None:
    dtype = element_type(op.text("destination_type")) or op.out().dtype
    if dtype == op.port(0).dtype:
        op.give(op.inputs[:1])
    else:
        op.emit("Cast", to=dtype)


def _convert_like(op: Operation) -> None:
    op.emit("CastLike")


def _elu(op: Operation) -> None:
    op.emit("Elu", alpha=op.number("alpha", 1.0))


def _gelu(op: Operation) -> None:
    tanh = op.text("approximation_mode") == "tanh"
    op.emit("Gelu", approximate="tanh" if tanh else None)


def _hard_sigmoid(op: Operation) -> None:
    alpha, beta = (op.values(i) for i in (1, 2))
    numbers = [
        default if value is None or value.size != 1 else float(value.item())
        for value, default in ((alpha, 0.2), (beta, 0.5))
    ]
    op.emit("HardSigmoid", op.inputs[:1], alpha=numbers[0], beta=numbers[1])


def _h_sigmoid(op: Operation) -> None:
    op.emit("HardSigmoid", alpha=1 / 6, beta=0.5)


def _selu(op: Operation) -> None:
    op.emit("Selu", op.inputs[:1])


def _swish(op: Operation) -> None:
    """``x * sigmoid(x)``, as exporters of ONNX write it; a factor in the gate counts nothing."""
    data = op.inputs[0]
    scaled = data
    if op.has(1) and (beta := op.values(1)) is not None and beta.reshape(-1)[:1] != 1:
        scaled = op.step("Mul", op.inputs[:2])
    op.emit("Mul", [data, op.step("Sigmoid", [scaled])])


def _prelu(op: Operation) -> None:
    """Slopes of channels stand at axis 1, which ONNX reads from the right."""
    slope, dims = op.inputs[1], op.port(1).static
    rank = op.rank()
    if dims is not None and len(dims) == 1 and dims[0] != 1 and rank > 2:
        slope = op.reshaped(slope, [dims[0], *[1] * (rank - 2)])
    op.emit("PRelu", [op.inputs[0], slope])


def _softmax(op_type: str) -> Handler:
    def convert(op: Operation) -> None:
        op.emit(op_type, axis=op.integer("axis", 1))

    return convert


def _cum_sum(op: Operation) -> None:
    op.emit(
        "CumSum",
        [op.inputs[0], op.as_int64(1)],
        exclusive=int(op.flag("exclusive")),
        reverse=int(op.flag("reverse")),
    )


def _reduction(op_type: str) -> Handler:
    """Return the handler of a reduction along the axes of input 1."""

    def convert(op: Operation) -> None:
        axes = op.vector(1, _reduced(op))
        op.emit(op_type, [op.inputs[0], axes], keepdims=int(op.flag("keep_dims")))

    return convert


def _reduced(op: Operation) -> list[int] | None:
    """Return the axes whose sizes become 1; None where the sizes do not say which."""
    before, after = op.dims(0), op.out().dims
    if not op.flag("keep_dims") or len(before) != len(after):
        return None
    # Of an axis of one element nothing is left to reduce.
    return [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] or None


def _logical_reduction(op_type: str) -> Handler:
    def convert(op: Operation) -> None:
        number = op.step("Cast", op.inputs[:1], to=TensorProto.INT32)
        axes = op.vector(1, _reduced(op))
        result = op.step(op_type, [number, axes], keepdims=int(op.flag("keep_dims")))
        op.emit("Cast", [result], to=TensorProto.BOOL)

    return convert


def _lrn(op: Operation) -> None:
    op.emit(
        "LRN",
        op.inputs[:1],
        alpha=op.number("alpha", 1e-4),
        beta=op.number("beta", 0.75),
        bias=op.number("bias", 1.0),
        size=max(op.integer("size", 1), 1),
    )


def _grn(op: Operation) -> None:
    op.emit("LpNormalization", axis=1, p=2)


def _normalize_l2(op: Operation) -> None:
    """One axis has an operator of its own; of several it is the division by a norm."""
    axes = op.needed(1)
    if len(axes) == 1:
        op.emit("LpNormalization", op.inputs[:1], axis=axes[0], p=2)
        return
    norm = op.step("ReduceL2", [op.inputs[0], op.builder.constant(np.array(axes, np.int64))])
    op.emit("Div", [op.inputs[0], norm])


HANDLERS: Final[dict[str, Handler]] = {
    "grn": _grn,
    **{name.lower(): _same(onnx_name or name) for name, onnx_name in _SAME.items()},
    "bitwiseleftshift": _bit_shift("LEFT"),
    "bitwiserightshift": _bit_shift("RIGHT"),
    "clamp": _clamp,
    "convert": _convert_type,
    "convertlike": _convert_like,
    "cumsum": _cum_sum,
    "elu": _elu,
    "gelu": _gelu,
    "hardsigmoid": _hard_sigmoid,
    "hsigmoid": _h_sigmoid,
    "isfinite": _is_finite,
    "logsoftmax": _softmax("LogSoftmax"),
    "lrn": _lrn,
    "mod": _modulo,
    "normalizel2": _normalize_l2,
    "notequal": _not_equal,
    "prelu": _prelu,
    "reducel1": _reduction("ReduceL1"),
    "reducel2": _reduction("ReduceL2"),
    "reducelogicaland": _logical_reduction("ReduceMin"),
    "reducelogicalor": _logical_reduction("ReduceMax"),
    "reducemax": _reduction("ReduceMax"),
    "reducemean": _reduction("ReduceMean"),
    "reducemin": _reduction("ReduceMin"),
    "reduceprod": _reduction("ReduceProd"),
    "reducesum": _reduction("ReduceSum"),
    "selu": _selu,
    "softmax": _softmax("Softmax"),
    "squareddifference": _squared_difference,
    "swish": _swish,
}
"""Handlers by operation in lower case."""
