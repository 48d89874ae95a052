"""Operators of a model in nested groups: by the modules in their names, then by repetition.

Exporters name an operator by its path in the program (``/layer1/layer1.0/conv1/Conv``). A level
with more members than a picture holds is folded further: equal blocks in a row become a group each,
and what is left is cut where fewest tensors are alive. The groups depend on the graph alone, so
that a model looks the same on every target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from predictor.services.graph.folding import LARGEST_LEVEL, Member, folded

Nodes = NDArray[np.intp]
_DEEPEST = 24  # levels of a name; the rest of it is one
_TOO_LONG = 4096  # characters of a name that say anything


@dataclass(frozen=True, slots=True)
class LevelEdges:
    """Edges between members of one group, each once.

    Attributes:
        producer, consumer: node numbers, intp [E].
    """

    producer: Nodes
    consumer: Nodes


@dataclass(frozen=True, eq=False)
class GroupTree:
    """N operators in G nested groups.

    Nodes 0 to N - 1 are the operators as in the graph, N to N + G - 1 the groups, the root first
    and each group before those in it.

    Attributes:
        operators: N.
        labels: name of each node within its group, as in the file: show it through ``printable``.
        parent: intp [N + G], the group of each node, -1 for the root.
        members: nodes of each group, by their first operator.
        edges: int32 [2, E], producer and consumer.
    """

    operators: int
    labels: tuple[str, ...]
    parent: Nodes
    members: tuple[tuple[int, ...], ...]
    edges: NDArray[np.int32]

    @property
    def root(self) -> int:
        """The group of all."""
        return self.operators

    def is_group(self, node: int) -> bool:
        """Return whether a node is a group."""
        return node >= self.operators

    def members_of(self, group: int) -> tuple[int, ...]:
        """Return the nodes in a group, not those in groups of it."""
        return self.members[group - self.operators]

    def ancestors(self, node: int) -> list[int]:
        """Return the groups around a node, the innermost first."""
        groups = []
        while (node := int(self.parent[node])) >= 0:
            groups.append(node)
        return groups

    @cached_property
    def depth(self) -> Nodes:
        """Number of groups around each node, intp [N + G]."""
        depth = np.zeros(len(self.labels), dtype=np.intp)
        for number, members in enumerate(self.members, start=self.operators):
            depth[list(members)] = depth[number] + 1
        return depth

    def operators_of(self, node: int) -> Nodes:
        """Return the operators in a node, in ascending order; an operator is in itself."""
        start, stop = self._spans[node]
        return np.sort(self._walk[start:stop])

    def count(self, node: int) -> int:
        """Return the number of operators in a node."""
        start, stop = self._spans[node]
        return int(stop - start)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values of operators in each node, float64 [N + G]."""
        added = np.concatenate([[0.0], np.cumsum(values[self._walk])])
        sums: NDArray[np.float64] = added[self._spans[:, 1]] - added[self._spans[:, 0]]
        sums[: self.operators] = values
        return sums

    @cached_property
    def level_edges(self) -> dict[int, LevelEdges]:
        """Edges by the group between whose members they run; a group without any is left out."""
        lower, upper = self.edges[0].astype(np.intp), self.edges[1].astype(np.intp)
        while (differ := self.parent[lower] != self.parent[upper]).any():
            # The deeper end goes up; where both are as deep, both do.
            first, second = self.depth[lower], self.depth[upper]
            lower = np.where(differ & (first >= second), self.parent[lower], lower)
            upper = np.where(differ & (second >= first), self.parent[upper], upper)
        pairs = np.unique(np.stack([self.parent[lower], lower, upper]), axis=1)
        groups, starts = np.unique(pairs[0], return_index=True)
        # Without an edge there is one part more than groups: an empty one.
        parts = np.split(pairs, starts[1:], axis=1)[: groups.size]
        return {
            group: LevelEdges(part[1], part[2])
            for group, part in zip(groups.tolist(), parts, strict=True)
        }

    @cached_property
    def _walk(self) -> Nodes:
        """Operators in the order of the tree, where those of a group stand together."""
        return self._walked[0]

    @cached_property
    def _spans(self) -> Nodes:
        """Start and end of each node in ``_walk``, intp [N + G, 2]."""
        return self._walked[1]

    @cached_property
    def _walked(self) -> tuple[Nodes, Nodes]:
        walk: list[int] = []
        spans = np.zeros((len(self.labels), 2), dtype=np.intp)
        waiting = [(self.root, False)]
        while waiting:
            node, is_left = waiting.pop()
            if is_left:
                spans[node, 1] = len(walk)
                continue
            spans[node, 0] = len(walk)
            if not self.is_group(node):
                walk.append(node)
                spans[node, 1] = len(walk)
                continue
            waiting.append((node, True))
            waiting += [(member, False) for member in reversed(self.members_of(node))]
        return np.array(walk, dtype=np.intp), spans


def group_operators(
    names: Sequence[str], op_types: Sequence[str], edges: NDArray[np.int32]
) -> GroupTree:
    """Group the N operators of a graph.

    Args:
        names: of the operators; need be neither distinct nor descriptive.
        op_types: their types.
        edges: int32 [2, E], producer and consumer, the operators in topological order.

    Returns:
        The groups; none has more than ``LARGEST_LEVEL`` members.
    """
    paths = [module_path(name, kind) for name, kind in zip(names, op_types, strict=True)]
    top = _by_modules(paths)
    waiting = [top]
    while waiting:
        group = waiting.pop()
        if len(group.members) > LARGEST_LEVEL:
            group.members = folded(group.members, op_types, edges)
        waiting += [member for member in group.members if member.members]
    return _numbered(top, len(names), edges)


def module_path(name: str, op_type: str) -> tuple[str, ...]:
    """Return the modules in an operator's name, and its own name last.

    ``/layer1/layer1.0/conv1/Conv`` is (layer1, layer1.0, conv1), for a module's only operator needs
    no further name; that is put right where there are several.
    """
    # LiteRT joins the names of what it fused by semicolons; TensorFlow numbers outputs by a colon.
    text = name[:_TOO_LONG].split(";", 1)[0]
    stem, _, output = text.rpartition(":")
    if stem and output.isdigit():
        text = stem
    parts = [part for part in text.split("/") if part]
    if len(parts) == 1 and "." in text.strip("."):
        parts = [part for part in text.split(".") if part]
    if len(parts) > _DEEPEST:
        parts = [*parts[: _DEEPEST - 1], "/".join(parts[_DEEPEST - 1 :])]
    return tuple(parts) or (op_type,)


@dataclass
class _Module:
    operators: list[int] = field(default_factory=list)
    modules: dict[str, _Module] = field(default_factory=dict)


def _by_modules(paths: Sequence[tuple[str, ...]]) -> Member:
    """Return the tree of modules; one that has a single member stands for that one."""
    top = _Module()
    for operator, path in enumerate(paths):
        module = top
        for part in path[:-1]:
            module = module.modules.setdefault(part, _Module())
        module.operators.append(operator)
    return _member(top, "", paths)


def _member(module: _Module, label: str, paths: Sequence[tuple[str, ...]]) -> Member:
    # As deep as a name has levels: recursion ends.
    members = [Member(paths[operator][-1], operator) for operator in module.operators]
    members += [_member(inner, name, paths) for name, inner in module.modules.items()]
    if label and len(members) == 1:
        only = members[0]
        # ``conv1/Conv`` is conv1; ``encoder/layers`` keeps both names.
        only.label = f"{label}/{only.label}" if only.members else label
        return only
    members.sort(key=lambda member: member.first)
    if not label and len(members) == 1 and members[0].members:
        members = members[0].members  # a module around all adds nothing
    return Member(label, members[0].first if members else 0, members)


def _numbered(top: Member, operators: int, edges: NDArray[np.int32]) -> GroupTree:
    groups = [top]
    # Breadth first: a group is numbered before those in it.
    for group in groups:
        groups += [member for member in group.members if member.members]
    number = {id(group): operators + place for place, group in enumerate(groups)}
    labels = [""] * operators + [group.label for group in groups]
    parent = np.full(operators + len(groups), -1, dtype=np.intp)
    members = []
    for group in groups:
        nodes = tuple(number.get(id(member), member.first) for member in group.members)
        members.append(nodes)
        parent[list(nodes)] = number[id(group)]
        for node, member in zip(nodes, group.members, strict=True):
            labels[node] = member.label
    return GroupTree(operators, tuple(labels), parent, tuple(members), edges)
