"""The layout worker: a child process that puts members of groups into layers, then ends.

It reads one request and answers in one JSON line:

    in   {"id", "levels": [{"members", "edges": [[producer, consumer], ...]}, ...]}
    out  {"id", "kind": "result", "payload": {"levels": [{"layers", "routes"}, ...]}}

It imports the library of the layout and nothing of ours: it is started for each request.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any


def main(_: Sequence[str] = ()) -> int:
    """Answer the one request of the standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    levels = [in_layers(level["members"], level["edges"]) for level in request["levels"]]
    answer = {"id": request["id"], "kind": "result", "payload": {"levels": levels}}
    sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
    sys.stdout.flush()
    return 0


def in_layers(members: int, edges: list[list[int]]) -> dict[str, Any]:
    """Put the members of one level into layers, so that edges run down and cross little.

    Args:
        members: their number M.
        edges: producer and consumer of each, the producer the smaller number.

    Returns:
        ``layers``: members, and bends of edges that pass a layer, numbered from M on, from left to
        right. ``routes``: bends of each edge, from its producer on; edges of one producer share
        them as far as they go together.
    """
    from fast_sugiyama import from_edges  # noqa: PLC0415  # a frozen program imports this module

    layer_of = _layers_of(members, edges)
    trunks = _trunks(layer_of, edges)
    routes = [trunks[a][: layer_of[b] - layer_of[a] - 1] for a, b in edges]
    chains = [[a, *route, b] for (a, b), route in zip(edges, routes, strict=True)]
    steps = {step for chain in chains for step in pairwise(chain)}
    layers: list[list[int]] = [[] for _ in range(max(layer_of, default=0) + 1)]
    # All steps are of length one: the layers of the longest way, which are found much faster than
    # the best ones, are those above, and the library finds the order in each.
    steps |= _spine(layer_of, {end for _, end in steps})
    parts: Any = from_edges(sorted(steps), ranking_type="up") if steps else []
    # The library's order of parts and of places differs from run to run.
    for places, *_ in sorted(parts, key=lambda part: min(item for item, _ in part[0])):
        for item, _ in sorted(places, key=lambda place: (place[1][0], place[0])):
            if item < len(layer_of):
                layers[layer_of[item]].append(item)
    placed = {item for layer in layers for item in layer}
    _place_alone([item for item in range(members) if item not in placed], layers)
    return {"layers": layers, "routes": routes}


def _layers_of(members: int, edges: list[list[int]]) -> list[int]:
    """Return the layer of each member: the longest way to it, or nearer to those that read it."""
    before: list[list[int]] = [[] for _ in range(members)]
    after: list[list[int]] = [[] for _ in range(members)]
    for producer, consumer in edges:
        before[consumer].append(producer)
        after[producer].append(consumer)
    layer_of = [0] * members
    for item in range(members):
        layer_of[item] = max((layer_of[neighbour] + 1 for neighbour in before[item]), default=0)
    for item in reversed(range(members)):
        # Lower down, more edges get shorter than longer.
        if len(before[item]) < len(after[item]):
            layer_of[item] = min(layer_of[neighbour] for neighbour in after[item]) - 1
    return layer_of


def _trunks(layer_of: list[int], edges: list[list[int]]) -> dict[int, list[int]]:
    """Return the bends under each producer, one a layer down to its last consumer's.

    Bends are numbered after the members, and their layers added to ``layer_of``.
    """
    lowest: dict[int, int] = {}
    for producer, consumer in edges:
        lowest[producer] = max(lowest.get(producer, 0), layer_of[consumer])
    trunks = {}
    for producer, last in lowest.items():
        passed = range(layer_of[producer] + 1, last)
        trunks[producer] = list(range(len(layer_of), len(layer_of) + len(passed)))
        layer_of += passed
    return trunks


def _spine(layer_of: list[int], read: set[int]) -> set[tuple[int, int]]:
    """Return steps to the members in lower layers that read nothing, which hold them there."""
    deep = [item for item, layer in enumerate(layer_of) if layer and item not in read]
    spine = range(len(layer_of), len(layer_of) + max((layer_of[item] for item in deep), default=0))
    return {*pairwise(spine), *((spine[layer_of[item] - 1], item) for item in deep)}


def _place_alone(members: list[int], layers: list[list[int]]) -> None:
    """Put members without an edge in a square at the right."""
    columns = math.isqrt(max(len(members) - 1, 0)) + 1
    for row, start in enumerate(range(0, len(members), columns)):
        _layer(layers, row).extend(members[start : start + columns])


def _layer(layers: list[list[int]], number: int) -> list[int]:
    """Return a layer; those that are missing above it are added."""
    layers += [[] for _ in range(number + 1 - len(layers))]
    return layers[number]


if __name__ == "__main__":
    sys.exit(main())
