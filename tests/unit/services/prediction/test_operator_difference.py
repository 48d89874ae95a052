"""Operators of two models side by side: what changed, and sums that equal the totals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.services.prediction.operator_difference import Change, operator_difference
from tests.support.models import model_of
from tests.support.operator_graphs import OPERATORS, Named


@pytest.mark.slow
@settings(deadline=None)
@given(first=OPERATORS, second=OPERATORS, data=st.data())
def test_times_moved_sum_to_the_difference_of_the_totals(
    first: list[Named], second: list[Named], data: st.DataObject
) -> None:
    times = [
        np.array(data.draw(st.lists(st.floats(0, 1e6), min_size=len(side), max_size=len(side))))
        for side in (first, second)
    ]
    difference = operator_difference(model_of(first), model_of(second))
    moved = difference.time_changes(*times)
    assert sorted(difference.first[difference.first >= 0]) == list(range(len(first)))
    assert sorted(difference.second[difference.second >= 0]) == list(range(len(second)))
    assert moved.before_ms.sum() == pytest.approx(times[0].sum())
    assert moved.after_ms.sum() == pytest.approx(times[1].sum())
    by_change = sum(moved.change_of(change) for change in Change)
    assert by_change == pytest.approx(times[1].sum() - times[0].sum(), abs=1e-3)
    assert sum(len(difference.rows_of(change)) for change in Change) == len(difference)


def test_rows_follow_the_second_model_and_keep_removed_ones_in_place() -> None:
    before = [Named("Conv", name="/a/x"), Named("Relu", name="/b/x"), Named("Add", name="/c/x")]
    after = [Named("Conv", name="/a/x"), Named("Mul", name="/d/x"), Named("Add", name="/c/x")]
    found = operator_difference(model_of(before), model_of(after))
    assert found.change == (Change.SAME, Change.REMOVED, Change.ADDED, Change.SAME)
    assert found.first.tolist() == [0, 1, -1, 2]
    assert found.second.tolist() == [0, -1, 1, 2]
    moved = found.time_changes(np.array([1.0, 2.0, 3.0]), np.array([1.5, 4.0, 3.0]))
    assert moved.change_ms.tolist() == [0.5, -2.0, 4.0, 0.0]
    assert moved.change_of(Change.ADDED) == 4.0


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (Named(name="/a/x", shape=(1, 8, 4, 4)), "shape"),
        (Named(name="/a/x", dtype="float16"), "precision"),
        (Named(name="/a/x", attributes='{"kernel_shape":[5,5]}', window=5), "kernel"),
        (Named(name="/a/x", attributes='{"group":8}'), "attributes"),
        (Named(name="/a/x", macs=500), "inputs"),
        (Named("QLinearConv", name="/a/x", dtype="int8"), "type, precision"),
    ],
)
def test_what_changed_is_said(changed: Named, what: str) -> None:
    found = operator_difference(model_of([Named(name="/a/x")]), model_of([changed]))
    assert found.change == (Change.CHANGED,)
    assert found.what == (what,)


def test_models_without_operators_differ_in_nothing() -> None:
    assert len(operator_difference(model_of([]), model_of([]))) == 0
