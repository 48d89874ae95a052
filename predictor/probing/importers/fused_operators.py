"""Names of fused operators in a profile, mapped back to the operators of the model.

A runtime names a fused operator after one of its nodes, after several of them, or after the tensor
that comes out. So an entry is looked for among node names, then among output tensors, then part by
part. One that is named after nothing but its own type is looked for by its parts, in the order of
running. A node that the runtime swallowed has no entry of its own: it joins the entry that it runs
inside; a convolution or a product never does.

Forms that are known, with the tool that writes them: ``a + b`` and ``a || b``, ``PWN(a, b)`` and
``{ForeignNode[a...b]}`` (TensorRT); ``tensor_nchwc``, ``tensor_token_7``, ``node/MatMulAddFusion``,
``Conv_3`` for a node without a name, ``Gelu`` (onnxruntime); ``[tensor, tensor]:3`` (TFLite).
``node_output_0`` is how exporters of PyTorch name a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from predictor.probing.operator_times import OperatorTime

_SEPARATORS = re.compile(r"\s\+\s|\s\|\|\s|\s*[,;]\s*|\s*\|\s*")
_WRAPPED = re.compile(r"^(?:\w+\((?P<call>.*)\)|\[(?P<tensors>.*)\](?::\d+)?)$")
_FOREIGN = re.compile(r"^\{?ForeignNode\[(?P<first>.+?)\.\.\.(?P<last>.+?)\]\}?$")
_SUFFIX = re.compile(
    r"(?:_nchwc|_token_\d+|_fused|_quant|_QuantizeLinear|_bn|_output_\d+|:\d+|/\w*Fusion/?\w*)$"
)
_UNNAMED = re.compile(r"^(?P<type>[A-Za-z]\w*)_(?P<index>\d{1,9})$")
_CONTRACTIONS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Operators that onnxruntime fuses into one.

    Attributes:
        anchor: the type that no other operator of the pattern has.
        before: types of the operators before it.
        after: types of the operators after it.
        size: the largest number of operators.
    """

    anchor: str
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    size: int = 1


_GELU = _Pattern("Erf", frozenset({"Div", "Mul"}), frozenset({"Add", "Mul"}), 5)
_PATTERNS: Mapping[str, _Pattern] = {
    "BiasGelu": _GELU,
    "FastGelu": _Pattern("Tanh", frozenset({"Add", "Mul", "Pow"}), frozenset({"Add", "Mul"}), 8),
    "Gelu": _GELU,
    "HardSigmoid": _Pattern("HardSwish"),
    "QuickGelu": _Pattern("Sigmoid", after=frozenset({"Mul"}), size=2),
    "SkipLayerNormalization": _Pattern("LayerNormalization", before=frozenset({"Add"}), size=2),
}


@dataclass(frozen=True, slots=True)
class OperatorNames:
    """A node of a model file by its names; ``name`` is empty where the file gives none."""

    name: str
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


Groups = tuple[tuple[int, ...], ...]


def match_entries(entries: Sequence[OperatorTime], nodes: Sequence[OperatorNames]) -> Groups:
    """Map entries of a profile to nodes.

    Args:
        entries: of a profile, in any order.
        nodes: of the model, in topological order.

    Returns:
        For each entry, positions of its nodes in file order; empty where none is known, as for the
        reordering of a tensor that the runtime put in.
    """
    return _Matcher(entries, nodes).match()


class _Matcher:
    def __init__(self, entries: Sequence[OperatorTime], nodes: Sequence[OperatorNames]) -> None:
        self._entries = entries
        self._nodes = nodes
        self._by_name = {node.name: i for i, node in enumerate(nodes) if node.name}
        self._by_tensor = {name: i for i, node in enumerate(nodes) for name in node.outputs if name}
        self._producers = [
            tuple(self._by_tensor[name] for name in node.inputs if name in self._by_tensor)
            for node in nodes
        ]
        self._consumers: list[set[int]] = [set() for _ in nodes]
        for consumer, producers in enumerate(self._producers):
            for producer in producers:
                self._consumers[producer].add(consumer)
        self._owner: dict[int, int] = {}

    def match(self) -> Groups:
        for index, entry in enumerate(self._entries):
            for node in self._named(entry.name):
                self._owner.setdefault(node, index)
        for index, entry in enumerate(self._entries):
            self._pull_producers(index, entry)
        for index, entry in enumerate(self._entries):
            if index not in self._owner.values():
                self._find_pattern(index, entry)
        self._push_epilogues()
        groups: list[list[int]] = [[] for _ in self._entries]
        for node in sorted(self._owner):
            groups[self._owner[node]].append(node)
        return tuple(map(tuple, groups))

    def _named(self, name: str) -> Iterator[int]:
        """Yield the nodes that a name says."""
        node = self._single(name)
        if node is not None:
            yield node
        elif foreign := _FOREIGN.match(name.strip()):
            first, last = self._single(foreign["first"]), self._single(foreign["last"])
            # TensorRT names the ends alone; the nodes between are taken in file order.
            if first is not None and last is not None:
                yield from range(first, last + 1)
        elif wrapped := _WRAPPED.match(name.strip()):
            yield from self._named(wrapped["call"] or wrapped["tensors"] or "")
        elif len(parts := _SEPARATORS.split(name)) > 1:
            for part in parts:
                yield from self._named(part)

    def _single(self, name: str) -> int | None:
        """Return the node of a name, of an output tensor, or of one with a known suffix."""
        text = name.strip()
        while text:
            for table in (self._by_name, self._by_tensor):
                if text in table:
                    return table[text]
            shorter = _SUFFIX.sub("", text)
            if shorter == text:
                return self._unnamed(text)
            text = shorter
        return None

    def _unnamed(self, text: str) -> int | None:
        """Return the node without a name that onnxruntime calls after type and position."""
        match = _UNNAMED.match(text)
        if match is None or int(match["index"]) >= len(self._nodes):
            return None
        node = self._nodes[int(match["index"])]
        return int(match["index"]) if not node.name and node.op_type == match["type"] else None

    def _pull_producers(self, index: int, entry: OperatorTime) -> None:
        """Give an entry named after its output the nodes before it, up to the one of its type."""
        members = [node for node, owner in self._owner.items() if owner == index]
        if len(members) != 1 or self._nodes[members[0]].op_type == entry.op_type:
            return
        pattern = _PATTERNS.get(entry.op_type)
        last = {entry.op_type, pattern.anchor} if pattern else {entry.op_type}
        chain: list[int] = []
        node = members[0]
        while True:
            free = [p for p in self._producers[node] if p not in self._owner]
            # A result that others read too has to exist, so its producer was not fused away.
            alone = [p for p in free if len(self._consumers[p]) == 1]
            if not alone:
                return
            node = alone[-1]
            chain.append(node)
            if self._nodes[node].op_type in last:
                self._owner.update(dict.fromkeys(chain, index))
                return

    def _find_pattern(self, index: int, entry: OperatorTime) -> None:
        """Give an entry the first operators without one that it may be made of."""
        pattern = _PATTERNS.get(entry.op_type)
        if pattern is None:
            return
        anchors = (i for i, node in enumerate(self._nodes) if node.op_type == pattern.anchor)
        anchor = next((i for i in anchors if i not in self._owner), None)
        if anchor is None:
            return
        members = [anchor]
        members += self._like(anchor, self._producers, pattern.before, pattern.size - 1)
        members += self._like(anchor, self._consumers, pattern.after, pattern.size - len(members))
        self._owner.update(dict.fromkeys(members, index))

    def _like(
        self,
        node: int,
        neighbours: Sequence[Collection[int]],
        types: Collection[str],
        limit: int,
    ) -> list[int]:
        """Return the nearest nodes of some types without an entry that lead to or from a node."""
        nearest: list[int] = []
        edge = [node]
        while edge:
            edge = sorted(
                {
                    other
                    for index in edge
                    for other in neighbours[index]
                    if other not in self._owner and self._nodes[other].op_type in types
                }
                - set(nearest)
            )
            nearest += edge
        return nearest[:limit]

    def _push_epilogues(self) -> None:
        """Give a node without an entry to the entry that produces its latest input."""
        for node in range(len(self._nodes)):
            if node in self._owner or self._nodes[node].op_type in _CONTRACTIONS:
                continue
            owned = [p for p in self._producers[node] if p in self._owner]
            if owned:
                # Nodes are in topological order, so the largest position runs last.
                self._owner[node] = self._owner[max(owned)]
