"""Operators that work element by element, their operands brought into one order of axes."""

from __future__ import annotations

from typing import Final

from onnx import TensorProto

from predictor.formats.tflite.file import DTYPES, Operator
from predictor.formats.tflite.translation import Translation

_UNARY: Final = {
    "ABS": "Abs",
    "CEIL": "Ceil",
    "COS": "Cos",
    "ELU": "Elu",
    "EXP": "Exp",
    "FAKE_QUANT": "Identity",
    "FLOOR": "Floor",
    "HARD_SWISH": "HardSwish",
    "LOG": "Log",
    "LOGICAL_NOT": "Not",
    "LOGISTIC": "Sigmoid",
    "NEG": "Neg",
    "RELU": "Relu",
    "ROUND": "Round",
    "SIGN": "Sign",
    "SIN": "Sin",
    "SQRT": "Sqrt",
    "STABLEHLO_ABS": "Abs",
    "STABLEHLO_COSINE": "Cos",
    "STABLEHLO_EXPONENTIAL": "Exp",
    "STABLEHLO_FLOOR": "Floor",
    "STABLEHLO_LOG": "Log",
    "STABLEHLO_LOGISTIC": "Sigmoid",
    "STABLEHLO_NEGATE": "Neg",
    "STABLEHLO_TANH": "Tanh",
    "TANH": "Tanh",
}
_CLIPS: Final = {"RELU6": (0.0, 6.0), "RELU_0_TO_1": (0.0, 1.0), "RELU_N1_TO_1": (-1.0, 1.0)}
_SEVERAL: Final = {
    "ADD": "Add",
    "ADD_N": "Sum",
    "BITWISE_XOR": "BitwiseXor",
    "DIV": "Div",
    "EQUAL": "Equal",
    "GREATER": "Greater",
    "GREATER_EQUAL": "GreaterOrEqual",
    "LESS": "Less",
    "LESS_EQUAL": "LessOrEqual",
    "LOGICAL_AND": "And",
    "LOGICAL_OR": "Or",
    "MAXIMUM": "Max",
    "MINIMUM": "Min",
    "MUL": "Mul",
    "POW": "Pow",
    "PRELU": "PRelu",
    "SELECT_V2": "Where",
    "STABLEHLO_ADD": "Add",
    "STABLEHLO_AND": "And",
    "STABLEHLO_DIVIDE": "Div",
    "STABLEHLO_MAXIMUM": "Max",
    "STABLEHLO_MINIMUM": "Min",
    "STABLEHLO_MULTIPLY": "Mul",
    "STABLEHLO_OR": "Or",
    "STABLEHLO_POWER": "Pow",
    "STABLEHLO_SELECT": "Where",
    "STABLEHLO_SUBTRACT": "Sub",
    "SUB": "Sub",
}
# The second operator works on the result of the first.
_PAIRS: Final = {
    "ATAN2": ("Div", "Atan"),
    "FLOOR_DIV": ("Div", "Floor"),
    "NOT_EQUAL": ("Equal", "Not"),
    "RSQRT": ("Sqrt", "Reciprocal"),
    "STABLEHLO_RSQRT": ("Sqrt", "Reciprocal"),
}


def unary(translation: Translation, operator: Operator) -> None:
    """Translate an operator of one operand."""
    _same(translation, operator, _UNARY[operator.type])


def clip(translation: Translation, operator: Operator) -> None:
    """Translate a rectifier with bounds."""
    bounds = [translation.bound(value) for value in _CLIPS[operator.type]]
    data = operator.inputs[0]
    translation.node(operator, "Clip", [data, *bounds], translation.layout(data))


def gelu(translation: Translation, operator: Operator) -> None:
    """Translate GELU, exact or by the hyperbolic tangent."""
    form = "tanh" if operator.option("Approximate") else None
    data = operator.inputs[0]
    translation.node(operator, "Gelu", [data], translation.layout(data), approximate=form)


def leaky_relu(translation: Translation, operator: Operator) -> None:
    """Translate a leaky rectifier."""
    data, alpha = operator.inputs[0], float(operator.option("Alpha", 0.01))
    translation.node(operator, "LeakyRelu", [data], translation.layout(data), alpha=alpha)


def several(translation: Translation, operator: Operator) -> None:
    """Translate an operator of two operands or more, which are broadcast."""
    op_type = _SEVERAL[operator.type]
    if not _scaled_stack(translation, operator, op_type):
        _same(translation, operator, op_type)


def _scaled_stack(translation: Translation, operator: Operator, op_type: str) -> bool:
    """Add an operator on a stack of matrices and numbers; False where there is none."""
    stacks = [index for index in operator.inputs if index in translation.stacks]
    rest = [index for index in operator.inputs if index not in translation.stacks]
    is_real = not translation.tensor(operator.outputs[0]).is_quantised
    has_function = bool(operator.option("FusedActivationFunction"))
    if len(stacks) != 1 or not is_real or has_function or any(map(translation.rank, rest)):
        return False
    value, sizes = translation.stacks[stacks[0]]
    inputs = [value if i == stacks[0] else translation.value(i) for i in operator.inputs]
    translation.stacked(operator, translation.builder.node(op_type, inputs), sizes)
    return True


def _same(translation: Translation, operator: Operator, op_type: str) -> None:
    layout = translation.result_layout(operator)
    translation.node(operator, op_type, operator.inputs, layout, operand_layout=layout)


def modulo(translation: Translation, operator: Operator) -> None:
    """Translate a remainder; that of floats has the sign of the dividend in ONNX."""
    layout = translation.result_layout(operator)
    is_float = translation.tensor(operator.inputs[0]).dtype == TensorProto.FLOAT
    translation.node(
        operator, "Mod", operator.inputs, layout, operand_layout=layout, fmod=int(is_float) or None
    )


def shift(translation: Translation, operator: Operator) -> None:
    """Translate a shift of bits."""
    layout = translation.result_layout(operator)
    way = "LEFT" if operator.type == "STABLEHLO_SHIFT_LEFT" else "RIGHT"
    translation.node(
        operator, "BitShift", operator.inputs, layout, operand_layout=layout, direction=way
    )


def pair(translation: Translation, operator: Operator) -> None:
    """Translate an operator that ONNX has as two, one after the other."""
    first, second = _PAIRS[operator.type]
    layout = translation.result_layout(operator)
    if operator.type == "FLOOR_DIV" and translation.tensor(operator.inputs[0]).dtype in {
        TensorProto.INT32,
        TensorProto.INT64,
    }:
        translation.node(operator, first, operator.inputs, layout, operand_layout=layout)
        return
    is_integer = translation.is_integer(operator, second)
    inputs = [
        translation.aligned(index, layout, is_integer=is_integer) for index in operator.inputs
    ]
    value = translation.builder.node(first, inputs)
    translation.node(operator, second, [value], layout, is_integer=is_integer)


def square(translation: Translation, operator: Operator) -> None:
    """Translate the square of a value, or of the difference of two."""
    layout = translation.result_layout(operator)
    is_integer = translation.is_integer(operator, "Mul")
    inputs = [
        translation.aligned(index, layout, is_integer=is_integer) for index in operator.inputs
    ]
    value = inputs[0]
    if len(inputs) > 1:
        value = translation.builder.node("Sub", inputs)
        if is_integer:
            value = translation.between(operator.outputs[0], value)
    translation.node(operator, "Mul", [value, value], layout, is_integer=is_integer)


def select(translation: Translation, operator: Operator) -> None:
    """Translate SELECT, whose condition may be one of rows."""
    condition, data = operator.inputs[:2]
    rank = translation.rank(data)
    layout = translation.result_layout(operator)
    inputs = [translation.aligned(index, layout) for index in operator.inputs]
    if translation.rank(condition) == 1 < rank:
        sizes = [translation.tensor(condition).signature[0]] + [1] * (rank - 1)
        inputs[0] = translation.reshaped(translation.value(condition), sizes)
    translation.node(operator, "Where", inputs, layout)


def zeros_like(translation: Translation, operator: Operator) -> None:
    """Translate zeros in the shape of a value."""
    data = operator.inputs[0]
    shape = translation.builder.node("Shape", [translation.value(data)])
    dtype = translation.tensor(operator.outputs[0]).dtype
    zeros = translation.builder.node("ConstantOfShape", [shape])
    translation.node(operator, "Cast", [zeros], translation.layout(data), to=dtype)


def cast(translation: Translation, operator: Operator) -> None:
    """Translate a conversion of types."""
    data, result = operator.inputs[0], translation.tensor(operator.outputs[0])
    dtype = result.dtype or DTYPES[operator.option("OutDataType")]
    value = translation.value(data)
    translation.node(operator, "Cast", [value], translation.layout(data), to=dtype)


def quantize(translation: Translation, operator: Operator) -> None:
    """Translate a conversion to integers that the network runs."""
    data, result = operator.inputs[0], operator.outputs[0]
    layout = translation.layout(data)
    if not translation.tensor(result).is_quantised:
        cast(translation, operator)
        return
    inputs = [translation.value(data), *translation.scale(result)]
    translation.node(operator, "QuantizeLinear", inputs, layout)


def dequantize(translation: Translation, operator: Operator) -> None:
    """Translate a conversion to floats: of integers, or of weights in half precision."""
    data = operator.inputs[0]
    tensor, layout = translation.tensor(data), translation.layout(data)
    if not tensor.is_quantised:
        cast(translation, operator)
        return
    axis = layout.index(tensor.axis) if tensor.scales > 1 else None
    inputs = [translation.value(data), *translation.scale(data)]
    translation.node(operator, "DequantizeLinear", inputs, layout, axis=axis)


RULES: Final = {
    **dict.fromkeys(_UNARY, unary),
    **dict.fromkeys(_CLIPS, clip),
    **dict.fromkeys(_SEVERAL, several),
    **dict.fromkeys(_PAIRS, pair),
    "CAST": cast,
    "DENSIFY": cast,
    "DEQUANTIZE": dequantize,
    "FLOOR_MOD": modulo,
    "GELU": gelu,
    "LEAKY_RELU": leaky_relu,
    "QUANTIZE": quantize,
    "RIGHT_SHIFT": shift,
    "SELECT": select,
    "SQUARE": square,
    "SQUARED_DIFFERENCE": square,
    "STABLEHLO_CONVERT": cast,
    "STABLEHLO_REMAINDER": modulo,
    "STABLEHLO_SHIFT_LEFT": shift,
    "ZEROS_LIKE": zeros_like,
}
