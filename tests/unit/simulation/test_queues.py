"""Stations against queueing theory where it is exact, and lawful beyond."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.simulation.arrivals import Arrivals, Periodic, Poisson, Trace
from predictor.simulation.events import Events
from predictor.simulation.servers import Station
from predictor.simulation.statistics import percentiles, settled

_JOBS = 60_000
_SERVICE_S = 0.01


def _waits(times: list[float], services: list[float], servers: int = 1) -> np.ndarray:
    """Return the seconds that jobs wait for a server, float64 [N]."""
    events, ends = Events(), [0.0] * len(times)
    station = Station(events, servers)

    def arrive(place: int) -> None:
        station.submit(services[place], finish, place)

    def finish(place: int) -> None:
        ends[place] = events.now_s

    events.at_all(times, arrive)
    events.run()
    assert station.busy_s == pytest.approx(sum(services))
    waits: np.ndarray = np.array(ends) - np.array(times) - np.array(services)
    return waits


def _times(arrivals: Arrivals, count: int = _JOBS) -> list[float]:
    times: list[float] = arrivals.times_s(count, np.random.default_rng(1)).tolist()
    return times


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_m_d_1(load: float) -> None:
    waits = _waits(_times(Poisson(load / _SERVICE_S)), [_SERVICE_S] * _JOBS)
    assert waits.mean() == pytest.approx(load * _SERVICE_S / (2 * (1 - load)), rel=0.06)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_m_m_1(load: float) -> None:
    services = np.random.default_rng(2).exponential(_SERVICE_S, _JOBS)
    waits = _waits(_times(Poisson(load / _SERVICE_S)), services.tolist())
    assert waits.mean() == pytest.approx(load * _SERVICE_S / (1 - load), rel=0.08)
    # The time in the system is exponential: its 90 % quantile is ln 10 of its mean.
    total = percentiles(settled(waits + services))
    assert total is not None
    assert total.p90 == pytest.approx(math.log(10) * _SERVICE_S / (1 - load), rel=0.08)


def test_m_g_1_is_that_of_pollaczek_and_khinchine() -> None:
    load, short, long = 0.7, 0.002, 0.034
    services = np.random.default_rng(3).choice([short, long], _JOBS, p=[0.75, 0.25])
    mean, square = services.mean(), (services**2).mean()
    waits = _waits(_times(Poisson(load / mean)), services.tolist())
    assert waits.mean() == pytest.approx(load / mean * square / (2 * (1 - load)), rel=0.08)


def test_m_m_2_is_that_of_erlang() -> None:
    load = 0.7
    services = np.random.default_rng(4).exponential(_SERVICE_S, _JOBS)
    waits = _waits(_times(Poisson(2 * load / _SERVICE_S)), services.tolist(), servers=2)
    assert waits.mean() == pytest.approx(load**2 * _SERVICE_S / (1 - load**2), rel=0.08)


@given(load=st.floats(0.01, 1.0), servers=st.integers(1, 4))
def test_d_d_c_never_waits_within_its_capacity(load: float, servers: int) -> None:
    times = _times(Periodic(servers * load / _SERVICE_S), 50)
    assert _waits(times, [_SERVICE_S] * 50, servers) == pytest.approx(np.zeros(50), abs=1e-9)


def test_d_d_1_over_capacity_grows_by_the_excess() -> None:
    waits = _waits(_times(Periodic(2 / _SERVICE_S), 100), [_SERVICE_S] * 100)
    assert waits == pytest.approx(np.arange(100) * _SERVICE_S / 2)


def test_a_tandem_adds_its_stages_and_keeps_its_rate() -> None:
    """Of two stations in a row the second waits no more where its service is not longer."""
    events, ends = Events(), []
    first, second = Station(events), Station(events)
    times = _times(Poisson(0.8 / _SERVICE_S), 2000)

    def onward(place: int) -> None:
        second.submit(_SERVICE_S, lambda _: ends.append(events.now_s - times[place]))

    events.at_all(times, lambda place: first.submit(_SERVICE_S, onward, place))
    events.run()
    alone = _waits(times, [_SERVICE_S] * 2000)
    assert np.array(ends) == pytest.approx(alone + 2 * _SERVICE_S)


@given(
    gaps=st.lists(st.floats(0, 0.05), min_size=1, max_size=40),
    servers=st.integers(1, 3),
    factor=st.floats(0.1, 1.0),
)
def test_more_load_waits_longer_and_more_servers_less(
    gaps: list[float], servers: int, factor: float
) -> None:
    times = np.cumsum(gaps)
    services = [_SERVICE_S] * len(gaps)
    usual = _waits(times.tolist(), services, servers)
    assert (_waits((factor * times).tolist(), services, servers) >= usual - 1e-9).all()
    assert (_waits(times.tolist(), services, servers + 1) <= usual + 1e-9).all()


def test_a_trace_starts_anew_after_a_mean_gap() -> None:
    assert _times(Trace([5.0, 6.0, 9.0]), 7) == pytest.approx([0, 1, 4, 6, 7, 10, 12])
    assert _times(Trace([5.0]), 2) == [0, 0]


def test_twice_the_rate_halves_the_times() -> None:
    assert _times(Poisson(2), 9) == pytest.approx(np.array(_times(Poisson(1), 9)) / 2)
