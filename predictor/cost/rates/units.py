"""Rates of chips whose work is not spread over threads: GPUs and accelerators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.cost.rates.facts import stated_macs_per_s, unit_cycles_per_s
from predictor.cost.rates.power import sustained_fp32_macs_per_s
from predictor.devices.architectures import architecture_of
from predictor.devices.peaks import highest_clock_mhz, stated_lanes

GPUS: Final = frozenset({Family.GPU, Family.MOBILE_GPU})
NARROWER: Final[Mapping[str, float]] = {"fp32": 1.0, "fp16": 2.0, "bf16": 2.0, "int8": 4.0}
"""Rate over the FP32 rate where a device states none: a register holds as many more of them."""

_FLOATS: Final = frozenset({"fp16", "bf16"})
# Instructions of a product for one that multiplies: a third more load and step. An SM that issues
# no more than it has lanes reaches three quarters: cuBLAS in FP32 73 % on an RTX PRO 6000, 82 % on
# an H200 (kernelspace.substack.com, on a defect of cuBLAS), and 95 % on a V100, which issues twice
# as much (NeuSight's operators).
_ISSUED: Final = 4 / 3


def product_macs_per_s(device: Device, number_format: str) -> float:
    """Return the rate of products in a number format, by it or by the nearest fact, NaN if unknown.

    Args:
        device: a GPU or an accelerator.
        number_format: ``fp32``, ``fp16``, ``bf16`` or ``int8``.
    """
    single = sustained_fp32_macs_per_s(device)
    if number_format == "fp32":
        stated = _issued_macs_per_s(device, single)
    else:
        stated = stated_macs_per_s(device, number_format)
    if stated is not None:
        # Kernels compute halves in FP32 where that is faster, as cuBLAS does on Pascal.
        return max(stated, single or 0.0) if number_format in _FLOATS else stated
    design, cycles = architecture_of(device), unit_cycles_per_s(device)
    if design is not None and number_format in design.matrix_lanes and math.isfinite(cycles):
        return design.matrix_lanes[number_format] * cycles
    if single is not None:
        factor = {} if design is None else design.numbers
        halves = max(factor.get("fp16_factor", 2.0), 1.0)
        return single * (halves if number_format == "fp16" else NARROWER[number_format])
    # An accelerator without a rate of floats: by the widest format that it states.
    for other in ("fp16", "bf16", "int8"):
        rate = stated_macs_per_s(device, other)
        if rate is not None:
            return rate * NARROWER[number_format] / NARROWER[other]
    return math.nan


def _issued_macs_per_s(device: Device, single: float | None) -> float | None:
    """Return the FP32 rate of products, whose other instructions take issue slots of the lanes."""
    design = architecture_of(device)
    if single is None or design is None or "issue_lanes" not in design.numbers:
        return single
    issued = design.numbers["issue_lanes"] / (_ISSUED * design.numbers["fp32_lanes"])
    return min(1.0, issued) * single


def tf32_macs_per_s(device: Device) -> float:
    """Return the rate of products in TF32; NaN of a chip that has none."""
    stated, design = stated_macs_per_s(device, "tf32"), architecture_of(device)
    if stated is None and design is not None and "tf32" in design.matrix_lanes:
        return design.matrix_lanes["tf32"] * unit_cycles_per_s(device)
    return math.nan if stated is None else stated


def unit_macs_per_s(device: Device, number_format: str) -> float:
    """Return the rate of products on one SM or compute unit of a GPU; NaN where not known.

    Clock times lanes, not the whole rate over the units: more of them would then make each of them
    slower.
    """
    clock_mhz = highest_clock_mhz(device)
    if not clock_mhz or device.family not in GPUS:
        return math.nan
    return _unit_lanes(device, number_format) * clock_mhz * 1e6


def _unit_lanes(device: Device, number_format: str) -> float:
    design = architecture_of(device)
    if design is None:
        return stated_lanes(device) or math.nan
    if number_format in design.matrix_lanes:
        return design.matrix_lanes[number_format]
    # A block runs on all units that share the local memory of a group.
    lanes = design.numbers.get("fp32_lanes", math.nan) * design.numbers.get("group_units", 1.0)
    halves = design.numbers.get("fp16_factor", 1.0) if number_format == "fp16" else 1.0
    return lanes * max(halves, 1.0)
