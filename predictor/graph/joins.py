"""Operators that are parts of others in the canonical form of a network.

Views; shifts and scales of channels after a convolution, product or normalisation; paddings before
a convolution; the steps of an activation or a normalisation that has a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from predictor.graph.cleanup import consumers_of
from predictor.graph.network import Network, Node
from predictor.graph.operators import VIEWS
from predictor.graph.values import ValueTable

_CONVOLUTIONS: Final = frozenset({"Conv", "ConvTranspose"})
PRODUCTS: Final = frozenset({"Gemm", "MatMul"})
"""Operators that multiply rows with a matrix."""

# x * f(x), whose steps may scale and shift by a number: Gelu is x * (Erf(x / 1.41) + 1) / 2.
_ACTIVATIONS: Final = {
    "Clip": "HardSwish",
    "Erf": "Gelu",
    "HardSigmoid": "HardSwish",
    "Sigmoid": "Swish",
}
_SCALED: Final = frozenset({"Clip", "Erf"})  # they are that with numbers alone
_MAX_STEPS: Final = 8  # of an activation: Gelu has 4
_ELEMENTWISE: Final = frozenset({"Add", "Div", "Mul", "Sub"})


class Named(NamedTuple):
    """An operation that several nodes make up.

    Attributes:
        op: its name.
        data: what it reads.
        attributes: canonical ones.
    """

    op: str
    data: str
    attributes: str = "{}"


class Joins:
    """The nodes of a cleaned-up network that are parts of other operations.

    Attributes:
        nodes: ids of those nodes.
        named: operations of several nodes, by the id of the last.
        paddings: Pad before a convolution, by the id of the convolution.
        sources: by the value that a joined node makes, the one that stands for it.
    """

    def __init__(self, network: Network, values: ValueTable) -> None:
        self.nodes: set[int] = set()
        self.named: dict[int, Named] = {}
        self.paddings: dict[int, Node] = {}
        self._network, self._values = network, values
        self.sources: dict[str, str] = {}
        self._consumers = consumers_of(network)
        self._outputs = set(network.outputs)
        self._producer = {name: node for node in network.nodes for name in node.outputs if name}
        self._channel_axis: dict[str, int] = {}
        self._halves: set[str] = set()  # activations that a number may still be multiplied with
        for node in network.nodes:
            self._add(node)

    def source(self, name: str) -> str:
        """Return the value that stands for another in ``sources``, or the value itself."""
        return self.sources.get(name, name)

    def is_used(self, name: str) -> bool:
        """Whether a value has a reader or is an output of the model."""
        return name in self._consumers or name in self._outputs

    def _add(self, node: Node) -> None:
        if node.op in VIEWS:
            if node.inputs[0] not in self._network.constants:
                self._join(node, node.inputs[0])
        elif node.op in _CONVOLUTIONS:
            self._channel_axis[node.outputs[0]] = 1
            self._join_padding(node)
        elif node.op in PRODUCTS:
            if node.inputs[1] in self._network.constants:
                self._channel_axis[node.outputs[0]] = -1
        elif node.op in _ELEMENTWISE and len(node.inputs) > 1:
            self._add_elementwise(node)

    def _add_elementwise(self, node: Node) -> None:
        data, constant = self._operands(node)
        if constant:
            self._join_shift(node, data, constant)
        elif node.op == "Mul":
            self._name_activation(node)
        elif node.op == "Div":
            self._name_normalization(node)

    def _operands(self, node: Node) -> tuple[str, str]:
        """Return data and constant of an elementwise operator; empty names of other inputs."""
        first, second = node.inputs[:2]
        if second in self._network.constants:
            return first, second
        if first in self._network.constants and node.op in {"Add", "Mul"}:
            return second, first
        return "", ""

    def _join(self, node: Node, value: str) -> None:
        self.nodes.add(id(node))
        self.sources[node.outputs[0]] = self.source(value)

    def _join_shift(self, node: Node, data: str, constant: str) -> None:
        """Join a scale or shift by a constant to the operation whose channels it is of."""
        axis, elements = self._channel_axis.get(data), self._network.type_of(constant).elements
        if data in self._halves and elements == 1 and self._is_alone(data, node):
            self._join(node, data)
        if axis is None or not self._is_alone(data, node):
            return
        dims, shape = self._network.type_of(data).dims, self._network.type_of(constant).dims
        at = axis % len(dims) if dims else 0
        # From the right, as operands are broadcast.
        aligned = (1,) * (len(dims) - len(shape)) + shape
        if len(aligned) == len(dims) > at and elements == dims[at] == aligned[at]:
            self._join(node, data)
            self._channel_axis[node.outputs[0]] = axis

    def _is_alone(self, value: str, reader: Node) -> bool:
        """Whether a node alone reads a value, as often as it is made."""
        is_sole = len(self._consumers.get(value, ())) == 1 and value not in self._outputs
        return is_sole and self._producer[value].repeats == reader.repeats

    def _join_padding(self, convolution: Node) -> None:
        data = convolution.inputs[0]
        pad = self._producer.get(data)
        if pad is None or pad.op != "Pad" or not self._is_alone(data, convolution):
            return
        pads = self.pads_of(pad)
        axes = len(self._network.type_of(data).dims)
        is_of_pixels = 2 < axes == len(pads) // 2 and not any((*pads[:2], *pads[axes : axes + 2]))
        is_zeros = pad.attributes.string("mode", "constant") == "constant"
        if convolution.op == "Conv" and is_of_pixels and is_zeros and min(pads) >= 0:
            self.nodes.add(id(pad))
            self.paddings[id(convolution)] = pad

    def pads_of(self, pad: Node) -> tuple[int, ...]:
        """Return the paddings of a Pad: starts of all axes, then ends; () if they are unknown."""
        stated = pad.attributes.integers("pads")
        return stated or self.integers(pad, 1)

    def integers(self, node: Node, position: int) -> tuple[int, ...]:
        """Return the values of a constant input, () of any other or one that is not small."""
        name = node.inputs[position] if position < len(node.inputs) else ""
        value = self._values.get(name) if name in self._network.constants else None
        if value is None or not np.issubdtype(value.dtype, np.integer):
            return ()
        return tuple(value.reshape(-1).tolist())

    def _name_activation(self, node: Node) -> None:
        for data, gated in (node.inputs[:2], node.inputs[1::-1]):
            steps: list[Node] = []
            gate = self._producer.get(self._unscaled(gated, node, steps))
            if gate is None or gate.op not in _ACTIVATIONS:
                continue
            steps.append(gate)
            before = len(steps)
            inner = self._unscaled(gate.inputs[0], gate, steps)
            plain = self._unscaled(data, node, steps) if data != inner else data
            is_scaled = gate.op not in _SCALED or before > 1 or len(steps) > before
            if inner == plain and is_scaled and self._are_alone(steps):
                self.nodes.update(map(id, steps))
                self.named[id(node)] = Named(_ACTIVATIONS[gate.op], plain)
                if gate.op in _SCALED:
                    self._halves.add(node.outputs[0])
                return

    def _unscaled(self, value: str, reader: Node, steps: list[Node]) -> str:
        """Return the value before steps that scale or shift by a number; they go to ``steps``."""
        node = self._producer.get(value)
        while node is not None and node.op in _ELEMENTWISE and len(steps) < _MAX_STEPS:
            data, constant = self._operands(node)
            is_number = bool(constant) and self._network.type_of(constant).elements == 1
            if not is_number or not self._is_alone(value, reader):
                break
            steps.append(node)
            value, reader, node = data, node, self._producer.get(data)
        return value

    def _are_alone(self, steps: Iterable[Node]) -> bool:
        return all(
            len(self._consumers.get(step.outputs[0], ())) == 1
            and step.outputs[0] not in self._outputs
            and id(step) not in self.nodes
            for step in steps
        )

    def _name_normalization(self, node: Node) -> None:
        """Name ``(x - mean(x)) / sqrt(mean((x - mean(x)) ^ 2) + epsilon)``."""
        steps: list[Node] = []
        centred = self._made_by(node.inputs[0], "Sub", steps)
        root = self._made_by(node.inputs[1], "Sqrt", steps)
        if centred is None or root is None:
            return
        variance = self._made_by(self._unscaled(root.inputs[0], root, steps), "ReduceMean", steps)
        mean = self._made_by(centred.inputs[1], "ReduceMean", steps)
        if variance is None or mean is None or mean.inputs[0] != centred.inputs[0]:
            return
        square = self._made_by(variance.inputs[0], "Pow", steps) or self._made_by(
            variance.inputs[0], "Mul", steps
        )
        if square is None or square.inputs[0] != centred.outputs[0] or not self._is_last(mean):
            return
        readers = {id(reader) for reader in self._consumers.get(centred.outputs[0], ())}
        if readers == {id(node), id(square)} and self._are_alone(steps[1:]):
            self.nodes.update(map(id, steps))
            last = len(self._network.type_of(node.outputs[0]).dims) - 1
            axis = f'{{"axis":[{last}]}}'
            self.named[id(node)] = Named("LayerNormalization", centred.inputs[0], axis)
            self._channel_axis[node.outputs[0]] = -1

    def _made_by(self, value: str, op: str, steps: list[Node]) -> Node | None:
        """Return the node that makes a value if it is of a type; it goes to ``steps`` too."""
        node = self._producer.get(value)
        if node is None or node.op != op:
            return None
        steps.append(node)
        return node

    def _is_last(self, mean: Node) -> bool:
        """Whether a mean is over the last axis."""
        axes = mean.attributes.integers("axes") or self.integers(mean, 1)
        return axes in {(-1,), (len(self._network.type_of(mean.inputs[0]).dims) - 1,)}
