"""The range of a family's values in words: hand-worked medians of odd and even numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ctm_gui.devices.tables import profile
from predictor.core.metrics import Family
from predictor.core.records import Device


def device(device_id: str, clock_mhz: float) -> Device:
    return Device(
        id=device_id,
        name=device_id,
        vendor="v",
        family=Family.CPU,
        metrics={"clock_mhz": clock_mhz},
    )


@pytest.mark.parametrize(
    ("clocks_mhz", "text"),
    [
        ([900.0], "900 to 900, median 900 MHz"),
        ([3000.0, 1000.0, 1500.0], "1000 to 3000, median 1500 MHz"),
        ([3000.0, 1000.0, 1500.0, 2000.0], "1000 to 3000, median 1750 MHz"),
        ([], ""),
    ],
)
def test_the_range_of_the_others(clocks_mhz: Sequence[float], text: str) -> None:
    others = [device(f"other-{number}", clock) for number, clock in enumerate(clocks_mhz)]
    current = device("current", 2500.0)
    rows = {row.metric: row for row in profile(current, [current, *others])}
    assert rows["clock_mhz"].range_text == text
    assert rows["clock_mhz"].peers == len(clocks_mhz)
