"""Constant folding: what does not depend on the model's inputs is a weight or shape arithmetic."""

from __future__ import annotations

from predictor.graph.network import Constant, Network, Node
from predictor.graph.operators import CONTROL, DTYPE_BITS, INDEX_INPUTS, PARAMETER_INPUTS, RANDOM

# The result has the elements of the first input in its stored type.
_COPIES = frozenset(
    {"DequantizeLinear", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
)
_PICKING = frozenset({"Gather", "GatherElements", "GatherND", "Slice", "Split"})


def fold_constants(network: Network) -> None:
    """Drop every node whose inputs are constants or static shapes; its outputs are constants."""
    kept: list[Node] = []
    for node in network.nodes:
        if not _is_foldable(network, node):
            kept.append(node)
            continue
        for name in node.outputs:
            if name:
                network.constants[name] = _folded(network, node, name)
    network.nodes = kept


def _is_foldable(network: Network, node: Node) -> bool:
    if node.op in {"Shape", "Size"}:
        return node.inputs[0] not in network.data_dependent
    if node.op in CONTROL or node.op in RANDOM or node.op == "Unknown" or _in_loop(node):
        return False
    constants = network.constants
    has_input = False
    for name in node.inputs:
        if name:
            if name not in constants:
                return False
            has_input = True
    return has_input or node.op == "Constant"


def _in_loop(node: Node) -> bool:
    """A loop-carried value is named like its initial one and would look constant."""
    scope = node.scope
    while scope is not None:
        if scope.carries:
            return True
        scope = scope.parent
    return False


def _folded(network: Network, node: Node, output: str) -> Constant:
    """Return the constant that a node makes: of which stored tensors, in how many bits.

    ConstantOfShape with a stored shape counts as stored itself: files without weights carry each
    weight so.
    """
    constants = network.constants
    inputs = [constants[name] for name in node.inputs if name in constants]
    derived = node.op in {"Shape", "Size"} or any(c.derived for c in inputs)
    bits = DTYPE_BITS[network.type_of(output).dtype]
    if node.op in _COPIES and inputs:
        bits = inputs[0].bits
    if node.op in {"Constant", "ConstantOfShape"}:
        return Constant(() if derived else (output,), bits, derived)
    roots = [r for name in data_inputs(node) if name in constants for r in constants[name].roots]
    picked = node.op in _PICKING or any(c.picked for c in inputs)
    return Constant(tuple(dict.fromkeys(roots)), bits, derived, picked)


def data_inputs(node: Node) -> list[str]:
    """Return the inputs that hold data: no shapes, axes, bounds or indices."""
    steering = PARAMETER_INPUTS.get(node.op, ()) + INDEX_INPUTS.get(node.op, ())
    if not steering:
        return [name for name in node.inputs if name]
    return [name for i, name in enumerate(node.inputs) if name and i not in steering]
