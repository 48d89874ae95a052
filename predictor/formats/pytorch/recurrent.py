"""Recurrent layers of ATen: one ONNX operator a layer."""

from __future__ import annotations

from typing import Any, Final

from predictor.formats.emitter import UnreadError
from predictor.formats.pytorch.call import Call, rule

_TYPES: Final = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}


@rule("lstm gru rnn_tanh rnn_relu")
def _recurrent(call: Call) -> list[str]:
    """Return the outputs of all steps and the last states."""
    if not call.has("params") or not call.has("input"):
        raise UnreadError("params")  # sequences of several lengths
    op_type = _TYPES[call.kind]
    directions = 2 if call.get("bidirectional", False) else 1
    is_batch_first = bool(call.get("batch_first", False))
    has_batch = call.rank("input") == 3
    data = call.tensor("input")
    data = data if has_batch else call.unsqueeze(data, [1])
    data = call.transpose(data, (1, 0, 2)) if is_batch_first and has_batch else data
    states = call.tensors("hx") if call.kind == "lstm" else [call.tensor("hx")]
    states = states if has_batch else [call.unsqueeze(state, [1]) for state in states]
    lasts: list[list[str]] = []
    for layer in range(int(call.number("num_layers"))):
        starts = [_layer(call, state, layer, directions) for state in states]
        weights = _weights(call, layer, directions)
        count = 1 + len(states)
        hidden = _hidden(call)
        attributes = _attributes(call.kind, directions, hidden)
        outputs = call.emit_all(op_type, [data, *weights, "", *starts], count, **attributes)
        lasts.append(outputs[1:])
        data = _outputs(call, outputs[0], directions)
    data = call.transpose(data, (1, 0, 2)) if is_batch_first and has_batch else data
    finals = [call.joined(parts, 0) for parts in zip(*lasts, strict=True)]
    return [value if has_batch else call.squeeze(value, [1]) for value in (data, *finals)]


def _hidden(call: Call) -> int:
    metas = call.metas("hx") if call.kind == "lstm" else [call.meta("hx")]
    if metas[0] is None:
        raise UnreadError("hx")
    return int(metas[0].dims[-1])


def _attributes(kind: str, directions: int, hidden: int) -> dict[str, Any]:
    attributes: dict[str, Any] = {"hidden_size": hidden}
    if directions == 2:
        attributes["direction"] = "bidirectional"
    if kind == "gru":
        attributes["linear_before_reset"] = 1
    if kind == "rnn_relu":
        attributes["activations"] = ["Relu"] * directions
    return attributes


def _layer(call: Call, state: str, layer: int, directions: int) -> str:
    if int(call.number("num_layers")) == 1:
        return state
    return call.cut(state, [layer * directions], [(layer + 1) * directions], [0])


def _weights(call: Call, layer: int, directions: int) -> list[str]:
    """Return the matrices of inputs and of states, and the biases, of all directions."""
    params, step = call.tensors("params"), 4 if call.get("has_biases", True) else 2
    is_plain = len(params) == step * int(call.number("num_layers")) * directions
    if not is_plain:
        raise UnreadError("params")  # with projections
    rows = [params[step * (layer * directions + side) :][:step] for side in range(directions)]
    parts = [call.stacked([row[position] for row in rows]) for position in (0, 1)]
    if step == 2:
        return [*parts, ""]
    return [*parts, call.stacked([call.emit("Concat", row[2:], axis=0) for row in rows])]


def _outputs(call: Call, data: str, directions: int) -> str:
    """Return the outputs of the directions in one axis, as the next layer reads them."""
    if directions == 1:
        return call.squeeze(data, [1])
    return call.reshape(call.transpose(data, (0, 2, 1, 3)), [0, 0, -1])


@rule("lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell")
def _cell(call: Call) -> list[str]:
    """Return the states after one step."""
    kind = call.kind.removesuffix("_cell")
    states = call.tensors("hx") if call.kind == "lstm_cell" else [call.tensor("hx")]
    data = call.unsqueeze(call.tensor("input"), [0])
    starts = [call.unsqueeze(state, [0]) for state in states]
    weights = [call.unsqueeze(call.tensor(key), [0]) for key in ("w_ih", "w_hh")]
    bias = ""
    if call.has("b_ih"):
        biases = call.emit("Concat", [call.tensor("b_ih"), call.tensor("b_hh")], axis=0)
        bias = call.unsqueeze(biases, [0])
    hidden = int(call.meta("w_hh").dims[-1])
    attributes, inputs = _attributes(kind, 1, hidden), [data, *weights, bias, "", *starts]
    outputs = call.emit_all(_TYPES[kind], inputs, 1 + len(states), **attributes)
    return [call.squeeze(output, [0]) for output in outputs[1:]]
