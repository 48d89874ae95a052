"""Pipelines on shared units: theory where it is exact, laws beyond."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.simulation.arrivals import Poisson
from predictor.simulation.pipelines import Floats, Passage, Pipeline, StageRuns, pass_through

_ITEMS = 60_000
_SERVICE_S = 0.01


def _poisson(load: float, seed: int = 1, items: int = _ITEMS) -> Floats:
    return Poisson(load / _SERVICE_S).times_s(items, np.random.default_rng(seed))


def _exponential(seed: int) -> Floats:
    factors: Floats = np.random.default_rng(seed).standard_exponential(_ITEMS)
    return factors


def _alone(stages: list[StageRuns], times: Floats, *servers: int) -> Passage:
    return pass_through([Pipeline(stages, times)], servers or [1])


def test_d_d_1_waits_for_nothing() -> None:
    beat = np.arange(1000, dtype=np.float64) * 0.02
    passage = _alone([StageRuns(unit=0, service_s=[0.015])], beat)
    assert passage.latency_s[0] == pytest.approx(0.015)
    assert passage.busy_s[0] == pytest.approx(15.0)


def test_d_d_1_over_its_capacity_waits_longer_by_the_item() -> None:
    beat = np.arange(1000, dtype=np.float64) * 0.01
    passage = _alone([StageRuns(unit=0, service_s=[0.015])], beat)
    assert passage.latency_s[0] == pytest.approx(0.015 + 0.005 * np.arange(1000))


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_m_d_1(load: float) -> None:
    passage = _alone([StageRuns(unit=0, service_s=[_SERVICE_S])], _poisson(load))
    wait = passage.latency_s[0].mean() - _SERVICE_S
    assert wait == pytest.approx(load * _SERVICE_S / (2 * (1 - load)), rel=0.06)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_m_m_1_and_its_percentiles(load: float) -> None:
    stage = StageRuns(unit=0, service_s=[_SERVICE_S], factors=_exponential(2))
    latency = _alone([stage], _poisson(load)).latency_s[0]
    mean = _SERVICE_S / (1 - load)
    assert latency.mean() == pytest.approx(mean, rel=0.08)
    assert np.quantile(latency, 0.99) == pytest.approx(math.log(100) * mean, rel=0.12)


def test_tandem_of_m_m_1_is_the_sum_of_its_queues() -> None:
    # Burke: the first queue's departures are Poisson again, so the second one is M/M/1 too.
    first = StageRuns(unit=0, service_s=[_SERVICE_S], factors=_exponential(2))
    second = StageRuns(unit=1, service_s=[_SERVICE_S / 2], factors=_exponential(3), after=[0])
    latency = _alone([first, second], _poisson(0.6), 1, 1).latency_s[0]
    expected = _SERVICE_S / (1 - 0.6) + _SERVICE_S / 2 / (1 - 0.3)
    assert latency.mean() == pytest.approx(expected, rel=0.06)


def test_a_run_in_steps_gives_way_after_its_first_part_and_each_step() -> None:
    # A first part of 2 s and four steps of 1 s; runs of 0.5 s come at 1, 2.5 and 4.2 s.
    stepped = StageRuns(unit=0, service_s=[6.0], steps=4, first_share=1 / 3)
    runs = StageRuns(unit=0, service_s=[0.5])
    passage = pass_through(
        [Pipeline([stepped], np.array([0.0])), Pipeline([runs], np.array([1.0, 2.6, 4.2]))], [1]
    )
    # 2.0 first part, 2.5 first run, 3.5 a step, 4.0 second run, 5.0 a step, 5.5 third run.
    assert passage.latency_s[1] == pytest.approx([1.5, 1.4, 1.3])
    assert passage.latency_s[0] == pytest.approx([7.5])
    assert passage.busy_s[0] == pytest.approx(7.5)


@given(
    st.lists(st.floats(0.01, 20.0), min_size=1, max_size=8),
    st.integers(1, 40),
    st.floats(0.0, 1.0),
    st.integers(1, 3),
)
def test_steps_do_all_the_work_of_a_run(
    gaps: list[float], steps: int, first_share: float, batch: int
) -> None:
    sizes = [3.0 * size for size in range(1, batch + 1)]
    stage = StageRuns(unit=0, service_s=sizes, steps=steps, first_share=first_share)
    whole = StageRuns(unit=0, service_s=sizes)
    times = np.cumsum(gaps)
    stepped, plain = (_alone([runs], times) for runs in (stage, whole))
    assert stepped.busy_s == pytest.approx(plain.busy_s)
    assert (stepped.latency_s[0] > 0).all()
    if len(gaps) == 1:
        assert stepped.latency_s[0] == pytest.approx(plain.latency_s[0])


def test_an_item_ends_with_its_last_branch_and_all_runs_of_a_stage() -> None:
    stages = [
        StageRuns(unit=0, service_s=[1.0]),
        StageRuns(unit=1, service_s=[2.0], after=[0], per_item=3),
        StageRuns(unit=0, service_s=[0.5], after=[0]),
        StageRuns(unit=0, service_s=[0.25], after=[1, 2]),
    ]
    passage = _alone(stages, np.array([0.0]), 1, 1)
    assert passage.latency_s[0] == pytest.approx([1.0 + 3 * 2.0 + 0.25])
    assert _alone(stages, np.array([0.0]), 1, 3).latency_s[0] == pytest.approx([3.25])


def test_a_stage_of_every_fifth_item() -> None:
    stages = [
        StageRuns(unit=0, service_s=[0.1]),
        StageRuns(unit=0, service_s=[1.0], after=[0], per_item=0.2),
    ]
    latency = _alone(stages, np.arange(0.0, 200.0, 10.0)).latency_s[0]
    assert latency == pytest.approx(([0.1] * 4 + [1.1]) * 4)


def test_a_fixed_batch_waits_until_it_is_full_and_the_rest_for_ever() -> None:
    stage = StageRuns(unit=0, service_s=[1.0, 1.2, 1.4, 1.6], delay_s=math.inf)
    passage = _alone([stage], np.arange(6.0))
    assert passage.latency_s[0][:4] == pytest.approx([4.6, 3.6, 2.6, 1.6])
    assert np.isnan(passage.latency_s[0][4:]).all()
    assert passage.batches[0] == [4.0]


def test_a_dynamic_batch_waits_no_longer_than_its_delay() -> None:
    stage = StageRuns(unit=0, service_s=[1.0, 1.2, 1.4, 1.6], delay_s=0.5)
    passage = _alone([stage], np.array([0.0, 0.25, 10.0]))
    assert passage.latency_s[0] == pytest.approx([0.5 + 1.2, 0.25 + 1.2, 0.5 + 1.0])


def test_a_batch_takes_what_comes_until_it_starts() -> None:
    stage = StageRuns(unit=0, service_s=[1.0, 1.5, 2.0])
    busy = StageRuns(unit=0, service_s=[5.0])
    times = np.array([1.0, 2.0, 3.0])
    passage = pass_through([Pipeline([busy], np.array([0.0])), Pipeline([stage], times)], [1])
    # With no delay the first is ready at once; the unit is busy until 5, so all three run together.
    assert passage.latency_s[1] == pytest.approx([6.0, 5.0, 4.0])


def test_runs_of_several_streams_are_served_as_they_become_ready() -> None:
    slow = Pipeline([StageRuns(unit=0, service_s=[2.0])], np.array([0.0, 0.5]))
    fast = Pipeline([StageRuns(unit=0, service_s=[0.1])], np.array([0.25]))
    passage = pass_through([slow, fast], [1])
    assert passage.latency_s[1] == pytest.approx([2.0 - 0.25 + 0.1])
    assert passage.latency_s[0] == pytest.approx([2.0, 2.1 + 2.0 - 0.5])


_GAPS = st.lists(st.floats(0.0, 5.0), min_size=1, max_size=40)


@given(gaps=_GAPS, factors=st.lists(st.floats(0.1, 4.0), min_size=40, max_size=40),
       load=st.floats(1.0, 4.0))  # fmt: skip
def test_more_load_is_never_faster(gaps: list[float], factors: list[float], load: float) -> None:
    times, count = np.cumsum(gaps), len(gaps)
    stages = [
        StageRuns(unit=0, service_s=[1.0], factors=np.array(factors[:count])),
        StageRuns(unit=1, service_s=[0.7], after=[0]),
    ]
    before = _alone(stages, times, 1, 1).latency_s[0]
    after = _alone(stages, times / load, 1, 1).latency_s[0]
    assert (after >= before - 1e-9).all()


@given(gaps=_GAPS, factors=st.lists(st.floats(0.1, 4.0), min_size=40, max_size=40),
       servers=st.integers(1, 3))  # fmt: skip
def test_more_units_are_never_slower(gaps: list[float], factors: list[float], servers: int) -> None:
    stage = StageRuns(unit=0, service_s=[1.0], factors=np.array(factors[: len(gaps)]))
    before = _alone([stage], np.cumsum(gaps), servers).latency_s[0]
    after = _alone([stage], np.cumsum(gaps), servers + 1).latency_s[0]
    assert (after <= before + 1e-9).all()


def test_a_hundred_thousand_items_take_about_a_second() -> None:
    times = _poisson(0.8, items=100_000)
    start = time.process_time()
    _alone([StageRuns(unit=0, service_s=[_SERVICE_S])], times)
    assert time.process_time() - start < 2.0  # 0.5 s on a quiet machine


def test_runs_of_an_item_follow_one_another_on_one_server_and_spread_over_several() -> None:
    crops = Pipeline([StageRuns(unit=0, service_s=[1.0], per_item=3)], np.array([0.0]))
    other = Pipeline([StageRuns(unit=0, service_s=[1.0])], np.array([0.5]))
    one = pass_through([crops, other], [1])
    assert one.latency_s[0] == pytest.approx(3.0)
    assert one.latency_s[1] == pytest.approx(3.5)
    assert one.busy_s == pytest.approx([4.0])
    two = pass_through([crops, other], [2])
    assert two.latency_s[0] == pytest.approx(2.0)
    assert two.latency_s[1] == pytest.approx(1.5)
