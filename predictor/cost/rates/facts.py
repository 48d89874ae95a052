"""Rates and memories that the facts of a device state, each read in one place.

The facts are the metrics of the device file, each with its source there. Rates are in
multiply-accumulates (MACs) a second, bandwidths in bytes a second, memories in bytes; a fact that
is not stated is None.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from predictor.core.errors import InputError
from predictor.core.metrics import MEASURED_HERE, RATE_METRIC, Family
from predictor.core.records import Device
from predictor.core.runtimes import CPUS
from predictor.core.text import printable
from predictor.devices.architectures import kind
from predictor.devices.peaks import base_clock_mhz, derived_fp32_tflops, highest_clock_mhz

FLOPS_PER_MAC: Final = 2.0
"""Operations that datasheets count for a multiply-accumulate."""

_TERA_MACS: Final = 1e12 / FLOPS_PER_MAC  # MACs a second of one TFLOP/s or TOP/s
_KIB: Final = 1024.0
_GIGA: Final = 1e9
# Boost clock over base clock of an x86 processor that states its base clock alone: between the
# medians of the catalogue's desktops and laptops, 1.45, and of its servers, 1.48.
_BOOST: Final = 1.47


class MissingMetricError(InputError):
    """A device lacks a metric that a number needs.

    Attributes:
        metric: name of the missing metric.
    """

    metric: str


def missing(device: Device, metric: str) -> MissingMetricError:
    """Return the error that names a metric without which ``device`` has no number."""
    error = MissingMetricError(
        device.id,
        f"metric {metric} is not known for {printable(device.name)}",
        "add it to the device, or choose another",
    )
    error.metric = metric
    return error


def stated_macs_per_s(device: Device, number_format: str) -> float | None:
    """Return the dense rate of a number format as stated, MACs a second.

    Args:
        device: the device.
        number_format: a key of ``RATE_METRIC``: ``fp32`` of the vector units at the boost clock;
            ``fp32_matrix``, ``tf32``, ``fp16``, ``bf16`` and ``int8`` with the matrix units.
    """
    value = device.metric(RATE_METRIC[number_format])
    return None if value is None else value * _TERA_MACS


def derived_fp32_macs_per_s(device: Device) -> float | None:
    """Return lanes x cores x the highest clock, FP32 MACs a second of the whole device."""
    value = derived_fp32_tflops(device)
    return None if value is None else value * _TERA_MACS


def fp32_macs_per_s(device: Device) -> float | None:
    """Return the FP32 peak of the vector units, MACs a second: as stated, else as derived."""
    stated = stated_macs_per_s(device, "fp32")
    return derived_fp32_macs_per_s(device) if stated is None else stated


def is_fp32_measured(device: Device) -> bool:
    """Whether the FP32 rate was measured on this machine, where it is no peak."""
    return device.sources.get(RATE_METRIC["fp32"], "").startswith(MEASURED_HERE)


def has_matrix_units(device: Device) -> bool:
    """Whether narrow formats have units beside the vectors."""
    return device.metric("matrix_units") is not None


class Clocks(NamedTuple):
    """Clocks of the cores of one kind, in MHz.

    Attributes:
        base_mhz: of the heaviest load at the rated power.
        together_mhz: of all cores at once, the geometric mean of the others.
        boost_mhz: of one core alone.
    """

    base_mhz: float
    together_mhz: float
    boost_mhz: float


def clocks_of(device: Device) -> Clocks | None:
    """Return the clocks of a device without clusters; None where it states none.

    All cores together run above the base clock: half way on a scale of ratios lowers the errors of
    x86 by a tenth (docs/decisions/0016-physics.md). Without a boost clock all three are the base
    clock, but for x86, where a system states its base clock alone and a virtual machine knows no
    other.
    """
    base, boost = base_clock_mhz(device), highest_clock_mhz(device)
    if base is None or boost is None:
        return None
    if device.metric("boost_clock_mhz") is None and kind(device) == "x86":
        boost = base * _BOOST
    return Clocks(base, math.sqrt(base * boost), boost)


def unit_cycles_per_s(device: Device) -> float:
    """Return units x the highest clock of a chip, NaN where one is not known."""
    units, clock_mhz = device.metric("core_count"), highest_clock_mhz(device)
    return units * clock_mhz * 1e6 if units and clock_mhz else math.nan


def memory_bandwidth(device: Device) -> float | None:
    """Return the peak bandwidth of the memory as stated, bytes a second."""
    stated = device.metric("dram_bw_gbps")
    return None if stated is None else stated * _GIGA


def link_bandwidth(device: Device) -> float | None:
    """Return the peak bandwidth of the link to the host, one direction, bytes a second."""
    stated = device.metric("host_link_gbps")
    return None if stated is None else stated * _GIGA


def is_streaming(device: Device) -> bool:
    """Whether a device has no memory of its own beyond the chip, see decision 0005.

    An accelerator with managed on-chip memory and a host link, whose file states no memory of its
    own: neither size nor bandwidth.
    """
    names = device.metrics.keys()
    return {"onchip_sram_kb", "host_link_gbps"} <= names and not names & {"dram_gb", "dram_bw_gbps"}


def bandwidth(device: Device) -> float:
    """Return the peak bandwidth of what lies beyond the chip, bytes a second; NaN if unknown.

    That is the memory, or the link to the host of a device that streams.
    """
    stated = link_bandwidth(device) if is_streaming(device) else memory_bandwidth(device)
    return math.nan if stated is None else stated


# What a streaming stencil reaches of the stated bandwidth on GPUs, median of 107 catalogue devices.
_USUAL_REACHED: Final = 0.82
# AMD's chiplets of up to eight cores read 32 bytes in a cycle of the fabric, which runs at 2 GHz.
_CHIPLET_CORES: Final = 8
_CHIPLET_READS: Final = 32 * 2e9
_SOCKETS: Final = re.compile(r"(\d+) x ")


def sockets(device: Device) -> int:
    """Return the number of processors of a machine, from its name: ``2 x Intel Xeon``."""
    several = _SOCKETS.match(device.name)
    return int(several[1]) if several else 1


def _fabric_bandwidth(device: Device) -> float:
    """Return what the chiplets of an AMD processor read, bytes a second; no limit of others."""
    cores = device.core_count
    if cores is None or not device.architecture.startswith("zen"):
        return math.inf
    return math.ceil(cores / _CHIPLET_CORES) * _CHIPLET_READS


def reached_bandwidth(device: Device) -> float | None:
    """Return the bandwidth of the memory that one stream of reads can count on, bytes a second.

    Where it was measured on a GPU, that is the geometric mean of the stated one and of the measured
    one over the usual share: half of the deviation is the stencil's own. What is measured on
    processors is often one thread's copy, so the stated one counts, of one socket: a program that
    does not know where its pages are reads most of them over the link between sockets.
    """
    stated = memory_bandwidth(device)
    if stated is None:
        return None
    if device.family in CPUS:
        return min(stated / sockets(device), _fabric_bandwidth(device))
    measured = device.measured.get("dram_bw_gbps")
    if measured is None:
        return stated
    return stated * math.sqrt(min(measured.value * _GIGA / stated, 1.0) / _USUAL_REACHED)


def chip_bytes(device: Device) -> float:
    """Return the managed memory on the chip of a device that streams, 0 of any other."""
    stated = device.metric("onchip_sram_kb") if is_streaming(device) else None
    return 0.0 if stated is None else stated * _KIB


def on_chip_bytes(device: Device) -> float:
    """Return the caches and on-chip memory of the whole device, NaN where none is known."""
    stated = [
        value
        for name in ("l2_kb", "llc_kb", "onchip_sram_kb")
        if (value := device.metric(name)) is not None
    ]
    return sum(stated) * _KIB if stated else math.nan


def bare_memories(device: Device) -> tuple[float | None, float | None] | None:
    """Return flash and SRAM of a microcontroller without memory beside it, in bytes.

    None for any other device; a memory that is not stated is None.
    """
    if device.family is not Family.MCU or device.memory_bytes is not None:
        return None
    flash, sram = device.metric("flash_kb"), device.metric("onchip_sram_kb")
    return (
        None if flash is None else flash * _KIB,
        None if sram is None else sram * _KIB,
    )


def core_cache_bytes(device: Device) -> tuple[float | None, float | None]:
    """Return the bytes of the first cache of one core, and its share of the second."""
    first, second = device.metric("l1_kb_per_core"), device.metric("l2_kb")
    cores = device.metric("core_count") or 1.0
    return (
        None if first is None else first * _KIB,
        None if second is None else second * _KIB / cores,
    )
