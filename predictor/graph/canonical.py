"""The operations of a network in one form for all exporters, for its fingerprint.

Of a cleaned-up network, whose constants and batch normalisations are folded:

- Views are left out: a reader hashes the shape as it reads it.
- What scales or shifts the channels of a convolution, product or normalisation by a constant is a
  part of it, and so are biases: a network has them or not, whether it was trained or not.
- ``Gemm`` and ``MatMul`` with a constant matrix are one operation, as are the means over all
  pixels, activations and layer normalisations however they are written, and paddings before or in
  a convolution. The inputs of a sum or product have no order.
- A constant is its type and its shape without leading ones: no values, and not which one it is.
  Constants that steer (shapes, axes, bounds) are left out.
- Attributes are those of ``canonical_attributes.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, dropwhile
from typing import Final

from predictor.graph.canonical_attributes import axes_from_front, canonical_attributes
from predictor.graph.cleanup import value_tensors
from predictor.graph.digest import Operation, Read
from predictor.graph.joins import PRODUCTS, Joins
from predictor.graph.network import Network, Node, TensorType
from predictor.graph.operators import DTYPES, OPERATORS, PARAMETER_INPUTS, by_operator
from predictor.graph.values import ValueTable

_WINDOWED: Final = frozenset({"AveragePool", "Conv", "LpPool", "MaxPool"})
_REDUCTIONS: Final = {"GlobalAveragePool": "ReduceMean", "GlobalMaxPool": "ReduceMax"}
_REDUCING_POOLS: Final = {"AveragePool": "ReduceMean", "MaxPool": "ReduceMax"}
_REDUCING: Final = frozenset(
    {*_REDUCTIONS, *_REDUCING_POOLS, *(op for op in OPERATORS if op.startswith("Reduce"))}
)
# By an operator whose second input is a constant: its inverse, or its later form.
_SAME_WITH_CONSTANT: Final = {"Sub": "Add", "Div": "Mul", "Upsample": "Resize"}
# Constants that are left out: those that steer, and those of channels, like a bias.
_SILENT: Final = {
    **PARAMETER_INPUTS,
    **by_operator(
        {
            "Conv ConvTranspose": (2,),
            "BatchNormalization": (1, 2, 3, 4),
            "GroupNormalization InstanceNormalization LayerNormalization": (1, 2),
        }
    ),
}
_COMMUTATIVE: Final = frozenset(
    {
        *("Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Max", "Mean", "Min"),
        *("Mul", "Or", "Sum", "Xor"),
    }
)


def canonical_operations(
    network: Network, values: ValueTable, dtypes: Mapping[int, int]
) -> tuple[list[Operation], list[str]]:
    """Return the operations of a network, and the names of its outputs.

    Args:
        network: cleaned up, its nodes in topological order.
        values: of its constants.
        dtypes: index into DTYPES of the type that each node computes in, by ``id(node)``.
    """
    writer = _Writer(network, values, dtypes)
    nodes = [node for node in network.nodes if id(node) not in writer.joins.nodes]
    operations = list(chain.from_iterable(map(writer.operations, nodes)))
    return operations, [writer.joins.source(name) for name in network.outputs]


def canonical_inputs(
    network: Network, operations: Sequence[Operation], outputs: Sequence[str]
) -> dict[str, str]:
    """Return the types of the inputs of the model that are read, in words, by name."""
    used = {value for operation in operations for value, _, _ in operation.reads} | {*outputs}
    return {name: network.text_of(name) for name in network.inputs if name in used}


def matrix_elements(network: Network) -> int:
    """Return the distinct elements of the matrices that data are multiplied with.

    Layers may share them on purpose. Vectors and kernels are not counted: exporters join those of
    a network that was never trained, since they are equal.
    """
    tensors = {
        tensor
        for node in network.nodes
        if node.op in PRODUCTS
        for name in node.inputs[:2]
        if name in network.constants
        for tensor in value_tensors(network, name)
    }
    return sum(network.type_of(name).elements for name in tensors)


class _Writer:
    """Writer of the operations of nodes, each with the nodes that are joined to it."""

    def __init__(self, network: Network, values: ValueTable, dtypes: Mapping[int, int]) -> None:
        self.joins = Joins(network, values)
        self._network, self._dtypes = network, dtypes
        self._values = {*network.inputs, *(o for node in network.nodes for o in node.outputs)}
        self._values.discard("")

    def operations(self, node: Node) -> list[Operation]:
        """Return the operations of a node that is no part of another: one, of a Split its parts."""
        if node.op != "Split":
            return [self._operation(node)]
        return [
            self._written(
                node,
                ["Slice", "{}", f"0:{self._network.text_of(name)}"],
                self._reads(node, node.inputs[:1]),
                [name],
            )
            for name in filter(self.joins.is_used, node.outputs)
        ]

    def _operation(self, node: Node) -> Operation:
        named = self.joins.named.get(id(node))
        if named is not None:
            words = [named.op, named.attributes, *self._results(node)]
            return self._written(node, words, self._reads(node, [named.data]))
        if node.op in PRODUCTS and self._has_matrix(node):
            return self._product(node)
        if node.op in _REDUCING and (axes := self._reduced_axes(node)) is not None:
            return self._reduction(node, axes)
        op, inputs = node.op, node.inputs
        if op == "Unknown":
            op = node.op_type
        elif op in _SAME_WITH_CONSTANT and len(inputs) > 1 and inputs[1] in self._network.constants:
            op = _SAME_WITH_CONSTANT[op]
        padding = self.joins.paddings.get(id(node))
        if padding is not None:
            inputs = [padding.inputs[0], *inputs[1:]]
        words = [op, self._attributes(node), *self._results(node)]
        return self._written(node, words, self._reads(node, inputs, op))

    def _written(
        self,
        node: Node,
        words: Sequence[str],
        reads: Sequence[Read],
        outputs: Sequence[str] | None = None,
    ) -> Operation:
        repeats = "1" if node.scope is None else str(node.repeats)
        words = [*words, DTYPES[self._dtypes[id(node)]], repeats]
        return Operation(words, reads, node.outputs if outputs is None else outputs)

    def _results(self, node: Node) -> list[str]:
        """Return the types of the outputs that are used."""
        if len(node.outputs) == 1:  # no node is without a reader
            return ["0:" + self._network.text_of(node.outputs[0])]
        return [
            f"{position}:{self._network.text_of(name)}"
            for position, name in enumerate(node.outputs)
            if name and self.joins.is_used(name)
        ]

    def _reads(self, node: Node, inputs: Sequence[str], op: str = "") -> list[Read]:
        silent, is_free = _SILENT.get(op, ()), op in _COMMUTATIVE
        values, sources, text_of = self._values, self.joins.sources, self._network.text_of
        reads: list[Read] = []
        for position, name in enumerate(inputs):
            label = "" if is_free else str(position)
            if name in values:
                reads.append((sources.get(name, name), label, f"{label}={text_of(name)} "))
            elif name and position not in silent:
                reads.append(("", label, f"{label}={_constant_text(self._network.type_of(name))}"))
        for body in node.bodies:
            for position, name in enumerate(body.outputs):
                reads.append((self.joins.source(name), f"body:{position}", ""))
        return reads

    def _attributes(self, node: Node) -> str:
        domain, opsets = node.domain, self._network.opsets
        if domain == "ai.onnx":
            domain = ""
        version = opsets.get(domain) or opsets.get("ai.onnx", 1)
        rank = len(self._network.type_of(node.inputs[0]).shape or ()) if node.inputs else 0
        pads = self._pads(node) if node.op in _WINDOWED else ()
        return canonical_attributes(node.op, domain, version, node.attributes.text, rank, pads)

    def _pads(self, node: Node) -> tuple[int, ...]:
        """Return the paddings of a window where ``pads`` does not state them, else ()."""
        padding = self.joins.paddings.get(id(node))
        auto = node.attributes.string("auto_pad", "NOTSET")
        if auto == "NOTSET" and padding is None:
            return ()
        pads = node.attributes.integers("pads") if auto == "NOTSET" else self._same(node, auto)
        if padding is None:
            return pads
        added, axes = self.joins.pads_of(padding), len(self._network.dims_of(node, 0))
        before = (*added[2:axes], *added[axes + 2 :])
        return tuple(a + b for a, b in zip(before, pads or (0,) * len(before), strict=False))

    def _same(self, node: Node, auto: str) -> tuple[int, ...]:
        """Return the paddings that ``auto_pad`` of a window comes to."""
        data, result = self._network.dims_of(node, 0)[2:], self._network.dims_of(node, -1)[2:]
        kernel = node.attributes.integers("kernel_shape") or self._network.dims_of(node, 1)[2:]
        ones = (1,) * len(data)
        strides = node.attributes.integers("strides") or ones
        dilations = node.attributes.integers("dilations") or ones
        rows = zip(data, result, kernel, strides, dilations, strict=False)
        totals = [
            max((count - 1) * stride + (width - 1) * dilation + 1 - size, 0)
            if auto != "VALID"
            else 0
            for size, count, width, stride, dilation in rows
        ]
        halves = [total // 2 for total in totals]
        rests = [total - half for total, half in zip(totals, halves, strict=True)]
        return (*rests, *halves) if auto == "SAME_LOWER" else (*halves, *rests)

    def _has_matrix(self, node: Node) -> bool:
        first, second = node.inputs[:2]
        is_matrix = second in self._network.constants and len(self._network.dims_of(node, 1)) == 2
        return is_matrix and first in self._values and not node.attributes.integer("transA")

    def _product(self, node: Node) -> Operation:
        """Return rows times a constant matrix, as ``Gemm`` without ``transB`` has them."""
        inner, columns = self._network.dims_of(node, 1)
        if node.attributes.integer("transB"):
            inner, columns = columns, inner
        rows = math.prod(self._network.dims_of(node, -1)) // max(columns, 1)
        weights = DTYPES[self._network.input_type(node, 1).dtype]
        words = ["Product", f"{rows},{inner},{columns}", weights]
        reads = [
            (self.joins.source(name), str(position), "")
            for position, name in enumerate(node.inputs)
            if name in self._values
        ]
        return self._written(node, words, reads)

    def _reduced_axes(self, node: Node) -> list[int] | None:
        """Return the axes of a reduction; None of a pooling of windows, or of unknown axes."""
        dims = self._network.dims_of(node, 0)
        pixels = list(range(2, len(dims)))
        if node.op in _REDUCTIONS:
            return pixels
        if node.op in _REDUCING_POOLS:
            is_global = node.attributes.integers("kernel_shape") == dims[2:] and not any(
                node.attributes.integers("pads")
            )
            is_single = len(node.outputs) < 2 or not self.joins.is_used(node.outputs[1])
            return pixels if pixels and is_global and is_single else None
        stated = node.attributes.integers("axes") or self.joins.integers(node, 1)
        if not stated and len(node.inputs) > 1 and node.inputs[1]:
            return None
        return axes_from_front(stated or range(len(dims)), len(dims))

    def _reduction(self, node: Node, axes: Sequence[int]) -> Operation:
        op = _REDUCTIONS.get(node.op) or _REDUCING_POOLS.get(node.op, node.op)
        words = [op, ",".join(map(str, axes))]
        return self._written(node, words, self._reads(node, node.inputs[:1]))


# Deep networks repeat the same few types.
@lru_cache(maxsize=4096)
def _constant_text(value_type: TensorType) -> str:
    dims = dropwhile(lambda size: size == 1, value_type.dims)
    return f"constant {DTYPES[value_type.dtype]}[{','.join(map(str, dims))}]"
