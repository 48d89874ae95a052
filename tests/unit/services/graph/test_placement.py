from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.services.graph.grouping import GroupTree, group_operators
from predictor.services.graph.layout import by_depth, lay_out
from predictor.services.graph.placement import (
    BOX_HEIGHT,
    BOX_WIDTH,
    Picture,
    first_opened,
    picture_of,
    visible_box_count,
    visible_groups,
)
from tests.support.pictured_graphs import chain_of, network

pytestmark = pytest.mark.slow

MODULES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4)


@st.composite
def opened_trees(draw: st.DrawFn) -> tuple[GroupTree, frozenset[int]]:
    count = draw(st.integers(1, 60))
    paths = draw(st.lists(MODULES, min_size=count, max_size=count))
    names = ["/".join([*path, f"op{place}"]) for place, path in enumerate(paths)]
    place = st.integers(0, count - 1)
    pairs = draw(st.sets(st.tuples(place, place), max_size=2 * count))
    edges = [pair for pair in sorted(pairs) if pair[0] < pair[1]]
    tree = group_operators(
        names, ["Relu"] * count, np.array(edges, dtype=np.int32).reshape(-1, 2).T
    )
    groups = range(tree.operators + 1, tree.operators + len(tree.members))
    opened = draw(st.sets(st.sampled_from(groups))) if groups else set()
    return tree, frozenset(opened)


def plain_picture(tree: GroupTree, opened: frozenset[int]) -> Picture:
    levels = {group: by_depth(tree, group) for group in visible_groups(tree, opened)}
    return picture_of(tree, levels, opened)


@given(opened_trees())
def test_each_operator_is_in_one_closed_box(drawn: tuple[GroupTree, frozenset[int]]) -> None:
    tree, opened = drawn
    picture = plain_picture(tree, opened)
    closed = picture.nodes[~picture.is_open]
    inside = np.concatenate([tree.operators_of(int(node)) for node in closed])
    assert sorted(inside) == list(range(tree.operators))
    assert closed.size == visible_box_count(tree, opened)


@given(opened_trees())
def test_boxes_are_apart_or_one_is_inside_the_other(
    drawn: tuple[GroupTree, frozenset[int]],
) -> None:
    tree, opened = drawn
    picture = plain_picture(tree, opened)
    ends = np.concatenate([picture.rects[:, :2], picture.rects[:, :2] + picture.rects[:, 2:]], 1)
    for here, node in enumerate(picture.nodes.tolist()):
        around = tree.ancestors(node)
        for there, other in enumerate(picture.nodes.tolist()):
            low = np.maximum(ends[here, :2], ends[there, :2])
            high = np.minimum(ends[here, 2:], ends[there, 2:])
            meets = bool((low < high - 1e-6).all())
            assert meets == (here == there or other in around or node in tree.ancestors(other))
    assert (ends[:, :2] >= -1e-6).all()
    assert (ends[:, 2:] <= np.array([picture.width, picture.height]) + 1e-6).all()


@given(opened_trees())
def test_lines_begin_under_one_box_and_end_over_another(
    drawn: tuple[GroupTree, frozenset[int]],
) -> None:
    tree, opened = drawn
    picture = plain_picture(tree, opened)
    rects = dict(zip(picture.nodes.tolist(), picture.rects.tolist(), strict=True))
    for edge in picture.edges:
        left, top, width, height = rects[edge.producer]
        assert edge.points[0] == pytest.approx((left + width / 2, top + height))
        left, top, width, _ = rects[edge.consumer]
        assert edge.points[-1] == pytest.approx((left + width / 2, top))
        heights = [y for _, y in edge.points]
        assert heights == sorted(heights), "lines run down"


def test_an_opened_group_is_as_large_as_what_is_in_it() -> None:
    table = network()
    tree = group_operators(table.names, table.op_types, table.edges)
    body = next(node for node in tree.members_of(tree.root) if tree.count(node) == 24)
    levels = lay_out(tree, range(tree.operators, len(tree.labels)))
    closed = picture_of(tree, levels, frozenset())
    opened = picture_of(tree, levels, frozenset({body}))
    assert closed.rects[:, 2:].tolist() == [[BOX_WIDTH, BOX_HEIGHT]] * 3
    frame = opened.rects[opened.box_of(body)]
    assert frame[3] > 4 * BOX_HEIGHT
    assert opened.height == pytest.approx(closed.height + frame[3] - BOX_HEIGHT)


def test_a_chain_is_straight_beside_an_edge_that_passes_it() -> None:
    table = network()
    tree = group_operators(table.names, table.op_types, table.edges)
    groups = range(tree.operators, len(tree.labels))
    opened = frozenset(groups)
    picture = picture_of(tree, lay_out(tree, groups), opened)
    spans = [
        max(x for x, _ in edge.points) - min(x for x, _ in edge.points) for edge in picture.edges
    ]
    assert np.median(spans) < 10.0
    assert max(spans) < 2 * BOX_WIDTH


def test_the_innermost_box_is_found_at_a_point() -> None:
    table = network()
    tree = group_operators(table.names, table.op_types, table.edges)
    picture = plain_picture(tree, frozenset(range(tree.operators, len(tree.labels))))
    for box, (left, top, width, height) in enumerate(picture.rects.tolist()):
        if not picture.is_open[box]:
            assert picture.box_at(left + width / 2, top + height / 2) == box
        else:
            assert picture.box_at(left + 2, top + 2) == box
    assert picture.box_at(-10, -10) is None


def test_a_model_opens_with_as_many_boxes_as_are_read() -> None:
    for table in (network(), chain_of(4000)):
        tree = group_operators(table.names, table.op_types, table.edges)
        opened = frozenset(first_opened(tree, 60))
        assert visible_box_count(tree, opened) <= 60
    assert not opened


def test_a_small_model_opens_whole() -> None:
    table = network()
    tree = group_operators(table.names, table.op_types, table.edges)
    assert visible_box_count(tree, frozenset(first_opened(tree, 60))) == tree.operators
