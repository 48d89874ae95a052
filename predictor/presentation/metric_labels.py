"""Names of metrics and kinds of compute units for people."""

from __future__ import annotations

from predictor.core.metrics import MEASURABLE, METRIC_BY_NAME, Family
from predictor.core.units import significant
from predictor.presentation.wording import NOTHING

FAMILY_WORDS = {
    Family.GPU: "GPU",
    Family.CPU: "CPU",
    Family.MOBILE_CPU: "Mobile CPU",
    Family.MOBILE_GPU: "Mobile GPU",
    Family.NPU: "NPU or DSP",
    Family.FPGA: "FPGA",
    Family.ASIC: "Accelerator",
    Family.MCU: "Microcontroller",
}

_METRICS = {**METRIC_BY_NAME, **MEASURABLE}

# What the parts of a unit are called in its family; elsewhere the registry's own label holds.
_GPU_LABELS = {
    "core_count": "SMs or compute units",
    "fp32_au_per_core": "FP32 lanes per SM",
    "matrix_units": "Tensor or matrix cores",
    "l1_kb_per_core": "L1 / shared memory per SM",
}
_CPU_LABELS = {
    "fp32_au_per_core": "FP32 FMA lanes per core",
    "l1_kb_per_core": "L1 data cache per core",
    "matrix_units": "Matrix units (AMX, SME)",
    "dram_gb": "Memory (RAM)",
}
_NPU_LABELS = {
    "core_count": "NPU cores",
    "fp32_au_per_core": "FP32 lanes per core",
    "matrix_units": "MAC units (INT8)",
}
_LABELS: dict[Family, dict[str, str]] = {
    Family.GPU: _GPU_LABELS,
    Family.MOBILE_GPU: {
        **_GPU_LABELS,
        "core_count": "Shader cores or SMs",
        "fp32_au_per_core": "FP32 lanes per shader core",
        "l1_kb_per_core": "L1 per shader core",
    },
    Family.CPU: _CPU_LABELS,
    Family.MOBILE_CPU: _CPU_LABELS,
    Family.NPU: _NPU_LABELS,
    Family.ASIC: {**_NPU_LABELS, "core_count": "PEs or cores"},
    Family.FPGA: {
        "core_count": "PEs of the overlay",
        "fp32_au_per_core": "FP32 lanes per PE",
        "onchip_sram_kb": "Block RAM and UltraRAM",
        "l1_kb_per_core": "Buffer per PE",
    },
    Family.MCU: {**_CPU_LABELS, "onchip_sram_kb": "SRAM", "dram_gb": "External memory"},
}
METRIC_HELP = {
    "clock_mhz": "Base or sustained clock of the compute unit.",
    "boost_clock_mhz": "Highest clock of the compute unit.",
    "core_count": "SMs on a GPU, cores on a CPU, PEs or cores on an accelerator.",
    "fp32_au_per_core": "FP32 lanes per SM, or FMA lanes times units per CPU core.",
    "matrix_units": "Tensor cores or other matrix engines on the device.",
    "dsp_count": "DSP slices of an FPGA.",
    "fp32_tflops": "Vector rate in FP32, one FMA being two operations.",
    "tf32_tflops": "Dense TF32 rate with the matrix units.",
    "fp16_tflops": "Dense FP16 rate with the matrix units.",
    "bf16_tflops": "Dense BF16 rate with the matrix units.",
    "int8_tops": "Dense INT8 rate with the matrix units.",
    "int4_tops": "Dense INT4 rate with the matrix units.",
    "l1_kb_per_core": "First-level data cache or shared memory per core.",
    "l2_kb": "Second-level cache of the whole device.",
    "llc_kb": "Last-level cache of the whole device, where it is not the L2.",
    "onchip_sram_kb": "Explicitly managed on-chip memory.",
    "dram_gb": "Memory that the device can use; 1 GiB is 2^30 bytes, which vendors write as 1 GB.",
    "dram_bw_gbps": "Peak bandwidth of the memory, 1e9 bytes a second.",
    "l2_bw_gbps": "Peak bandwidth of the second-level cache.",
    "host_link_gbps": "Peak bandwidth between host and device, one direction.",
    "tdp_w": "Thermal design power or board power limit.",
    "process_nm": "Manufacturing process.",
    "fp32_matrix_tflops": "Dense rate of the matrix units in full FP32.",
    "flash_kb": "Flash of a microcontroller, which holds the weights.",
    "host_clock_ghz": "Highest clock of the processor that starts the work; absent, a desktop's.",
    "core_fp32_tflops": "Rate of one core in FP32, one FMA being two operations.",
    "launch_us": "Time to start one kernel or operator.",
}
"""Definitions of the metrics and of the launch in one sentence, by name."""


def metric_label(name: str, family: Family) -> str:
    """Return the name of a metric on a device of ``family``: SMs, cores, PEs."""
    return _LABELS[family].get(name, _METRICS[name].label)


def metric_text(name: str, value: float | None) -> str:
    """Write a metric's value with its unit; a dash where it is absent."""
    if value is None:
        return NOTHING
    unit = _METRICS[name].unit
    return f"{significant(value, 5)} {unit}".rstrip()
