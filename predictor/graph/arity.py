"""Whether each node has the inputs and outputs that its operator requires."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import onnx

from predictor.core.errors import InputError
from predictor.graph.network import Network, Node
from predictor.graph.operators import BLOCKED_DOMAIN

_STANDARD_DOMAINS = frozenset({"", "ai.onnx", BLOCKED_DOMAIN})
_SINGLE = onnx.defs.OpSchema.FormalParameterOption.Single


class _Arity(NamedTuple):
    required: tuple[int, ...]
    outputs: int


def check_arity(network: Network) -> None:
    """Check that no required input or output is left out.

    Raises:
        InputError: one is; the node is named.
    """
    for node in network.nodes:
        if node.op == "Unknown" or node.proto is None:
            continue
        arity = _arity_of(network, node)
        for position in arity.required:
            if position >= len(node.inputs) or not node.inputs[position]:
                raise _incomplete(node, f"its required input {position} is left out")
        if len(node.outputs) < arity.outputs:
            raise _incomplete(node, "it has no output")


def _incomplete(node: Node, reason: str) -> InputError:
    return InputError(
        f"node {node.name}", f"{node.op_type}: {reason}", "export the model again or mend the file"
    )


def _arity_of(network: Network, node: Node) -> _Arity:
    version = network.opsets.get("", network.opsets.get("ai.onnx", 1))
    if node.domain not in _STANDARD_DOMAINS:
        return _Arity((0,), 1)
    return _standard_arity(node.op, version)


@lru_cache(maxsize=1024)
def _standard_arity(op: str, version: int) -> _Arity:
    try:
        schema = onnx.defs.get_schema(op, version)
    except onnx.defs.SchemaError:
        return _Arity((0,), 1)  # written by a runtime in an opset that does not have it yet
    required = [i for i, formal in enumerate(schema.inputs) if formal.option == _SINGLE]
    return _Arity(tuple(required), min(schema.min_output, 1))
