"""Folds leave whole silicon, devices and families out, spread over the classes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm_research.evaluation.judge.folds import (
    device_folds,
    family_folds,
    inner_folds,
    silicon_folds,
)
from ctm_research.evaluation.judge.judged import Judged
from research.tests.evaluation.judge.hand_made import Row, judged

ROWS = st.builds(
    Row,
    silicon=st.sampled_from("abcdefghijklmn"),
    device=st.sampled_from(["", "x", "y", "z"]),
    network=st.integers(0, 5),
    family=st.integers(0, 6),
    ms=st.floats(0.1, 100),
    runtime=st.sampled_from(["ncnn", "tflite"]),
    kind=st.sampled_from(["arm", "x86"]),
)
CORPORA = st.lists(ROWS, min_size=1, max_size=60).map(
    # A device is of one silicon.
    lambda rows: judged(
        [Row(**{**vars(r), "device": r.silicon + r.device, "kind": "arm"}) for r in rows]
    )
)
SEEDS = st.integers(0, 3)
unhurried = settings(deadline=None, max_examples=50)


def silicon(corpus: Judged, rows: np.ndarray) -> set[int]:
    return set(corpus.silicon_of(rows).tolist())


@unhurried
@given(CORPORA, SEEDS)
def test_no_fold_splits_silicon_and_every_row_is_predicted_once(corpus: Judged, seed: int) -> None:
    folds = silicon_folds(corpus, seed)

    for fold in folds:
        assert not silicon(corpus, fold.rows) & silicon(corpus, fold.train)
        assert len(fold.rows) + len(fold.train) == len(corpus.target)
    predicted = np.concatenate([fold.rows for fold in folds])
    np.testing.assert_array_equal(np.sort(predicted), corpus.rows)


@unhurried
@given(CORPORA, SEEDS)
def test_where_silicon_is_known_whole_devices_are_left_out(corpus: Judged, seed: int) -> None:
    for fold in device_folds(corpus, seed):
        left_out = set(corpus.device[corpus.target[fold.rows]].tolist())
        assert not left_out & set(corpus.device[corpus.target[fold.train]].tolist())
        known = set(zip(corpus.class_of(fold.train), corpus.silicon_of(fold.train), strict=True))
        asked = set(zip(corpus.class_of(fold.rows), corpus.silicon_of(fold.rows), strict=True))
        assert asked <= known


@unhurried
@given(CORPORA, SEEDS)
def test_families_are_left_out_beside_the_silicon(corpus: Judged, seed: int) -> None:
    for fold in family_folds(corpus, seed):
        assert not set(corpus.family[fold.rows]) & set(corpus.family[fold.train])
        assert not silicon(corpus, fold.rows) & silicon(corpus, fold.train)


@unhurried
@given(CORPORA, SEEDS)
def test_inner_folds_stay_within_the_training_part(corpus: Judged, seed: int) -> None:
    train = silicon_folds(corpus, seed)[0].train

    folds = list(inner_folds(corpus, train, seed))

    for fold in folds:
        assert {*fold.rows.tolist(), *fold.train.tolist()} == set(train.tolist())
        assert not silicon(corpus, fold.rows) & silicon(corpus, fold.train)


def test_each_class_is_spread_evenly() -> None:
    rows = [Row(f"s{n}", 0, 1.0, runtime=r) for n in range(20) for r in ("ncnn", "tflite")]
    rows += [Row(f"t{n}", 0, 1.0, runtime="tflite") for n in range(10)]

    corpus = judged(rows)
    parts = [silicon(corpus, fold.rows) for fold in silicon_folds(corpus, 1)]
    both = set(corpus.silicon[corpus.klass == 0].tolist())

    assert [len(part) for part in parts] == [3] * 10
    assert [len(part & both) for part in parts] == [2] * 10


def test_devices_of_one_silicon_are_in_different_folds() -> None:
    corpus = judged([Row("s", 0, 1.0, device=f"d{n}") for n in range(10)])

    assert [len(fold.rows) for fold in device_folds(corpus, 0)] == [1] * 10


def test_another_seed_is_another_draw_and_the_same_is_the_same() -> None:
    corpus = judged([Row(f"s{n}", 0, 1.0) for n in range(30)])

    one, again, other = (
        [fold.rows.tolist() for fold in silicon_folds(corpus, seed)] for seed in (0, 0, 1)
    )

    assert one == again != other
