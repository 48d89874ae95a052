"""The Hardware-Operation Dialogue Module, Eq. (7) to (9)."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm_research.network.config import Pooling
from ctm_research.network.hodm import Dialogue, HardwareOperationDialogue, HardwareTokens
from research.tests.network.samples import set_weights
from tests.support.random_weights import randomise

PROJECTIONS = (
    "operator_query",
    "metric_key",
    "metric_value",
    "output",
    "metric_query",
    "operator_key",
    "operator_value",
)


def by_hand(available: list[bool]) -> Dialogue:
    """Two operators 1 and 3, metrics 1 and 2 and a third token; every projection is 1."""
    hodm = HardwareOperationDialogue(1, Pooling.SUM, 2.0)  # of two operators: the mean
    set_weights(hodm, **{f"{name}__weight": 1 for name in PROJECTIONS}, residual=0.5)
    return hodm(
        torch.tensor([1.0, 3.0]).reshape(2, 1, 1),
        torch.tensor([1.0, 2.0, 50.0]).reshape(1, 3, 1),
        torch.tensor([available]),
        torch.zeros(2, dtype=torch.int64),
        torch.tensor([2]),
    )


def test_two_operators_and_two_metrics_by_hand() -> None:
    dialogue = by_hand([True, True, False])
    # Scores of operator 1: 1 and 2; of operator 3: 3 and 6.
    alpha = [[0.268941, 0.731059, 0.0], [0.047426, 0.952574, 0.0]]
    np.testing.assert_allclose(dialogue.operator_to_metric[:, 0].detach().numpy(), alpha, atol=1e-6)
    # Z = 1.731059 and 1.952574; X' = 1 + Z/2 and 3 + Z/2 = 1.865529 and 3.976287.
    states = dialogue.operator_states(torch.tensor([1.0, 3.0]).reshape(2, 1, 1))
    assert states.flatten().tolist() == pytest.approx([1.865529, 3.976287], abs=1e-5)
    # Metric 1 scores the operators 1 and 3, metric 2 scores them 2 and 6.
    reverse = [[0.119203, 0.017986, 0.0], [0.880797, 0.982014, 0.0]]
    np.testing.assert_allclose(
        dialogue.metric_to_operator[:, 0].detach().numpy(), reverse, atol=1e-6
    )
    # H' = 2.761594 and 2.964028, mean 2.862811; mean of X' 2.920908; lambda = 1/2.
    assert dialogue.fused.item() == pytest.approx((2.862811 + 2.920908) / 2, abs=1e-5)
    assert dialogue.blend.item() == 0.5
    assert dialogue.residual.item() == 0.5


def test_one_available_metric_gets_all_the_attention() -> None:
    dialogue = by_hand([True, False, False])
    assert dialogue.operator_to_metric[:, 0].tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    # X' = 1 + 1/2 and 3 + 1/2, mean 2.5; H' = 2.761594.
    assert dialogue.fused.item() == pytest.approx((2.5 + 2.761594) / 2, abs=1e-5)


def literal(
    hodm: HardwareOperationDialogue,
    x: np.ndarray,
    h: np.ndarray,
    available: np.ndarray,
    nodes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Transcribe Eq. (7) to (9) for one graph and one target; H's projections are not folded."""
    w = {name: getattr(hodm, name).weight.detach().numpy().T for name in PROJECTIONS}
    width, tokens = x.shape[1], np.flatnonzero(available)
    q, k, v = x @ w["operator_query"], h @ w["metric_key"], h @ w["metric_value"]
    alpha = np.zeros((len(x), len(h)))
    answered = np.zeros_like(x)
    for operator in nodes:
        exps = {i: math.exp(q[operator] @ k[i] / math.sqrt(width)) for i in tokens}
        for i, value in exps.items():
            alpha[operator, i] = value / sum(exps.values())
        z = sum(alpha[operator, i] * v[i] for i in tokens)
        answered[operator] = x[operator] + hodm.residual.item() * (z @ w["output"])
    q, k, v = h @ w["metric_query"], x @ w["operator_key"], x @ w["operator_value"]
    reverse = np.zeros((len(x), len(h)))
    heard = []
    for i in tokens:
        exps = {n: math.exp(q[i] @ k[n] / math.sqrt(width)) for n in nodes}
        for n, value in exps.items():
            reverse[n, i] = value / sum(exps.values())
        heard.append(sum(reverse[n, i] * v[n] for n in nodes))
    pooled = answered[nodes].sum(axis=0) / hodm.typical_nodes
    if hodm.pooling is Pooling.LOG_SUM:
        pooled = np.arcsinh(10 * pooled)
    blend = 1 / (1 + math.exp(-hodm.blend_logit.item()))
    return blend * pooled + (1 - blend) * np.mean(heard, axis=0), alpha, reverse


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.sampled_from(Pooling),
    st.integers(0, 2**16),
)
def test_equals_a_literal_transcription(sizes: list[int], pooling: Pooling, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    hodm = HardwareOperationDialogue(4, pooling, 7.0)
    randomise(hodm, seed)
    x = torch.randn(sum(sizes), 2, 4, generator=generator)
    h = torch.randn(2, 3, 4, generator=generator)
    available = torch.tensor([[True, True, False], [False, False, True]])
    graph = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    dialogue = hodm(x, h, available, graph, torch.tensor(sizes))
    for g in range(len(sizes)):
        nodes = np.flatnonzero(graph.numpy() == g)
        for t in range(2):
            fused, alpha, reverse = literal(
                hodm, x[:, t].numpy(), h[t].numpy(), available[t].numpy(), nodes
            )
            close = {"rtol": 1e-3, "atol": 1e-4}
            np.testing.assert_allclose(dialogue.fused[g, t].detach(), fused, **close)
            np.testing.assert_allclose(
                dialogue.operator_to_metric[nodes, t].detach(), alpha[nodes], **close
            )
            np.testing.assert_allclose(
                dialogue.metric_to_operator[nodes, t].detach(), reverse[nodes], **close
            )


@settings(max_examples=40)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(0, 2**16))
def test_attention_sums_to_one_over_what_is_available(sizes: list[int], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    hodm = HardwareOperationDialogue(4, Pooling.SUM, 100.0)
    available = torch.rand(3, 6, generator=generator) > 0.5
    available[:, 0] |= ~available.any(dim=1)
    graph = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    dialogue = hodm(
        # Large states: the sums must hold where one score dominates, too.
        20 * torch.randn(sum(sizes), 3, 4, generator=generator),
        torch.randn(3, 6, 4, generator=generator),
        available,
        graph,
        torch.tensor(sizes),
    )
    alpha, reverse = dialogue.operator_to_metric, dialogue.metric_to_operator
    torch.testing.assert_close(alpha.sum(-1), torch.ones(sum(sizes), 3))
    assert bool((alpha[:, ~available] == 0).all())
    by_graph = torch.stack([reverse[graph == g].sum(0) for g in range(len(sizes))])
    torch.testing.assert_close(by_graph, available.float().expand_as(by_graph))


def test_a_token_is_its_embedding_plus_its_value_times_its_direction() -> None:
    module = HardwareTokens(2, 1)
    set_weights(module, embedding=[10, 20, 30], direction=[1, 2])
    tokens, available = module(
        torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.tensor([[True, True], [False, False]])
    )
    assert tokens.squeeze(-1).tolist() == [[13.0, 28.0, 30.0], [10.0, 20.0, 30.0]]
    # "Unknown" speaks only where nothing else can.
    assert available.tolist() == [[True, True, False], [False, False, True]]
