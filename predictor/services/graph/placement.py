"""Coordinates of the picture: boxes of groups in the layers that the layout gave them.

The layout knows members and layers, not sizes: an opened group is as large as what is in it. So
each level is placed from the inside out. Within a layer the order stays; places across are those
that keep edges straight, found by sweeps of weighted least squares under minimum distances.

Reference:
    Gansner, Koutsofios, North and Vo, "A Technique for Drawing Directed Graphs" (1993), section 4,
    for the weights of edges between bends.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from predictor.services.graph.grouping import GroupTree
from predictor.services.graph.layout import Level

BOX_WIDTH, BOX_HEIGHT = 196.0, 46.0
TITLE_HEIGHT = 26.0  # of an opened group
_PADDING = 16.0
_GAP_ACROSS, _GAP_DOWN = 24.0, 30.0
_BEND_WIDTH = 8.0
_SWEEPS = 40
# Weight of an edge by its number of ends that are bends: long edges are to be straight first, and
# then the chain of boxes, which Gansner weighs least.
_WEIGHTS = (4.0, 2.0, 8.0)

Rects = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Edge:
    """The line of an edge between two boxes.

    Attributes:
        producer, consumer: nodes of the tree.
        points: x, y of a polyline with two points a bend: a line passes a layer straight down and
            bends between layers.
    """

    producer: int
    consumer: int
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture:
    """Boxes and edges, in pixels at scale 1.

    Attributes:
        nodes: intp [B], node of each box, an opened group before what is in it.
        is_open: bool [B], whether a box is an opened group: a frame around others.
        rects: float64 [B, 4], left, top, width and height.
        edges: the lines.
        width, height: of all.
    """

    nodes: NDArray[np.intp]
    is_open: NDArray[np.bool_]
    rects: Rects
    edges: tuple[Edge, ...]
    width: float
    height: float

    def box_of(self, node: int) -> int | None:
        """Return the box of a node; None where it is hidden in a closed group."""
        places = np.flatnonzero(self.nodes == node)
        return int(places[0]) if places.size else None

    def box_at(self, x: float, y: float) -> int | None:
        """Return the innermost box at a point."""
        places = np.flatnonzero(self.boxes_in(x, y, 0.0, 0.0))
        return int(places[-1]) if places.size else None

    def boxes_in(self, x: float, y: float, width: float, height: float) -> NDArray[np.bool_]:
        """Return the boxes that meet a rectangle, bool [B]."""
        left, top, across, down = self.rects.T
        meets: NDArray[np.bool_] = (
            (left <= x + width) & (left + across >= x) & (top <= y + height) & (top + down >= y)
        )
        return meets


EMPTY = Picture(
    nodes=np.zeros(0, dtype=np.intp),
    is_open=np.zeros(0, dtype=np.bool_),
    rects=np.zeros((0, 4)),
    edges=(),
    width=0.0,
    height=0.0,
)


@dataclass
class _Placed:
    """One level: its size, the rectangles of its members and the lines of its edges."""

    width: float
    height: float
    rects: dict[int, tuple[float, float, float, float]]
    edges: list[Edge]


def picture_of(tree: GroupTree, levels: Mapping[int, Level], opened: AbstractSet[int]) -> Picture:
    """Return the picture of a tree.

    Args:
        tree: the groups.
        levels: layers of the root and of each visible opened group.
        opened: groups whose members are visible; the root's always are.
    """
    placed: dict[int, _Placed] = {}
    for group in reversed(visible_groups(tree, opened)):
        sizes = {
            node: (placed[node].width + 2 * _PADDING, placed[node].height + TITLE_HEIGHT + _PADDING)
            for node in tree.members_of(group)
            if node in placed
        }
        placed[group] = _place(levels[group], sizes)
    nodes, rects, edges = [], [], []
    waiting = [(tree.root, 0.0, 0.0)]
    while waiting:
        group, x, y = waiting.pop()
        for edge in placed[group].edges:
            points = tuple((x + left, y + top) for left, top in edge.points)
            edges.append(replace(edge, points=points))
        for node, (left, top, width, height) in placed[group].rects.items():
            nodes.append(node)
            rects.append((x + left, y + top, width, height))
            if node in placed:
                waiting.append((node, x + left + _PADDING, y + top + TITLE_HEIGHT))
    return Picture(
        nodes=np.array(nodes, dtype=np.intp),
        is_open=np.array([node in placed for node in nodes], dtype=np.bool_),
        rects=np.array(rects, dtype=np.float64).reshape(-1, 4),
        edges=tuple(edges),
        width=placed[tree.root].width,
        height=placed[tree.root].height,
    )


def visible_groups(tree: GroupTree, opened: AbstractSet[int]) -> list[int]:
    """Return the root and the opened groups that no closed one hides, each before those in it."""
    groups = [tree.root]
    for group in groups:
        groups += [node for node in tree.members_of(group) if node in opened]
    return groups


def first_opened(tree: GroupTree, limit: int) -> list[int]:
    """Return the groups to open first: level by level, while at most ``limit`` boxes are seen."""
    opened: list[int] = []
    level = [tree.root]
    while level:
        level = [node for group in level for node in tree.members_of(group) if tree.is_group(node)]
        if visible_box_count(tree, {*opened, *level}) > limit:
            break
        opened += level
    return opened


def visible_box_count(tree: GroupTree, opened: AbstractSet[int]) -> int:
    """Return the number of boxes that are no frames."""
    groups = visible_groups(tree, opened)
    return sum(len(tree.members_of(group)) for group in groups) - len(groups) + 1


def _place(level: Level, sizes: Mapping[int, tuple[float, float]]) -> _Placed:
    """Place the members of one level; those without a size are closed boxes."""
    usual = BOX_WIDTH, BOX_HEIGHT
    size = {
        item: sizes.get(item, usual) if item >= 0 else (_BEND_WIDTH, 0.0)
        for layer in level.layers
        for item in layer
    }
    across = _across(level, {item: width for item, (width, _) in size.items()})
    spans, top = {}, 0.0
    rects = {}
    for layer in level.layers:
        height = max((size[item][1] for item in layer), default=0.0) or BOX_HEIGHT
        for item in layer:
            spans[item] = top, top + height
            if item >= 0:
                width, box_height = size[item]
                rects[item] = (
                    across[item] - width / 2,
                    top + (height - box_height) / 2,
                    width,
                    box_height,
                )
        top += height + _GAP_DOWN
    edges = [
        Edge(producer, consumer, _points(rects, across, spans, producer, route, consumer))
        for (producer, consumer), route in level.routes.items()
    ]
    width = max((left + across for left, _, across, _ in rects.values()), default=0.0)
    # A long edge may run beside all boxes.
    width = max([width, *(x for edge in edges for x, _ in edge.points)])
    return _Placed(width, max(top - _GAP_DOWN, 0.0), rects, edges)


def _points(
    rects: Mapping[int, tuple[float, float, float, float]],
    across: Mapping[int, float],
    spans: Mapping[int, tuple[float, float]],
    producer: int,
    route: Sequence[int],
    consumer: int,
) -> tuple[tuple[float, float], ...]:
    _, top, _, height = rects[producer]
    points = [(across[producer], top + height), (across[producer], spans[producer][1])]
    for bend in route:
        points += [(across[bend], spans[bend][0]), (across[bend], spans[bend][1])]
    points += [(across[consumer], spans[consumer][0]), (across[consumer], rects[consumer][1])]
    return tuple(points)


def _across(level: Level, widths: Mapping[int, float]) -> dict[int, float]:
    """Return the middle of each item, the leftmost edge at 0."""
    neighbours: dict[int, tuple[list[tuple[int, float]], list[tuple[int, float]]]]
    neighbours = defaultdict(lambda: ([], []))
    steps = {
        step
        for (producer, consumer), route in level.routes.items()
        for step in pairwise((producer, *route, consumer))
    }
    for upper, lower in sorted(steps):
        weight = _WEIGHTS[(upper < 0) + (lower < 0)]
        neighbours[lower][0].append((upper, weight))
        neighbours[upper][1].append((lower, weight))
    x: dict[int, float] = {}
    offsets = []
    for layer in level.layers:
        distances = [
            (widths[left] + widths[right]) / 2 + _GAP_ACROSS
            for left, right in itertools.pairwise(layer)
        ]
        starts = np.concatenate([[0.0], np.cumsum(distances)]) if layer else np.zeros(0)
        offsets.append(starts)
        x.update(zip(layer, (starts - starts.mean()).tolist() if layer else [], strict=True))
    layers = list(zip(level.layers, offsets, strict=True))
    for sweep in range(_SWEEPS):
        is_last = sweep >= _SWEEPS - 2
        for layer, starts in layers if sweep % 2 == 0 else reversed(layers):
            sides = (0, 1) if is_last else (sweep % 2,)
            _settle(
                layer, starts, x, [[*(p for s in sides for p in neighbours[i][s])] for i in layer]
            )
    left_edge = min((x[item] - widths[item] / 2 for item in x), default=0.0)
    return {item: middle - left_edge for item, middle in x.items()}


def _settle(
    layer: Sequence[int],
    starts: NDArray[np.float64],
    x: dict[int, float],
    neighbours: Sequence[Sequence[tuple[int, float]]],
) -> None:
    """Move the items of a layer to the mean of their neighbours, at least their distances apart.

    Least squares under minimum distances: isotonic regression of places less ``starts``, by pooling
    adjacent violators.
    """
    pools: list[list[float]] = []  # weight, mean, items
    for item, start, linked in zip(layer, starts.tolist(), neighbours, strict=True):
        weight = sum(edge_weight for _, edge_weight in linked)
        # An item without neighbours there stays, and gives way to those that have some.
        wanted = (
            sum(x[other] * edge_weight for other, edge_weight in linked) / weight
            if weight
            else x[item]
        )
        pools.append([weight or 0.05, wanted - start, 1])
        while len(pools) > 1 and pools[-2][1] > pools[-1][1]:
            one, two = pools.pop(), pools.pop()
            total = one[0] + two[0]
            pools.append([total, (one[0] * one[1] + two[0] * two[1]) / total, one[2] + two[2]])
    at = 0
    for _, mean, count in pools:
        for place in range(at, at + int(count)):
            x[layer[place]] = mean + float(starts[place])
        at += int(count)
