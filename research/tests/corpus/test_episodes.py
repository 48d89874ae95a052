"""Episodes: what is measured is never asked for, and each source counts the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.corpus import EpisodeSampler, HoldOut, few_shot
from ctm_research.corpus.episodes import NO_ROW
from predictor.core.errors import InputError
from research.tests.corpus.small_corpus import small_corpus

ALL = np.arange(len(small_corpus().measurements))


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(0, 30))
def test_an_episode_asks_for_other_graphs_of_the_same_target(
    seed: int, queries: int, largest: int
) -> None:
    m = small_corpus().measurements

    episodes = EpisodeSampler(small_corpus(), ALL, seed).draw(8, queries, range(largest + 1))

    assert episodes.support.shape == (8, largest)
    assert episodes.query.shape == (8, queries)
    for target, source, support, query in zip(
        episodes.target, episodes.source, episodes.support, episodes.query, strict=True
    ):
        measured, asked = support[support != NO_ROW], query[query != NO_ROW]
        assert (support[: len(measured)] != NO_ROW).all()
        assert len(asked) >= 1
        assert len(np.unique(m.graph[measured])) == len(measured)
        assert len(np.unique(asked)) == len(asked)
        assert not set(m.graph[measured].tolist()) & set(m.graph[asked].tolist())
        rows = np.append(measured, asked)
        assert set(m.target[rows].tolist()) == {target}
        assert set(m.source[rows].tolist()) == {source}


def test_a_seed_draws_the_same_again() -> None:
    one, other = (EpisodeSampler(small_corpus(), ALL, 3).draw(20, 4) for _ in range(2))

    for name in ("target", "source", "support", "query"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_each_source_is_drawn_as_often_whatever_its_size() -> None:
    corpus = small_corpus()
    episodes = EpisodeSampler(corpus, ALL, 0).draw(4000, 1, [0])

    counts = {corpus.sources[s]: int((episodes.source == s).sum()) for s in set(episodes.source)}

    # Those whose targets have two measured graphs.
    drawn = {"ncnn", "timm", "neusight-operators", "nas-fbnet", "nas-nasbench201"}
    assert drawn <= set(counts) <= set(corpus.sources) - {"aihub", "neusight", "coral_edgetpu"}
    assert min(counts.values()) > 0.85 * 4000 / len(counts)
    assert episodes.support.shape == (4000, 0)


def test_weights_leave_sources_out() -> None:
    corpus = small_corpus()
    weights = dict.fromkeys(corpus.sources, 0.0) | {"timm": 2.0}

    episodes = EpisodeSampler(corpus, ALL, 0, weights).draw(300, 2)

    assert {corpus.sources[source] for source in episodes.source} == {"timm"}
    assert episodes.support_counts.max() <= 3  # of four graphs one is left to be predicted
    assert set(episodes.support_counts.tolist()) == {0, 1, 2, 3}


def test_only_rows_of_the_training_part_are_drawn() -> None:
    split = HoldOut.of(small_corpus(), ["rpi5"], ["vgg16 224"]).split(small_corpus())

    episodes = EpisodeSampler(small_corpus(), split.training, 1).draw(300, 5)

    drawn = np.append(episodes.support.ravel(), episodes.query.ravel())
    assert set(drawn.tolist()) <= {NO_ROW, *split.training.tolist()}


@given(st.integers(0, 5), st.integers(0, 100))
def test_a_validation_measures_k_graphs_and_predicts_the_others(k: int, seed: int) -> None:
    m = small_corpus().measurements
    rows = small_corpus().rows_of("timm")

    parts = few_shot(small_corpus(), rows, k, seed)

    assert len(parts) == (3 if k < 4 else 0)  # three cards with four graphs
    for measured, others in parts:
        assert len(np.unique(m.graph[measured])) == len(measured) == k
        assert not set(m.graph[measured].tolist()) & set(m.graph[others].tolist())
        whole = np.append(measured, others)
        assert sorted(whole.tolist()) == rows[m.target[rows] == m.target[whole[0]]].tolist()


@pytest.mark.parametrize(
    ("count", "queries", "supports"), [(0, 1, [0]), (1, 0, [0]), (1, 1, []), (1, 1, [-1])]
)
def test_counts_that_draw_nothing_are_refused(
    count: int, queries: int, supports: list[int]
) -> None:
    with pytest.raises(InputError, match="cannot be drawn"):
        EpisodeSampler(small_corpus(), ALL, 0).draw(count, queries, supports)


def test_wrong_weights_and_rows_are_refused() -> None:
    with pytest.raises(InputError, match="weight of timm"):
        EpisodeSampler(small_corpus(), ALL, 0, {"timm": -1.0})
    with pytest.raises(InputError, match="weight of tim"):
        EpisodeSampler(small_corpus(), ALL, 0, {"tim": 1.0})
    with pytest.raises(InputError, match="no target has two measured graphs"):
        EpisodeSampler(small_corpus(), small_corpus().rows_of("aihub"), 0)
    with pytest.raises(InputError, match="from 0"):
        few_shot(small_corpus(), ALL, -1, 0)
