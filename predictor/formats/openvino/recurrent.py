"""Recurrent layers: sequences, and cells as sequences of one step."""

from __future__ import annotations

from typing import Final

from onnx import TensorProto

from predictor.formats.openvino.operation import Handler, Operation

_STATES = {"LSTM": 2, "GRU": 1, "RNN": 1}
_DIRECTIONS = {"forward": None, "reverse": "reverse", "bidirectional": "bidirectional"}


def _sequence(op_type: str) -> Handler:
    """Return the handler of a sequence, whose batch comes first."""

    def convert(op: Operation) -> None:
        states = _STATES[op_type]
        data = op.transposed(op.inputs[0], [1, 0, 2])
        before = [op.transposed(op.inputs[1 + i], [1, 0, 2]) for i in range(states)]
        weights = op.inputs[states + 2 : states + 5]
        outputs = [op.builder.fresh(f"{op.layer.name}/{op_type}") for _ in range(states + 1)]
        op.builder.node(
            op_type,
            [data, *weights, "", *before],
            outputs,
            name=op.layer.name,
            hidden_size=op.integer("hidden_size", 1),
            direction=_DIRECTIONS.get(op.text("direction")),
            linear_before_reset=_reset(op, op_type),
        )
        names = op.names()
        op.builder.node("Transpose", outputs[:1], names[:1], perm=[2, 1, 0, 3])
        for name, output in zip(names[1:], outputs[1:], strict=False):
            op.builder.node("Transpose", [output], [name], perm=[1, 0, 2])

    return convert


def _reset(op: Operation, op_type: str) -> int | None:
    return int(op.flag("linear_before_reset")) if op_type == "GRU" else None


def _cell(op_type: str) -> Handler:
    """Return the handler of one step; weights [gates, size] get a direction, states a step."""

    def convert(op: Operation) -> None:
        states = _STATES[op_type]
        axis = op.builder.constant([0])
        widened = [op.step("Unsqueeze", [name, axis]) for name in op.inputs[: states + 4]]
        data, before, weights = widened[0], widened[1 : states + 1], widened[states + 1 :]
        outputs = [op.builder.fresh(f"{op.layer.name}/{op_type}") for _ in range(states)]
        op.builder.node(
            op_type,
            [data, *weights, *[""] * (4 - len(weights)), *before],
            ["", *outputs],
            name=op.layer.name,
            hidden_size=op.integer("hidden_size", 1),
            linear_before_reset=_reset(op, op_type),
        )
        for name, output in zip(op.names(), outputs, strict=False):
            op.builder.node("Squeeze", [output, axis], [name])

    return convert


def _random_uniform(op: Operation) -> None:
    stated = op.out().static
    if stated is None:
        op.unknown()
        return
    op.builder.node(
        "RandomUniform",
        [],
        op.names(),
        name=op.layer.name,
        shape=list(stated),
        dtype=op.out().dtype if op.out().dtype in _FLOATS else TensorProto.FLOAT,
    )


_FLOATS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE})


HANDLERS: Final[dict[str, Handler]] = {
    "grucell": _cell("GRU"),
    "grusequence": _sequence("GRU"),
    "lstmcell": _cell("LSTM"),
    "lstmsequence": _sequence("LSTM"),
    "randomuniform": _random_uniform,
    "rnncell": _cell("RNN"),
    "rnnsequence": _sequence("RNN"),
}
"""Handlers by operation in lower case."""
