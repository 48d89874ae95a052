"""Figures of classes, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.figures import (
    OfSilicon,
    figure,
    noise_percent,
    of_silicon,
    ratio_bound,
)
from ctm_research.evaluation.judge.judged import Judged
from predictor.core.percentiles import Z80
from research.tests.evaluation.judge.hand_made import Row, judged


def answers(corpus: Judged, predicted_ms: list[float], deviation: float = math.nan) -> Answers:
    rows = np.arange(len(predicted_ms))
    return Answers(rows, np.log(predicted_ms), np.full(len(rows), deviation))


def test_each_network_and_each_silicon_counts_once() -> None:
    rows = [
        # Network 0 on one target, measured three times: errors of 10, 20 and 90 %, median 20.
        *(Row("a", 0, 100.0) for _ in range(3)),
        Row("a", 1, 100.0),  # 40 %
        # The same network with other threads: 60 %, so the network has the median of 40 and 60.
        Row("a", 1, 100.0, threads=4),
        Row("b", 0, 100.0),  # 5 %
        Row("b", 1, 100.0),  # 15 %
        Row("c", 0, 100.0),  # 80 %
    ]
    corpus = judged(rows)

    table = of_silicon(corpus, answers(corpus, [110, 120, 190, 140, 40, 95, 115, 180]))

    # a: the median of 20 and 50; b: of 5 and 15; c: 80; the class: of 35, 10 and 80.
    assert table.error == pytest.approx([0.35, 0.10, 0.80])
    assert table.rows.tolist() == [5, 2, 1]
    assert figure(table, 0).error_percent == pytest.approx(35)
    assert figure(table, 0).silicon == 3


def test_rows_without_a_prediction_are_asked_and_not_answered() -> None:
    corpus = judged([Row("a", 0, 1.0), Row("a", 1, 1.0), Row("b", 0, 1.0)])

    table = of_silicon(corpus, answers(corpus, [2.0, math.nan, math.nan]))
    told = figure(table, 0)

    assert (told.silicon, told.rows, told.asked) == (1, 1, 3)
    assert told.error_percent == pytest.approx(100)
    assert (told.covered_percent, told.factor) == (None, None)


def test_the_share_in_the_interval_and_its_factor() -> None:
    factor = math.exp(Z80 * 0.5)
    corpus = judged(
        [
            Row("a", 0, 0.99 * factor),  # inside
            Row("a", 1, 1.01 * factor),  # outside
            Row("a", 2, 1 / factor * 1.01),  # inside
            Row("a", 3, 1 / factor * 0.99),  # outside
            Row("b", 0, 1.0),  # inside
        ]
    )

    told = figure(of_silicon(corpus, answers(corpus, [1.0] * 5, 0.5)), 0)

    assert told.covered_percent == pytest.approx((50 + 100) / 2)
    assert told.factor == pytest.approx(factor)


def test_classes_are_apart() -> None:
    corpus = judged([Row("a", 0, 1.0, runtime="ncnn"), Row("a", 0, 1.0, runtime="tflite")])

    table = of_silicon(corpus, answers(corpus, [1.1, 1.3]))

    assert [figure(table, k).error_percent for k in (0, 1)] == pytest.approx([10, 30])


def _table(errors: list[float]) -> OfSilicon:
    count = len(errors)
    ones, numbers = np.ones(count, np.int64), np.arange(count)
    return OfSilicon(0 * ones, numbers, ones, ones, np.array(errors), *np.full((2, count), np.nan))


def test_a_constant_ratio_has_itself_as_bound() -> None:
    floor = [0.1, 0.3, 0.2, 0.9, 0.5]

    pair = ratio_bound(_table([0.8 * each for each in floor]), _table(floor), 0, seed=0)

    assert pair == pytest.approx((0.8, 0.8))


def test_the_bound_is_over_silicon_that_both_predict() -> None:
    ours, floor = _table([0.1, math.nan, 0.3]), _table([0.1, 0.2, math.nan])

    assert ratio_bound(ours, floor, 0, seed=0) is None
    ours, floor = _table([0.2, 9.0, 0.6]), _table([0.1, math.nan, 0.3])
    assert ratio_bound(ours, floor, 0, seed=0) == pytest.approx((2.0, 2.0))


def test_few_silicon_have_a_bound_above_their_ratio() -> None:
    pair = ratio_bound(_table([0.1, 0.2, 0.9]), _table([0.2, 0.2, 0.2]), 0, seed=0)

    assert pair is not None
    assert pair[0] == pytest.approx(1.0)
    assert pair[1] == pytest.approx(4.5)


def test_noise_is_the_median_difference_of_repeats() -> None:
    rows = [Row("a", n, ms) for n in range(10) for ms in (1.0, 1.2)]
    corpus = judged(rows)

    assert noise_percent(corpus, corpus.rows) == pytest.approx(20)
    assert noise_percent(corpus, corpus.rows[:8]) is None
