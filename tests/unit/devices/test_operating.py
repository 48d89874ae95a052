"""Default clocks, modes and requests of a device."""

from __future__ import annotations

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device, OperatingPoint
from predictor.devices.operating import (
    Clocks,
    clock_ranges,
    default_clocks,
    is_clocked,
    parsed_clocks,
    requested_clocks,
)
from predictor.services.devices.catalogue import load_catalogue

POINTS = (
    OperatingPoint(
        name="MAXN", source="test", cpu_mhz=2000, gpu_mhz=1300, memory_mhz=1866, cores=6
    ),
    OperatingPoint(name="15W", source="test", power_w=15, cpu_mhz=1200, gpu_mhz=850, gpu_cores=1),
    OperatingPoint(
        name="GPU 100 MHz, memory 1062 MHz", source="test", gpu_mhz=100, memory_mhz=1062
    ),
)
BOARD = Device(
    id="board-gpu",
    name="Board",
    vendor="Me",
    family=Family.GPU,
    metrics={"clock_mhz": 1200, "boost_clock_mhz": 1300, "core_count": 2},
    operating_points=POINTS,
)


def test_the_default_is_the_device_s_own_clock_and_the_highest_of_its_modes() -> None:
    assert default_clocks(BOARD) == Clocks(2000, 1300, 1866, 6, 2)


def test_a_mode_changes_what_it_states() -> None:
    assert requested_clocks(BOARD, "", "15w") == Clocks(1200, 850, 1866, 6, 1)


def test_single_clocks_replace_those_of_the_mode() -> None:
    assert requested_clocks(BOARD, "gpu=612,mem=1600", "15W") == Clocks(1200, 612, 1600, 6, 1)


def test_ranges_go_from_a_tenth_or_the_lowest_mode_to_the_highest() -> None:
    assert clock_ranges(BOARD) == {"cpu": (200, 2000), "gpu": (100, 1300), "mem": (186.6, 1866)}


def test_a_stated_clock_that_was_rounded_is_in_range() -> None:
    assert requested_clocks(BOARD, "gpu=1300.5", "").gpu == 1300.5


@pytest.mark.parametrize(
    ("clock", "mode", "reason"),
    [
        ("", "20W", "there is MAXN; 15W, and 1 fixed clocks (ctm devices show board-gpu)"),
        ("gpu=2000", "", "there is cpu=200 to 2000, gpu=100 to 1300, mem=186.6 to 1866 MHz"),
        ("gpu=99", "", "out of range"),
        ("gpu=612,gpu=612", "", "given once"),
        ("dla=612", "", "dla=612 is no clock in MHz"),
        ("gpu=nan", "", "gpu=nan is no clock in MHz"),
        ("gpu=", "", "no clock in MHz"),
        (",", "", "an empty part"),
    ],
)
def test_a_wrong_request_says_what_there_is(clock: str, mode: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        requested_clocks(BOARD, clock, mode)
    assert reason in str(caught.value)


def test_a_clock_that_the_device_does_not_state_is_refused() -> None:
    card = Device(
        id="card", name="Card", vendor="Me", family=Family.GPU, metrics={"boost_clock_mhz": 1500}
    )
    with pytest.raises(InputError, match="no clock that is known of card"):
        requested_clocks(card, "mem=900", "")


def test_an_accelerator_has_no_clock() -> None:
    npu = Device(id="npu", name="NPU", vendor="Me", family=Family.NPU, metrics={"clock_mhz": 900})
    assert not is_clocked(npu)
    with pytest.raises(InputError, match="states no clock"):
        requested_clocks(npu, "gpu=900", "")


def test_the_clock_of_clusters_is_that_of_the_fastest() -> None:
    clusters = (
        Cluster(name="big", cores=2, clock_mhz=2400),
        Cluster(name="little", cores=6, clock_mhz=1800),
    )
    phone = Device(
        id="phone",
        name="Phone",
        vendor="Me",
        family=Family.MOBILE_CPU,
        metrics={},
        clusters=clusters,
    )
    assert default_clocks(phone).cpu == 2400
    assert default_clocks(phone).cores == 8


def test_parsed_clocks_are_in_mhz() -> None:
    assert parsed_clocks(" gpu=612, cpu=1190 ") == {"gpu": 612.0, "cpu": 1190.0}


def test_every_mode_of_the_catalogue_can_be_asked_for() -> None:
    for device in load_catalogue().devices:
        for point in device.operating_points:
            clocks = requested_clocks(device, "", point.name)
            for name, (low, high) in clock_ranges(device).items():
                assert low <= getattr(clocks, name) <= high, (device.id, point.name)
