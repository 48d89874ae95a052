"""This machine as a device, with measured rates on request."""

from __future__ import annotations

from predictor.core.progress import CancelToken
from predictor.core.records import Device
from predictor.devices.detection import detect_this_machine
from predictor.devices.self_test import run_self_test, with_measured_rates


def measure_this_machine(cancel: CancelToken | None = None) -> Device:
    """Describe this machine and add the copy bandwidth and FP32 rate that it sustains.

    Takes about three seconds. A rate that the system states is kept; a measured one says so in
    its source, with the day.

    Raises:
        HostError: when the measurement fails.
        CancelledError: when it was cancelled.
    """
    return with_measured_rates(detect_this_machine(), run_self_test(cancel=cancel))
