"""Targets that differ from another in one fact of the device, which is half as large again.

A process is finer by as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from predictor.core.records import Device, Precision, Target
from predictor.core.runtimes import runtime_of
from predictor.devices.variation import NO_RESOURCES, facts_of, scaled

RATE: Final = "rate"
SIZE: Final = "size"
UNUSED: Final = "unused"

_FACTOR: Final = 1.5
_SIZES: Final = frozenset({"l1_kb_per_core", "l2_kb", "llc_kb", "onchip_sram_kb", "dram_gb"})
_HALVES: Final = frozenset({"fp16_tflops", "bf16_tflops"})

# Rates that a run in a precision has no use for, on networks in float.
_OF_OTHERS: Final[Mapping[Precision, frozenset[str]]] = {
    Precision.FP32: frozenset({"int8_tops"}),
    Precision.FP16: frozenset({"int8_tops", "bf16_tflops", "tf32_tflops", "fp32_matrix_tflops"}),
    Precision.BF16: frozenset({"int8_tops", "fp16_tflops", "tf32_tflops", "fp32_matrix_tflops"}),
    Precision.INT8: frozenset({"bf16_tflops", "tf32_tflops", "fp32_matrix_tflops"}),
    Precision.AMP_FP16: frozenset({"int8_tops", "bf16_tflops"}),
    Precision.AMP_BF16: frozenset({"int8_tops", "fp16_tflops"}),
}

# The rate that stands in for one that a device does not state is the first of these that it does:
# an accelerator with INT8 alone runs floats at a rate that follows from it.
_FOR_OTHERS: Final = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops")
_OWN: Final[Mapping[Precision, str]] = {
    Precision.FP32: "fp32_tflops",
    Precision.FP16: "fp16_tflops",
    Precision.BF16: "bf16_tflops",
    Precision.INT8: "int8_tops",
    Precision.AMP_FP16: "fp16_tflops",
    Precision.AMP_BF16: "bf16_tflops",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """A target with one other fact.

    Attributes:
        target: the target.
        fact: name of the metric.
        factor: by which it is larger, or finer.
        kind: RATE, SIZE or UNUSED.
    """

    target: Target
    fact: str
    factor: float
    kind: str


def variants(target: Target) -> Iterator[Variant]:
    """Yield a target once for each fact that its device states."""
    device = target.device
    for name in facts_of(device):
        # There are no halves of cores, and of a process the finer is the better.
        step = 1 / _FACTOR if name == "process_nm" else _FACTOR
        changed = scaled(device, name, step, full_cores=True)
        factor = _factor_of_cores(device, changed) if name == "core_count" else _FACTOR
        yield Variant(replace(target, device=changed), name, factor, kind_of(name, target))
    for name, rate in device.measured.items():
        if name != "launch_us":
            larger = {**device.measured, name: replace(rate, value=rate.value * _FACTOR)}
            changed = replace(device, measured=larger)
            kind = kind_of(name, target)
            yield Variant(replace(target, device=changed), f"measured {name}", _FACTOR, kind)


def kind_of(name: str, target: Target) -> str:
    """Return what a fact is to a run of a network in float."""
    if name in _SIZES:
        return SIZE
    if name == "process_nm":
        return RATE
    device, configuration = target.device, target.configuration
    stated = next((rate for rate in _FOR_OTHERS if device.metric(rate) is not None), "")
    if name == stated and device.metric(_OWN[configuration.precision]) is None:
        return RATE
    unused = NO_RESOURCES | _OF_OTHERS[configuration.precision]
    if configuration.precision is Precision.FP32:
        halves = runtime_of(configuration.runtime).may_halve
        unused = unused if halves else unused | _HALVES
    return UNUSED if name in unused else RATE


def _factor_of_cores(device: Device, changed: Device) -> float:
    """Return the largest factor among the kinds of cores and their sum."""
    before = [*(cluster.cores for cluster in device.clusters), device.metric("core_count")]
    after = [*(cluster.cores for cluster in changed.clusters), changed.metric("core_count")]
    return max(new / old for old, new in zip(before, after, strict=True) if old and new)
