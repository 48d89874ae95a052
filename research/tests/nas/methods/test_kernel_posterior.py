"""Episodes and the method on a small space of real graphs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from ctm_research.nas.method import Probes
from ctm_research.nas.methods.episodes import EpisodeSource
from ctm_research.nas.methods.graph_network import Recipe, train_graph_network
from ctm_research.nas.methods.graph_rows import (
    Networks,
    both,
    of_graph,
    tuned_head,
    zero_shot,
)
from ctm_research.nas.methods.kernel_network import KernelRecipe, train_kernel_network
from ctm_research.nas.methods.kernel_posterior import (
    AdaptedKernelPosterior,
    RegressionByClock,
    TrainedKernelPosterior,
)
from ctm_research.nas.spaces.space import NasSpace, architectures_of
from ctm_research.nas.spaces.view import TrainView
from ctm_research.sources.nas import Column
from research.tests.nas.small_space import DEVICES, small_codes, small_graphs

TRAIN = ("1080ti_1", "gold_6226", "raspi4")
TEST = "fpga"
ROWS = np.arange(60)
UNSEEN = np.arange(60, 80)


def small_space() -> NasSpace:
    """Return a space in which each operator costs its own time, whatever the edge."""
    codes = small_codes()
    costs = np.random.default_rng(2).uniform(0.2, 2.0, (5, len(DEVICES)))
    latency_ms = 3 + costs[codes].sum(axis=1)  # [80, 6]
    columns = tuple(Column(name, "", 1, "") for name in DEVICES)
    return NasSpace(architectures_of("nasbench201", codes, small_graphs()), columns, latency_ms)


@cache
def view() -> TrainView:
    return TrainView.of(small_space(), TRAIN, ROWS)


@cache
def trained() -> Networks:
    graph = train_graph_network(view(), 0, Recipe(steps=40, batch=40))
    recipe = KernelRecipe(steps=80, batch=40)
    features = train_kernel_network(view(), 0, recipe)
    return Networks(graph, TrainedKernelPosterior(features, RegressionByClock(None)))


def posterior() -> TrainedKernelPosterior:
    return trained().kernels


def probes(k: int = 8) -> Probes:
    space = small_space()
    return Probes(ROWS[:k], space.latency_ms[:k, space.column(TEST)])


def facts():
    return small_space().facts(TEST)


def test_an_episode_is_of_train_architectures_only():
    source = EpisodeSource(view(), 30, np.random.default_rng(0))
    for _ in range(5):
        episode = source.draw()
        assert set(episode.architectures) <= set(ROWS)
        assert len(set(episode.architectures)) == 30
        assert episode.log_latency.shape == (30, len(episode.noise))
        assert 4 <= episode.samples < 28
        assert np.isfinite(episode.log_latency).all()
        assert (episode.noise > 0).all()


def test_mixtures_stay_within_what_the_train_devices_say():
    # Without an analytic share, a mixture of relative latencies lies between their extremes.
    source = EpisodeSource(view(), 60, np.random.default_rng(1))
    relative = np.exp(view().log_latency() - view().log_latency().mean(axis=0))
    inside = 0
    for _ in range(20):
        column, noise = source._mixture(np.arange(60))
        assert noise >= 0.005
        found = np.exp(column)
        inside += bool(
            (found >= relative.min(axis=1) - 1e-9).all()
            and (found <= relative.max(axis=1) + 1e-9).all()
        )
    assert inside >= 4


def test_training_leaves_the_unseen_devices_alone():
    changed = small_space()
    changed.latency_ms[:, changed.column(TEST)] *= 7
    changed.latency_ms[UNSEEN] *= 3
    other = TrainView.of(changed, TRAIN, ROWS)
    recipe = Recipe(steps=3, batch=20)
    one = train_graph_network(view(), 5, recipe).features
    same = train_graph_network(other, 5, recipe).features
    assert (one == same).all()


def test_features_are_centred_over_the_train_architectures():
    found = trained().graph.features
    assert found.shape[0] == 80
    assert found[ROWS].mean(axis=0) == pytest.approx(np.zeros(found.shape[1]), abs=1e-6)


def test_the_posterior_predicts_better_than_the_median_of_the_samples():
    space = small_space()
    truth = space.latency_ms[UNSEEN, space.column(TEST)]
    predicted = posterior().adapt(facts(), probes(12), 0).predict(UNSEEN)
    error = np.abs(predicted.latency_ms / truth - 1).mean()
    constant = np.abs(np.median(probes(12).latency_ms) / truth - 1).mean()
    assert error < 0.6 * constant
    assert (predicted.low80_ms < predicted.latency_ms).all()
    assert (predicted.high80_ms > predicted.latency_ms).all()


def test_probes_are_distinct_and_each_is_read_once():
    read: list[int] = []

    def measure(index: int) -> float:
        read.append(index)
        return 1.0

    chosen = posterior().choose(ROWS, 10, measure, 0)
    assert len(set(chosen.indices)) == 10
    assert read == list(chosen.indices)


def test_readings_in_whole_milliseconds_are_expected_to_be_as_noisy_as_others_of_that_kind():
    features = posterior().features
    whole = Probes(ROWS[:4], np.array([20.0, 21.0, 20.0, 22.0]))
    fine = Probes(ROWS[:4], whole.latency_ms + 0.01)

    def width(clock: RegressionByClock, samples: Probes) -> float:
        found = AdaptedKernelPosterior(features, clock, samples).predict(UNSEEN)
        return float(np.median((found.high80_ms - found.low80_ms) / found.latency_ms))

    unknown, known = RegressionByClock(None), RegressionByClock(0.12)
    assert width(known, whole) > 1.3 * width(unknown, whole)
    assert width(known, fine) == width(unknown, fine)


def test_the_scale_of_the_samples_scales_the_answers():
    found = probes()
    slower = Probes(found.architectures, 10 * found.latency_ms)
    one, other = (posterior().adapt(facts(), each, 0).predict(UNSEEN) for each in (found, slower))
    assert other.latency_ms == pytest.approx(10 * one.latency_ms, rel=1e-6)


def test_zero_shot_ignores_the_samples_and_fine_tuning_follows_them():
    one, other = probes(4), Probes(ROWS[:4], np.full(4, 50.0))
    assert (
        zero_shot(trained(), facts(), one).predict(UNSEEN).latency_ms
        == zero_shot(trained(), facts(), other).predict(UNSEEN).latency_ms
    ).all()
    tuned = tuned_head(trained(), facts(), other).predict(UNSEEN)
    assert np.median(tuned.latency_ms) == pytest.approx(50.0, rel=0.2)


def test_both_adaptations_together_have_intervals_around_their_median():
    found = both(trained(), facts(), probes()).predict(UNSEEN)
    assert (found.low80_ms < found.latency_ms).all()
    assert (found.latency_ms < found.high80_ms).all()


def test_the_features_of_the_graph_layers_can_take_the_place_of_those_of_the_kernels():
    space = small_space()
    truth = space.latency_ms[UNSEEN, space.column(TEST)]
    found = of_graph(trained(), facts(), probes(12)).predict(UNSEEN).latency_ms
    ours = posterior().adapt(facts(), probes(12), 0).predict(UNSEEN).latency_ms
    assert (found != ours).all()
    constant = np.abs(np.median(probes(12).latency_ms) / truth - 1).mean()
    assert np.abs(found / truth - 1).mean() < 0.6 * constant


def test_training_leaves_the_random_numbers_of_the_program_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    train_graph_network(view(), 1, Recipe(steps=1, batch=10))
    assert torch.equal(torch.rand(1), expected)
