"""Starts beside the work of a GPU, by hand and in Hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.cost.overlap import overlapped, runs_ahead
from predictor.cost.physics import TERMS
from tests.support.graphs import make_target

# Arithmetic, block, memory and launch of two kinds of operators: 3 ms of work, 4 ms of starts.
PARTS = np.array([1.0, 0.5, 0.5, 3.0, 0.25, 0.25, 0.5, 1.0])
MS = st.floats(1e-6, 1e6)


def test_starts_and_work_overlap_where_the_host_runs_ahead() -> None:
    whole, shares = overlapped(PARTS, ahead=True)
    assert whole == pytest.approx(5.0)
    # 16 of 25 parts of the derivative are of the starts.
    assert shares.reshape(2, len(TERMS))[:, 3] == pytest.approx([0.48, 0.16])
    assert shares.sum() == pytest.approx(1.0)


def test_they_add_up_elsewhere() -> None:
    whole, shares = overlapped(PARTS, ahead=False)
    assert whole == pytest.approx(7.0)
    assert shares == pytest.approx(PARTS / 7)


def test_each_row_by_its_own_target() -> None:
    whole, _ = overlapped(np.stack([PARTS, PARTS]), np.array([True, False]))
    assert whole == pytest.approx([5.0, 7.0])


def test_nothing_takes_some_time() -> None:
    whole, shares = overlapped(np.zeros(4), ahead=True)
    assert whole > 0
    assert not shares.any()


@given(
    st.lists(MS, min_size=4, max_size=4), st.integers(0, 3), st.floats(1.0, 100.0), st.booleans()
)
def test_a_part_that_grows_never_lowers_the_whole_nor_raises_it_by_more(
    parts: list[float], place: int, factor: float, ahead: bool
) -> None:
    before = np.array(parts)
    after = before.copy()
    after[place] *= factor
    (old, shares), (new, _) = overlapped(before, ahead), overlapped(after, ahead)
    assert old * (1 - 1e-9) <= new <= old * factor * (1 + 1e-9)
    assert max(parts[3], sum(parts[:3])) * (1 - 1e-9) <= old <= sum(parts) * (1 + 1e-9)
    assert shares.sum() == pytest.approx(1.0)


@given(st.lists(MS, min_size=4, max_size=4), st.integers(0, 3), st.booleans())
def test_shares_are_the_derivative(parts: list[float], place: int, ahead: bool) -> None:
    before = np.array(parts)
    after = before.copy()
    after[place] *= 1 + 1e-6
    (old, shares), (new, _) = overlapped(before, ahead), overlapped(after, ahead)
    assert np.log(new / old) / np.log(1 + 1e-6) == pytest.approx(shares[place], abs=1e-4)


def test_eager_frameworks_run_ahead_of_a_gpu_alone() -> None:
    targets = [
        make_target(runtime="pytorch"),
        make_target(runtime="pytorch-torchscript"),
        make_target(runtime="tensorrt"),
        make_target(runtime="pytorch", family=Family.CPU),
    ]
    assert runs_ahead(targets).tolist() == [True, True, False, False]
