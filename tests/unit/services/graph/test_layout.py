from __future__ import annotations

import os
import signal
import sys
import time
from itertools import pairwise

import numpy as np
import pytest

from predictor.core.errors import CancelledError, HostError
from predictor.core.progress import CancelToken
from predictor.services.graph.grouping import GroupTree, group_operators
from predictor.services.graph.layout import Level, by_depth, downward_edges, lay_out


def tree_of(count: int, edges: list[tuple[int, int]]) -> GroupTree:
    pairs = np.array(edges, dtype=np.int32).reshape(-1, 2).T
    return group_operators([f"op{place}" for place in range(count)], ["Relu"] * count, pairs)


def ladder() -> GroupTree:
    """Two parts and members without an edge, with edges that pass layers."""
    edges = [*pairwise(range(8)), (0, 5), (2, 7), (0, 7), *pairwise(range(8, 12)), (8, 11)]
    return tree_of(17, edges)


def check_drawn_down(tree: GroupTree, group: int, level: Level) -> None:
    layer_of = {item: depth for depth, layer in enumerate(level.layers) for item in layer}
    assert sum(map(len, level.layers)) == len(layer_of), "each item stands once"
    assert {item for item in layer_of if item >= 0} == set(tree.members_of(group))
    assert set(level.routes) == set(downward_edges(tree, group))
    for (producer, consumer), route in level.routes.items():
        chain = [layer_of[item] for item in (producer, *route, consumer)]
        assert chain == sorted(chain), "edges run down"
    used_by: dict[int, set[int]] = {}
    for (producer, _), route in level.routes.items():
        for bend in route:
            used_by.setdefault(bend, set()).add(producer)
    assert set(used_by) == {item for item in layer_of if item < 0}
    assert all(len(producers) == 1 for producers in used_by.values()), "shared by one's edges"


def test_members_stand_in_layers_with_a_bend_in_each_that_an_edge_passes() -> None:
    tree = ladder()
    level = lay_out(tree, [tree.root])[tree.root]
    check_drawn_down(tree, tree.root, level)
    layer_of = {item: depth for depth, layer in enumerate(level.layers) for item in layer}
    for (producer, consumer), route in level.routes.items():
        passed = [layer_of[item] for item in (producer, *route, consumer)]
        assert passed == list(range(passed[0], passed[-1] + 1))


@pytest.mark.fresh_children
def test_the_layout_is_the_same_in_each_process() -> None:
    tree = ladder()
    layouts = [lay_out(tree, [tree.root])[tree.root] for _ in range(4)]
    assert len({(level.layers, tuple(level.routes.items())) for level in layouts}) == 1


def test_all_groups_of_a_large_graph_are_laid_out_at_once() -> None:
    tree = tree_of(3000, list(pairwise(range(3000))))
    groups = range(tree.operators, tree.operators + len(tree.members))
    levels = lay_out(tree, groups)
    assert list(levels) == list(groups)
    for group in groups:
        check_drawn_down(tree, group, levels[group])


def test_without_edges_members_stand_in_a_square() -> None:
    tree = tree_of(10, [])
    layers = lay_out(tree, [tree.root])[tree.root].layers
    assert [len(layer) for layer in layers] == [4, 4, 2]
    check_drawn_down(tree, tree.root, by_depth(tree, tree.root))


def test_the_plain_order_is_by_depth() -> None:
    tree = ladder()
    level = by_depth(tree, tree.root)
    check_drawn_down(tree, tree.root, level)
    assert level.layers[0] == (0, 8, 12, 13, 14, 15, 16)
    assert len(level.layers) == 8


def test_a_child_that_is_killed_is_named() -> None:
    tree = ladder()
    command = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    with pytest.raises(HostError, match="layout of the graph") as caught:
        lay_out(tree, [tree.root], command=command)
    if os.name == "posix":
        assert signal.SIGKILL.name in caught.value.reason


def test_a_child_that_is_too_slow_is_ended() -> None:
    tree, begin_s = ladder(), time.monotonic()
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(HostError, match="it took over"):
        lay_out(tree, [tree.root], command=command, limit_s=0.3)
    assert time.monotonic() - begin_s < 10


def test_it_is_cancelled() -> None:
    tree, token = ladder(), CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        lay_out(tree, [tree.root], token)
