"""Memory that units share: the rule by hand, its laws, and what is published of such runs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import shared_memory
from predictor.core.metrics import Family
from predictor.core.records import Device, OperatingPoint
from predictor.services.loads.records import Box, Stage, Stream, Unit
from predictor.services.loads.simulate import Scaled, Simulation, memory_growth
from tests.support.run_costs import cost

_BANDWIDTH = 10e9


def _unit(name: str, count: int = 1, modes: tuple[OperatingPoint, ...] = ()) -> Unit:
    device = Device(id=name, name=name, vendor="", family=Family.GPU,
                    metrics={"dram_bw_gbps": _BANDWIDTH / 1e9}, operating_points=modes)  # fmt: skip
    return Unit(name, device, count)


_BOX = Box(id="box", name="Box", units={"gpu": _unit("gpu"), "dla": _unit("dla", 2)})


def _simulation(*runs: tuple[str, float, float, float]) -> Simulation:
    """Streams of a unit, their rate, ms and bytes a run."""
    streams = [
        Stream(line=1, name=unit, rate_per_s=rate,
               stages=(Stage(line=2, name="a", model="a.onnx", unit=unit),))
        for unit, rate, _, _ in runs
    ]  # fmt: skip
    units = [[unit] for unit, *_ in runs]
    costs = [[cost(ms, traffic=traffic)] for _, _, ms, traffic in runs]
    return Simulation(streams, _BOX, units, costs, 0, 4)


def _demand(*runs: tuple[str, float, float, float]) -> np.ndarray:
    simulation = _simulation(*runs)
    return simulation.demand(None, simulation.stated)


def test_servers_of_one_unit_slow_one_another() -> None:
    # 80 runs a second of 50 MB on two servers: each takes 20 % of 10 GB/s, so that the 5 ms of
    # traffic of the other grow by a quarter; 20 runs of 100 MB on the GPU take 20 % more.
    assert _demand(("dla", 80, 10.0, 50e6))[1] == pytest.approx(80 * (0.010 + 0.005 / 4) / 2)
    both = _demand(("dla", 80, 10.0, 50e6), ("gpu", 20, 10.0, 100e6))
    assert both[0] == pytest.approx(20 * (0.010 + 0.010 * 0.4 / 0.6))
    assert both[1] == pytest.approx(80 * (0.010 + 0.005 * 0.4 / 0.6) / 2)


def test_a_run_moves_no_more_than_its_time_allows() -> None:
    # 100 MB in 4 ms are 25 GB/s: what is over 40 MB came from caches.
    assert _demand(("gpu", 100, 4.0, 100e6), ("dla", 1, 4.0, 40e6)) == pytest.approx(
        _demand(("gpu", 100, 4.0, 40e6), ("dla", 1, 4.0, 40e6))
    )


def test_a_lower_clock_of_the_memory_is_less_bandwidth() -> None:
    modes = tuple(
        OperatingPoint(name=name, memory_mhz=mhz, source="")
        for name, mhz in (("MAXN", 3200.0), ("10W", 2133.0))
    )
    box = Box(id="box", name="Box", units={"gpu": _unit("gpu", modes=modes)})
    assert box.bandwidth_bytes_per_s == _BANDWIDTH
    low = replace(box, mode="10w").bandwidth_bytes_per_s
    assert low == pytest.approx(_BANDWIDTH * 2133 / 3200)


_RUNS = st.lists(
    st.tuples(st.sampled_from(["gpu", "dla"]), st.floats(1, 300), st.floats(0.1, 30),
              st.floats(0, 4e8)),
    min_size=1, max_size=4,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(_RUNS)
def test_what_holds_never_takes_more_than_the_bandwidth(
    runs: list[tuple[str, float, float, float]],
) -> None:
    if (_demand(*runs) < 1).all():
        bytes_per_s = sum(
            rate * min(traffic, ms / 1000 * _BANDWIDTH) for _, rate, ms, traffic in runs
        )
        assert bytes_per_s < _BANDWIDTH * (1 + 1e-9)


@settings(max_examples=100, deadline=None)
@given(_RUNS, st.floats(1.0, 5.0), st.integers(0, 3))
def test_more_load_is_never_faster(
    runs: list[tuple[str, float, float, float]], factor: float, more: int
) -> None:
    simulation = _simulation(*runs)
    stated = simulation.stated
    larger = Scaled(factor, (stated.counts[0] + more, *stated.counts[1:]))
    assert (simulation.demand(None, larger) >= simulation.demand(None, stated) * (1 - 1e-12)).all()


def test_published_runs_beside_two_dlas_follow_from_those_beside_one() -> None:
    waiting = shared_memory.waiting_of(*shared_memory.BESIDE_ONE.values())
    gpu, dla = shared_memory.slowed(waiting)
    assert gpu == pytest.approx(1.13, abs=0.01)
    assert dla == pytest.approx(1.22, abs=0.01)
    gpu, dla, other = shared_memory.slowed(waiting[[0, 1, 1]])
    assert dla == pytest.approx(other)
    assert gpu == pytest.approx(shared_memory.BESIDE_TWO["gpu"], rel=0.03)
    assert dla == pytest.approx(shared_memory.BESIDE_TWO["dla"], rel=0.06)


def test_what_waits_for_the_memory_alone_has_its_part_of_it() -> None:
    assert shared_memory.slowed(np.ones(3)) == pytest.approx(np.full(3, 3.0), rel=1e-3)
    assert memory_growth(np.array([0.0, 0.5, 2.0])) == pytest.approx([0.0, 1.0, 19.0])
