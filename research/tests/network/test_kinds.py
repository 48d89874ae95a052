"""Responses by kind of operator: convolutions told apart by window and groups, others by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from ctm_research.network.batch import GraphBatch
from ctm_research.network.term_network import KIND_RESPONSE, OperatorKinds
from predictor.cost.operator_kinds import NETWORK_KINDS
from predictor.graph.operators import OPERATORS
from predictor.network.features import exact_features, scale_free
from tests.support.graphs import Op, make_graph

WORK = {"macs": 10**6, "read": 10**4, "weights": 10**3, "written": 10**4}
NAMES = ("Conv", "Conv", "Conv", "Conv", "MatMul", "Softmax", "MaxPool", "Add")


def kinds_of(names: tuple[str, ...]) -> np.ndarray:
    """Return the responses of a 3 x 3, a 1 x 1, a depthwise and a grouped convolution, and more."""
    graph = make_graph(
        [
            Op(**WORK, window=(3, 3)),
            Op(**WORK, window=(1, 1)),
            Op(**WORK, window=(3, 3)),
            Op(**WORK, window=(3, 3)),
            *(Op(**WORK) for _ in names[4:]),
        ]
    )
    gemm = graph.gemm.copy()
    gemm[2] = (64, 8, 1, 9)
    gemm[3] = (4, 8, 16, 9)
    code = np.array([OPERATORS.index(name) for name in names], np.int16)
    graph = replace(graph, op_code=code, gemm=gemm)
    batch = GraphBatch(
        torch.from_numpy(code.astype(np.int64)),
        torch.from_numpy(scale_free(exact_features(graph))),
        torch.zeros((2, 0), dtype=torch.int64),
        torch.zeros(len(graph), dtype=torch.int64),
        torch.tensor([len(graph)]),
    )
    return OperatorKinds(len(OPERATORS))(batch, torch.arange(len(graph))).numpy()


def test_each_kind_is_one_response_of_work_and_none_of_launches() -> None:
    found = kinds_of(NAMES)

    assert found.shape == (8, 3, len(NETWORK_KINDS))
    expected = np.eye(len(NETWORK_KINDS), dtype=np.float32)[:, None] * KIND_RESPONSE
    np.testing.assert_array_equal(found[:, :2], np.repeat(expected, 2, axis=1))
    np.testing.assert_array_equal(found[:, 2], 0.0)


def test_a_network_has_the_kinds_of_the_operators_that_it_was_trained_with() -> None:
    assert len(OperatorKinds(40).kind) == 40
