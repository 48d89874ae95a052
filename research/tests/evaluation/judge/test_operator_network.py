"""Training of the factors of single operators on small corpora."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_research.evaluation.judge import operator_network
from ctm_research.evaluation.judge.judged import Judged
from ctm_research.evaluation.judge.operator_network import OperatorTraining
from ctm_research.evaluation.judge.term_times import DistinctOperators, kinds_in_corpus
from predictor.cost.operator_kinds import KINDS, kinds_of
from predictor.cost.physics import TERMS, Work, rates_of, term_times
from predictor.engine.operator_factors import BOUND, OperatorFactors
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import exact_features, scale_free
from research.tests.evaluation.judge.small_training import GRAPHS, corpus_of
from tests.support.graphs import Op, make_graph

WIDE, NARROW = (
    Op(macs=10**9, read=10**5, weights=10**4, written=10**5, columns=columns, window=(5, 5))
    for columns in (512, 4)
)
# Networks of wide operators, of narrow ones and of both, all of one kind.
NETWORKS = [
    make_graph([WIDE] * wide + [NARROW] * narrow)
    for wide, narrow in ((1, 0), (3, 0), (0, 1), (0, 3), (2, 1), (1, 2), (4, 1), (1, 4))
]
SLOW = 1.8  # times as long as efficiencies of kinds tell


def slow_where_narrow(count: int = 8) -> Judged:
    """Return measurements in which narrow operators are slower than wide ones of their kind."""
    corpus = corpus_of(count, networks=NETWORKS)
    ms = np.exp(corpus.log_latency)
    narrow = np.array([np.mean(graph.gemm[:, 2] == 4) for graph in NETWORKS])
    return replace(
        corpus, log_latency=np.log(ms * (1 + (SLOW - 1) * narrow[corpus.graph])).round(6)
    )


def training_of(corpus: Judged) -> OperatorTraining:
    operators = DistinctOperators.of(corpus.corpus)
    kinds = kinds_in_corpus(corpus.corpus, operators)
    return OperatorTraining(corpus, corpus.targets, rates_of(corpus.targets), operators, kinds)


def fitted(corpus: Judged, seed: int = 0) -> OperatorFactors:
    every = np.arange(len(corpus.target))
    factors = np.full((len(corpus.targets), len(KINDS), len(TERMS)), 2.0)
    return training_of(corpus).fit(every, factors, seed)


def factors_of(network: OperatorFactors, corpus: Judged, graph: OperatorGraph) -> np.ndarray:
    """Return the factors of a graph on the targets of a corpus, [T, N, terms]."""
    states = network.states(scale_free(exact_features(graph)), graph.op_code, kinds_of(graph))
    place, contexts = network.contexts(corpus.targets, np.ones(len(corpus.targets)))
    return network.factors(states, contexts)[place]


def misfit(network: OperatorFactors, corpus: Judged) -> float:
    """Return how far networks are from their target's deviation in ln, the standard deviation."""
    rates = rates_of(corpus.targets)
    ms = np.array(
        [
            (
                term_times(Work.of(graph), rates).transpose(1, 0, 2)
                * factors_of(network, corpus, graph)
            ).sum(axis=(1, 2))
            for graph in NETWORKS
        ]
    )
    apart = corpus.log_latency - np.log(ms[corpus.graph, corpus.target])
    means = np.array([apart[corpus.target == t].mean() for t in range(len(corpus.targets))])
    return float((apart - means[corpus.target]).std())


def test_it_learns_what_kinds_of_operators_do_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = slow_where_narrow()
    errors = []
    for steps in (0, 80):
        for name in ("_STEPS", "_LEAST_STEPS"):
            monkeypatch.setattr(operator_network, name, max(steps, 1))
        if not steps:
            monkeypatch.setattr(operator_network, "_LEAST_NETWORKS", 99)
        network = fitted(corpus)
        monkeypatch.setattr(operator_network, "_LEAST_NETWORKS", 4)
        errors.append(misfit(network, corpus))

    untrained, trained = errors

    assert untrained > 0.15
    assert trained < 0.5 * untrained
    wide, narrow = factors_of(network, corpus, make_graph([WIDE, NARROW]))[0, :, 0]
    assert 1.2 < narrow / wide < SLOW * 1.2


def test_where_nothing_is_left_to_learn_factors_stay_near_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_STEPS", "_LEAST_STEPS"):
        monkeypatch.setattr(operator_network, name, 60)
    corpus = corpus_of(8, networks=NETWORKS)  # twice the physics, as the factors of kinds tell

    factors = factors_of(fitted(corpus), corpus, NETWORKS[4])

    assert np.abs(np.log(factors)).max() < 0.1


def test_the_same_seed_makes_the_same_network_and_another_makes_another() -> None:
    corpus = slow_where_narrow(5)

    one, same, other = (fitted(corpus, seed).weights for seed in (3, 3, 4))

    assert one.keys() == same.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, same[name])
    assert any((array != other[name]).any() for name, array in one.items())


def test_what_is_trained_fits_the_product_and_knows_the_groups_in_training() -> None:
    corpus = slow_where_narrow(5)

    network = fitted(corpus)

    assert network.fits()
    assert network.names["runtime"] == ["pytorch"]
    assert network.names["kind"] == ["nvidia"]
    assert network.names["class"] == ["nvidia x pytorch"]
    assert network.names["order"] == []  # of processors alone
    factors = factors_of(network, corpus, NETWORKS[5])
    assert ((factors > 1 / BOUND) & (factors < BOUND)).all()


def test_a_runtime_that_is_left_out_is_as_any_other() -> None:
    corpus = slow_where_narrow(5)
    every = np.arange(len(corpus.target))
    first = replace(
        corpus.targets[0],
        configuration=replace(corpus.targets[0].configuration, runtime="left-out"),
    )
    corpus = replace(corpus, targets=[first, *corpus.targets[1:]])
    factors = np.ones((len(corpus.targets), len(KINDS), len(TERMS)))

    network = training_of(corpus).fit(every[corpus.target != 0], factors)

    assert network.names["runtime"] == ["pytorch"]


def test_of_few_networks_a_target_nothing_is_learned() -> None:
    corpus = corpus_of(6, networks=GRAPHS)  # three

    factors = factors_of(fitted(corpus), corpus, NETWORKS[5])

    assert (factors == 1).all()
