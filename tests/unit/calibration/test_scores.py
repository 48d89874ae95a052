"""Figures of predictions with intervals, worked by hand."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.calibration.scores import Answers, Scores, bootstrap

NAN = float("nan")


def answers(rows: list[tuple[float, ...]]) -> Answers:
    """Rows of measured, predicted, low and high at 80 %, low and high at 95 %."""
    return Answers(
        **{
            field.name: column
            for field, column in zip(fields(Answers), np.array(rows, np.float64).T, strict=True)
        }
    )


def test_four_rows_worked_by_hand() -> None:
    found = Scores.of(
        answers(
            [
                (10.0, 10.5, 9.5, 11.5, 9.0, 12.0),  # 5 % off, in both
                (10.0, 9.0, 8.0, 9.5, 7.0, 11.0),  # 10 % off, 0.5 over the 80 % interval
                (10.0, 11.2, 10.5, 12.0, 10.25, 12.5),  # 12 % off, 0.5 and 0.25 under both
                (10.0, 15.0, 10.0, 20.0, 5.0, 30.0),  # 50 % off, at the edge of the 80 % interval
            ]
        )
    )

    assert (found.rows, found.without_number) == (4, 0)
    assert found.mape_percent == pytest.approx((5 + 10 + 12 + 50) / 4)
    assert found.rae_percent == found.mape_percent
    assert found.median_ape_percent == pytest.approx(11)
    assert found.acc5_percent == pytest.approx(25)
    assert found.acc10_percent == pytest.approx(50)
    assert found.acc15_percent == pytest.approx(75)
    assert found.coverage80_percent == pytest.approx(50)
    assert found.coverage95_percent == pytest.approx(75)
    widths80 = sorted([2 / 10.5, 1.5 / 9, 1.5 / 11.2, 10 / 15])
    assert found.width80_percent == pytest.approx(50 * (widths80[1] + widths80[2]))
    # Width, and 2 / 0.2 for each ms outside; over the measured latency.
    assert found.score80_percent == pytest.approx(100 / 4 * (0.2 + 0.65 + 0.65 + 1.0))
    # 2 / 0.05 for each ms outside.
    assert found.score95_percent == pytest.approx(100 / 4 * (0.3 + 0.4 + 0.225 + 1.0 + 2.5))


def test_a_row_without_a_number_is_counted_and_enters_no_figure() -> None:
    found = Scores.of(answers([(10.0, 11.0, *[NAN] * 4), (10.0, NAN, *[NAN] * 4)]))

    assert (found.rows, found.without_number) == (2, 1)
    assert found.mape_percent == pytest.approx(10)
    assert found.acc10_percent == pytest.approx(100)
    assert (found.coverage80_percent, found.width95_percent, found.score80_percent) == (None,) * 3


def test_nothing_predicted_has_no_figure() -> None:
    found = Scores.of(answers([(10.0, *[NAN] * 5)]))

    assert (found.rows, found.without_number) == (1, 1)
    assert (found.mape_percent, found.median_ape_percent, found.acc5_percent) == (None,) * 3


def test_whole_targets_are_drawn_again() -> None:
    # Two targets of one error each: a draw of two has 10, 20 or 30 % on the average.
    rows = [(10.0, 11.0, *[NAN] * 4)] * 3 + [(10.0, 13.0, *[NAN] * 4)] * 3

    ends = bootstrap(answers(rows), np.repeat([4, 9], 3))

    assert ends["mape_percent"] == pytest.approx((10, 30))
    assert "coverage80_percent" not in ends


def test_one_target_tells_no_spread() -> None:
    assert bootstrap(answers([(10.0, 11.0, *[NAN] * 4)] * 5), np.zeros(5, np.int64)) == {}


positive = st.floats(0.01, 1e4)


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=30))
def test_medians_are_those_of_numpy_and_shares_grow(pairs: list[tuple[float, float]]) -> None:
    found = Scores.of(answers([(m, p, p / 2, p * 2, p / 4, p * 4) for m, p in pairs]))
    errors = [abs(p - m) / m for m, p in pairs]

    assert found.median_ape_percent == pytest.approx(100 * np.median(errors), rel=1e-9)
    assert found.mape_percent == pytest.approx(100 * np.mean(errors), rel=1e-9)
    shares = [found.acc5_percent, found.acc10_percent, found.acc15_percent]
    assert shares == sorted(shares)
    assert found.coverage80_percent <= found.coverage95_percent
