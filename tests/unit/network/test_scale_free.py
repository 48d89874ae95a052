"""What the shipped network reads of an operator: worked by hand, and unchanged by the batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.network.features import SCALE_FREE_NAMES, exact_features, node_features, scale_free
from tests.support.graphs import Op, make_graph
from tests.support.random_graphs import graphs

CONVOLUTION = Op(macs=600, read=300, weights=70, written=100, columns=6, window=(3, 5))


def column(graph: OperatorGraph, name: str) -> np.ndarray:
    return scale_free(exact_features(graph))[:, SCALE_FREE_NAMES.index(name)]


def test_ratios_and_sizes_by_hand() -> None:
    graph = make_graph([CONVOLUTION])

    expected = {
        "log1p_weight_bytes": np.log(71),
        "log1p_gemm_n": np.log(7),
        "log1p_window_height": np.log(4),
        "log1p_window_width": np.log(6),
        "log_read_per_written": round(np.log(3), 3),
        "log_macs_per_byte_written": round(np.log(6), 3),
        "is_contraction": 1.0,
    }

    found = {name: float(column(graph, name)[0]) for name in expected}
    assert found == {name: np.float32(value) for name, value in expected.items()}


def test_groups_count_only_where_there_are_weights() -> None:
    graph = make_graph([CONVOLUTION, replace(CONVOLUTION, weights=0)])
    gemm = graph.gemm.copy()
    gemm[:, 0] = 12  # heads times batch, where both are activations

    groups = column(replace(graph, gemm=gemm), "log1p_weight_groups")

    np.testing.assert_allclose(groups, [np.log(13), 0.0], rtol=1e-6)


def test_an_operator_that_writes_nothing_has_no_ratios() -> None:
    assert column(make_graph([Op(macs=5, read=8)]), "log_read_per_written").tolist() == [0.0]


@settings(deadline=None)
@given(graphs(), st.integers(2, 64))
def test_the_batch_changes_nothing(graph: OperatorGraph, factor: int) -> None:
    before = scale_free(exact_features(graph))

    np.testing.assert_allclose(
        scale_free(exact_features(at_batch(graph, factor))), before, rtol=0, atol=1.1e-3
    )


def test_what_the_corpus_keeps_says_the_same() -> None:
    graph = make_graph([CONVOLUTION, Op(read=7, written=3)])

    np.testing.assert_allclose(
        scale_free(node_features(graph)), scale_free(exact_features(graph)), atol=1.1e-3
    )
