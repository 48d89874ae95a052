"""How metrics and findings of a device are worded, by the kind of compute unit."""

from __future__ import annotations

import re

from ctm_gui.presenters.wording import NOTHING
from predictor.core.metrics import METRIC_BY_NAME, METRICS, Family, Metric
from predictor.core.units import significant
from predictor.services.device_form import range_text

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
_NAMES = re.compile(r"\b(?:" + "|".join(metric.name for metric in METRICS) + r")\b")


def metric_label(name: str, family: Family) -> str:
    """Return what a metric is called on a device of ``family``: SMs, cores, PEs."""
    return _LABELS[family].get(name, METRIC_BY_NAME[name].label)


def metric_help(metric: Metric, family: Family) -> str:
    """Return what a metric means, its unit and its range, a sentence each."""
    label = metric_label(metric.name, family)
    unit = f"In {metric.unit}, " if metric.unit else "A count, "
    return (
        f"{label} ({metric.name})\n{metric.help}\n{unit}{range_text(metric)}.\n"
        "Leave it unticked where it is not known: absent is not zero."
    )


def applies(name: str, family: Family) -> bool:
    """Whether a device of ``family`` can have the metric at all."""
    return name != "dsp_count" or family is Family.FPGA


def in_words(sentence: str, family: Family) -> str:
    """Return a check's sentence with labels in place of field names, as a sentence of its own."""
    words = _NAMES.sub(lambda found: metric_label(found.group(), family), sentence)
    return f"{words[:1].upper()}{words[1:]}."


def metric_text(name: str, value: float | None) -> str:
    """Write a metric's value with its unit; a dash where it is absent."""
    if value is None:
        return NOTHING
    unit = METRIC_BY_NAME[name].unit
    return f"{significant(value, 5)} {unit}".rstrip()
