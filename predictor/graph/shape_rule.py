"""A shape rule: from a node and the types of its inputs to the types of its outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from predictor.graph.network import Network, Node, TensorType
from predictor.graph.values import ValueTable

Outputs: TypeAlias = list[TensorType]
Rule: TypeAlias = Callable[[Network, Node, ValueTable], Outputs | None]
"""None where the types are not known; onnx's own inference is asked then."""


def of_known(
    *positions: int,
) -> Callable[[Callable[..., Outputs | None]], Rule]:
    """Make a rule of a function of the network, a node and the types of some of its inputs.

    Args:
        positions: of the inputs; where the type of one is not known, neither are the outputs'.
    """

    def decorate(function: Callable[..., Outputs | None]) -> Rule:
        def rule(network: Network, node: Node, _: ValueTable) -> Outputs | None:
            types = [network.input_type(node, position) for position in positions]
            return function(network, node, *types) if all(t.known for t in types) else None

        return rule

    return decorate
