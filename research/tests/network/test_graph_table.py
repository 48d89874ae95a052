"""Node features and packed graphs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.network.graph_table import GraphTable
from predictor.core.errors import InputError
from predictor.network.features import FEATURE_NAMES, node_features
from predictor.probing.networks.spaces import operator_graph_of
from research.tests.network.samples import chain, random_table
from tests.support.graphs import FUSED, QUANTISED, WINOGRAD, Op, make_graph

FBNET = operator_graph_of("fbnet-cifar100", [0, 1, 5, 8] + [3] * 18)


def column(features: np.ndarray, name: str) -> list[float]:
    return features[:, FEATURE_NAMES.index(name)].tolist()


def test_sizes_enter_as_logs_and_flags_as_bits() -> None:
    graph = make_graph(
        [
            Op(macs=999, read=30, weights=20, written=50, window=(3, 3), flags=WINOGRAD),
            Op(read=7, written=7, dtype="int8", flags=FUSED | QUANTISED),
        ]
    )
    features = node_features(graph)
    assert features.shape == (2, len(FEATURE_NAMES))
    assert features.dtype == np.float32
    assert column(features, "log1p_macs") == pytest.approx([math.log(1000), 0])
    assert column(features, "log1p_bytes_read") == pytest.approx([math.log(31), math.log(8)])
    assert column(features, "log1p_gemm_n") == pytest.approx([math.log(9), 0])
    assert column(features, "log1p_window_height") == pytest.approx([math.log(4), 0])
    # 999 MACs by 30 + 20 + 50 bytes.
    assert column(features, "log_macs_per_byte") == pytest.approx([math.log(1 + 9.99), 0])
    assert column(features, "is_contraction") == [1, 0]
    assert column(features, "element_bits_log2") == [5, 3]
    assert column(features, "is_float") == [1, 0]
    assert column(features, "flag_winograd") == [1, 0]
    assert column(features, "flag_fused") == [0, 1]
    assert column(features, "flag_quantised") == [0, 1]
    assert column(features, "flag_unknown") == [0, 0]


def test_kinds_of_convolution_are_told_apart() -> None:
    features = node_features(FBNET)
    convolutions = [i for i, kind in enumerate(FBNET.op_types) if kind == "Conv"]
    # Block 0 is k3_e1, a depthwise 3 x 3; block 1 has 2 groups in its 1 x 1 convolutions.
    kinds = {
        (bool(features[i, d]), bool(features[i, g]), bool(features[i, p]))
        for d, g, p in [
            [FEATURE_NAMES.index(n) for n in ("is_depthwise", "is_grouped", "is_pointwise")]
        ]
        for i in convolutions
    }
    assert kinds == {
        (False, False, False),  # the stem
        (True, False, False),
        (False, True, True),
        (False, False, True),
    }


def test_features_do_not_depend_on_what_else_is_in_the_graph() -> None:
    np.testing.assert_array_equal(
        node_features(chain(5, 6, 7))[1:], node_features(chain(9, 6, 7))[1:]
    )


def test_a_table_holds_graphs_side_by_side() -> None:
    table = GraphTable.of([chain(1, 2, 3), FBNET, chain(4)])
    assert len(table) == 3
    assert table.node_counts.tolist() == [3, len(FBNET), 1]
    assert table.graph_ids[[0, 2, 3, -1]].tolist() == [0, 0, 1, 2]
    np.testing.assert_array_equal(table.op_code[3:-1], FBNET.op_code)
    np.testing.assert_array_equal(table.features[3:-1], node_features(FBNET))
    np.testing.assert_array_equal(table.flat_edges[:, 2:], FBNET.edges + 3)


@given(st.lists(st.integers(0, 4), max_size=9))
def test_take_equals_taking_one_by_one(indices: list[int]) -> None:
    table = random_table([3, 1, 6, 2, 4])
    taken = table.take(indices)
    assert len(taken) == len(indices)
    for place, index in enumerate(indices):
        one = slice(*table.node_offsets[index : index + 2])
        there = slice(*taken.node_offsets[place : place + 2])
        np.testing.assert_array_equal(taken.op_code[there], table.op_code[one])
        np.testing.assert_array_equal(taken.features[there], table.features[one])
        one = slice(*table.edge_offsets[index : index + 2])
        there = slice(*taken.edge_offsets[place : place + 2])
        np.testing.assert_array_equal(taken.edges[:, there], table.edges[:, one])
        first = taken.node_offsets[place]
        np.testing.assert_array_equal(taken.flat_edges[:, there], table.edges[:, one] + first)


def test_the_statistics_are_those_of_the_graphs_given() -> None:
    table = random_table([30, 40, 50])
    part = table.take([0, 2])
    scaling = part.scaling()
    assert part.features.min() > 0
    np.testing.assert_allclose(scaling.mean, part.features.mean(axis=0), rtol=1e-4)
    standardised = scaling.apply(part.features)
    np.testing.assert_allclose(standardised.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(standardised.std(axis=0), 1, atol=1e-4)


def test_operators_without_macs_do_not_count_in_the_statistics_of_macs() -> None:
    scaling = GraphTable.of([chain(math.exp(4) - 1, 0, math.exp(8) - 1), chain(0)]).scaling()
    macs = FEATURE_NAMES.index("log1p_macs")
    assert scaling.mean[macs] == pytest.approx(6, abs=0.01)
    assert scaling.std[macs] == pytest.approx(2, abs=0.01)


def test_a_column_that_hardly_changes_is_not_blown_up() -> None:
    scaling = GraphTable.of([chain(5, 5)]).scaling()
    assert scaling.std[FEATURE_NAMES.index("log1p_macs")] == 0.25
    assert scaling.std[FEATURE_NAMES.index("log1p_window_height")] == 1  # no operator has one


@pytest.mark.parametrize("indices", [[3], [-1], [0, 7]])
def test_an_index_outside_the_table_is_refused(indices: list[int]) -> None:
    with pytest.raises(InputError, match="is not one of its 3 graphs"):
        random_table([2, 2, 2]).take(indices)


def test_no_graph_and_an_empty_graph_are_refused() -> None:
    with pytest.raises(InputError, match="there are no graphs"):
        GraphTable.of([])
    with pytest.raises(InputError, match="operator graph 1: it has no operators"):
        GraphTable.of([chain(1), make_graph([])])
