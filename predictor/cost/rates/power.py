"""Rates that the power of a graphics card sustains.

A datasheet states rates at the boost clock. An operation takes energy, so a rate takes power, and a
card that may not have as much lowers its clock: the rate falls as the power to 0.7, between power
that falls as the clock and as its cube. The energy is that of the unit.
"""

from __future__ import annotations

from typing import Final

from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.cost.rates.facts import FLOPS_PER_MAC, fp32_macs_per_s

_EXPONENT: Final = 0.7
# Of an operation in FP32 lanes, for a nanometre of the process: a T4 has 0.7 at 12 nm and falls to
# 1 GHz, a V100 has 1.5 and does not.
_LANE_PJ_OF_NANOMETRE: Final = 4 / 3
PRODUCT_JOULES: Final = 1.6e-12
"""Of an operation in units that multiply matrices, whatever the process: chosen on silicon left out
(research/docs/results/generation.md, The rate of products)."""


def sustained_fp32_macs_per_s(device: Device) -> float | None:
    """Return the FP32 rate of the lanes that a device keeps, MACs a second; None if unknown.

    Without its power and its process, and on anything but a graphics card, that is the peak.
    """
    peak, nm = fp32_macs_per_s(device), device.metric("process_nm")
    if peak is None or nm is None:
        return peak
    needed_w = FLOPS_PER_MAC * peak * _LANE_PJ_OF_NANOMETRE * nm * 1e-12
    return _sustained_share(device, needed_w) * peak


def sustained_product_macs_per_s(
    device: Device, macs_per_s: float, joules: float = PRODUCT_JOULES
) -> float:
    """Return the rate of products that a device keeps, MACs a second.

    Without its power, and on anything but a graphics card, that is the stated one.

    Args:
        device: the device.
        macs_per_s: as stated.
        joules: of a floating-point operation.
    """
    return _sustained_share(device, FLOPS_PER_MAC * joules * macs_per_s) * macs_per_s


def rated_watts(device: Device) -> float | None:
    """Return the rated power of a device in watts, as stated."""
    return device.metric("tdp_w")


def _sustained_share(device: Device, needed_w: float) -> float:
    """Return the share of a rate that a card keeps if the whole of it took ``needed_w`` watts."""
    watts = rated_watts(device)
    if watts is None or device.family is not Family.GPU or needed_w <= watts:
        return 1.0
    share: float = (watts / needed_w) ** _EXPONENT
    return share
