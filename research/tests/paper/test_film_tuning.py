"""FiLM fine-tuning: what it fits, what it leaves alone, what it refuses."""

from __future__ import annotations

import copy

import pytest
import torch

from ctm_research.network.batch import GraphBatch
from ctm_research.paper.film_tuning import (
    FilmTuning,
    TunedNetwork,
    film_parameters,
    tune_film,
)
from ctm_research.paper.network import PaperNetwork
from predictor.core.errors import InputError
from research.tests.network.samples import (
    paper_config,
    random_graphs,
    random_table,
    random_targets,
)
from tests.support.random_weights import randomise

PAPER = paper_config()
BASELINE = paper_config(metrics=(), devices=3, signature_size=0)
AS_IT_IS = FilmTuning(steps=0)


def made(config=PAPER) -> PaperNetwork:
    network = PaperNetwork(config)
    randomise(network, 4)
    return network.eval()


def encoded(network, targets, sizes, seed=0):
    with torch.no_grad():
        return network.encode(random_graphs(sizes, seed), targets)


def said(network, encoding, targets):
    with torch.no_grad():
        return network.predict(encoding, targets).log_latency[:, 0]


def target_of(config):
    return random_targets(config, 1, seed=2)


def test_latencies_that_differ_by_an_offset_are_met_by_the_offset_alone():
    network, targets = made(), target_of(PAPER)
    samples, others = (encoded(network, targets, [5, 7, 9, 4], seed) for seed in (0, 1))
    measured = said(network, samples, targets) + 1.25

    tuned = tune_film(network, samples, targets, measured, tuning=AS_IT_IS)

    assert tuned.slope == pytest.approx(1, abs=1e-5)
    torch.testing.assert_close(
        tuned.log_latency(others, targets), said(network, others, targets) + 1.25
    )


def test_the_slope_is_that_of_ridge_regression_towards_one():
    network, targets = made(), target_of(PAPER)
    samples = encoded(network, targets, [5, 7, 9, 4])
    predicted = said(network, samples, targets)
    around = predicted - predicted.mean()
    spread = float(around @ around)

    tuned = tune_film(
        network, samples, targets, 3 + 2 * around, tuning=FilmTuning(steps=0, slope_ridge=spread)
    )

    # The samples ask for a slope of 2, the prior for 1, and both count the same.
    assert tuned.slope == pytest.approx(1.5, rel=1e-4)
    assert tuned.level == pytest.approx(3, rel=1e-5)
    assert tuned.centre == pytest.approx(float(predicted.mean()), rel=1e-5)


def test_one_sample_gives_an_offset_and_no_slope():
    network, targets = made(), target_of(PAPER)
    samples = encoded(network, targets, [6])

    tuned = tune_film(
        network, samples, targets, torch.tensor([2.0]), tuning=FilmTuning(5, slope_ridge=0)
    )

    assert tuned.slope == 1
    assert tuned.log_latency(samples, targets).tolist() == pytest.approx([2.0], rel=1e-6)


@pytest.mark.parametrize("config", [PAPER, BASELINE], ids=["film", "identifier"])
def test_only_what_meets_the_target_is_changed_and_the_network_itself_is_not(config):
    network, targets = made(config), target_of(config)
    before = copy.deepcopy(network.state_dict())
    samples = encoded(network, targets, [5, 7, 9, 4])
    measured = torch.tensor([1.0, 3.0, 2.0, 5.0])

    tuned = tune_film(network, samples, targets, measured, tuning=FilmTuning(10, 1e-2))

    fitted = ("head.film_hodm.film.", "head.target.identifier.")
    changed = {n for n, v in tuned.network.state_dict().items() if not torch.equal(v, before[n])}
    assert changed
    assert all(name.startswith(fitted) for name in changed)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(parameter.requires_grad for parameter in network.parameters())


def test_gamma_and_beta_of_another_device_are_found_well_enough_for_graphs_not_measured():
    """The truth is a network that differs in FiLM alone."""
    network, targets = made(), target_of(PAPER)
    truth = copy.deepcopy(network)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in film_parameters(truth):
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.5)
    samples = encoded(network, targets, range(3, 33))
    others = encoded(network, targets, range(4, 34), seed=9)
    measured, wanted = said(truth, samples, targets), said(truth, others, targets)

    def error(tuned: TunedNetwork) -> float:
        return float((tuned.log_latency(others, targets) - wanted).square().mean())

    before = error(tune_film(network, samples, targets, measured, tuning=AS_IT_IS))
    after = error(tune_film(network, samples, targets, measured, tuning=FilmTuning(150, 1e-2)))

    assert after < before / 4


def test_equal_samples_give_equal_weights_and_disturb_no_random_numbers():
    network, targets = made(paper_config(dropout=0.5)), target_of(PAPER)
    samples = encoded(network, targets, [5, 7, 9, 4])
    measured = torch.tensor([1.0, 3.0, 2.0, 5.0])
    state = torch.get_rng_state()

    first = tune_film(network, samples, targets, measured)
    second = tune_film(network.train(), samples, targets, measured)

    assert torch.equal(first.log_latency(samples, targets), second.log_latency(samples, targets))
    assert torch.equal(torch.get_rng_state(), state)


def test_samples_that_do_not_fit_are_refused():
    network, targets = made(), target_of(PAPER)
    samples = encoded(network, targets, [5, 7])
    with pytest.raises(InputError, match="measured latencies"):
        tune_film(network, samples, targets, torch.tensor([1.0, float("nan")]))
    with pytest.raises(InputError, match="measured latencies"):
        tune_film(network, samples, targets, torch.tensor([1.0]))
    two = random_targets(PAPER, 2)
    both = encoded(network, two, [5, 7])
    with pytest.raises(InputError, match="one at a time"):
        tune_film(network, both, two, torch.tensor([1.0, 2.0]))
    with torch.no_grad():
        none = network.encode(GraphBatch.of(random_table([5]).take([])), targets)
    with pytest.raises(InputError, match="no samples"):
        tune_film(network, none, targets, torch.zeros(0))


@pytest.mark.parametrize("wrong", [{"steps": -1}, {"rate": float("nan")}, {"slope_ridge": -0.1}])
def test_settings_outside_their_range_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        FilmTuning(**wrong)
