"""Examples, the blocks that are drawn from them, and the likelihood of a block."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ctm_research.sources import Share
from ctm_research.training.examples import Block, BlockSampler, Examples
from ctm_research.training.loss import Deviations, block_loss
from research.tests.corpus.small_corpus import small_corpus

SILICON = ("a", "a", "a", "a", "b", "c")


def examples(graphs: int = 4, targets: int = 6) -> Examples:
    """Return every graph on every target, by one source."""
    graph, target = (each.ravel() for each in np.mgrid[:graphs, :targets])
    size = graphs * targets
    return Examples(
        np.zeros(size, np.int64),
        graph.astype(np.int64),
        target.astype(np.int64),
        (10.0 * graph + target).astype(float),
        np.full(size, 0.01),
    )


def draw(seed: int, graphs: int = 2, targets: int = 3) -> Block:
    plan = {0: Share(1.0, graphs, targets), 7: Share(5.0, 1, 1)}  # source 7 has no examples
    return BlockSampler(examples(), SILICON, plan, np.random.default_rng(seed)).draw()


def test_measurements_of_one_graph_on_one_target_by_one_source_are_averaged() -> None:
    corpus = small_corpus()
    m = corpus.measurements
    rows = np.arange(len(m.latency_ms))

    found = Examples.of(corpus, np.concatenate([rows, rows]))

    keys = np.stack([m.source, m.graph, m.target], axis=1)
    assert len(found) == len(np.unique(keys, axis=0))
    place = 3
    same = (
        (m.source == found.source[place])
        & (m.graph == found.graph[place])
        & (m.target == found.target[place])
    )
    assert found.log_latency[place] == pytest.approx(np.log(m.latency_ms[same]).mean())
    noise = m.noise[same].astype(float)
    assert found.variance[place] == pytest.approx((noise**2).mean() / (2 * same.sum()))


def test_a_block_holds_what_was_measured() -> None:
    block = draw(0)

    assert block.log_latency.shape == (2, 3)
    np.testing.assert_allclose(
        block.log_latency, 10.0 * block.graphs[:, None] + block.targets[None]
    )
    np.testing.assert_allclose(block.variance, 0.01)


def test_each_silicon_has_a_target_before_one_has_two() -> None:
    for seed in range(20):
        assert {SILICON[target] for target in draw(seed).targets} == {"a", "b", "c"}


def test_the_same_seed_draws_the_same_block_and_another_another() -> None:
    blocks = [draw(seed) for seed in (1, 1, 2, 3, 4)]

    np.testing.assert_array_equal(blocks[0].log_latency, blocks[1].log_latency)
    assert len({block.log_latency.tobytes() for block in blocks}) > 1


def test_the_loss_is_the_likelihood_under_a_multivariate_normal() -> None:
    deviations = Deviations(1).double()
    rng = np.random.default_rng(0)
    off = 0.01 * rng.standard_normal(3)  # small: hardly clipped
    responses = torch.from_numpy(rng.standard_normal((3, 1, 2)))
    variance = torch.from_numpy(rng.uniform(0.01, 0.1, (3, 1)))
    expected = torch.from_numpy(rng.standard_normal((3, 1)))

    loss = block_loss(
        deviations,
        0,
        expected,
        responses,
        expected + torch.from_numpy(off)[:, None],
        variance,
        torch.zeros(1, dtype=torch.float64),
    )

    rows = responses[:, 0].numpy()
    covariance = rows @ rows.T + np.exp(2 * deviations.log_shift.item())
    covariance += np.diag(np.exp(2 * deviations.log_noise[0].item()) + variance[:, 0].numpy())
    normal = torch.distributions.MultivariateNormal(
        torch.zeros(3, dtype=torch.float64), torch.from_numpy(covariance)
    )
    density = normal.log_prob(torch.from_numpy(off)).item() + 1.5 * np.log(2 * np.pi)
    assert loss.item() == pytest.approx(-density / 3, rel=1e-4)


def test_what_was_not_measured_does_not_count() -> None:
    deviations = Deviations(1)
    torch.manual_seed(0)
    expected, responses = torch.randn(4, 2), torch.randn(4, 2, 3)
    measured, variance = expected + 0.1 * torch.randn(4, 2), torch.full((4, 2), 0.01)
    missing = torch.cat([measured, torch.full((1, 2), torch.nan)])

    def padded(values: torch.Tensor) -> torch.Tensor:
        return torch.cat([values, torch.randn_like(values[:1])])

    plain = block_loss(deviations, 0, expected, responses, measured, variance, torch.ones(2))
    more = block_loss(
        deviations,
        0,
        padded(expected),
        padded(responses),
        missing,
        torch.cat([variance, torch.zeros(1, 2)]),
        torch.ones(2),
    )

    torch.testing.assert_close(more, plain)


def test_an_expectation_that_is_off_costs_by_how_far_it_is_trusted() -> None:
    deviations = Deviations(1)
    args = (torch.zeros(3, 1), torch.zeros(3, 1, 2), torch.ones(3, 1), torch.zeros(3, 1))

    trusted, not_trusted = (
        block_loss(deviations, 0, *args, torch.tensor([trust])) for trust in (1.0, 0.0)
    )

    # Huber with delta 0.3 over 0.3, 1 away.
    assert (trusted - not_trusted).item() == pytest.approx(1 - 0.15)
