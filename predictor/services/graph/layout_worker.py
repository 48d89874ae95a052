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
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

LAYOUT_FLAG = "--graph-layout"
"""First argument of a frozen program that is to be this child; see ``services/frozen.py``."""

_SPACING = 100.0


def main() -> int:
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
        edges: producer and consumer of each, without circles.

    Returns:
        ``layers``: members, and bends of edges that pass a layer, numbered from M on, from left to
        right. ``routes``: bends of each edge, from its producer on.
    """
    from fast_sugiyama import from_edges  # noqa: PLC0415  # a frozen program imports this module

    pairs = [(producer, consumer) for producer, consumer in edges]
    # Nodes may be texts too by the library's types.
    parts: Any = from_edges(pairs, vertex_spacing=_SPACING, dummy_vertices=True) if pairs else []
    layers: list[list[int]] = []
    routes: dict[tuple[int, int], list[int]] = {}
    bends = members
    # The library's order of parts and of places differs from run to run.
    for places, _, _, steps in sorted(parts, key=lambda part: min(each for each, _ in part[0])):
        # Bends of two parts have the same numbers.
        number = {}
        for each, _ in sorted(places, key=lambda place: (place[1], place[0])):
            number[each] = each if each < members else bends
            bends += each >= members
        _add_layers(layers, {number[each]: place for each, place in places})
        renumbered = ((number[start], number[end]) for start, end in steps or [])
        routes.update(_routes(renumbered, members))
    placed = {each for layer in layers for each in layer}
    _place_alone([each for each in range(members) if each not in placed], layers)
    return {"layers": layers, "routes": [routes.get(pair, []) for pair in pairs]}


def _add_layers(layers: list[list[int]], places: dict[int, tuple[float, float]]) -> None:
    """Add the items of a part at the right of each layer; the library's y runs up."""
    top = max(y for _, y in places.values())
    for item, (_, y) in sorted(places.items(), key=lambda place: (place[1][0], place[0])):
        _layer(layers, round((top - y) / _SPACING)).append(item)


def _routes(steps: Iterable[tuple[int, int]], members: int) -> dict[tuple[int, int], list[int]]:
    """Return the bends of each edge between two members, from its steps between bends."""
    after = defaultdict(list)
    for start, end in steps:
        after[start].append(end)
    routes = {}
    for start in [each for each in after if each < members]:
        for step in after[start]:
            route, end = [], step
            while end >= members:
                route.append(end)
                (end,) = after[end]  # one edge alone goes through a bend
            routes[start, end] = route
    return routes


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
