"""Dense Graph Flow, Eq. (3)."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm_research.network.graph_layers import DenseGraphFlow
from research.tests.network.samples import random_graphs, set_weights
from tests.support.random_weights import randomise


def test_two_operators_by_hand() -> None:
    layer = DenseGraphFlow(1, 1)
    # W_o = 1 and 2, W_f = 3 and 4 (from producers, from consumers), W_p = 5, b = 6.
    set_weights(layer, gate__weight=[1, 2], flow__weight=[3, 4], keep__weight=5, keep__bias=6)
    states = torch.tensor([1.0, 2.0]).reshape(2, 1, 1)
    operations = torch.tensor([[1.0], [0.5]])
    after = layer(states, operations, torch.tensor([[0], [1]]))
    # Operator 0 has no producer: relu(1 * 2) * (2 * 4) + 1 * 5 + 6 = 16 + 11.
    # Operator 1 has no consumer: relu(0.5 * 1) * (1 * 3) + 2 * 5 + 6 = 1.5 + 16.
    assert after.flatten().tolist() == [27.0, 17.5]


def test_a_negative_gate_leaves_the_residual_path_alone() -> None:
    layer = DenseGraphFlow(1, 1)
    set_weights(layer, gate__weight=[1, 2], flow__weight=[3, 4], keep__weight=5, keep__bias=6)
    states = torch.tensor([1.0, 2.0]).reshape(2, 1, 1)
    after = layer(states, torch.tensor([[-1.0], [-1.0]]), torch.tensor([[0], [1]]))
    assert after.flatten().tolist() == [11.0, 16.0]


@settings(max_examples=40)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(0, 2**16))
def test_equals_the_dense_matrix_form(sizes: list[int], seed: int) -> None:
    graphs = random_graphs(sizes, seed)
    nodes = graphs.op_code.shape[0]
    layer = DenseGraphFlow(3, 4)
    randomise(layer, seed)
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(nodes, 2, 4, generator=generator)
    operations = torch.randn(nodes, 3, generator=generator)
    sparse = layer(states, operations, graphs.edges).detach().numpy()

    adjacency = np.zeros((nodes, nodes))
    for producer, consumer in graphs.edges.T.tolist():
        adjacency[consumer, producer] = 1
    w_o, w_f = (m.weight.detach().numpy().T for m in (layer.gate, layer.flow))
    w_p, bias = layer.keep.weight.detach().numpy().T, layer.keep.bias.detach().numpy()
    o = operations.numpy()
    for target in range(2):
        x = states[:, target].numpy()
        dense = (
            np.maximum(o @ w_o[:, :4], 0) * (adjacency @ (x @ w_f[:, :4]))
            + np.maximum(o @ w_o[:, 4:], 0) * (adjacency.T @ (x @ w_f[:, 4:]))
            + x @ w_p
            + bias
        )
        np.testing.assert_allclose(sparse[:, target], dense, rtol=1e-4, atol=1e-4)
