"""Elementwise operations, reductions and normalisations of MIL."""

from __future__ import annotations

from typing import Final

from onnx import TensorProto

from predictor.formats.coreml.mil.step import Step, rule
from predictor.formats.emitter import Dim, UnreadError, static

_UNARY: Final = {
    **{name: name.capitalize() for name in ("abs", "acos", "asin", "atan", "ceil", "cos", "cosh")},
    **{name: name.capitalize() for name in ("erf", "exp", "floor", "relu", "round", "sigmoid")},
    **{name: name.capitalize() for name in ("sign", "sin", "sinh", "sqrt", "tan", "tanh")},
    **{name: name.capitalize() for name in ("softsign", "identity")},
    "atanh": "Atanh",
    "logical_not": "Not",
}
_BINARY: Final = {
    "add": "Add",
    "equal": "Equal",
    "floor_div": "Div",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
    "maximum": "Max",
    "minimum": "Min",
    "mod": "Mod",
    "mul": "Mul",
    "pow": "Pow",
    "real_div": "Div",
    "sub": "Sub",
}
_INTEGERS: Final = frozenset({TensorProto.INT32, TensorProto.INT64, TensorProto.INT16})


def _register_unary(name: str, op_type: str) -> None:
    @rule(name)
    def _apply(step: Step) -> str:
        return step.emit(op_type, [step.tensor("x")])


def _register_binary(name: str, op_type: str) -> None:
    @rule(name)
    def _apply(step: Step) -> str:
        is_float = step.info("x").dtype not in _INTEGERS
        extra = {"fmod": 1} if op_type == "Mod" and is_float else {}
        result = step.emit(op_type, [step.tensor("x"), step.tensor("y")], **extra)
        return step.emit("Floor", [result]) if name == "floor_div" and is_float else result


for _name, _op_type in _UNARY.items():
    _register_unary(_name, _op_type)
for _name, _op_type in _BINARY.items():
    _register_binary(_name, _op_type)


def _float(step: Step, key: str, default: float) -> float:
    return float(step.number(key, default))


@rule("not_equal")
def _unequal(step: Step) -> str:
    return step.emit("Not", [step.emit("Equal", [step.tensor("x"), step.tensor("y")])])


@rule("silu")
def _silu(step: Step) -> str:
    return step.emit("Mul", [step.tensor("x"), step.emit("Sigmoid", [step.tensor("x")])])


@rule("gelu")
def _gelu(step: Step) -> str:
    mode = str(step.number("mode", "EXACT"))
    return step.emit("Gelu", [step.tensor("x")], approximate="none" if mode == "EXACT" else "tanh")


@rule("relu6 clip clamped_relu")
def _clip(step: Step) -> str:
    data, dtype = step.tensor("x"), step.info("x").dtype
    if step.kind == "clamped_relu":
        data = step.emit("LeakyRelu", [data], alpha=_float(step, "alpha", 1))
        return step.emit("Clip", [data, "", step.constant(step.number("beta"), dtype)])
    low, high = (0, 6) if step.kind == "relu6" else (step.number("alpha"), step.number("beta"))
    return step.emit("Clip", [data, step.constant(low, dtype), step.constant(high, dtype)])


@rule("leaky_relu elu thresholded_relu")
def _with_slope(step: Step) -> str:
    names = {"leaky_relu": "LeakyRelu", "elu": "Elu", "thresholded_relu": "ThresholdedRelu"}
    return step.emit(names[step.kind], [step.tensor("x")], alpha=_float(step, "alpha", 0.01))


@rule("sigmoid_hard")
def _hard_sigmoid(step: Step) -> str:
    alpha, beta = _float(step, "alpha", 0.2), _float(step, "beta", 0.5)
    return step.emit("HardSigmoid", [step.tensor("x")], alpha=alpha, beta=beta)


@rule("softplus")
def _softplus(step: Step) -> str:
    return step.emit("Softplus", [step.tensor("x")])


@rule("softplus_parametric")
def _parametric_softplus(step: Step) -> str:
    inner = step.emit("Mul", [step.tensor("x"), _of_channels(step, "beta")])
    return step.emit("Mul", [step.emit("Softplus", [inner]), _of_channels(step, "alpha")])


@rule("prelu")
def _prelu(step: Step) -> str:
    return step.emit("PRelu", [step.tensor("x"), _of_channels(step, "alpha")])


def _of_channels(step: Step, key: str) -> str:
    """Return a vector of one number a channel with the axes that follow the channels of ``x``."""
    return step.unsqueeze(step.tensor(key), list(range(1, step.rank() - 1)))


@rule("linear_activation scaled_tanh")
def _scaled(step: Step) -> str:
    dtype = step.info("x").dtype
    alpha, beta = (step.constant(step.number(key, 1), dtype) for key in ("alpha", "beta"))
    if step.kind == "linear_activation":
        return step.emit("Add", [step.emit("Mul", [step.tensor("x"), alpha]), beta])
    inner = step.emit("Tanh", [step.emit("Mul", [step.tensor("x"), beta])])
    return step.emit("Mul", [inner, alpha])


@rule("inverse rsqrt log exp2 square threshold")
def _composed(step: Step) -> str:
    data, dtype = step.tensor("x"), step.info("x").dtype
    match step.kind:
        case "inverse":
            return step.emit("Reciprocal", [data])
        case "rsqrt":
            return step.emit("Reciprocal", [step.emit("Sqrt", [data])])
        case "log":
            return step.emit("Log", [data])
        case "exp2":
            return step.emit("Pow", [step.constant(2, dtype), data])
        case "square":
            return step.emit("Mul", [data, data])
    return step.emit("Max", [data, step.constant(step.number("alpha"), dtype)])


@rule("cast")
def _cast(step: Step) -> str:
    return step.cast(step.tensor("x"), step.info("x").dtype, step.result().dtype)


@rule("select")
def _select(step: Step) -> str:
    chosen = step.cast(step.tensor("cond"), step.info("cond").dtype, TensorProto.BOOL)
    return step.emit("Where", [chosen, step.tensor("a"), step.tensor("b")])


@rule("softmax")
def _softmax(step: Step) -> str:
    axis = step.axis(default=-1)
    return step.emit("Softmax", [step.tensor("x")], axis=-1 if axis == step.rank() - 1 else axis)


_REDUCTIONS: Final = {
    "reduce_l1_norm": "ReduceL1",
    "reduce_l2_norm": "ReduceL2",
    "reduce_log_sum": "ReduceLogSum",
    "reduce_log_sum_exp": "ReduceLogSumExp",
    "reduce_max": "ReduceMax",
    "reduce_mean": "ReduceMean",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
    "reduce_sum_square": "ReduceSumSquare",
}


@rule(" ".join(_REDUCTIONS))
def _reduce(step: Step) -> str:
    axes = step.integer_constant(step.axes())
    keepdims = int(bool(step.number("keep_dims", False)))
    return step.emit(_REDUCTIONS[step.kind], [step.tensor("x"), axes], keepdims=keepdims)


@rule("reduce_argmax reduce_argmin")
def _place(step: Step) -> str:
    op_type = "ArgMax" if step.kind == "reduce_argmax" else "ArgMin"
    keepdims = int(bool(step.number("keep_dims", False)))
    place = step.emit(op_type, [step.tensor("x")], axis=step.axis(default=-1), keepdims=keepdims)
    return step.cast(place, TensorProto.INT64, step.result().dtype)


def _parameter(step: Step, key: str, size: Dim, value: float) -> str:
    """Return a scale or shift, equal numbers where the network has none."""
    if step.has(key):
        return step.tensor(key)
    if not isinstance(size, int):
        raise UnreadError(key)
    return step.equal(value, size, step.info("x").dtype)


@rule("batch_norm")
def _batch_norm(step: Step) -> str:
    channels = step.info("x").dims[1]
    inputs = [_parameter(step, "gamma", channels, 1), _parameter(step, "beta", channels, 0)]
    inputs += [step.tensor("mean"), step.tensor("variance")]
    epsilon = _float(step, "epsilon", 1e-5)
    return step.emit("BatchNormalization", [step.tensor("x"), *inputs], epsilon=epsilon)


@rule("instance_norm")
def _instance_norm(step: Step) -> str:
    channels = step.info("x").dims[1]
    inputs = [_parameter(step, "gamma", channels, 1), _parameter(step, "beta", channels, 0)]
    epsilon = _float(step, "epsilon", 1e-5)
    return step.emit("InstanceNormalization", [step.tensor("x"), *inputs], epsilon=epsilon)


@rule("layer_norm")
def _layer_norm(step: Step) -> str:
    """Return a normalisation of the last axes, or of others that are moved there."""
    axes, rank, dtype = sorted(step.axes()), step.rank(), step.info("x").dtype
    data, count = step.tensor("x"), len(axes)
    order = [axis for axis in range(rank) if axis not in axes] + axes
    data = step.transpose(data, order)
    sizes = [step.info("x").dims[axis] for axis in axes]
    if step.has("gamma"):
        scale = step.tensor("gamma")
    else:
        scale = step.emit("Expand", [step.constant(1, dtype), step.vector(static(sizes))])
    inputs = [data, scale, *([step.tensor("beta")] if step.has("beta") else [])]
    epsilon = _float(step, "epsilon", 1e-5)
    result = step.emit("LayerNormalization", inputs, axis=-count, epsilon=epsilon)
    return step.transpose(result, [order.index(axis) for axis in range(rank)])


@rule("l2_norm")
def _l2_norm(step: Step) -> str:
    axes = step.integer_constant(list(range(max(step.rank() - 3, 0), step.rank())))
    norm = step.emit("ReduceL2", [step.tensor("x"), axes], keepdims=1)
    return step.emit("Div", [step.tensor("x"), norm])


@rule("local_response_norm")
def _local_response_norm(step: Step) -> str:
    return step.emit("LRN", [step.tensor("x")], size=int(step.number("size")))


@rule("cumsum")
def _cumsum(step: Step) -> str:
    axis = step.constant(step.axis(default=0), TensorProto.INT64)
    return step.emit("CumSum", [step.tensor("x"), axis])


@rule("quantize")
def _quantize(step: Step) -> str:
    name = str(step.number("output_dtype"))
    dtype = TensorProto.UINT8 if name == "uint8" else TensorProto.INT8
    zero = step.tensor("zero_point") if step.has("zero_point") else step.constant(0, dtype)
    return _quantised(step, "QuantizeLinear", zero)


@rule("dequantize constexpr_affine_dequantize")
def _dequantize(step: Step) -> str:
    return _quantised(step, "DequantizeLinear", step.tensor("zero_point"))


def _quantised(step: Step, op_type: str, zero: str) -> str:
    key = "quantized_data" if step.has("quantized_data") else "input"
    inputs = [step.tensor(key), step.tensor("scale"), *([zero] if zero else [])]
    axis = step.axis("axis", key) if step.has("axis") else None
    return step.emit(op_type, inputs, axis=axis)


@rule("constexpr_cast")
def _constant_cast(step: Step) -> str:
    return step.emit("Cast", [step.tensor("source_val")], to=step.result().dtype)


@rule("constexpr_lut_to_dense")
def _palette(step: Step) -> str:
    """Return weights of a palette; the indices are stored, one an element."""
    if step.has("indices") and step.info("indices").dims == step.result().dims:
        indices = step.tensor("indices")
    else:
        colours = max(int(size) for size in step.info("lut").dims)
        indices = _weight(step, _index_dtype(colours))
    scale = step.constant(1, step.result().dtype)
    return step.emit("DequantizeLinear", [indices, scale])


def _index_dtype(colours: int) -> int:
    """Return the smallest type of ONNX with so many values; 3 bits have none, and take 4."""
    types = {2: TensorProto.UINT2, 4: TensorProto.UINT4, 6: TensorProto.FLOAT6E2M3}
    for bits, dtype in types.items():
        if colours <= 2**bits:
            return dtype
    return TensorProto.UINT8


def _weight(step: Step, dtype: int) -> str:
    dims = static(step.result().dims)
    return step.values.builder.weight(step.values.name(f"{step.name}/weight"), dtype, dims)


@rule("constexpr_blockwise_shift_scale")
def _blocks(step: Step) -> str:
    """Return integers times the scales of their rows or blocks."""
    dims, scales = static(step.info("data").dims), static(step.info("scale").dims)
    return step.dequantized(step.tensor("data"), step.tensor("scale"), dims, scales)


@rule("constexpr_sparse_to_dense")
def _sparse(step: Step) -> str:
    """Return weights that are mostly zeros as they are used: dense."""
    return _weight(step, step.result().dtype)


@rule("classify")
def _classes(step: Step) -> list[str]:
    """Return the probabilities; label and dictionary are made of them."""
    data = step.tensor("probabilities")
    return [data] * len(step.outputs)


@rule("read_state")
def _state(step: Step) -> str:
    return step.tensor("input")


@rule("coreml_update_state")
def _updated(step: Step) -> str:
    return step.tensor("value")
