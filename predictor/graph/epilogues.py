"""Views, which move no data, and activations that run inside the contraction before them."""

from __future__ import annotations

from predictor.graph.cleanup import consumers_of
from predictor.graph.network import Network, Node
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import ACTIVATIONS, VIEWS

_CONTRACTIONS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_GATES = frozenset({"Sigmoid", "HardSigmoid"})


def mark_views(network: Network) -> None:
    """Flag every operator that changes the shape only."""
    for node in network.nodes:
        if node.op in VIEWS and node.inputs[0] not in network.constants:
            node.flags |= int(OperatorFlag.VIEW)


def mark_epilogues(network: Network) -> None:
    """Record activations that are all that reads a contraction as fused into it.

    ``x * sigmoid(x)`` (SiLU) and ``x * hardsigmoid(x)`` are two nodes that fuse together.
    """
    consumers = consumers_of(network)
    outputs = set(network.outputs)
    for node in network.nodes:
        if node.op not in _CONTRACTIONS or node.outputs[0] in outputs:
            continue
        readers = [r for r in consumers.get(node.outputs[0], []) if r.repeats == node.repeats]
        for fused in _epilogue(network, node.outputs[0], readers, consumers, outputs):
            fuse(fused, node)


def fuse(node: Node, host: Node) -> None:
    """Mark ``node`` as a part of ``host``."""
    node.flags |= int(OperatorFlag.FUSED)
    node.fused_into = host


def _epilogue(
    network: Network,
    value: str,
    readers: list[Node],
    consumers: dict[str, list[Node]],
    outputs: set[str],
) -> list[Node]:
    if len(consumers.get(value, [])) != len(readers):
        return []
    if len(readers) == 1:
        only = readers[0]
        fits = only.op in ACTIVATIONS and only.inputs[0] == value and _steered(network, only)
        return [only] if fits else []
    gates = [r for r in readers if r.op in _GATES]
    products = [r for r in readers if r.op == "Mul"]
    if len(readers) != 2 or len(gates) != 1 or len(products) != 1:
        return []
    gate, product = gates[0], products[0]
    is_gated = {*product.inputs} == {value, gate.outputs[0]}
    sole = len(consumers.get(gate.outputs[0], [])) == 1 and gate.outputs[0] not in outputs
    return [gate, product] if is_gated and sole else []


def _steered(network: Network, node: Node) -> bool:
    """Bounds and slopes of the activation are constants."""
    return all(name in network.constants for name in node.inputs[1:] if name)
