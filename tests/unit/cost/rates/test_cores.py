"""The cores that threads keep busy, and their part of the device's rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device
from predictor.cost.rates.cores import busy_rate, core_kinds, thread_share
from predictor.cost.rates.facts import MissingMetricError

BIG = Cluster(name="Big", cores=4, clock_mhz=2000.0, fp32_au_per_core=8.0)
LITTLE = Cluster(name="Little", cores=4, clock_mhz=1000.0, fp32_au_per_core=4.0)


def processor(*clusters: Cluster, **metrics: float) -> Device:
    return Device(
        id="d", name="D", vendor="V", family=Family.CPU, metrics=metrics, clusters=clusters
    )


@pytest.mark.parametrize(
    ("threads", "rate"), [(1, 3.0), (2, 6.0), (3, 7.0), (6, 10.0), (99, 10.0), (0, 10.0)]
)
def test_threads_fill_the_fastest_cores_first(threads: int, rate: float) -> None:
    """Two cores of 3, four of 1."""
    assert busy_rate([(1.0, 4), (3.0, 2)], threads) == rate


def test_the_clock_falls_with_the_number_of_busy_cores() -> None:
    """The root of 1 x 4 GHz is 2; one of three idle cores is a third of the way back to 4."""
    (kind,) = core_kinds(processor(clock_mhz=1000.0, boost_clock_mhz=4000.0, core_count=4.0))

    clocks = [kind.clock_hz(threads) / 1e9 for threads in (1, 3, 4, 0, 9)]
    assert clocks == pytest.approx([4.0, 2 + 2 / 3, 2.0, 2.0, 2.0])


def test_the_part_of_threads_is_that_of_lanes_times_clock() -> None:
    """64 and 16 of 80."""
    two_kinds = processor(BIG, LITTLE)

    shares = [thread_share(two_kinds, threads) for threads in (0, 2, 4, 6, 8, 9)]
    assert shares == pytest.approx([1.0, 0.4, 0.8, 0.9, 1.0, 1.0])


def test_alike_cores_share_evenly_whatever_else_is_not_known() -> None:
    assert thread_share(processor(core_count=8.0), 2) == 0.25
    assert thread_share(processor(Cluster(name="A", cores=8, clock_mhz=1000.0)), 2) == 0.25
    assert (
        thread_share(Device(id="d", name="D", vendor="V", family=Family.GPU, metrics={}), 2) == 1.0
    )


def test_a_part_that_does_not_follow_from_the_facts_names_the_fact() -> None:
    for device, metric in (
        (processor(), "core_count"),
        (processor(BIG, Cluster(name="Unknown", cores=4, clock_mhz=1000.0)), "fp32_au_per_core"),
    ):
        with pytest.raises(MissingMetricError) as caught:
            thread_share(device, 2)
        assert caught.value.metric == metric


@given(st.lists(st.tuples(st.floats(0.1, 9), st.integers(1, 9)), min_size=1, max_size=4))
def test_further_threads_never_lower_the_rate(cores: list[tuple[float, int]]) -> None:
    rates = [busy_rate(cores, threads) for threads in range(1, 40)]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(busy_rate(cores, 0))
