"""Convolutions, products, attention and recurrent layers of MIL."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from onnx import TensorProto

from predictor.formats.coreml.mil.step import Step, rule
from predictor.formats.emitter import LARGEST_INT, UnreadError, static


def window(step: Step, kernel: Sequence[int]) -> dict[str, Any]:
    """Return the attributes of a window: its size, steps and paddings."""
    ones = [1] * len(kernel)
    attributes: dict[str, Any] = {
        "kernel_shape": list(kernel),
        "strides": [int(item) for item in step.numbers("strides", ones)],
    }
    kind = str(step.number("pad_type", "valid"))
    if kind == "custom":
        pads = [int(item) for item in step.numbers("pad", [0] * (2 * len(kernel)))]
        attributes["pads"] = [*pads[0::2], *pads[1::2]]
    elif kind in {"same", "same_lower"}:
        attributes["auto_pad"] = "SAME_UPPER" if kind == "same" else "SAME_LOWER"
    return attributes


def _kernel(step: Step) -> list[int]:
    return [int(size) for size in step.info("weight").dims[2:]]


@rule("conv")
def _convolution(step: Step) -> str:
    kernel = _kernel(step)
    attributes = window(step, kernel)
    dilations = [int(item) for item in step.numbers("dilations", [1] * len(kernel))]
    inputs = [step.tensor(key) for key in ("x", "weight", "bias") if step.has(key)]
    group = int(step.number("groups", 1))
    return step.emit("Conv", inputs, dilations=dilations, group=group, **attributes)


@rule("conv_transpose")
def _transposed(step: Step) -> str:
    kernel = _kernel(step)
    attributes = window(step, kernel)
    dilations = [int(item) for item in step.numbers("dilations", [1] * len(kernel))]
    if step.has("output_shape"):
        attributes["output_shape"] = [int(i) for i in step.numbers("output_shape")[-len(kernel) :]]
    inputs = [step.tensor(key) for key in ("x", "weight", "bias") if step.has(key)]
    group = int(step.number("groups", 1))
    return step.emit("ConvTranspose", inputs, dilations=dilations, group=group, **attributes)


@rule("linear")
def _linear(step: Step) -> str:
    data, weight, bias = (step.tensor(key) for key in ("x", "weight", "bias"))
    if step.rank() == 2:
        return step.emit("Gemm", [data, weight, *([bias] if bias else [])], transB=1)
    result = step.emit("MatMul", [data, step.transpose(weight, (1, 0))])
    return step.emit("Add", [result, bias]) if bias else result


@rule("matmul")
def _matmul(step: Step) -> str:
    inputs = []
    for key in ("x", "y"):
        data, rank = step.tensor(key), step.rank(key)
        if step.number(f"transpose_{key}", False) and rank > 1:
            data = step.transpose(data, (*range(rank - 2), rank - 1, rank - 2))
        inputs.append(data)
    return step.emit("MatMul", inputs)


@rule("einsum")
def _einsum(step: Step) -> str:
    return step.emit("Einsum", step.tensors("values"), equation=str(step.number("equation")))


@rule("scaled_dot_product_attention")
def _attention(step: Step) -> str:
    """Return attention as its two products and a softmax, as torch's exporter writes it."""
    query, key, value = (step.tensor(name) for name in ("query", "key", "value"))
    info, rank = step.info("query"), step.rank("query")
    width = info.dims[-1]
    if not isinstance(width, int) or not width:
        raise UnreadError("query")
    root = step.constant(math.sqrt(1 / math.sqrt(width)), info.dtype)
    keys = step.transpose(key, (*range(rank - 2), rank - 1, rank - 2))
    scaled = [step.emit("Mul", [name, root]) for name in (query, keys)]
    scores = step.emit("MatMul", scaled)
    if step.has("attn_mask"):
        mask = step.tensor("attn_mask")
        if step.info("attn_mask").dtype == TensorProto.BOOL:
            numbers = [step.constant(number, info.dtype) for number in (0, -math.inf)]
            mask = step.emit("Where", [mask, *numbers])
        scores = step.emit("Add", [scores, mask])
    return step.emit("MatMul", [step.emit("Softmax", [scores], axis=-1), value])


_RECURRENT: Final = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN"}


@rule("lstm gru rnn")
def _recurrent(step: Step) -> list[str]:
    """Return the outputs and the last states.

    Data are [length, batch, width], states [batch, hidden], of both directions side by side.
    """
    sides = ["", "_back"] if step.has("weight_hh_back") else [""]
    hidden = int(step.info("weight_hh").dims[1])
    parts = [
        step.stacked([step.tensor(f"{key}{side}") for side in sides])
        for key in ("weight_ih", "weight_hh")
    ]
    parts.append(_biases(step, sides))
    states = ["initial_h", "initial_c"] if step.kind == "lstm" else ["initial_h"]
    starts = [_state(step, key, len(sides), hidden) for key in states]
    attributes: dict[str, Any] = {"hidden_size": hidden}
    direction = str(step.number("direction", "forward"))
    attributes["direction"] = direction if direction in _DIRECTIONS else "forward"
    if step.kind == "gru":
        attributes["linear_before_reset"] = int(bool(step.number("reset_after", False)))
    outputs = step.emit_all(
        _RECURRENT[step.kind],
        [step.tensor("x"), *parts, "", *starts],
        1 + len(states),
        **attributes,
    )
    return [
        _sequence(step, outputs[0], len(sides)),
        *(_last(step, o, len(sides)) for o in outputs[1:]),
    ]


_DIRECTIONS: Final = frozenset({"forward", "reverse", "bidirectional"})


def _biases(step: Step, sides: Sequence[str]) -> str:
    """Return biases as ONNX has them: those of the inputs, then those of the states."""
    if not step.has("bias"):
        return ""
    info = step.info("bias")
    zeros = step.equal(0, static(info.dims)[0], info.dtype)
    biases = [step.tensor(f"bias{side}") for side in sides]
    return step.stacked([step.emit("Concat", [bias, zeros], axis=0) for bias in biases])


def _state(step: Step, key: str, sides: int, hidden: int) -> str:
    if sides == 1:
        return step.unsqueeze(step.tensor(key), [0])
    split = step.reshape(step.tensor(key), [-1, sides, hidden])
    return step.transpose(split, (1, 0, 2))


def _sequence(step: Step, data: str, sides: int) -> str:
    if not step.number("output_sequence", False):
        data = step.cut(data, [-1], [LARGEST_INT], [0])
    if sides == 1:
        return step.squeeze(data, [1])
    return step.reshape(step.transpose(data, (0, 2, 1, 3)), [0, 0, -1])


def _last(step: Step, state: str, sides: int) -> str:
    if sides == 1:
        return step.squeeze(state, [0])
    return step.reshape(step.transpose(state, (1, 0, 2)), [0, -1])
