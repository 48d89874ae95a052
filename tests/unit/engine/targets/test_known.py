"""Copies of devices are taken for the first of them, devices with other facts are not."""

from __future__ import annotations

from dataclasses import replace

from predictor.core.records import Configuration, Target
from predictor.engine.targets import known
from predictor.engine.targets.known import KnownDevices
from tests.support.graphs import make_target

TARGET = make_target({"fp32_tflops": 1.0})


def copied(**changes: object) -> Target:
    return replace(TARGET, device=replace(TARGET.device, **changes))


def test_a_copy_is_taken_for_the_first_device() -> None:
    devices = KnownDevices()
    devices.first([TARGET])
    other = replace(copied(), configuration=Configuration("ncnn"))

    same, of_other = devices.first([copied(), other])

    assert same.device is of_other.device is TARGET.device
    assert of_other.configuration == other.configuration


def test_a_device_with_another_fact_is_itself_and_known_from_then_on() -> None:
    devices = KnownDevices()
    devices.first([TARGET])
    faster = copied(metrics={"fp32_tflops": 2.0})

    assert devices.first([faster])[0] is faster
    assert devices.first([copied(metrics={"fp32_tflops": 2.0})])[0].device is faster.device


def test_no_more_than_some_are_known(monkeypatch) -> None:
    monkeypatch.setattr(known, "_DEVICES", 2)
    devices = KnownDevices()
    rows = [copied(id=name) for name in ("a", "b", "c")]
    devices.first(rows)
    first, last = devices.first([copied(id="a"), copied(id="c")])

    assert first.device is not rows[0].device
    assert last.device is rows[2].device
