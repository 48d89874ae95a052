"""The pace at which a host starts the work of a chip, by hand, and what it changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.cost.physics import rates_of
from predictor.cost.rates.hosts import host_pace
from predictor.devices.catalogue import shipped_devices

CARD = next(device for device in shipped_devices() if device.id == "rtx4090")


def beside(clock_ghz: float | None, architecture: str = "", device: Device = CARD) -> Device:
    metrics = {k: v for k, v in device.metrics.items() if k != "host_clock_ghz"}
    if clock_ghz is not None:
        metrics["host_clock_ghz"] = clock_ghz
    return replace(device, metrics=metrics, host_architecture=architecture)


@pytest.mark.parametrize(
    ("clock_ghz", "architecture", "pace"),
    [
        (None, "", 1.0),
        (None, "cortex-a76", 1.0),
        # 2.2 GHz x root of 4 over 5.5 GHz x root of 6.
        (2.2, "cortex-a76", 0.4 * (4 / 6) ** 0.5),
        # A host of a design that nobody states decodes four instructions.
        (5.5, "", (4 / 6) ** 0.5),
        (5.5, "no-such-design", (4 / 6) ** 0.5),
    ],
)
def test_pace(clock_ghz: float | None, architecture: str, pace: float) -> None:
    assert host_pace(beside(clock_ghz, architecture)) == pytest.approx(pace, rel=1e-12)


def test_an_interpreter_on_a_slow_host_starts_later_and_a_plan_does_not() -> None:
    slow, quick = beside(1.1), beside(4.4)

    def starts(runtime: str) -> list[float]:
        targets = [Target(device, Configuration(runtime)) for device in (slow, quick)]
        return list(rates_of(targets).launch_s)

    eager, plan = starts("pytorch"), starts("tensorrt")
    assert eager[0] == pytest.approx(4 * eager[1])
    assert plan[0] == plan[1]


def test_a_processor_is_its_own_host() -> None:
    processor = next(device for device in shipped_devices() if device.family is Family.CPU)
    targets = [Target(beside(c, "", processor), Configuration("pytorch")) for c in (None, 1.1)]
    assert len(set(rates_of(targets).launch_s)) == 1
