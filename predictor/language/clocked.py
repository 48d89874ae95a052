"""The rates of a device at other clocks than its default ones.

Rates of the chip follow its own clock and its cores, memory its clock, launches the clock of the
processor that makes them, as latencies of ONNX models do (docs/clocks.md).
"""

from __future__ import annotations

import math
from dataclasses import replace

from predictor.core.records import Device
from predictor.cost.clocks import CPU, GPU
from predictor.devices.operating import Clocks, clock_domain, default_clocks
from predictor.language.machine import Machine


def machine_at(machine: Machine, device: Device, clocks: Clocks) -> Machine:
    """Return the rates of a device at other clocks.

    Args:
        machine: its rates at the default clocks.
        device: the device.
        clocks: the other ones.
    """
    default, domain = default_clocks(device), clock_domain(device)

    def share(name: str) -> float:
        usual = getattr(default, name)
        return (getattr(clocks, name) or usual) / usual if usual else 1.0

    chip = share(domain) * share("gpu_cores" if domain == "gpu" else "cores")
    return replace(
        machine,
        bandwidth=machine.bandwidth * share("mem"),
        stated_bandwidth=machine.stated_bandwidth * share("mem"),
        vector=machine.vector * chip,
        # What its power sustains at the highest clock it sustains at lower ones too.
        matrix=min(machine.matrix, machine.stated_matrix * chip),
        stated_matrix=machine.stated_matrix * chip,
        peak=machine.peak * chip,
        block_rate=machine.block_rate * chip,
        clock=machine.clock * share("cpu"),
    )


def clock_spread(machine: Machine, clocked: Machine, device: Device) -> float:
    """Return the standard deviation of ln(time) that other clocks add to a prediction.

    It grows with the rate that changed most: the further from clocks at which rates were measured,
    the less certain.
    """
    names = ("bandwidth", "vector", "matrix", "clock")
    distance = max(abs(math.log(getattr(clocked, name) / getattr(machine, name))) for name in names)
    return (GPU if clock_domain(device) == "gpu" else CPU).deviation * distance
