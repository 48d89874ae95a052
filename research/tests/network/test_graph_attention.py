"""Graph attention, Eq. (4) and (5)."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm_research.network.config import Attention
from ctm_research.network.graph_layers import GraphAttention, mapping_strength
from research.tests.network.samples import random_graphs, set_weights
from tests.support.random_weights import randomise

EYE = np.eye(3).tolist()


def make_layer(
    attention: Attention = Attention.SIGMOID, residual: float = 0.0, mapping: float = 0.0
) -> GraphAttention:
    return GraphAttention(
        3,
        3,
        attention=attention,
        negative_slope=0.2,
        initial_residual=residual,
        mapping=mapping,
    )


def pair(attention: Attention) -> torch.Tensor:
    """Return the new state of X_0 = (1, 0, 0) whose consumer is X_1 = (0, 2, 0)."""
    layer = make_layer(attention)
    set_weights(layer, project__weight=EYE, score__weight=[1, 1, 1], gate__weight=EYE)
    states = torch.tensor([[1.0, 0, 0], [0, 2.0, 0]]).unsqueeze(1)
    after = layer(states, torch.ones(2, 3), torch.tensor([[0], [1]]), states)
    return after[0, 0].detach()


def test_two_operators_by_hand_with_sigmoid() -> None:
    # Scores of operator 0: itself 1, operator 1: 1*0 + 0*2 = 0; sigmoid: 0.731059 and 0.5.
    # Sum: (0.731059, 0.5 * 2, 0). The gate is 1. LayerNorm: mean 0.577020, variance 0.178531.
    expected = [(v - 0.577020) / math.sqrt(0.178531 + 1e-5) for v in (0.731059, 1.0, 0.0)]
    assert pair(Attention.SIGMOID).tolist() == pytest.approx(expected, abs=1e-4)


def test_two_operators_by_hand_with_softmax() -> None:
    # The same scores, 1 and 0; softmax: e / (e + 1) = 0.731059 and 0.268941.
    # Sum: (0.731059, 0.537883, 0); mean 0.422981, variance 0.095678.
    expected = [(v - 0.422981) / math.sqrt(0.095678 + 1e-5) for v in (0.731059, 0.537883, 0.0)]
    assert pair(Attention.SOFTMAX).tolist() == pytest.approx(expected, abs=1e-4)


def test_negative_scores_pass_the_leaky_relu() -> None:
    layer = make_layer()
    set_weights(layer, project__weight=EYE, score__weight=[-1, -1, -1])
    states = torch.tensor([[2.0, 0, 0]]).unsqueeze(1)
    attended = layer._attend(states, torch.zeros(2, 0, dtype=torch.int64))
    # Score -4, times 0.2: sigmoid(-0.8) = 0.310026.
    assert attended[0, 0].tolist() == pytest.approx([2 * 0.310026, 0, 0], abs=1e-5)


def test_mapping_strength_is_that_of_gcnii() -> None:
    assert mapping_strength(0.5, 1) == pytest.approx(0.405465, abs=1e-6)  # ln 1.5
    assert mapping_strength(0.5, 2) == pytest.approx(0.223144, abs=1e-6)  # ln 1.25
    assert mapping_strength(0.0, 1) == 0.0


def dense(
    layer: GraphAttention, x: np.ndarray, o: np.ndarray, first: np.ndarray, edges: list[list[int]]
) -> np.ndarray:
    """Transcribe Eq. (4), (5) and GCNII's Eq. (5) by loops over pairs."""
    nodes = len(x)
    neighbours = np.eye(nodes, dtype=bool)
    for producer, consumer in edges:
        neighbours[consumer, producer] = neighbours[producer, consumer] = True
    weights = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    p = x @ weights["project.weight"].T
    total = np.zeros_like(p)
    for i in range(nodes):
        scores = {}
        for j in np.flatnonzero(neighbours[i]):
            score = float(weights["score.weight"][0] @ (p[i] * p[j]))
            scores[j] = score if score > 0 else 0.2 * score
        for j, score in scores.items():
            if layer.attention is Attention.SIGMOID:
                weight = 1 / (1 + math.exp(-score))
            else:
                weight = math.exp(score) / sum(math.exp(s) for s in scores.values())
            total[i] += weight * p[j]
    total = (1 - layer.initial_residual) * total + layer.initial_residual * first
    if layer.map is not None:
        beta = layer.mapping
        total = (1 - beta) * total + beta * total @ weights["map.weight"].T
    gated = np.maximum(o @ weights["gate.weight"].T, 0) * total
    centred = gated - gated.mean(axis=1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    return normal * weights["norm.weight"] + weights["norm.bias"]


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 8), min_size=1, max_size=3),
    st.sampled_from(Attention),
    st.sampled_from([(0.0, 0.0), (0.1, 0.4)]),
    st.integers(0, 2**16),
)
def test_equals_a_literal_transcription(
    sizes: list[int], attention: Attention, strengths: tuple[float, float], seed: int
) -> None:
    graphs = random_graphs(sizes, seed)
    nodes = graphs.op_code.shape[0]
    layer = make_layer(attention, *strengths)
    randomise(layer, seed)
    generator = torch.Generator().manual_seed(seed)
    states, first = torch.randn(2, nodes, 2, 3, generator=generator)
    operations = torch.randn(nodes, 3, generator=generator) + 1
    sparse = layer(states, operations, graphs.edges, first).detach().numpy()
    for target in range(2):
        expected = dense(
            layer,
            states[:, target].double().numpy(),
            operations.numpy(),
            first[:, target].numpy(),
            graphs.edges.T.tolist(),
        )
        np.testing.assert_allclose(sparse[:, target], expected, rtol=2e-3, atol=2e-3)
