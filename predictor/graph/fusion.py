"""Views, which move no data, and operators that run inside others: activations, conversions."""

from __future__ import annotations

from predictor.graph.cleanup import consumers_of
from predictor.graph.network import Network, Node
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import ACTIVATIONS, VIEWS

_CONTRACTIONS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_GATES = frozenset({"Sigmoid", "HardSigmoid"})
# Multiply integers by their own definition.
_INTEGER_WORDS = """
    ConvInteger DynamicQuantizeLSTM DynamicQuantizeMatMul MatMulInteger MatMulInteger16
    MatMulIntegerToFloat NhwcQLinearConv QAttention QGemm QLinearConv QLinearConvTranspose
    QLinearMatMul
"""
_INTEGER = frozenset(_INTEGER_WORDS.split())
_MULTIPLYING = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
# Give the right result without rounding to integers in between.
_NEEDS_QUANTISED_OUTPUT = frozenset({"Conv", "ConvTranspose"})
# Runtimes have integer kernels for these, or they only move data.
_INTEGER_CAPABLE_WORDS = """
    Add ArgMax AveragePool BatchNormalization Clip Concat DepthToSpace Div Expand Flatten Gather
    GlobalAveragePool HardSigmoid HardSwish LeakyRelu MaxPool Mul PRelu Pad ReduceMean Relu
    Reshape Resize Sigmoid Slice Softmax SpaceToDepth Split Squeeze Sub Tanh TopK Transpose
    Unsqueeze Where
"""
_INTEGER_CAPABLE = _MULTIPLYING | frozenset(_INTEGER_CAPABLE_WORDS.split())


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


def mark_quantised(network: Network) -> None:
    """Flag integer operators, give them their integer values, and fuse what converts for them."""
    for node in network.nodes:
        if node.op in _INTEGER or node.op.startswith("QLinear"):
            node.flags |= int(OperatorFlag.QUANTISED)
    if any(node.op == "DequantizeLinear" for node in network.nodes):
        _Pattern(network).mark()


class _Pattern:
    """Finds operators between DequantizeLinear and QuantizeLinear."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._producer = {name: node for node in network.nodes for name in node.outputs if name}
        self._consumers = consumers_of(network)
        self._outputs = set(network.outputs)

    def mark(self) -> None:
        hosts = [node for node in self._network.nodes if self._is_host(node)]
        for node in hosts:
            self._fuse_output(node)
            if node.op not in VIEWS:
                node.flags |= int(OperatorFlag.QUANTISED)
        chosen = set(map(id, hosts))
        for node in self._network.nodes:
            if node.op == "DequantizeLinear":
                self._fuse_input(node, chosen)

    def _is_host(self, node: Node) -> bool:
        if node.op not in _INTEGER_CAPABLE or node.fused_into is not None:
            return False
        dynamic = [i for i in node.inputs if i and i not in self._network.constants]
        made_by = [self._producer.get(name) for name in dynamic]
        if not dynamic or not all(p and p.op == "DequantizeLinear" for p in made_by):
            return False
        if node.op in _MULTIPLYING and not self._has_integer_weights(node):
            return False
        return self._quantise_after(node) is not None or (
            node.op in _MULTIPLYING - _NEEDS_QUANTISED_OUTPUT
        )

    def _has_integer_weights(self, node: Node) -> bool:
        constants = self._network.constants
        return all(constants[i].bits <= 16 for i in node.inputs[:2] if i in constants)

    def _quantise_after(self, node: Node) -> Node | None:
        """Return the QuantizeLinear that alone reads the node, fused activations skipped."""
        value = node.outputs[0]
        while True:
            readers = self._consumers.get(value, [])
            if value in self._outputs or len(readers) != 1:
                return None
            only = readers[0]
            if only.op == "QuantizeLinear":
                return only
            if only.fused_into is not node:
                return None
            value = only.outputs[0]

    def _fuse_output(self, node: Node) -> None:
        quantise = self._quantise_after(node)
        if quantise is not None:
            fuse(quantise, node)

    def _fuse_input(self, node: Node, hosts: set[int]) -> None:
        """A DequantizeLinear that integer operators alone read does not run."""
        readers = self._consumers.get(node.outputs[0], [])
        sole = bool(readers) and node.outputs[0] not in self._outputs
        if sole and all(id(reader) in hosts for reader in readers):
            fuse(node, readers[0])
