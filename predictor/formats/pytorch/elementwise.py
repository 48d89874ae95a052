"""Operators of ATen on single elements."""

from __future__ import annotations

import math
from typing import Final

from onnx import TensorProto

from predictor.formats.emitter import UnreadError
from predictor.formats.pytorch.call import Call, rule
from predictor.formats.pytorch.program import Reference

_FLOATS: Final = (
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
)

# ATen's operator: ONNX's.
_CAPITALISED: Final = """
    abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log mish neg reciprocal relu
    round selu sigmoid sign sin sinh softsign sqrt tan tanh
"""
_UNARY: Final = {
    **{name: name.capitalize() for name in _CAPITALISED.split()},
    "isnan": "IsNaN",
    "isinf": "IsInf",
    "logical_not": "Not",
    "bitwise_not": "BitwiseNot",
    "hardswish": "HardSwish",
    "special_erf": "Erf",
    "sgn": "Sign",
}


def _register_unary(name: str, op_type: str) -> None:
    @rule(name)
    def _apply(call: Call) -> str:
        return call.emit(op_type, [_floated(call)])


def _floated(call: Call) -> str:
    """Return the data in the type of the result where both are numbers."""
    source, target = call.meta("self").dtype, call.result().dtype
    is_number = TensorProto.BOOL not in (source, target)
    return call.cast(call.tensor("self"), source, target) if is_number else call.tensor("self")


for _name, _op_type in _UNARY.items():
    _register_unary(_name, _op_type)


def _number(call: Call, value: float) -> str:
    return call.constant(value, call.result().dtype)


@rule("rsqrt")
def _rsqrt(call: Call) -> str:
    return call.emit("Reciprocal", [call.emit("Sqrt", [_floated(call)])])


@rule("square")
def _square(call: Call) -> str:
    data = _floated(call)
    return call.emit("Mul", [data, data])


@rule("log2 log10 log1p expm1 exp2")
def _logarithm(call: Call) -> str:
    kind = call.kind
    for stem, number in (("log2", 2), ("log10", 10)):
        if kind.startswith(stem):
            logarithm = call.emit("Log", [_floated(call)])
            return call.emit("Div", [logarithm, _number(call, math.log(number))])
    if kind.startswith("log1p"):
        return call.emit("Log", [call.emit("Add", [_floated(call), _number(call, 1)])])
    if kind.startswith("exp2"):
        return call.emit("Pow", [_number(call, 2), _floated(call)])
    return call.emit("Sub", [call.emit("Exp", [_floated(call)]), _number(call, 1)])


@rule("silu")
def _silu(call: Call) -> str:
    data = call.tensor("self")
    return call.emit("Mul", [data, call.emit("Sigmoid", [data])])


@rule("gelu")
def _gelu(call: Call) -> str:
    return call.emit(
        "Gelu", [call.tensor("self")], approximate=str(call.get("approximate", "none"))
    )


@rule("hardsigmoid")
def _hardsigmoid(call: Call) -> str:
    return call.emit("HardSigmoid", [call.tensor("self")], alpha=1 / 6, beta=0.5)


@rule("hardtanh relu6 clamp clamp_min clamp_max clip")
def _clip(call: Call) -> str:
    defaults = (-1.0, 1.0) if call.kind.startswith("hardtanh") else (None, None)
    defaults = (0, 6) if call.kind.startswith("relu6") else defaults
    keys = ("min_val", "max_val") if "hardtanh" in call.kind else ("min", "max")
    if call.is_tensor("min") or call.is_tensor("max"):
        data = _floated(call)
        for key, op_type in (("min", "Max"), ("max", "Min")):
            data = call.emit(op_type, [data, call.tensor(key)]) if call.has(key) else data
        return data
    bounds = [call.get(key, default) for key, default in zip(keys, defaults, strict=True)]
    bounds = [call.get("min_val", bounds[0]), call.get("max_val", bounds[1])]
    inputs = ["" if bound is None else _number(call, bound) for bound in bounds]
    return call.emit("Clip", [_floated(call), *(inputs if inputs[1] else inputs[:1])])


@rule("leaky_relu rrelu")
def _leaky_relu(call: Call) -> str:
    return call.emit(
        "LeakyRelu", [call.tensor("self")], alpha=float(call.get("negative_slope", 0.01))
    )


@rule("elu")
def _elu(call: Call) -> str:
    return call.emit("Elu", [call.tensor("self")], alpha=float(call.number("alpha", 1)))


@rule("celu")
def _celu(call: Call) -> str:
    return call.emit("Celu", [call.tensor("self")], alpha=float(call.number("alpha", 1)))


@rule("softplus")
def _softplus(call: Call) -> str:
    beta = call.number("beta", 1)
    if beta == 1:
        return call.emit("Softplus", [call.tensor("self")])
    scaled = call.emit("Mul", [call.tensor("self"), _number(call, beta)])
    return call.emit("Div", [call.emit("Softplus", [scaled]), _number(call, beta)])


@rule("prelu _prelu_kernel")
def _prelu(call: Call) -> str:
    slope, rank = call.tensor("weight"), call.rank("self")
    if call.rank("weight") == 1 and call.meta("weight").dims != (1,) and rank > 2:
        slope = call.unsqueeze(slope, list(range(1, rank - 1)))
    return call.emit("PRelu", [call.tensor("self"), slope])


@rule("hardshrink softshrink")
def _shrink(call: Call) -> str:
    limit = float(call.number("lambd", 0.5))
    bias = limit if call.kind.startswith("softshrink") else 0.0
    return call.emit("Shrink", [call.tensor("self")], lambd=limit, bias=bias)


@rule("threshold")
def _threshold(call: Call) -> str:
    data = call.tensor("self")
    is_over = call.emit("Greater", [data, _number(call, call.number("threshold"))])
    return call.emit("Where", [is_over, data, _number(call, call.number("value"))])


@rule("log_sigmoid log_sigmoid_forward")
def _log_sigmoid(call: Call) -> str:
    return call.emit("Log", [call.emit("Sigmoid", [call.tensor("self")])])


@rule("glu")
def _glu(call: Call) -> str:
    axis = call.axis("dim", default=-1)
    data, gate = call.emit_all("Split", [call.tensor("self")], 2, axis=axis, num_outputs=2)
    return call.emit("Mul", [data, call.emit("Sigmoid", [gate])])


_BINARY: Final = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "multiply": "Mul",
    "true_divide": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "max.other": "Max",
    "min.other": "Min",
    "pow": "Pow",
    "remainder": "Mod",
    "fmod": "Mod",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "__and__": "And",
    "__or__": "Or",
    "__xor__": "Xor",
}
_COMPARISONS: Final = {
    "eq": "Equal",
    "ge": "GreaterOrEqual",
    "gt": "Greater",
    "le": "LessOrEqual",
    "lt": "Less",
}
_LOGICAL: Final = {"BitwiseAnd": "And", "BitwiseOr": "Or", "BitwiseXor": "Xor"}
_BITWISE: Final = {logical: bitwise for bitwise, logical in _LOGICAL.items()}


def operand(call: Call, key: str, dtype: int) -> str:
    """Return an operand that may be a number, or an integer of the graph, in a type."""
    value = call.arguments.get(key)
    if isinstance(value, Reference) and value.is_tensor:
        return call.cast(call.tensor(key), call.meta(key).dtype, dtype)
    if isinstance(value, Reference):
        symbol = call.symbol(key)
        if isinstance(symbol, str):
            return call.cast(symbol, TensorProto.INT64, dtype)
        value = symbol
    if not isinstance(value, int | float):
        raise UnreadError(key)
    return call.constant(value, dtype)


def _register_binary(name: str, op_type: str) -> None:
    @rule(name)
    def _apply(call: Call) -> str:
        dtype, kind = call.result().dtype, op_type
        if dtype == TensorProto.BOOL:
            kind = _LOGICAL.get(kind, kind)
        elif kind in _BITWISE and name.startswith("__"):
            kind = _BITWISE[kind]
        left, right = operand(call, "self", dtype), operand(call, _second(call), dtype)
        right = _times(call, right, call.get("alpha", 1), dtype)
        extra = {"fmod": 1} if kind == "Mod" and dtype in _FLOATS else {}
        return call.emit(kind, [left, right], **extra)


def _second(call: Call) -> str:
    return "exponent" if call.has("exponent") else "other"


def _times(call: Call, data: str, factor: float, dtype: int) -> str:
    return data if factor == 1 else call.emit("Mul", [data, call.constant(factor, dtype)])


for _name, _op_type in _BINARY.items():
    _register_binary(_name, _op_type)


def _register_comparison(name: str, op_type: str) -> None:
    @rule(name)
    def _apply(call: Call) -> str:
        return _compared(call, op_type)


def _compared(call: Call, op_type: str) -> str:
    dtypes = [call.meta(key).dtype for key in ("self", "other") if call.is_tensor(key)]
    dtype = next((d for d in dtypes if d in _FLOATS), max(dtypes))
    if isinstance(call.arguments.get("other"), float) and dtype not in _FLOATS:
        dtype = TensorProto.FLOAT
    return call.emit(op_type, [operand(call, key, dtype) for key in ("self", "other")])


for _name, _op_type in _COMPARISONS.items():
    _register_comparison(_name, _op_type)


@rule("ne")
def _unequal(call: Call) -> str:
    return call.emit("Not", [_compared(call, "Equal")])


@rule("div divide floor_divide")
def _divided(call: Call) -> str:
    dtype = call.result().dtype
    result = call.emit("Div", [operand(call, "self", dtype), operand(call, "other", dtype)])
    is_floor = call.get("rounding_mode") is not None or call.kind.startswith("floor")
    return call.emit("Floor", [result]) if is_floor and dtype in _FLOATS else result


@rule("rsub")
def _reversed_difference(call: Call) -> str:
    dtype = call.result().dtype
    left = _times(call, operand(call, "self", dtype), call.get("alpha", 1), dtype)
    return call.emit("Sub", [operand(call, "other", dtype), left])


@rule("addcmul addcdiv")
def _added(call: Call) -> str:
    kind = "Mul" if call.kind.startswith("addcmul") else "Div"
    product = call.emit(kind, [call.tensor("tensor1"), call.tensor("tensor2")])
    product = _times(call, product, call.get("value", 1), call.result().dtype)
    return call.emit("Add", [call.tensor("self"), product])


@rule("lerp")
def _lerp(call: Call) -> str:
    start = call.tensor("self")
    change = call.emit("Sub", [call.tensor("end"), start])
    weight = operand(call, "weight", call.result().dtype)
    return call.emit("Add", [start, call.emit("Mul", [change, weight])])


@rule("where")
def _where(call: Call) -> str:
    if not call.has("self"):
        raise UnreadError("self")
    dtype = call.result().dtype
    chosen = operand(call, "condition", TensorProto.BOOL)
    return call.emit("Where", [chosen, operand(call, "self", dtype), operand(call, "other", dtype)])


@rule("masked_fill")
def _masked_fill(call: Call) -> str:
    dtype = call.result().dtype
    value = operand(call, "value", dtype)
    return call.emit("Where", [call.tensor("mask"), value, operand(call, "self", dtype)])


@rule("_to_copy to type_as _cast_Float float half type prims::convert_element_type")
def _cast(call: Call) -> str:
    key = "self" if call.has("self") else "a"
    return call.cast(call.tensor(key), call.meta(key).dtype, call.result().dtype)


@rule("logit")
def _logit(call: Call) -> str:
    data = call.tensor("self")
    rest = call.emit("Sub", [_number(call, 1), data])
    return call.emit("Log", [call.emit("Div", [data, rest])])


@rule("nan_to_num")
def _without_nan(call: Call) -> str:
    data = call.tensor("self")
    return call.emit("Where", [call.emit("IsNaN", [data]), _number(call, 0), data])


@rule("fill fill_")
def _filled(call: Call) -> str:
    value = operand(call, "value", call.result().dtype)
    shape = call.vector(call.sizes(call.tensor("self"), call.meta("self").dims))
    return call.emit("Expand", [value, shape])


@rule("copy copy_")
def _copied(call: Call) -> str:
    source = call.cast(call.tensor("src"), call.meta("src").dtype, call.result().dtype)
    if call.meta("src").dims == call.meta("self").dims:
        return source
    shape = call.vector(call.sizes(call.tensor("self"), call.meta("self").dims))
    return call.emit("Expand", [source, shape])
