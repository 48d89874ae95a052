"""FLAT on a small corpus whose latencies are a device's speed times a network's work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.research.corpus import Corpus
from predictor.research.evaluation.engine.flat import Flat
from predictor.research.evaluation.engine.flat_measured import Measured
from predictor.research.evaluation.engine.flat_training import FlatRecipe, nearest_target
from predictor.research.training.examples import Examples
from tests.unit.research.corpus.small_corpus import small_corpus

Rows = NDArray[np.int64]
SHORT = FlatRecipe(steps=12, tunings=((5, 3e-3),))


def product_corpus() -> Corpus:
    """Return timm with latencies that are a product: 2^target x 3^(place of the graph)."""
    corpus = small_corpus()
    m = corpus.measurements
    rows = corpus.rows_of("timm")
    latency = m.latency_ms.copy()
    graph = np.unique(m.graph[rows], return_inverse=True)[1]
    target = np.unique(m.target[rows], return_inverse=True)[1]
    latency[rows] = 2.0**target * 3.0**graph
    return with_latency(corpus, latency)


def with_latency(corpus: Corpus, latency_ms: NDArray[np.float64]) -> Corpus:
    return replace(corpus, measurements=replace(corpus.measurements, latency_ms=latency_ms))


def parts(corpus: Corpus) -> tuple[Rows, Rows, Rows]:
    """Return the rows of two targets of timm, three rows of the third one, and its last."""
    rows = corpus.rows_of("timm")
    target = corpus.measurements.target[rows]
    new = rows[target == target.max()]
    return rows[target != target.max()], new[:3], new[3:]


def answer(
    corpus: Corpus, training: Rows, support: Rows, asked: Rows, recipe: FlatRecipe = SHORT
) -> NDArray[np.float64]:
    m = corpus.measurements
    graphs = m.graph[asked].astype(np.int64)
    return Flat(corpus, training, 0, recipe)(graphs, int(m.target[asked[0]]), support)[0]


def test_it_learns_a_small_corpus_by_heart() -> None:
    corpus = product_corpus()
    training, _, _ = parts(corpus)
    flat = Flat(corpus, training, 0, FlatRecipe(steps=120, rate=1e-2, tunings=((0, 1e-3),)))
    flat(np.array([0]), 0, training[:1])

    trained = flat.of_source(corpus.sources.index("timm"))

    assert trained is not None
    found = np.stack([trained.on_training_targets(g) for g in trained.measured.graphs.tolist()])
    np.testing.assert_allclose(found, trained.measured.log_latency, atol=0.1)


def test_a_new_target_is_predicted_from_its_measurements() -> None:
    corpus = product_corpus()
    training, support, asked = parts(corpus)

    recipe = FlatRecipe(steps=60, tunings=((20, 3e-3),))
    predicted = answer(corpus, training, support, asked, recipe)

    measured = corpus.measurements.latency_ms[asked]
    assert np.abs(predicted / measured - 1).max() < 0.5  # networks differ by a factor of 27


def test_of_held_out_measurements_only_the_support_is_read() -> None:
    corpus = product_corpus()
    training, support, asked = parts(corpus)
    before = answer(corpus, training, support, asked)
    hidden = corpus.measurements.latency_ms.copy()
    unseen = np.setdiff1d(np.arange(len(hidden)), np.concatenate([training, support]))
    hidden[unseen] = np.nan  # one that was read would make every answer NaN

    after = answer(with_latency(corpus, hidden), training, support, asked)

    assert np.isfinite(before).all()
    np.testing.assert_array_equal(after, before)


def test_other_latencies_of_the_support_change_the_answer() -> None:
    corpus = product_corpus()
    training, support, asked = parts(corpus)
    slower = corpus.measurements.latency_ms.copy()
    slower[support] *= 10

    ratio = answer(with_latency(corpus, slower), training, support, asked) / answer(
        corpus, training, support, asked
    )

    assert ratio == pytest.approx(10, rel=1e-3)


def test_without_a_measurement_it_does_not_answer() -> None:
    training, support, _ = parts(small_corpus())

    with pytest.raises(InputError, match="no network was measured on target 0"):
        Flat(small_corpus(), training, 0, SHORT)(np.array([0]), 0, support[:0])


def test_a_source_without_training_measurements_has_no_number() -> None:
    corpus = small_corpus()
    _, support, asked = parts(corpus)

    found = answer(corpus, corpus.rows_of("ncnn"), support, asked)

    assert np.isnan(found).all()


def test_the_nearest_target_is_the_most_correlated_one() -> None:
    known = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 6.0]])

    assert nearest_target(known, np.array([7.0, 7.5, 8.1])) == 0
    assert nearest_target(known, np.array([2.0, 1.0, 3.0])) == 1
    # Two measurements have no correlation to go by: 4.4 is nearer to 4.5 than to 0.5.
    assert nearest_target(known[:2], np.array([4.3, 4.5])) == 1


def test_centres_are_those_of_shared_graphs() -> None:
    # Graph effects 0, 2, 4; targets 1 and 3; the second lacks the smallest graph.
    cells = np.array([[1.0, np.nan], [3.0, 5.0], [5.0, 7.0]])

    centre, _ = Measured(np.arange(3), np.arange(2), cells).levels()

    assert centre[1] - centre[0] == pytest.approx(2, abs=1e-3)


def test_each_source_has_its_own_matrix_of_measurements() -> None:
    corpus = product_corpus()
    training, _, _ = parts(corpus)
    everything = Examples.of(corpus, np.concatenate([training, corpus.rows_of("ncnn")]))

    measured = Measured.of(everything, corpus.sources.index("timm"))

    np.testing.assert_allclose(np.exp(measured.log_latency[:, 0]), [1, 3, 9, 27])
    assert measured.log_latency.shape == (4, 2)
