"""Sums, largest values and softmax by segment."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.network.graph_layers import segment_max, segment_softmax, segment_sum

ROWS = torch.tensor([[1.0, -5.0], [2.0, -6.0], [4.0, -7.0]])
SEGMENT = torch.tensor([2, 0, 2])  # in no order, and segment 1 is empty


def test_by_hand() -> None:
    assert segment_sum(ROWS, SEGMENT, 3).tolist() == [[2, -6], [0, 0], [5, -12]]
    assert segment_max(ROWS, SEGMENT, 3).tolist() == [[2, -6], [0, 0], [4, -5]]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 2**16), st.booleans())
def test_softmax_equals_the_formula(counts: list[int], seed: int, far: bool) -> None:
    rng = np.random.default_rng(seed)
    segment = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    # Scores of 1000 overflow exp() unless the largest is taken off first.
    scores = rng.normal(size=(len(segment), 2)) + (1000 if far else 0)
    weights = segment_softmax(torch.tensor(scores), torch.tensor(segment), len(counts))
    for index in range(len(counts)):
        rows = scores[segment == index]
        exps = np.exp(rows - rows.max(axis=0))
        np.testing.assert_allclose(weights[segment == index], exps / exps.sum(axis=0), rtol=1e-9)


def test_the_gradient_of_softmax_is_that_of_torch() -> None:
    scores = torch.randn(6, 1, dtype=torch.float64, requires_grad=True)
    other = scores.detach().clone().requires_grad_()
    weight = torch.arange(6.0, dtype=torch.float64).reshape(6, 1)
    (segment_softmax(scores, torch.zeros(6, dtype=torch.int64), 1) * weight).sum().backward()
    (torch.softmax(other, dim=0) * weight).sum().backward()
    torch.testing.assert_close(scores.grad, other.grad)
