"""Which operators of two graphs are the same: subsequences, names, shapes, symmetry."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.graph import matching
from predictor.graph.matching import common_subsequence, kind, match_operators
from tests.support.operator_graphs import OPERATORS, Named, graph_of

pytestmark = pytest.mark.slow

unhurried = settings(deadline=None)
WORDS = st.lists(st.integers(0, 3), max_size=14)


def longest(first: list[int], second: list[int]) -> int:
    """The textbook table."""
    lengths = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            lengths[i + 1][j + 1] = (
                lengths[i][j] + 1 if one == other else max(lengths[i][j + 1], lengths[i + 1][j])
            )
    return lengths[-1][-1]


@pytest.mark.parametrize("max_bits", [matching.MAX_BITS, 12])
@unhurried
@given(first=WORDS, second=WORDS)
def test_a_common_subsequence_is_common_ordered_and_longest(
    max_bits: int, first: list[int], second: list[int]
) -> None:
    usual, matching.MAX_BITS = matching.MAX_BITS, max_bits
    try:
        pairs = common_subsequence(first, second)
    finally:
        matching.MAX_BITS = usual
    assert all(first[i] == second[j] for i, j in pairs)
    assert pairs == sorted(set(pairs))
    assert [j for _, j in pairs] == sorted({j for _, j in pairs})
    assert len(pairs) == longest(first, second)


@unhurried
@given(first=OPERATORS, second=OPERATORS)
def test_exchanging_the_graphs_exchanges_the_pairs(first: list[Named], second: list[Named]) -> None:
    there = match_operators(graph_of(first), graph_of(second))
    back = match_operators(graph_of(second), graph_of(first))
    assert {(j, i) for i, j in there} == set(back)


@unhurried
@given(first=OPERATORS, second=OPERATORS)
def test_each_operator_is_matched_once_and_with_its_kind(
    first: list[Named], second: list[Named]
) -> None:
    pairs = match_operators(graph_of(first), graph_of(second))
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert all(kind(first[i].type) == kind(second[j].type) for i, j in pairs)


@unhurried
@given(operators=OPERATORS)
def test_a_graph_matches_itself_in_full(operators: list[Named]) -> None:
    graph = graph_of(operators)
    assert match_operators(graph, graph) == [(i, i) for i in range(len(operators))]


def test_running_numbers_do_not_match_shifted_operators() -> None:
    # One convolution is added in front: Conv_1 of the first graph is Conv_2 of the second.
    shapes = [(1, 8, 32, 32), (1, 16, 16, 16), (1, 32, 8, 8)]
    before = [Named(shape=shape, name=f"Conv_{i}") for i, shape in enumerate(shapes)]
    after = [Named(shape=(1, 4, 64, 64), name="Conv_0")]
    after += [Named(shape=shape, name=f"Conv_{i + 1}") for i, shape in enumerate(shapes)]
    assert match_operators(graph_of(before), graph_of(after)) == [(0, 1), (1, 2), (2, 3)]


def test_names_of_modules_match_what_moved() -> None:
    before = [Named(name="/a/conv"), Named(name="/b/conv"), Named("Add", name="/add")]
    after = [Named(name="/b/conv"), Named(name="/a/conv"), Named("Add", name="/add")]
    assert match_operators(graph_of(before), graph_of(after)) == [(1, 0), (0, 1), (2, 2)]


def test_numbers_of_modules_give_way_where_a_block_was_taken_out() -> None:
    shapes = [(1, 8, 32, 32), (1, 16, 16, 16), (1, 32, 8, 8), (1, 64, 4, 4)]
    before = [Named(shape=shape, name=f"/blocks.{i}/Conv") for i, shape in enumerate(shapes)]
    after = [Named(shape=shape, name=f"/blocks.{i}/Conv") for i, shape in enumerate(shapes[1:])]
    assert match_operators(graph_of(before), graph_of(after)) == [(1, 0), (2, 1), (3, 2)]


def test_names_win_where_every_width_changed() -> None:
    before = [
        Named(shape=(1, c, 8, 8), name=f"/{n}/Conv") for n, c in (("a", 8), ("b", 16), ("c", 8))
    ]
    after = [Named(shape=(1, c, 8, 8), name=f"/{n}/Conv") for n, c in (("a", 6), ("c", 6))]
    assert match_operators(graph_of(before), graph_of(after)) == [(0, 0), (2, 1)]


def test_another_resolution_matches_every_operator() -> None:
    before = [Named(shape=(1, c, 112, 112)) for c in (8, 16, 32)]
    after = [Named(shape=(1, c, 96, 96)) for c in (8, 16, 32)]
    assert len(match_operators(graph_of(before), graph_of(after))) == 3


def test_a_quantised_graph_matches_its_original() -> None:
    before = [Named(name="/stem/Conv"), Named("Gemm", name="/head/Gemm")]
    after = [
        Named("QuantizeLinear", name="input_QuantizeLinear"),
        Named("QLinearConv", name="/stem/Conv_quant"),
        Named("com.microsoft::QGemm", name="/head/Gemm_quant"),
    ]
    assert match_operators(graph_of(before), graph_of(after)) == [(0, 1), (1, 2)]


def test_a_removed_block_leaves_the_others_matched_by_shape() -> None:
    block = [(1, 8, 8, 8)] * 2
    stages = [*block, (1, 16, 4, 4), (1, 16, 4, 4), (1, 32, 2, 2)]
    before = graph_of([Named(shape=shape) for shape in stages])
    after = graph_of([Named(shape=shape) for shape in (*stages[1:], (1, 32, 2, 2))])
    pairs = match_operators(before, after)
    assert len(pairs) == 4
    assert all(before.output_shape(i) == after.output_shape(j) for i, j in pairs)


@pytest.mark.parametrize(
    ("op_type", "does"),
    [
        ("QLinearConv", "Conv"),
        ("ConvInteger", "Conv"),
        ("com.microsoft::NhwcFusedConv", "Conv"),
        ("com.microsoft::QLinearAdd", "Add"),
        ("MatMulInteger", "MatMul"),
        ("com.microsoft::MatMulNBits", "MatMul"),
        ("QuantizeLinear", "QuantizeLinear"),
        ("Relu", "Relu"),
    ],
)
def test_kinds(op_type: str, does: str) -> None:
    assert kind(op_type) == does
