"""Additive resources against a sum written out, and what follows from it."""

from __future__ import annotations

import math

import torch

from ctm_research.nas.methods.resources import AdditiveResources
from ctm_research.network.encoder import Encoding


def encoding(states: torch.Tensor, graph: list[int]) -> Encoding:
    numbers = torch.tensor(graph)
    counts = torch.bincount(numbers)
    empty = torch.zeros(len(counts), 1, states.shape[1])
    return Encoding(states.unsqueeze(1), numbers, counts, empty, empty)


def resources() -> AdditiveResources:
    torch.manual_seed(0)
    return AdditiveResources(width=2, resources=1, features=1, typical_nodes=2.0)


def test_a_graph_needs_the_sum_of_what_its_operators_need():
    module = resources()
    with torch.no_grad():
        first, last = module.amounts[0], module.amounts[2]
        first.weight.copy_(torch.eye(2))
        first.bias.zero_()
        last.weight.copy_(torch.tensor([[1.0, 0.0]]))
        last.bias.zero_()
        module.mix.weight.copy_(torch.tensor([[3.0]]))
    states = torch.tensor([[1.0, 9.0], [2.0, 9.0], [-1.0, 9.0]])

    def amount(x: float) -> float:
        silu = x / (1 + math.exp(-x))
        return math.log1p(math.exp(silu))

    expected = [
        3 * math.log((amount(1.0) + amount(-1.0)) / 2 + 1e-6),
        3 * math.log(amount(2.0) / 2 + 1e-6),
    ]
    found = module(encoding(states, [0, 1, 0]))[:, 0]
    torch.testing.assert_close(found, torch.tensor(expected))


def test_every_operator_twice_adds_the_same_to_every_graph():
    module = resources()
    states = torch.randn(5, 2)
    graph = [0, 0, 1, 1, 1]
    once = module(encoding(states, graph))
    twice = module(encoding(torch.cat([states, states]), graph + graph))
    difference = (twice - once)[:, 0]
    expected = math.log(2) * module.mix.weight.sum()
    torch.testing.assert_close(difference, expected.expand(2), rtol=1e-4, atol=1e-4)
