"""Shares, medians and errors of comparisons, worked by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.evaluation.bound.comparison import Comparison
from ctm_research.evaluation.bound.figures import Figures, Ratios
from ctm_research.sources import Statistic
from research.tests.evaluation.bound.samples import sample

NAN = math.nan


def figures_of(comparisons: Iterable[Comparison]) -> Figures:
    return Figures.of(Ratios.of(comparisons))


def comparison(
    folder: Path, measured: float, estimate: float, bound: float, **changes: object
) -> Comparison:
    return Comparison(sample(folder, latency_ms=measured, **changes), estimate, bound)


def test_figures_of_three_rows(tmp_path: Path) -> None:
    found = figures_of(
        [
            comparison(tmp_path, 1.0, 2.0, 2.0),  # half its bound, estimate 100 % off
            comparison(tmp_path, 4.0, 2.0, 1.0),  # 50 % off
            comparison(tmp_path, 8.0, 2.0, 1.0),  # 75 % off
        ]
    )

    assert (found.bounded, found.under_bound, found.estimated) == (3, 1, 3)
    assert found.under_bound_share == pytest.approx(1 / 3)
    assert (found.median_over_bound, found.least_over_bound) == (4.0, 0.5)
    assert found.median_over_estimate == 2.0
    assert found.mape_percent == pytest.approx(75.0)
    assert found.median_ape_percent == pytest.approx(75.0)


def test_a_run_at_its_bound_is_not_under_it(tmp_path: Path) -> None:
    assert figures_of([comparison(tmp_path, 2.0, 2.0, 2.0)]).under_bound == 0


def test_times_between_results_have_a_bound_and_no_error(tmp_path: Path) -> None:
    rate = comparison(tmp_path, 3.0, 2.0, 1.0, statistic=Statistic.INTERVAL)

    found = figures_of([rate])

    assert (found.bounded, found.estimated, found.mape_percent) == (1, 0, None)


def test_a_doubted_row_is_held_against_its_bound_and_has_no_error(tmp_path: Path) -> None:
    found = figures_of([comparison(tmp_path, 1.0, 9.0, 9.0, doubt="the clock stood still")])

    assert (found.under_bound, found.estimated) == (1, 0)


def test_rows_without_numbers_count_nowhere(tmp_path: Path) -> None:
    found = figures_of([comparison(tmp_path, 1.0, NAN, NAN), comparison(tmp_path, 1.0, NAN, 0.0)])

    assert (found.bounded, found.estimated, found.under_bound_share) == (0, 0, 0.0)
    assert found.median_over_bound is None


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=20))
def test_an_estimate_that_is_right_has_no_error(
    tmp_path_factory: pytest.TempPathFactory, measured: list[float]
) -> None:
    folder = tmp_path_factory.getbasetemp()

    found = figures_of(comparison(folder, value, value, value / 2) for value in measured)

    assert found.mape_percent == pytest.approx(0.0)
    assert found.low_over_estimate == found.high_over_estimate == pytest.approx(1.0)
    assert (found.under_bound, found.estimated) == (0, len(measured))
