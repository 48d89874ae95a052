"""How two latencies differ: hand-worked intervals, symmetry, what is not known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.percentiles import Z80
from predictor.core.records import Basis
from predictor.services.prediction.variants import ERROR_CORRELATION, differences
from tests.support.predictions import prediction

SPREADS = st.floats(0.01, 0.8)
LATENCIES = st.floats(0.01, 1000.0)


def test_without_intervals_there_is_a_difference_and_no_interval() -> None:
    found = differences([prediction(10.0)], [prediction(8.0, name="b")])
    assert found.difference_ms.tolist() == [-2.0]
    assert found.ratio.tolist() == [0.8]
    assert np.isnan([found.low80_ms, found.high80_ms, found.low80_ratio, found.high80_ratio]).all()
    assert not found.is_clear.any()


def test_the_ratio_of_independent_errors_has_the_sum_of_their_variances() -> None:
    found = differences([prediction(10.0, 0.3)], [prediction(8.0, 0.4, "b")], correlation=0.0)
    # sqrt(0.3^2 + 0.4^2) = 0.5
    assert found.low80_ratio[0] == pytest.approx(0.8 * math.exp(-Z80 * 0.5))
    assert found.high80_ratio[0] == pytest.approx(0.8 * math.exp(Z80 * 0.5))


def test_errors_in_full_common_leave_the_ratio_certain() -> None:
    found = differences([prediction(10.0, 0.3)], [prediction(8.0, 0.3, "b")], correlation=1.0)
    assert found.low80_ratio[0] == pytest.approx(0.8)
    # The difference is -2 ms times a log-normal of spread 0.3.
    reach = math.exp(Z80 * 0.3)
    assert found.low80_ms[0] == pytest.approx(-2.0 * reach, rel=0.01)
    assert found.high80_ms[0] == pytest.approx(-2.0 / reach, rel=0.01)
    assert found.is_clear[0]


def test_a_small_error_makes_a_normal_difference() -> None:
    found = differences([prediction(10.0, 0.01)], [prediction(9.0, 0.01, "b")], correlation=0.0)
    deviation = 0.01 * math.hypot(10.0, 9.0)
    assert found.low80_ms[0] == pytest.approx(-1.0 - Z80 * deviation, abs=0.03 * deviation)
    assert found.high80_ms[0] == pytest.approx(-1.0 + Z80 * deviation, abs=0.03 * deviation)


@settings(deadline=None)
@given(LATENCIES, SPREADS, LATENCIES, SPREADS, st.floats(0.0, 1.0))
def test_exchanging_the_models_turns_the_interval_round(
    first_ms: float, first: float, second_ms: float, second: float, correlation: float
) -> None:
    one, other = prediction(first_ms, first), prediction(second_ms, second, "b")
    there = differences([one], [other], correlation)
    back = differences([other], [one], correlation)
    assert back.low80_ms[0] == pytest.approx(-there.high80_ms[0], rel=1e-6, abs=1e-9)
    assert back.low80_ratio[0] == pytest.approx(1 / there.high80_ratio[0])
    assert there.low80_ms[0] <= there.high80_ms[0]


@settings(deadline=None)
@given(LATENCIES, SPREADS, LATENCIES, SPREADS)
def test_what_is_shared_narrows_the_ratio(
    first_ms: float, first: float, second_ms: float, second: float
) -> None:
    pair = [prediction(first_ms, first)], [prediction(second_ms, second, "b")]
    alone, shared = differences(*pair, 0.0), differences(*pair, 0.5)
    assert shared.high80_ratio[0] <= alone.high80_ratio[0]
    assert shared.low80_ratio[0] >= alone.low80_ratio[0]


def test_equal_graphs_run_alike() -> None:
    found = differences([prediction(10.0, 0.3)], [prediction(10.0, 0.3)])
    assert found.difference_ms[0] == found.low80_ms[0] == found.high80_ms[0] == 0.0
    assert found.low80_ratio[0] == found.high80_ratio[0] == 1.0


def test_a_measured_latency_shares_no_error_with_a_predicted_one() -> None:
    measured = prediction(10.0, 0.3, basis=Basis.MEASURED)
    found = differences([measured], [prediction(8.0, 0.4, "b")], correlation=1.0)
    assert found.high80_ratio[0] == pytest.approx(0.8 * math.exp(Z80 * 0.5))


def test_an_engine_may_tell_what_errors_have_in_common() -> None:
    one, other = prediction(10.0, 0.3), prediction(8.0, 0.4, "b")
    told = [
        replace(p, shared_error=np.array(vector, np.float32).tobytes())
        for p, vector in ((one, [0.6, 0.0]), (other, [1.0, 0.0]))
    ]
    found, asked = differences(told[:1], told[1:]), differences([one], [other], 0.6)
    assert found.high80_ratio[0] == pytest.approx(asked.high80_ratio[0])
    usual = differences([one], [other])
    assert usual.high80_ratio[0] == differences([one], [other], ERROR_CORRELATION).high80_ratio[0]
    assert differences(told[:1], [other]).high80_ratio[0] == usual.high80_ratio[0]


def test_an_end_that_is_cut_off_at_the_bound_narrows_nothing() -> None:
    cut = replace(prediction(10.0, 0.3), low80_ms=9.9)
    found = differences([cut], [prediction(8.0, 0.4, "b")], correlation=0.0)
    assert found.high80_ratio[0] == pytest.approx(0.8 * math.exp(Z80 * 0.5))


def test_a_missing_number_has_no_difference() -> None:
    found = differences(
        [prediction(10.0, 0.1), prediction(None), prediction(0.0)],
        [prediction(None), prediction(8.0, 0.1, "b"), prediction(0.0, name="b")],
    )
    assert np.isnan(found.ratio).all()
    assert np.isnan(found.low80_ms).all()
    assert np.isnan(found.difference_ms[:2]).all()


def test_many_cells_are_worked_in_parts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [prediction(10.0, 0.1)] * 5, [prediction(9.0, 0.2, "b")] * 5
    whole = differences(*pairs)
    monkeypatch.setattr("predictor.services.prediction.variants._CELLS_AT_A_TIME", 2)
    assert differences(*pairs).low80_ms.tolist() == whole.low80_ms.tolist()
