"""Integer arithmetic: DequantizeLinear -> operator -> QuantizeLinear is one integer operator."""

from __future__ import annotations

from predictor.graph.cleanup import consumers_of
from predictor.graph.epilogues import fuse
from predictor.graph.network import Network, Node
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import VIEWS

# Multiply integers by their own definition.
_INTEGER = frozenset(
    [
        "ConvInteger",
        "DynamicQuantizeLSTM",
        "DynamicQuantizeMatMul",
        "MatMulInteger",
        "MatMulInteger16",
        "MatMulIntegerToFloat",
        "QAttention",
        "QGemm",
        "QLinearConv",
        "QLinearConvTranspose",
        "QLinearMatMul",
        "NhwcQLinearConv",
    ]
)
_MULTIPLYING = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
# Give the right result without rounding to integers in between.
_NEEDS_QUANTISED_OUTPUT = frozenset({"Conv", "ConvTranspose"})
# Runtimes have integer kernels for these, or they only move data.
_INTEGER_CAPABLE = _MULTIPLYING | frozenset(
    [
        "Add",
        "ArgMax",
        "AveragePool",
        "BatchNormalization",
        "Clip",
        "Concat",
        "DepthToSpace",
        "Div",
        "Expand",
        "Flatten",
        "Gather",
        "GlobalAveragePool",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "MaxPool",
        "Mul",
        "PRelu",
        "Pad",
        "ReduceMean",
        "Relu",
        "Reshape",
        "Resize",
        "Sigmoid",
        "Slice",
        "Softmax",
        "SpaceToDepth",
        "Split",
        "Squeeze",
        "Sub",
        "Tanh",
        "TopK",
        "Transpose",
        "Unsqueeze",
        "Where",
    ]
)


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
