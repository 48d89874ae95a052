"""The paper's method on a small space: references, signature, level, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_research.nas.method import Chooses, Plans, Probes
from ctm_research.nas.methods.paper import (
    PaperMethod,
    References,
    TrainedWithoutSignature,
    choose_references,
    most_homogeneous,
)
from ctm_research.nas.methods.paper_network import (
    Design,
    PaperRecipe,
    TrainedPaperNetwork,
    train_paper_network,
)
from ctm_research.nas.spaces.structure import STRUCTURE_NAMES
from ctm_research.paper.film_tuning import FilmTuning
from predictor.core.errors import InputError
from predictor.probing.selection.dbsel import DBSel
from predictor.probing.selection.interface import Pool
from research.tests.nas.methods.views import ROWS, SHORT, TEST, TRAIN, probes_of, view_of
from research.tests.nas.small_space import DEVICES, small_space


def test_the_most_homogeneous_networks_are_those_closest_together() -> None:
    latency_ms = np.array([1.0, 5.0, 5.1, 9.0, 5.2])[:, None]
    assert most_homogeneous(Pool(latency_ms), 3) == (1, 2, 4)
    # The second device is ten times slower and says the same: it must not matter.
    assert most_homogeneous(Pool(np.hstack([latency_ms, 10 * latency_ms])), 3) == (1, 2, 4)
    # Neighbours are all as close: the fastest two are taken.
    assert most_homogeneous(Pool(np.array([[3.5], [1.5], [0.5], [2.5]])), 2) == (2, 1)
    with pytest.raises(InputError, match="probe budget"):
        most_homogeneous(Pool(latency_ms), 6)


@pytest.mark.parametrize("policy", References)
def test_references_are_distinct_train_architectures_that_a_seed_repeats(
    policy: References,
) -> None:
    view = view_of()
    chosen = choose_references(view, policy, 8, 1)
    assert len(set(chosen.tolist())) == 8
    assert set(chosen) <= set(ROWS)
    np.testing.assert_array_equal(chosen, choose_references(view, policy, 8, 1))
    with pytest.raises(InputError, match="probe budget"):
        choose_references(view, policy, 71, 1)


def test_references_of_the_paper_are_those_of_dbsel_with_equal_weights() -> None:
    view = view_of()  # smaller than a pool: all train architectures are in it
    every = DBSel(probes=0).select(Pool(view.latency_ms), 6)
    assert every.device_weights == pytest.approx([1 / len(TRAIN)] * len(TRAIN))
    assert set(choose_references(view, References.DBSEL, 6, 3)) == set(ROWS[list(every.indices)])


def test_the_network_is_the_papers() -> None:
    view = view_of()
    references = choose_references(view, References.DBSEL, 5, 0)
    with_signature = train_paper_network(view, references, Design(), SHORT, 0).network.config
    assert (with_signature.layers, with_signature.signature_size) == (2, 5)
    assert with_signature.devices == 0

    baseline = train_paper_network(view, references, Design(False, False), SHORT, 0)
    assert baseline.network.config.signature_size == 0
    assert baseline.network.config.devices == len(TRAIN) + 1
    assert baseline.network.head.film_hodm is None
    assert not len(baseline.references)
    identifiers = baseline.network.head.target.identifier.weight
    np.testing.assert_allclose(
        identifiers[-1].numpy(force=True),
        identifiers[:-1].mean(dim=0).numpy(force=True),
        rtol=1e-6,
        atol=1e-7,
    )


def predicted(trained: TrainedPaperNetwork, factor: float = 1.0) -> np.ndarray:
    space = small_space()
    probes = probes_of(space, trained.references, factor)
    return trained.adapt(space.facts(TEST), probes).log_latency(np.arange(10))


def test_a_seed_repeats_a_training_and_another_does_not() -> None:
    view = view_of()
    references = choose_references(view, References.DBSEL, 5, 0)
    first, again, other = (
        predicted(train_paper_network(view, references, Design(), SHORT, seed))
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other, atol=1e-4)


def test_a_device_that_is_three_times_slower_is_predicted_three_times_slower() -> None:
    view = view_of()
    references = choose_references(view, References.DBSEL, 5, 0)
    trained = train_paper_network(view, references, Design(), SHORT, 0)
    np.testing.assert_allclose(predicted(trained, 3.0), predicted(trained) + np.log(3), atol=1e-5)


def test_the_signature_reaches_the_answer() -> None:
    """Without fine-tuning two devices differ by their signatures alone."""
    space, view = small_space(), view_of()
    recipe = replace(SHORT, steps=20, tuning=FilmTuning(0, slope_ridge=1e9))
    references = choose_references(view, References.DBSEL, 5, 0)
    trained = train_paper_network(view, references, Design(), recipe, 0)
    probes = probes_of(space, references)
    turned = Probes(references, probes.latency_ms[::-1].copy())  # the same level
    first, second = (
        trained.adapt(space.facts(TEST), each).log_latency(np.arange(10))
        for each in (probes, turned)
    )
    assert np.ptp(first - second) > 1e-4


def test_a_training_learns_what_the_architectures_cost() -> None:
    """Each device takes its own time for a kernel and for a multiply-accumulate."""
    space = small_space()
    launches = space.architectures.structure[:, STRUCTURE_NAMES.index("kernels launched")]
    macs = space.architectures.structure[:, STRUCTURE_NAMES.index("MACs")]
    share = np.linspace(0.2, 0.8, len(DEVICES))
    space = replace(
        space,
        latency_ms=share * (launches / launches.mean())[:, None]
        + (1 - share) * (macs / macs.mean())[:, None],
    )
    recipe = PaperRecipe(width=12, steps=120, graphs=8, devices=2, rate=1e-2)
    trained = PaperMethod(recipe=recipe).train(view_of(space), 0)
    references = trained.plan(8)
    adapted = trained.adapt(space.facts(TEST), probes_of(space, references), 0)
    tests = np.arange(10)  # no train architectures
    truth = space.latency_ms[tests, space.column(TEST)]
    error = np.abs(adapted.predict(tests).latency_ms / truth - 1).mean()
    constant = np.abs(np.median(space.latency_ms[references, -1]) / truth - 1).mean()
    assert error < 0.75 * constant


def test_a_budget_has_a_network_of_its_own_that_is_trained_once() -> None:
    space = small_space()
    trained = PaperMethod(recipe=SHORT).train(view_of(space), 0)
    assert isinstance(trained, Plans)
    assert not isinstance(trained, Chooses)
    networks = [
        trained.adapt(space.facts(TEST), probes_of(space, trained.plan(k)), 0).network.trained
        for k in (3, 5, 3)
    ]
    assert networks[0] is networks[2]
    assert [len(network.references) for network in networks] == [3, 5, 3]


def test_probes_that_are_not_the_references_are_refused() -> None:
    space = small_space()
    trained = PaperMethod(recipe=SHORT).train(view_of(space), 0)
    others = trained.plan(3)[::-1].copy()
    with pytest.raises(InputError, match="reference networks"):
        trained.adapt(space.facts(TEST), probes_of(space, others), 0)


def test_without_a_signature_probes_are_random_and_any_will_do() -> None:
    space = small_space()
    network = train_paper_network(
        view_of(space), np.zeros(0, np.int64), Design(signature=False), SHORT, 0
    )
    trained = TrainedWithoutSignature(network)
    assert isinstance(trained, Chooses)
    read: list[int] = []

    def measure(index: int) -> float:
        read.append(index)
        return float(space.latency_ms[ROWS[index], -1])

    first = trained.choose(ROWS, 4, measure, 1)
    other = trained.choose(ROWS, 4, measure, 2)
    assert read == [*first.indices, *other.indices]
    assert first.indices != other.indices
    probes = Probes(ROWS[list(first.indices)], np.array(first.latency_ms))
    assert trained.adapt(space.facts(TEST), probes, 0).predict(ROWS).latency_ms.shape == (70,)
