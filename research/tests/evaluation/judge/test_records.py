"""Records are those of the case and the group at hand, and their widths hold on other chips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ctm_research.evaluation.judge import records
from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.folds import publisher_folds
from ctm_research.evaluation.judge.judged import Judged
from predictor.core.records import Precision
from research.tests.evaluation.judge.hand_made import Row, judged
from research.tests.evaluation.judge.small_training import corpus_of


@pytest.mark.parametrize(
    ("apart", "silicon", "share", "expected"),
    [
        # A quarter each: the quantile of 0.5 x 3 / 2, the next silicon being one more draw.
        ([4, 2, 1, 3], [0, 0, 1, 1], 0.5, 3),
        ([4, 2, 1, 3], [0, 0, 1, 1], 0.7, 3),  # 0.7 x 3 / 2 is over 1: the plain quantile
        ([4, 2, 1, 3], [0, 0, 1, 1], 0.8, 4),
        # Eight errors of one silicon and one of another weigh the same.
        ([1, 1, 1, 1, 1, 1, 1, 1, 5], [0] * 8 + [1], 0.3, 1),
        ([1, 1, 1, 1, 1, 1, 1, 1, 5], [0] * 8 + [1], 0.4, 5),
        (range(1, 9), range(8), 0.8, 8),  # 0.8 x 9 / 8 = 0.9
        (range(1, 9), range(8), 0.7, 7),  # 0.7 x 9 / 8 = 0.7875, 6 / 8 is less
        ([0.01, 0.02], [0, 1], 0.8, 0.3),  # no interval is a line
        ([2.5], [7], 0.8, 2.5),
    ],
)
def test_a_factor_is_a_quantile_in_which_each_silicon_counts_the_same(
    apart: Sequence[float], silicon: Sequence[int], share: float, expected: float
) -> None:
    factor = records._factor(np.array(apart, np.float64), np.array(silicon), share)

    assert factor == pytest.approx(expected)


def answers_off_by(corpus: Judged, factor: np.ndarray, deviation: float = 0.5) -> Answers:
    """Return answers for all measurements that are too slow by a factor, [M]."""
    rows = np.arange(len(corpus.target))
    return Answers(rows, corpus.log_latency + np.log(factor), np.full(len(rows), deviation))


def records_of(corpus: Judged, answers: Answers, others: Answers | None = None) -> records.Records:
    """Return the records of answers on unseen silicon."""
    return records.records(
        corpus, {"unseen": answers}, {} if others is None else {"unseen": others}, seed=0
    )


def test_the_record_of_answers_that_miss_by_a_factor() -> None:
    corpus = corpus_of(8)
    off = 1.0 + 0.1 * (1 + corpus.silicon_of(np.arange(len(corpus.target))))  # 10 to 80 % too slow

    track = records_of(corpus, answers_off_by(corpus, off))["unseen"]["nvidia x pytorch"]

    assert track.error == pytest.approx(0.45)
    # 0.8 x 9 / 8 of eight kinds of silicon is the eighth.
    assert track.wide80 == pytest.approx(np.log(1.8) / 0.5, abs=1e-4)
    assert track.wide95 == track.wide80


def in_two_precisions(silicon: int) -> Judged:
    """Return measurements on GPUs whose odd ones ran in FP16."""
    corpus = corpus_of(silicon)
    targets = [
        replace(
            each,
            configuration=replace(
                each.configuration, precision=Precision.FP16 if place % 2 else Precision.FP32
            ),
        )
        for place, each in enumerate(corpus.targets)
    ]
    return replace(corpus, targets=targets)


@pytest.mark.parametrize(("silicon", "own"), [(7, {"fp32"}), (8, {"fp32", "fp16"}), (6, set())])
def test_a_precision_of_four_chips_has_a_record_of_its_own(silicon: int, own: set[str]) -> None:
    corpus = in_two_precisions(silicon)
    halves = corpus.silicon_of(np.arange(len(corpus.target))) % 2 == 1

    tracks = records_of(corpus, answers_off_by(corpus, np.where(halves, 1.5, 1.2)))["unseen"]

    errors = {"fp32": 0.2, "fp16": 0.5}
    of_precision = {name: f"nvidia x pytorch x {name}" for name in errors}
    assert {name for name, group in of_precision.items() if group in tracks} == own
    for name in own:
        assert tracks[of_precision[name]].error == pytest.approx(errors[name], abs=1e-3)
        assert tracks[of_precision[name]].silicon == 4


def test_an_interval_that_holds_on_all_chips_but_one_says_so() -> None:
    """Widths come from the other chips: nine miss by a tenth, one by 3, in both its networks."""
    corpus = corpus_of(10)
    usual = np.exp(0.094996)  # 0.95 deviations, a little less than the width that is written
    wild = corpus.silicon_of(np.arange(len(corpus.target))) == 9

    tracks = records_of(corpus, answers_off_by(corpus, np.where(wild, 3.0, usual), 0.1))["unseen"]

    assert tracks["nvidia x pytorch"].covered == pytest.approx(0.9)


def test_the_error_without_the_sources_stands_beside_that_without_the_chips() -> None:
    corpus = corpus_of(8)
    off = np.full(len(corpus.target), 1.2)

    track = records_of(corpus, answers_off_by(corpus, off), answers_off_by(corpus, off + 0.3))
    alone = records_of(corpus, answers_off_by(corpus, off))

    assert track["unseen"]["all"].error == pytest.approx(0.2)
    assert track["unseen"]["all"].other_sources == pytest.approx(0.5)
    assert alone["unseen"]["all"].other_sources is None


def test_folds_leave_out_whole_publishers() -> None:
    corpus = judged([Row(f"s{n}", n, 1.0, source=n % 3) for n in range(12)])

    folds = publisher_folds(corpus, seed=0)

    source = corpus.corpus.measurements.source
    assert sorted(source[fold.rows].tolist() for fold in folds) == [[n] * 4 for n in range(3)]
    for fold in folds:
        assert not set(source[fold.train].tolist()) & set(source[fold.rows].tolist())


def test_a_corpus_of_one_publisher_leaves_none_out() -> None:
    assert publisher_folds(judged([Row("s0", 0, 1.0), Row("s1", 0, 1.0)]), seed=0) == []
