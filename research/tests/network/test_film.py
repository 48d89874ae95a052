"""Feature-wise linear modulation, Eq. (6)."""

from __future__ import annotations

import torch

from ctm_research.network.hodm import Film
from tests.support.random_weights import randomise


def test_untrained_it_changes_nothing() -> None:
    states = torch.randn(5, 1, 4, generator=torch.Generator().manual_seed(0))
    modulated = Film(3, 4)(states, torch.ones(2, 3))
    assert torch.equal(modulated, states.expand(-1, 2, -1))


def test_by_hand_with_one_channel() -> None:
    film = Film(1, 1)
    with torch.no_grad():
        for mlp, last in ((film.gamma, 3.0), (film.beta, -2.0)):
            for layer, weight in ((mlp[0], 1.0), (mlp[2], last)):
                layer.weight.fill_(weight)
                layer.bias.zero_()
    states = torch.tensor([10.0, 20.0]).reshape(2, 1, 1)
    # Target 2: gamma = 1 + 3 * 2 = 7, beta = -2 * 2 = -4. Target -1: relu cuts it, 1 and 0.
    modulated = film(states, torch.tensor([[2.0], [-1.0]]))
    assert modulated.squeeze(-1).tolist() == [[66.0, 10.0], [136.0, 20.0]]


def test_every_operator_of_a_target_gets_the_same_gamma_and_beta() -> None:
    film = Film(3, 4)
    randomise(film)
    states = torch.randn(6, 1, 4, generator=torch.Generator().manual_seed(1))
    targets = torch.randn(2, 3, generator=torch.Generator().manual_seed(2))
    modulated = film(states, targets)
    gamma, beta = 1 + film.gamma(targets), film.beta(targets)
    for node in range(6):
        for target in range(2):
            expected = gamma[target] * states[node, 0] + beta[target]
            torch.testing.assert_close(modulated[node, target], expected)
