"""Layers that work on elements, and normalisations."""

from __future__ import annotations

from typing import Final

import numpy as np

from predictor.formats.ncnn.layers import Dims, Handler, Operation

_UNARY: Final = (
    *("Abs", "Neg", "Floor", "Ceil", "Square", "Sqrt", "Rsqrt", "Exp", "Log", "Sin", "Cos"),
    *("Tan", "Asin", "Acos", "Atan", "Reciprocal", "Tanh", "Log", "Round", "Floor"),
)
# With its inputs in the other order where it is True.
_BINARY: Final = (
    *(("Add", False), ("Sub", False), ("Mul", False), ("Div", False), ("Max", False)),
    *(("Min", False), ("Pow", False), ("Sub", True), ("Div", True), ("Pow", True)),
    *(("Atan2", False), ("Atan2", True)),
)


def _simple(op_type: str) -> Handler:
    def convert(op: Operation) -> None:
        op.emit(op_type, op.dims(), op.inputs[:1])

    return convert


def _relu(op: Operation) -> None:
    slope = op.number(0)
    if slope:
        op.emit("LeakyRelu", op.dims(), alpha=slope)
    else:
        op.emit("Relu", op.dims())


def _clip(op: Operation) -> None:
    bounds = [op.number_constant(op.number(key, limit)) for key, limit in ((0, -3e38), (1, 3e38))]
    op.emit("Clip", op.dims(), [op.inputs[0], *bounds])


def _elu(op_type: str) -> Handler:
    def convert(op: Operation) -> None:
        op.emit(op_type, op.dims(), alpha=op.number(0, 1.0 if op_type == "Celu" else 0.1))

    return convert


def _hard_sigmoid(op: Operation) -> None:
    op.emit("HardSigmoid", op.dims(), alpha=op.number(0, 0.2), beta=op.number(1, 0.5))


def _swish(op: Operation) -> None:
    op.emit("Mul", op.dims(), [op.inputs[0], op.step("Sigmoid", op.inputs)])


def _gelu(op: Operation) -> None:
    op.emit("Gelu", op.dims(), approximate="tanh" if op.integer(0) else None)


def _glu(op: Operation) -> None:
    axis = op.axis(op.integer(0))
    parts = [op.builder.fresh("half") for _ in range(2)]
    op.builder.node("Split", op.inputs, parts, axis=axis, num_outputs=2)
    dims = list(op.dims())
    size = dims[axis - 1]
    dims[axis - 1] = None if size is None else size // 2
    op.emit("Mul", dims, [parts[0], op.step("Sigmoid", parts[1:])])


def _power(op: Operation) -> None:
    """(shift + scale x) ^ power, of which identities are left out."""
    value = op.inputs[0]
    for op_type, key, neutral in (("Mul", 1, 1.0), ("Add", 2, 0.0), ("Pow", 0, 1.0)):
        if op.number(key, neutral) != neutral:
            value = op.step(op_type, [value, op.number_constant(op.number(key, neutral))])
    op.emit("Identity", op.dims(), [value])


def _threshold(op: Operation) -> None:
    bound = op.number_constant(op.number(0))
    op.emit("Greater", op.dims(), [op.inputs[0], bound])


def _dropout(op: Operation) -> None:
    op.give(op.inputs[0], op.dims())


def _unary(op: Operation) -> None:
    op_type = _UNARY[op.integer(0)]
    inputs = op.inputs[:1]
    if op_type == "Rsqrt":
        inputs, op_type = [op.step("Sqrt", inputs)], "Reciprocal"
    if op_type == "Square":
        inputs, op_type = inputs * 2, "Mul"
    op.emit(op_type, op.dims(), inputs)


def _binary(op: Operation) -> None:
    op_type, is_reversed = _BINARY[op.integer(0)]
    if op.integer(1) or len(op.inputs) == 1:
        inputs, dims = [op.inputs[0], op.number_constant(op.number(2))], op.dims()
    else:
        inputs, dims = _broadcast(op)
    if op_type == "Atan2":
        op.emit("Atan", dims, [op.step("Div", inputs)])
        return
    op.emit(op_type, dims, inputs[::-1] if is_reversed else inputs)


def _broadcast(op: Operation) -> tuple[list[str], Dims]:
    """Return two inputs of as many axes: a vector is one of channels where its size fits."""
    inputs, ranks = list(op.inputs[:2]), [op.rank(0), op.rank(1)]
    large = 0 if ranks[0] >= ranks[1] else 1
    small = 1 - large
    sizes, missing = op.dims(small), ranks[large] - ranks[small]
    dims: Dims = list(op.dims(large))
    if missing:
        outer = _fits(sizes, dims[: len(sizes)])
        padded: Dims = [*sizes, *[1] * missing] if outer else [*[1] * missing, *sizes]
        axes = range(len(sizes), len(dims)) if outer else range(missing)
        places = op.builder.constant([axis + 1 for axis in axes])
        inputs[small] = op.step("Unsqueeze", [inputs[small], places])
    else:
        padded = sizes
    return inputs, [
        b if a == 1 else a if b == 1 or b is None else b for a, b in zip(dims, padded, strict=True)
    ]


def _fits(sizes: Dims, outer: Dims) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(sizes, outer, strict=True))


def _eltwise(op: Operation) -> None:
    op_type = {0: "Mul", 1: "Add", 2: "Max"}.get(op.integer(0), "Add")
    value = op.inputs[0]
    for other in op.inputs[1:-1]:
        value = op.step(op_type, [value, other])
    op.emit(op_type, op.dims(), [value, *op.inputs[1:][-1:]])


def _per_channel(op: Operation, what: str, channels: int) -> str:
    return op.weight(what, [channels, *[1] * (op.rank() - 1)])


def _prelu(op: Operation) -> None:
    op.emit("PRelu", op.dims(), [op.inputs[0], _per_channel(op, "slope", op.integer(0))])


def _scale(op: Operation) -> None:
    channels = op.integer(0)
    if channels == -233:  # the scale is a blob
        inputs, dims = _broadcast(op)
        op.emit("Mul", dims, inputs)
        return
    scaled = [op.inputs[0], _per_channel(op, "scale", channels)]
    if op.integer(1):
        inputs = [op.step("Mul", scaled), _per_channel(op, "bias", channels)]
        op.emit("Add", op.dims(), inputs)
    else:
        op.emit("Mul", op.dims(), scaled)


def _bias(op: Operation) -> None:
    op.emit("Add", op.dims(), [op.inputs[0], _per_channel(op, "bias", op.integer(0))])


def _batch_norm(op: Operation) -> None:
    names = ("slope", "bias", "mean", "variance")
    weights = [op.weight(name, [op.integer(0)]) for name in names]
    op.emit("BatchNormalization", op.dims(), [op.inputs[0], *weights])


def _layer_norm(op_type: str) -> Handler:
    def convert(op: Operation) -> None:
        dims, size = op.dims(), op.integer(0)
        # The innermost axes that come to the stated size.
        count, total = 0, 1
        for width in reversed(dims):
            count, total = count + 1, total * (width or size)
            if total >= size:
                break
        shape = [size] if count == 1 else [width or 1 for width in dims[-count:]]
        domain = "" if op_type == "LayerNormalization" else "com.microsoft"
        weights = ["scale", "bias"] if op_type == "LayerNormalization" else ["scale"]
        names = [op.weight(name, shape) for name in weights]
        op.emit(op_type, dims, [op.inputs[0], *names], axis=-max(count, 1), domain=domain)

    return convert


def _group_norm(op: Operation) -> None:
    weights = [op.weight(name, [op.integer(1)]) for name in ("scale", "bias")]
    groups = max(op.integer(0, 1), 1)
    op.emit("GroupNormalization", op.dims(), [op.inputs[0], *weights], num_groups=groups)


def _instance_norm(op: Operation) -> None:
    weights = [op.weight(name, [op.integer(0)]) for name in ("scale", "bias")]
    op.emit("InstanceNormalization", op.dims(), [op.inputs[0], *weights])


def _normalize(op: Operation) -> None:
    value = op.step("LpNormalization", op.inputs[:1], axis=1, p=2)
    op.emit("Mul", op.dims(), [value, _per_channel(op, "scale", max(op.integer(3), 1))])


def _lrn(op: Operation) -> None:
    op.emit("LRN", op.dims(), size=max(op.integer(1, 5), 1))


def _softmax(op: Operation) -> None:
    op.emit("Softmax", op.dims(), axis=op.axis(op.integer(0)))


def _reduction(op: Operation) -> None:
    names = (
        *("Sum", "L1", "SumSquare", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum"),
        "LogSumExp",
    )
    dims, keep = op.dims(), op.integer(4)
    axes = [op.axis(axis) for axis in op.integers(3)]
    if op.integer(1, 1) or not axes:
        axes = list(range(1, len(dims) + 1))
    after: Dims = [
        1 if axis + 1 in axes else size
        for axis, size in enumerate(dims)
        if keep or axis + 1 not in axes
    ]
    op_type = f"Reduce{names[op.integer(0)]}"
    places = op.builder.constant(np.array(axes, np.int64))
    value = op.step(op_type, [op.inputs[0], places], keepdims=1 if keep else 0)
    if not after:  # one number is a blob of one axis
        value, after = op.step("Unsqueeze", [value, op.builder.constant([1])]), [1]
    op.emit("Identity", after, [value])


def _cumulative_sum(op: Operation) -> None:
    axis = op.builder.constant(np.array(op.axis(op.integer(0)), np.int64))
    op.emit("CumSum", op.dims(), [op.inputs[0], axis])


HANDLERS: Final[dict[str, Handler]] = {
    "AbsVal": _simple("Abs"),
    "BNLL": _simple("Softplus"),
    "BatchNorm": _batch_norm,
    "Bias": _bias,
    "BinaryOp": _binary,
    "CELU": _elu("Celu"),
    "Cast": _dropout,
    "Clip": _clip,
    "CumulativeSum": _cumulative_sum,
    "DeepCopy": _dropout,
    "Dequantize": _dropout,
    "Dropout": _dropout,
    "ELU": _elu("Elu"),
    "Eltwise": _eltwise,
    "Erf": _simple("Erf"),
    "Exp": _simple("Exp"),
    "GELU": _gelu,
    "GLU": _glu,
    "GroupNorm": _group_norm,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _simple("HardSwish"),
    "InstanceNorm": _instance_norm,
    "LRN": _lrn,
    "LayerNorm": _layer_norm("LayerNormalization"),
    "Log": _simple("Log"),
    "Mish": _simple("Mish"),
    "Noop": _dropout,
    "Normalize": _normalize,
    "PReLU": _prelu,
    "Packing": _dropout,
    "Power": _power,
    "Quantize": _dropout,
    "RMSNorm": _layer_norm("SimplifiedLayerNormalization"),
    "ReLU": _relu,
    "Reduction": _reduction,
    "Requantize": _dropout,
    "SELU": _simple("Selu"),
    "Scale": _scale,
    "Shrink": _simple("Shrink"),
    "Sigmoid": _simple("Sigmoid"),
    "Softmax": _softmax,
    "Softplus": _simple("Softplus"),
    "Swish": _swish,
    "TanH": _simple("Tanh"),
    "Threshold": _threshold,
    "UnaryOp": _unary,
}
"""Handlers by type of layer."""
