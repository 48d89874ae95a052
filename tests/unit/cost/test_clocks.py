"""Latency at other clocks: pipelines by hand, the laws, calibration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.cost.clocks import CPU, GPU, ClockModel, Slowness, pipelined

_TIMES = st.lists(st.floats(0, 10), min_size=4, max_size=4)
_SLOWER = st.floats(0.3, 12)


def _model(rows: list[list[float]], *, is_launched: bool = True) -> ClockModel:
    compute, memory, launch, extra = np.array(rows, np.float64).T
    busy = np.maximum(compute, memory) + extra
    overlap = GPU if is_launched else CPU
    return ClockModel(
        compute_ms=compute,
        memory_ms=memory,
        launch_ms=launch,
        busy_ms=busy,
        overlap=overlap,
        is_launched=is_launched,
    )


def _points(*points: tuple[float, float, float]) -> Slowness:
    host, unit, memory = np.array(points, np.float64).T
    return Slowness(host, unit, memory)


def test_a_host_that_is_ahead_costs_its_first_launch() -> None:
    launch, busy = np.array([[1.0], [1.0], [1.0]]), np.array([[4.0], [5.0], [6.0]])
    # Launched at 1, 2, 3; done at 5, 10, 16.
    assert pipelined(launch, busy).tolist() == [16.0]


def test_a_late_host_leaves_bubbles() -> None:
    launch, busy = np.array([[1.0], [9.0], [1.0]]), np.array([[4.0], [2.0], [6.0]])
    # Launched at 1, 10, 11; the first is done at 5, the second at 12, the third at 18.
    assert pipelined(launch, busy).tolist() == [18.0]


def test_a_host_that_bounds_the_run_ends_with_the_last_operator() -> None:
    launch, busy = np.full((3, 1), 10.0), np.array([[1.0], [2.0], [3.0]])
    assert pipelined(launch, busy).tolist() == [33.0]


def test_arithmetic_alone_follows_its_clock() -> None:
    model = _model([[4, 0, 0, 0], [2, 0, 0, 0]])
    factors = model.factors(_points((1, 1, 1), (3, 1, 5), (1, 2, 1)))
    np.testing.assert_allclose(factors, [1, 1, 2])


def test_traffic_follows_both_clocks_and_the_slower_of_them_at_last() -> None:
    model = _model([[0, 5, 0, 0]])
    # Norm of 1.7 and 1.4 with the exponent 1.5: by hand.
    whole = 1.7**1.5 + 1.4**1.5
    expected = ((1.7**1.5 + (1.4 * 3) ** 1.5) / whole) ** (1 / 1.5)
    np.testing.assert_allclose(model.factors(_points((1, 1, 3))), [expected])
    at_last = 100 * 1.7 / whole ** (1 / 1.5)
    assert model.factors(_points((1, 100, 1)))[0] == pytest.approx(at_last, rel=1e-3)


def test_a_run_that_its_host_bounds_follows_the_processor() -> None:
    model = _model([[0.1, 0, 5, 0]] * 50)
    slower = model.factors(_points((2, 1, 1), (1, 2, 1)))
    assert slower[0] == pytest.approx(2, rel=1e-3)
    assert slower[1] == pytest.approx(1, rel=1e-3)


def test_a_processor_launches_in_turn() -> None:
    model = _model([[3, 0, 1, 0], [3, 0, 1, 0]], is_launched=False)
    np.testing.assert_allclose(model.factors(_points((2, 1, 1), (2, 2, 1))), [10 / 8, 2])


def test_views_alone_take_as_long_at_any_clock() -> None:
    assert _model([[0, 0, 0, 0]]).factors(_points((2, 3, 4))).tolist() == [1.0]


@given(
    st.lists(_TIMES, min_size=1, max_size=6), st.booleans(), st.tuples(_SLOWER, _SLOWER, _SLOWER)
)
def test_the_default_clocks_change_nothing(
    rows: list[list[float]], is_launched: bool, point: tuple[float, float, float]
) -> None:
    model = _model(rows, is_launched=is_launched)
    assert model.factors(_points((1, 1, 1), point))[0] == 1.0


@given(
    st.lists(_TIMES, min_size=1, max_size=6),
    st.booleans(),
    st.tuples(_SLOWER, _SLOWER, _SLOWER),
    st.integers(0, 2),
    st.floats(1, 5),
    st.floats(-2, 2),
)
def test_a_higher_clock_is_never_slower_nor_faster_than_its_factor(
    rows: list[list[float]],
    is_launched: bool,
    point: tuple[float, float, float],
    which: int,
    factor: float,
    tilt: float,
) -> None:
    model = _model(rows, is_launched=is_launched)
    model = ClockModel(
        compute_ms=model.compute_ms,
        memory_ms=model.memory_ms,
        launch_ms=model.launch_ms,
        busy_ms=model.busy_ms,
        overlap=model.overlap,
        is_launched=is_launched,
        tilt=tilt,
    )
    slow = tuple(each * factor if place == which else each for place, each in enumerate(point))
    fast_factor, slow_factor = model.factors(_points(point, slow))
    assert fast_factor <= slow_factor * (1 + 1e-9)
    assert slow_factor <= fast_factor * factor * (1 + 1e-9)


def test_one_measurement_at_any_point_moves_all_alike() -> None:
    model = _model([[4, 2, 0.1, 0], [1, 3, 0.1, 0]])
    point = _points((1, 3, 2))
    measured = model.factors(point) * 1.3
    np.testing.assert_allclose(
        model.calibrated(point, measured).factors(_points((1, 1, 1), (1, 5, 1))),
        1.3 * model.factors(_points((1, 1, 1), (1, 5, 1))),
    )


def test_three_measurements_tell_how_much_waits_for_the_memory() -> None:
    truth = _model([[10, 4, 0, 0], [8, 3, 0, 0]])
    believed = _model([[10, 2, 0, 0], [8, 1.5, 0, 0]])
    known = _points((1, 1, 1), (1, 8, 1), (1, 1, 2))
    asked = _points((1, 2, 2), (1, 4, 2), (1, 2, 1))
    right = truth.factors(asked)
    fitted = believed.calibrated(known, truth.factors(known))
    before = np.abs(believed.factors(asked) / right - 1).max()
    after = np.abs(fitted.factors(asked) / right - 1).max()
    assert after < before / 2
