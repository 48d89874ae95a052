"""Constant folding: what does not depend on the model's inputs is a weight or shape arithmetic."""

from __future__ import annotations

from predictor.graph.network import Constant, Network, Node
from predictor.graph.operators import CONTROL, DTYPE_BITS, PARAMETER_INPUTS, RANDOM

# The result is a copy of the first input: the same elements, stored once.
_COPIES = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
_SMALL_WEIGHT = 64  # elements; smaller constants are arithmetic's scalars and short vectors


def fold_constants(network: Network) -> None:
    """Drop every node whose inputs are constants or static shapes; its outputs are constants."""
    kept: list[Node] = []
    for node in network.nodes:
        constant = _folded(network, node)
        if constant is None:
            kept.append(node)
            continue
        for name in node.outputs:
            if name:
                network.constants[name] = constant._replace(root=constant.root or name)
    network.nodes = kept


def _folded(network: Network, node: Node) -> Constant | None:
    """Return the constant that a node makes (root empty: a new one), None where it makes none."""
    if node.op in {"Shape", "Size"}:
        exact = node.inputs[0] not in network.data_dependent
        return Constant("", 64, derived=True) if exact else None
    if node.op in CONTROL or node.op in RANDOM or node.op == "Unknown" or _in_loop(node):
        return None
    constants = network.constants
    inputs = [name for name in node.inputs if name]
    if not inputs and node.op != "Constant":
        return None
    if any(name not in constants for name in inputs):
        return None
    if node.op == "DequantizeLinear" or (node.op in _COPIES and inputs):
        return constants[inputs[0]]
    bits = DTYPE_BITS[network.type_of(node.outputs[0]).dtype]
    return Constant("", bits, derived=_is_derived(network, node))


def _in_loop(node: Node) -> bool:
    """A loop-carried value is named like its initial one and would look constant."""
    scope = node.scope
    while scope is not None:
        if scope.carries:
            return True
        scope = scope.parent
    return False


def _is_derived(network: Network, node: Node) -> bool:
    """Whether a folded value comes from shapes: no tensor of weight size goes into it."""
    steering = PARAMETER_INPUTS.get(node.op, ())
    data = [name for i, name in enumerate(node.inputs) if name and i not in steering]
    if any(_is_weight(network, name) for name in data):
        return False
    return any(network.constants[name].derived for name in node.inputs if name)


def _is_weight(network: Network, name: str) -> bool:
    constant = network.constants[name]
    return not constant.derived and network.type_of(name).elements > _SMALL_WEIGHT
