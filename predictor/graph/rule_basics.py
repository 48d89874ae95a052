"""What the shape rules share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from predictor.graph.network import UNKNOWN_TYPE, Network, Node, TensorType
from predictor.graph.values import ValueTable

Outputs: TypeAlias = list[TensorType]
Rule: TypeAlias = Callable[[Network, Node, ValueTable], Outputs | None]


def input_type(network: Network, node: Node, position: int) -> TensorType:
    """Return the type of one input, unknown where it is absent."""
    if position >= len(node.inputs):
        return UNKNOWN_TYPE
    return network.type_of(node.inputs[position])
