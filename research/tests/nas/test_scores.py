"""Scores and significance on numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.nas.benchmark.significance import holm, signed_rank_test
from ctm_research.nas.method import Predicted
from ctm_research.nas.scores import Scores, error_curve, score

MEASURED = np.array([10.0, 20.0, 40.0, 100.0])
PREDICTED = np.array([10.4, 18.5, 45.0, 140.0])  # errors of 4, 7.5, 12.5 and 40 %


def test_errors_and_shares() -> None:
    found = score(Predicted(PREDICTED), MEASURED)

    assert found.rae == pytest.approx((4 + 7.5 + 12.5 + 40) / 4)
    assert replace(found, rae=0.0) == Scores(0.0, 25.0, 50.0, 75.0, None, None, None)


def test_intervals() -> None:
    low = np.array([9.0, 21.0, 40.0, 90.0])  # 20 is missed by 1
    high = np.array([11.0, 22.0, 44.0, 95.0])  # 100 is missed by 5

    found = score(Predicted(PREDICTED, low, high), MEASURED)

    assert found.coverage == 50.0
    # widths / predictions: 2 / 10.4, 1 / 18.5, 4 / 45, 5 / 140
    assert found.width == pytest.approx(100 * (4 / 45 + 1 / 18.5) / 2)
    # (width + 10 times what is missed) / measured: 2 / 10, 11 / 20, 4 / 40, 55 / 100
    assert found.interval_score == pytest.approx(100 * (0.2 + 0.55 + 0.1 + 0.55) / 4)


def test_the_curve_runs_from_the_least_to_the_largest_error() -> None:
    curve = error_curve(PREDICTED, MEASURED)

    assert len(curve) == 101
    assert curve[[0, 50, 100]] == pytest.approx([4.0, 10.0, 40.0])


@pytest.mark.parametrize("wrong", [np.nan, 0.0, -1.0, np.inf])
def test_a_prediction_that_is_no_latency_is_a_defect(wrong: float) -> None:
    with pytest.raises(ValueError, match="not a number above 0"):
        score(Predicted(np.array([1.0, wrong])), np.array([1.0, 1.0]))


def test_a_prediction_too_few_is_a_defect() -> None:
    with pytest.raises(ValueError, match="predictions for"):
        score(Predicted(np.ones(1)), np.ones(2))


def test_six_of_six_in_one_direction() -> None:
    # All 64 sign patterns are as likely: two of them are this extreme.
    assert signed_rank_test(np.arange(1.0, 7.0)) == pytest.approx(2 / 64)


def test_no_difference_is_no_evidence() -> None:
    assert signed_rank_test(np.zeros(5)) == 1.0
    assert signed_rank_test(np.array([])) == 1.0


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_the_test_counts_sign_patterns(values: list[int]) -> None:
    """Against a literal count of all patterns, with ties and zeros."""
    kept = np.array([value for value in values if value], float)
    sizes = np.abs(kept)
    ranks = np.array([(sizes < s).sum() + ((sizes == s).sum() + 1) / 2 for s in sizes])
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product([False, True], repeat=len(kept))
    ]
    seen = ranks[kept > 0].sum()
    tails = np.mean([s <= seen for s in sums]), np.mean([s >= seen for s in sums])

    assert signed_rank_test(np.array(values, float)) == pytest.approx(min(1.0, 2 * min(tails)))


@given(st.lists(st.floats(-5, 5), max_size=12))
def test_swapping_the_methods_changes_nothing(values: list[float]) -> None:
    differences = np.array(values, np.float64)

    assert signed_rank_test(differences) == pytest.approx(signed_rank_test(-differences))


def test_holm() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.6 times 4, 3, 2, 1; a later one is never below an earlier one.
    assert holm([0.02, 0.6, 0.01, 0.03]) == pytest.approx([0.06, 0.6, 0.04, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
