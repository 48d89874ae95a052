"""The registry of Hardware Capability Vector metrics: name, unit, plausible range, order.

The order is part of the format: checkpoints store the list, new metrics are appended.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """The kind of compute unit that a device is."""

    GPU = "gpu"
    CPU = "cpu"
    MOBILE_CPU = "mobile_cpu"
    MOBILE_GPU = "mobile_gpu"
    NPU = "npu"
    FPGA = "fpga"
    ASIC = "asic"
    MCU = "mcu"


class MetricGroup(StrEnum):
    """Groups of the HCV form."""

    COMPUTE = "compute"
    MEMORY = "memory"
    POWER = "power"


@dataclass(frozen=True, slots=True)
class Metric:
    """One HCV metric.

    Attributes:
        name: name with its unit, as in device files.
        label: name for people.
        unit: unit for people, empty for a count.
        low: smallest plausible value; under it a device file is refused.
        high: largest plausible value.
        group: group of the form.
    """

    name: str
    label: str
    unit: str
    low: float
    high: float
    group: MetricGroup


_C, _M, _P = MetricGroup.COMPUTE, MetricGroup.MEMORY, MetricGroup.POWER

MEASURED_HERE = "measured on this machine"
"""How the source of a metric begins that is no fact of a datasheet but what was reached here."""

PRODUCT_SIZE = 1024
"""Rows and columns of the matrices whose product is measured on this machine."""

MEASURED_PRODUCT = "FP32 matrix product of ONNX Runtime"
"""Words in the source of an FP32 rate that was measured by a product of these matrices."""

COMPUTED_HERE = "this machine: computed: clock x cores x lanes x 2"
"""Source of an FP32 rate that a measured one replaces: virtual machines may hide their clock."""

NO_BANDWIDTH = "Memory bandwidth is not stated by the system; measure it."
"""Note of this machine until its rates are measured."""

METRICS: tuple[Metric, ...] = (
    Metric("clock_mhz", "Clock", "MHz", 1, 10_000, _C),
    Metric("boost_clock_mhz", "Boost clock", "MHz", 1, 10_000, _C),
    Metric("core_count", "Cores", "", 1, 1e6, _C),
    Metric("fp32_au_per_core", "FP32 lanes per core", "", 1, 1e5, _C),
    Metric("matrix_units", "Matrix units", "", 1, 1e6, _C),
    Metric("dsp_count", "DSP slices", "", 1, 1e6, _C),
    Metric("fp32_tflops", "FP32 peak", "TFLOP/s", 1e-6, 1e4, _C),
    Metric("tf32_tflops", "TF32 peak", "TFLOP/s", 1e-6, 1e5, _C),
    Metric("fp16_tflops", "FP16 peak", "TFLOP/s", 1e-6, 1e5, _C),
    Metric("bf16_tflops", "BF16 peak", "TFLOP/s", 1e-6, 1e5, _C),
    Metric("int8_tops", "INT8 peak", "TOP/s", 1e-6, 1e5, _C),
    Metric("int4_tops", "INT4 peak", "TOP/s", 1e-6, 1e6, _C),
    Metric("l1_kb_per_core", "L1 per core", "KiB", 1, 1e5, _M),
    Metric("l2_kb", "L2", "KiB", 1, 1e7, _M),
    Metric("llc_kb", "Last-level cache", "KiB", 1, 1e8, _M),
    Metric("onchip_sram_kb", "On-chip SRAM", "KiB", 1, 1e8, _M),
    Metric("dram_gb", "Memory", "GiB", 1e-5, 1e5, _M),
    Metric("dram_bw_gbps", "Memory bandwidth", "GB/s", 1e-3, 1e5, _M),
    Metric("l2_bw_gbps", "L2 bandwidth", "GB/s", 1e-3, 1e6, _M),
    Metric("host_link_gbps", "Host link", "GB/s", 1e-3, 1e4, _M),
    Metric("tdp_w", "Power limit", "W", 1e-3, 1e4, _P),
    Metric("process_nm", "Process", "nm", 1, 1000, _P),
    Metric("fp32_matrix_tflops", "FP32 matrix peak", "TFLOP/s", 1e-6, 1e5, _C),
    Metric("flash_kb", "Flash", "KiB", 1, 1e8, _M),
    Metric("host_clock_ghz", "Host clock", "GHz", 0.1, 10, _C),
)

METRIC_BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}

RATE_METRIC: dict[str, str] = {
    metric.name.rpartition("_")[0]: metric.name
    for metric in METRICS
    if metric.unit in {"TFLOP/s", "TOP/s"}
}
"""The metric of the rate in a number format: ``fp32``, ``fp32_matrix``, ``tf32``, ``int8`` ..."""

# No metrics of the vector, whose list is part of every checkpoint: they are only ever measured.
LAUNCH_US = Metric("launch_us", "Launch", "µs", 1e-3, 1e6, _C)

CORE_FP32 = Metric("core_fp32_tflops", "FP32 peak of one core", "TFLOP/s", 1e-6, 1e4, _C)

ONLY_MEASURED = (CORE_FP32, LAUNCH_US)
"""Metrics that come of measurements alone: no datasheet states them."""

MEASURABLE: dict[str, Metric] = {
    metric.name: metric
    for metric in (*METRICS, *ONLY_MEASURED)
    if metric.unit in {"TFLOP/s", "TOP/s", "GB/s", LAUNCH_US.unit}
}
"""Rates that can be reached as well as stated, and those of :data:`ONLY_MEASURED`."""
