"""Where the groups of a model stand: layers from a library in a child process, then coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predictor.core.child_process import ChildProcess, result_of
from predictor.core.child_start import child_command
from predictor.core.progress import CancelToken
from predictor.services.graph.grouping import GroupTree

LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Level:
    """The members of one group in layers; edges run down.

    Attributes:
        layers: items from left to right: nodes of the tree, and bends of edges, below 0.
        routes: bends of the edge from the first node to the second, from above. Edges of one
            producer share them as far as they go together.
    """

    layers: tuple[tuple[int, ...], ...]
    routes: Mapping[tuple[int, int], tuple[int, ...]]


def downward_edges(tree: GroupTree, group: int) -> list[tuple[int, int]]:
    """Return the edges between a group's members, each pair once, without circles.

    Modules that are run twice can depend on each other: such an edge goes from the member that
    begins first.
    """
    level = tree.level_edges.get(group)
    if level is None:
        return []
    place = {node: at for at, node in enumerate(tree.members_of(group))}
    pairs = {
        (a, b) if place[a] < place[b] else (b, a)
        for a, b in zip(level.producer.tolist(), level.consumer.tolist(), strict=True)
    }
    return sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))


def lay_out(
    tree: GroupTree,
    groups: Sequence[int],
    cancel: CancelToken | None = None,
    command: Sequence[str] | None = None,
    limit_s: float = LIMIT_S,
) -> dict[int, Level]:
    """Return the layers of some groups, each by itself, worked out in a child process.

    Args:
        tree: all groups.
        groups: those to lay out.
        cancel: ends the child.
        command: command line of the child; that of ``layout_worker`` if None.
        limit_s: the child may take so long.

    Raises:
        HostError: the child could not be started, ended or took too long.
        CancelledError: it was cancelled.
    """
    edges = [downward_edges(tree, group) for group in groups]
    request = []
    for group, pairs in zip(groups, edges, strict=True):
        place = {node: at for at, node in enumerate(tree.members_of(group))}
        request.append({"members": len(place), "edges": [[place[a], place[b]] for a, b in pairs]})
    child = ChildProcess(
        command or child_command("--graph-layout"),
        "the layout of the graph",
        "open the model again",
    )
    result = result_of(child, {"id": 1, "levels": request}, cancel, limit_s=limit_s)
    return {
        group: _level(tree.members_of(group), pairs, level)
        for group, pairs, level in zip(groups, edges, result["levels"], strict=True)
    }


def by_depth(tree: GroupTree, group: int) -> Level:
    """Return a group's members by the longest way to them, in their order: no library needed."""
    pairs = downward_edges(tree, group)
    depth = dict.fromkeys(tree.members_of(group), 0)
    for producer, consumer in pairs:  # sorted: those of a producer come after those to it
        depth[consumer] = max(depth[consumer], depth[producer] + 1)
    layers: list[list[int]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for node, layer in depth.items():
        layers[layer].append(node)
    return Level(tuple(map(tuple, layers)), dict.fromkeys(pairs, ()))


def _level(
    members: Sequence[int], pairs: Sequence[tuple[int, int]], level: Mapping[str, Any]
) -> Level:
    def item(number: int) -> int:
        # Bends are numbered from the members on; here they are below all nodes.
        return members[number] if number < len(members) else len(members) - number - 1

    return Level(
        tuple(tuple(map(item, layer)) for layer in level["layers"]),
        {pair: tuple(map(item, route)) for pair, route in zip(pairs, level["routes"], strict=True)},
    )
