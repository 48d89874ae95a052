"""Every method gets the same probes, and never a latency that it must not see."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from ctm_research.nas.baselines import brp, flat, lad
from ctm_research.nas.baselines.constant import Constant
from ctm_research.nas.baselines.flops import Flops
from ctm_research.nas.baselines.hand_bayes import AdaptedHandBayes, HandBayes
from ctm_research.nas.benchmark.protocol import (
    Plan,
    Trial,
    candidates,
    choose_probes,
    run_trial,
    trials,
)
from ctm_research.nas.benchmark.registry import METHODS, method_named
from ctm_research.nas.benchmark.splits import Split, split
from ctm_research.nas.method import Chooses, Method, Plans, Probes
from ctm_research.nas.methods import ablation, graph_rows, kernel_posterior, paper
from ctm_research.nas.methods.graph_network import Recipe
from ctm_research.nas.methods.kernel_network import KernelRecipe
from ctm_research.nas.spaces.space import DeviceFacts
from predictor.core.errors import InputError
from predictor.probing.selection.interface import Measure, Selection
from research.tests.nas.small_space import small_space
from research.tests.nas.splits import PARTITION, small_split

PLAN = Plan(trainings=2, draws=2, ks=(3, 5), seed=4)


def test_trials_cover_devices_budgets_and_draws() -> None:
    assert list(trials(small_split(), replace(PLAN, ks=(3,)))) == [
        Trial(device, 3, draw) for device in ("gold_6226", "pixel3") for draw in (0, 1)
    ]


@pytest.mark.parametrize("wrong", [{"trainings": 0}, {"draws": 0}, {"ks": ()}, {"ks": (5, 5)}])
def test_a_wrong_plan_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        replace(PLAN, **wrong)


def test_probes_are_train_architectures_and_the_same_again() -> None:
    found = small_split()
    chooser = HandBayes().train(found.view, 0)

    first = dict(choose_probes(found, PLAN, 0, chooser))
    again = dict(choose_probes(found, PLAN, 0, chooser))

    assert first == again
    for trial, probes in first.items():
        assert len(set(probes)) == trial.k
        assert not set(probes) & set(found.test_rows.tolist())


def test_draws_and_trainings_have_pools_of_their_own() -> None:
    big = small_split()
    seeds = [PLAN.draw_seed(training, draw) for training in (0, 1) for draw in (0, 1)]

    assert len(set(seeds)) == 4
    assert len({tuple(candidates(big, seed)) for seed in seeds}) == 4


@dataclass(frozen=True)
class Greedy:
    """A chooser that reads more than it may, or other networks than it names."""

    extra: int
    named: int
    seen: list[float] = field(default_factory=list)

    def choose(self, candidates: np.ndarray, k: int, measure: Measure, seed: int) -> Selection:
        del candidates, seed
        self.seen.extend(measure(index) for index in range(k + self.extra))
        return Selection(tuple(range(self.named, self.named + k)))


def test_a_chooser_reads_k_latencies_at_most() -> None:
    found = small_split()
    greedy = Greedy(extra=1, named=0)

    with pytest.raises(InputError, match="the budget allows no more"):
        dict(choose_probes(found, PLAN, 0, greedy))
    assert len(greedy.seen) == 3


def test_a_chooser_names_every_network_that_it_read() -> None:
    with pytest.raises(ValueError, match="1 latencies were read that are no probes"):
        dict(choose_probes(small_split(), PLAN, 0, Greedy(extra=0, named=1)))


def every_rae(found: Split, method: Method) -> list[float]:
    trained = method.train(found.view, 0)
    chooser = HandBayes().train(found.view, 0)
    return [
        run_trial(found, trained, trial, probes, 0)[1].scores.rae
        for trial, probes in choose_probes(found, PLAN, 0, chooser)
    ]


@pytest.fixture
def short_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (brp, flat, lad):
        monkeypatch.setattr(
            module, "_RECIPE", replace(module._RECIPE, steps=4, tunings=((2, 1e-3),))
        )
    monkeypatch.setattr(graph_rows, "RECIPE", Recipe(steps=2, batch=30))
    monkeypatch.setattr(kernel_posterior, "KERNEL_RECIPES", (KernelRecipe(steps=2, batch=30),))
    for module in (paper, ablation):
        monkeypatch.setattr(module, "RECIPE", replace(paper.RECIPE, steps=2))


@pytest.mark.parametrize("name", METHODS)
def test_what_lies_in_test_rows_changes_no_prediction(name: str, short_trainings: None) -> None:
    """Latencies of test architectures are spoiled on every device: predictions stay the same."""
    space = small_space()
    spoiled = space.latency_ms.copy()
    spoiled[small_split().test_rows] = 12.5
    clean, dirty = small_split(), split(replace(space, latency_ms=spoiled), PARTITION, tests=20)
    trial = Trial("pixel3", 5, 0)

    def predictions(each: Split) -> np.ndarray:
        trained = method_named(name).train(each.view, 3)
        probes = trained.plan(5) if isinstance(trained, Plans) else each.view.rows[:5]
        return run_trial(each, trained, trial, probes.tolist(), 0)[0].latency_ms

    ours, theirs = predictions(clean), predictions(dirty)

    assert np.array_equal(ours, theirs)


def test_methods_by_rising_knowledge() -> None:
    found = split(small_space(noise=0.01), PARTITION, tests=20)

    constant, hand = every_rae(found, Constant()), every_rae(found, HandBayes())

    assert np.mean(hand) < 0.5 * np.mean(constant)


def test_a_constant_is_the_median() -> None:
    adapted = (
        Constant()
        .train(small_split().view, 0)
        .adapt(DeviceFacts("x", "", 1), Probes(np.arange(3), np.array([1.0, 9.0, 2.0])), 0)
    )

    assert adapted.predict(np.arange(4)).latency_ms.tolist() == [2.0] * 4


def test_flops_finds_a_power_law() -> None:
    trained = Flops().train(small_split().view, 0)
    rows = np.argsort(trained.log_macs)[[0, 20, -1]]
    adapted = trained.adapt(
        DeviceFacts("x", "", 1), Probes(rows, 3 * np.exp(0.7 * trained.log_macs[rows])), 0
    )

    assert adapted.predict(np.arange(80)).latency_ms == pytest.approx(
        3 * np.exp(0.7 * trained.log_macs)
    )


def test_flops_of_one_sample_is_constant() -> None:
    trained = Flops().train(small_split().view, 0)
    adapted = trained.adapt(DeviceFacts("x", "", 1), Probes(np.array([1]), np.array([4.0])), 0)

    assert adapted.predict(np.arange(3)).latency_ms == pytest.approx([4.0] * 3)


def test_hand_features_learn_a_line_and_know_where_they_do_not() -> None:
    features = np.array([[-1.0], [-0.5], [0.0], [0.5], [1.0], [0.25], [8.0]])
    samples = Probes(np.arange(5), np.exp(2 + 0.1 * features[:5, 0]))
    found = AdaptedHandBayes(features, samples).predict(np.array([5, 6]))

    assert found.low80_ms is not None
    assert found.high80_ms is not None
    width = np.log(found.high80_ms / found.low80_ms)
    assert np.log(found.latency_ms[0]) == pytest.approx(2.025, abs=0.005)
    assert width[0] < 2 * 1.3 * 0.02
    assert width[1] > 2 * width[0]


def test_hand_features_choose_their_probes() -> None:
    assert isinstance(HandBayes().train(small_split().view, 0), Chooses)
    assert not isinstance(Constant().train(small_split().view, 0), Chooses)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InputError, match="method oracle: there is no such method; give one of"):
        method_named("oracle")


@pytest.mark.parametrize(
    ("rows", "latency_ms"),
    [([], []), ([1], [1.0, 2.0]), ([1], [np.nan]), ([1], [-1.0]), ([1], [0.0])],
)
def test_wrong_probes_are_refused(rows: list[int], latency_ms: list[float]) -> None:
    with pytest.raises(InputError, match="probes"):
        Probes(np.array(rows, np.int64), np.array(latency_ms))
