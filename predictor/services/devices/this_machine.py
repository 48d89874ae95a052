"""This machine as a device, with measured rates on request."""

from __future__ import annotations

from predictor.core.progress import CancelToken
from predictor.core.records import Device
from predictor.devices.catalogue import THIS_MACHINE_ID

__all__ = [
    "THIS_MACHINE_ID",
    "describe_this_machine",
    "is_measured",
    "measure_this_machine",
    "with_measured",
]


def measure_this_machine(cancel: CancelToken | None = None) -> Device:
    """Describe this machine and add the copy bandwidth and FP32 rate that it sustains.

    Takes about three seconds. A rate that the system states is kept; the source of a measured
    one is the measurement, with the day.

    Raises:
        HostError: when the measurement fails.
        CancelledError: when it was cancelled.
    """
    return with_measured(describe_this_machine(), cancel)


def describe_this_machine() -> Device:
    """Return this machine as its system states it; nothing is measured."""
    # Here and below: 20 ms and more that a start does not wait for.
    from predictor.devices.detection import detect_this_machine  # noqa: PLC0415

    return detect_this_machine()


def is_measured(device: Device) -> bool:
    """Return whether a device states all that can be measured here."""
    # The two rates of the roofline that the self-test measures.
    return {"dram_bw_gbps", "fp32_tflops"} <= device.metrics.keys()


def with_measured(device: Device, cancel: CancelToken | None = None) -> Device:
    """Add the copy bandwidth and FP32 rate that this machine sustains, where none is stated.

    Raises:
        HostError: when the measurement fails.
        CancelledError: when it was cancelled.
    """
    from predictor.devices.self_test import run_self_test, with_measured_rates  # noqa: PLC0415

    return with_measured_rates(device, run_self_test(cancel=cancel))
