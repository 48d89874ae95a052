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


def metric_label(name: str, family: Family) -> str:
    """Return the name of a metric on a device of ``family``: SMs, cores, PEs."""
    return _LABELS[family].get(name, _METRICS[name].label)


def metric_text(name: str, value: float | None) -> str:
    """Write a metric's value with its unit; a dash where it is absent."""
    if value is None:
        return NOTHING
    unit = _METRICS[name].unit
    return f"{significant(value, 5)} {unit}".rstrip()
