"""Runtimes and precisions of a device that states none, from what is known of its hardware."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from predictor.core.metrics import RATE_METRIC, Family
from predictor.core.records import Configuration, Device, Precision
from predictor.core.runtimes import CPUS, RUNTIMES, UNKNOWN
from predictor.devices.architectures import architecture_of, instruction_sets
from predictor.devices.default_configurations import best_first, runtimes_of_makers

# Of a device without stated configurations.
NOT_STATED: Final = (Configuration(),)

# A metric, an instruction set or a fact of the architecture: each shows that a device multiplies in
# the precision. SVE has half arithmetic from its first version on.
_SETS: Final = {
    Precision.FP16: frozenset({"fp16", "sve", "sve2", "avx512-fp16"}),
    Precision.BF16: frozenset({"bf16", "avx512-bf16", "amx-bf16"}),
    Precision.INT8: frozenset[str](),
}
_FACTS: Final = {
    Precision.FP16: ("fp16_factor",),
    Precision.BF16: ("bf16_factor", "matrix_bf16_macs"),
    Precision.INT8: ("int8_factor", "matrix_int8_macs", "int8_macs_per_core"),
}
# Mixed precision keeps FP32 weights: it needs both formats.
_MIXED: Final = {Precision.AMP_FP16: Precision.FP16, Precision.AMP_BF16: Precision.BF16}
_HAVE_FP32: Final = CPUS | {Family.GPU, Family.MOBILE_GPU, Family.MCU}
# Any processor multiplies bytes, if no faster than floats.
_HAVE_INT8: Final = CPUS | {Family.MCU}


def implied_configurations(device: Device) -> tuple[Configuration, ...]:
    """Return what a device can run whose file or form does not say, the best deployable first.

    The runtimes of its maker and each usual one that can be installed on any device of its family,
    in each precision that the device's rates, its architecture or its instruction sets show; last
    an unknown runtime, which covers every other one. ``device.configurations`` is not read.
    """
    precisions = implied_precisions(device)
    of_makers = runtimes_of_makers(device)
    runtimes = [
        row
        for row in RUNTIMES.values()
        if (device.family in row.portable and row.is_usual) or row.name in of_makers
    ]
    implied = [
        Configuration(row.name, precision)
        for row in runtimes
        for precision in precisions
        if precision in row.precisions and row.name != UNKNOWN
    ]
    # With the unknown runtime any other may be requested, in each precision that is listed.
    covered = {configuration.precision for configuration in implied}
    rest = [precision for precision in precisions if precision not in covered] or precisions[:1]
    unknown_runtimes = tuple(Configuration(UNKNOWN, precision) for precision in rest)
    return (*best_first(device, implied), *unknown_runtimes) if implied else unknown_runtimes


def with_implied(device: Device) -> Device:
    """Return a device with what its facts imply where its configurations are not stated."""
    if device.configurations != NOT_STATED:
        return device
    return replace(device, configurations=implied_configurations(device))


def implied_precisions(device: Device) -> tuple[Precision, ...]:
    """Return the precisions that the facts of a device show; FP32 where they show none."""
    precisions = {precision for precision in _SETS if _shows(device, precision)}
    if device.family in _HAVE_INT8:
        precisions.add(Precision.INT8)
    if device.family in _HAVE_FP32 or device.metric("fp32_tflops") is not None or not precisions:
        precisions.add(Precision.FP32)
        precisions |= {mixed for mixed, half in _MIXED.items() if half in precisions}
    return tuple(precision for precision in Precision if precision in precisions)


def _shows(device: Device, precision: Precision) -> bool:
    if device.metric(RATE_METRIC[precision.number_format]) is not None:
        return True
    if not _SETS[precision].isdisjoint(instruction_sets(device)):
        return True
    design = architecture_of(device)
    if design is None:
        return False
    facts = design.numbers.keys() | design.matrix_lanes.keys()
    return not facts.isdisjoint({precision.value, *_FACTS[precision]})
