"""Recurrent layers: sequences through LSTM and RNN cells, and SVDF.

Cells of integers stand between conversions, which ONNX has no cells without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import tflite

from predictor.formats.tflite.file import Operator
from predictor.formats.tflite.layouts import as_filed
from predictor.formats.tflite.translation import Translation

# Of the file: input, forget, cell, output; of ONNX: input, output, forget, cell.
_ONNX_GATES: Final = (0, 3, 1, 2)
_GATES: Final = 4
# Peepholes of the file: input, forget, output; of ONNX: input, output, forget.
_ONNX_PEEPHOLES: Final = (0, 2, 1)
_NORMALIZATIONS: Final = range(20, 24)


def lstm(translation: Translation, operator: Operator) -> None:
    """Translate an LSTM over a sequence, or one step of it.

    Cells without an input gate, with a projection, with layer normalisations or of the older kind
    have no counterpart.
    """
    is_normalised = any(translation.has(operator, at) for at in _NORMALIZATIONS)
    if is_normalised or not _is_plain(translation, operator, 1):
        translation.unknown(operator)
        return
    is_step = operator.type == "LSTM"
    value = _sequence(translation, operator, is_step=is_step)
    result = _lstm(translation, operator, value, 1, 5, 12, "forward")
    _finish(translation, operator, result, is_step=is_step)


def bidirectional(translation: Translation, operator: Operator) -> None:
    """Translate an LSTM or RNN in two directions, of which each has weights."""
    is_lstm = operator.type == "BIDIRECTIONAL_SEQUENCE_LSTM"
    is_plain = is_lstm and all(_is_plain(translation, operator, at) for at in (1, 18))
    is_merged = bool(operator.option("MergeOutputs")) or len(operator.outputs) == 1
    # Further inputs are those of stacked layers.
    extra = range(39, 48) if is_lstm else range(9, 12)
    if (is_lstm and not is_plain) or any(translation.has(operator, at) for at in extra):
        translation.unknown(operator)
        return
    value = _sequence(translation, operator, is_step=False)
    builder = translation.builder
    if is_lstm:
        results = [
            _lstm(translation, operator, value, 1, 5, 12, "forward"),
            _lstm(translation, operator, value, 18, 22, 29, "reverse"),
        ]
    else:
        results = [
            _rnn(translation, operator, value, 1, "forward"),
            _rnn(translation, operator, value, 5, "reverse"),
        ]
    if is_merged:
        joined = builder.node("Concat", results, axis=-1)
        _finish(translation, operator, joined, is_step=False)
        return
    for index, result in zip(operator.outputs, results, strict=True):
        name = translation.free_name(index)
        builder.node("Identity", [_ordered(translation, operator, result)], [name])
        translation.define(index, name, as_filed(translation.rank(index)))


def _is_plain(translation: Translation, operator: Operator, weights_at: int) -> bool:
    """Whether a cell has four gates and no projection."""
    has_gates = all(translation.has(operator, at) for at in range(weights_at, weights_at + 8))
    is_basic = operator.option("KernelType") == tflite.LSTMKernelType.BASIC
    return has_gates and not is_basic and not translation.has(operator, weights_at + 15)


def _sequence(translation: Translation, operator: Operator, *, is_step: bool) -> str:
    """Return the input of a recurrent layer as steps, batch, elements."""
    data, builder = operator.inputs[0], translation.builder
    value = translation.real(data, as_filed(translation.rank(data)))
    if is_step:
        return builder.node("Unsqueeze", [value, builder.constant([0])])
    return _ordered(translation, operator, value)


def _ordered(translation: Translation, operator: Operator, value: str) -> str:
    """Return a sequence with batch and steps exchanged where the file has the batch first."""
    if operator.option("TimeMajor"):
        return value
    return translation.builder.node("Transpose", [value], perm=[1, 0, 2])


def _joined(
    translation: Translation, operator: Operator, first: int, gates: Sequence[int] = _ONNX_GATES
) -> str:
    """Return the weights of gates as one tensor of one direction."""
    builder = translation.builder
    parts = [translation.real(operator.inputs[first + gate]) for gate in gates]
    weights = builder.node("Concat", parts, axis=0)
    return builder.node("Unsqueeze", [weights, builder.constant([0])])


def _lstm(
    translation: Translation,
    operator: Operator,
    value: str,
    weights_at: int,
    recurrent_at: int,
    bias_at: int,
    direction: str,
) -> str:
    """Return the sequence of an LSTM's states as steps, batch, elements."""
    builder = translation.builder
    weights = _joined(translation, operator, weights_at)
    recurrent = _joined(translation, operator, recurrent_at)
    bias = ""
    if all(translation.has(operator, bias_at + gate) for gate in range(_GATES)):
        bias = _bias(translation, operator, bias_at, _ONNX_GATES)
    size = translation.tensor(operator.inputs[recurrent_at]).dims[1]
    inputs = [value, weights, recurrent, bias]
    peepholes_at = recurrent_at + _GATES
    if all(translation.has(operator, peepholes_at + gate) for gate in _ONNX_PEEPHOLES):
        inputs += ["", "", "", _joined(translation, operator, peepholes_at, _ONNX_PEEPHOLES)]
    outputs = [builder.fresh("states")]
    builder.node(
        "LSTM",
        inputs,
        outputs,
        name=_name(translation, operator, direction),
        hidden_size=size,
        direction=direction,
    )
    return builder.node("Squeeze", [outputs[0], builder.constant([1])])


def _bias(translation: Translation, operator: Operator, first: int, gates: Sequence[int]) -> str:
    """Return the biases of gates, with zeros for those of the states, which the file lacks."""
    builder = translation.builder
    zeros = builder.constant(np.zeros(1, np.float32))
    size = translation.tensor(operator.inputs[first]).dims[0] * len(gates)
    rest = builder.node("Expand", [zeros, builder.constant([1, size])])
    return builder.node("Concat", [_joined(translation, operator, first, gates), rest], axis=-1)


def _name(translation: Translation, operator: Operator, direction: str) -> str:
    name = translation.name(operator.outputs[0])
    return name if direction == "forward" else f"{name}/{direction}"


def rnn(translation: Translation, operator: Operator) -> None:
    """Translate a plain recurrent layer over a sequence, or one step of it."""
    is_step = operator.type == "RNN"
    value = _sequence(translation, operator, is_step=is_step)
    result = _rnn(translation, operator, value, 1, "forward")
    _finish(translation, operator, result, is_step=is_step)


def _rnn(
    translation: Translation, operator: Operator, value: str, weights_at: int, direction: str
) -> str:
    builder = translation.builder
    first = builder.constant([0])
    parts = [
        builder.node("Unsqueeze", [translation.real(operator.inputs[weights_at + at]), first])
        for at in range(2)
    ]
    if translation.has(operator, weights_at + 2):
        parts.append(_bias(translation, operator, weights_at + 2, (0,)))
    size = translation.tensor(operator.inputs[weights_at + 1]).dims[0]
    outputs = [builder.fresh("states")]
    builder.node(
        "RNN",
        [value, *parts],
        outputs,
        name=_name(translation, operator, direction),
        hidden_size=size,
        direction=direction,
    )
    return builder.node("Squeeze", [outputs[0], builder.constant([1])])


def _finish(translation: Translation, operator: Operator, result: str, *, is_step: bool) -> None:
    """Give the result of a layer the order that the file has."""
    builder, index = translation.builder, operator.outputs[-1 if is_step else 0]
    if is_step:
        result = builder.node("Squeeze", [result, builder.constant([0])])
    else:
        result = _ordered(translation, operator, result)
    if translation.tensor(index).is_quantised:
        result = builder.node("QuantizeLinear", [result, *translation.scale(index)])
    name = translation.free_name(index)
    builder.node("Identity", [result], [name])
    translation.define(index, name, as_filed(translation.rank(index)))


def filtered(translation: Translation, operator: Operator) -> None:
    """Translate SVDF: features of the new input, and a filter over those of the last steps."""
    data, features, filters = operator.inputs[:3]
    builder = translation.builder
    steps = translation.tensor(filters).dims[1]
    units = translation.tensor(filters).dims[0]
    batch = translation.tensor(data).dims[0]
    rank = max(operator.option("Rank", 1), 1)
    inputs = [translation.real(data), translation.real(features)]
    latest = builder.node("Gemm", inputs, transB=1)
    latest = builder.node("Unsqueeze", [latest, builder.constant([2])])
    zero = builder.constant(np.zeros(1, np.float32))
    past = builder.node("Expand", [zero, builder.constant([batch, units, steps - 1])])
    memory = builder.node("Concat", [past, latest], axis=2)
    operands = [memory, translation.real(filters)]
    value = builder.node("Einsum", operands, equation="bft,ft->bf")
    if rank > 1:
        value = translation.reshaped(value, [batch, units // rank, rank])
        value = builder.node("ReduceSum", [value, builder.constant([2])], keepdims=0)
    if translation.has(operator, 3):
        value = builder.node("Add", [value, translation.real(operator.inputs[3])])
    is_integer = translation.tensor(operator.outputs[0]).is_quantised

    def add(names: list[str]) -> str:
        return builder.node("Identity", [value], names)

    translation.result(operator, add, is_integer=is_integer)


RULES: Final = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional,
    "BIDIRECTIONAL_SEQUENCE_RNN": bidirectional,
    "LSTM": lstm,
    "RNN": rnn,
    "SVDF": filtered,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": rnn,
}
