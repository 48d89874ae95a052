"""The rates of a device that language models use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.core.runtimes import CPUS
from predictor.core.text import printable

# What a streaming stencil reaches of the stated bandwidth on GPUs, median of 107 catalogue devices.
_USUAL_REACHED: Final = 0.82
# GB/s of which the threads of one token reach half: they meet at every product, so what the memory
# of servers has beyond that is lost more and more (192 cores of an AmpereOne reach 165 of 333).
_HALF_REACHED_GBPS: Final = 300.0
_USUAL_CLOCK_GHZ: Final = 1.5
# Rates over FP32 that matrix units of NPUs have, where FP32 is not stated: they have no FP32.
_INTEGER_OVER_FLOAT: Final = 4.0
# INT8 TOP/s of an NPU for each GB/s of its memory where its rate is not published: the NPUs of
# phones that state both lie about it.
_INTEGER_OVER_BANDWIDTH: Final = 0.5


@dataclass(frozen=True, slots=True)
class Machine:
    """Rates of a device in plain units.

    Attributes:
        bandwidth: bytes a second that kernels can count on, as stated and as reached.
        stated_bandwidth: bytes a second as stated, that nothing exceeds.
        vector: floating-point operations a second of the vector units.
        matrix: the same of the unit that multiplies matrices, as far as its power sustains it.
        stated_matrix: the same as stated.
        peak: the highest rate of any precision, that nothing exceeds.
        clock: in GHz.
    """

    bandwidth: float
    stated_bandwidth: float
    vector: float
    matrix: float
    stated_matrix: float
    peak: float
    clock: float


def machine_of(device: Device) -> Machine:
    """Return the rates of a device.

    Where the bandwidth was measured on a GPU, the geometric mean of that and of the stated one
    times the usual share counts: half of the deviation is the stencil's own.

    Raises:
        InputError: its memory bandwidth, or all of its arithmetic rates, are not known.
    """
    stated = device.metric("dram_bw_gbps")
    if stated is None:
        raise _missing(device, "its memory bandwidth (dram_bw_gbps)")
    vector, matrix = _vector(device), _matrix(device)
    if vector is None and device.family is Family.NPU:
        vector = matrix = stated * _INTEGER_OVER_BANDWIDTH / _INTEGER_OVER_FLOAT
    if vector is None or matrix is None:
        raise _missing(device, "any of its arithmetic rates (fp32_tflops or another)")
    stated_peaks = [v for name in _PEAKS if (v := device.metric(name)) is not None]
    peak = max(vector, matrix, *stated_peaks)
    if device.metric("int8_tops") is None:
        peak = max(peak, vector * (_CPU_INTEGERS if device.family in CPUS else _GPU_INTEGERS))
    clock = device.metric("boost_clock_mhz") or device.metric("clock_mhz")
    bandwidth = 1e9 * stated * _reached(device, stated)
    if device.family in CPUS:
        bandwidth /= 1 + stated / _HALF_REACHED_GBPS
    return Machine(
        bandwidth=bandwidth,
        stated_bandwidth=1e9 * stated,
        vector=1e12 * vector,
        matrix=sustained(1e12 * matrix, device),
        stated_matrix=1e12 * matrix,
        peak=1e12 * peak,
        clock=clock / 1000 if clock else _USUAL_CLOCK_GHZ,
    )


# Datasheets state rates at the boost clock, which the power of large cards does not sustain: joules
# of an operation, and the exponent of the norm that joins both times. Chosen among 0, 0.6, 0.9 and
# 1.2 pJ on silicon left out (research/docs/results/generation.md, The rate of products).
ENERGY_OF_FLOP: Final = 0.9e-12
_POWER_NORM: Final = 3


def sustained(matrix: float, device: Device, energy: float = ENERGY_OF_FLOP) -> float:
    """Return the operations a second that a GPU's power sustains of ``matrix``, as that elsewhere.

    Args:
        matrix: operations a second as stated.
        device: with its power, where that is known.
        energy: joules of an operation.
    """
    watts = device.metric("tdp_w")
    if watts is None or device.family is not Family.GPU:
        return matrix
    power = energy * matrix / watts  # over 1 where it cannot be sustained
    return matrix / math.pow(1 + math.pow(power, _POWER_NORM), 1 / _POWER_NORM)


# Products of bytes over FP32 where their rate is not stated: AVX2 multiplies pairs of bytes, GPUs
# have a dot product of four.
_CPU_INTEGERS: Final = 2.0
_GPU_INTEGERS: Final = 4.0
_PEAKS: Final = ("fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops")


def _reached(device: Device, stated: float) -> float:
    """Return the share of the stated bandwidth over the usual share, its half in logarithms."""
    rate = device.measured.get("dram_bw_gbps")
    # On CPUs what is measured is often one thread's copy.
    if rate is None or device.family in CPUS:
        return 1.0
    return math.sqrt(min(rate.value / stated, 1.0) / _USUAL_REACHED)


def _vector(device: Device) -> float | None:
    """Return TFLOP/s of the vector units; of an NPU a share of what it is known for."""
    for name, over in (
        ("fp32_tflops", 1.0),
        ("fp16_tflops", 2.0),
        ("int8_tops", _INTEGER_OVER_FLOAT),
    ):
        if (rate := device.metric(name)) is not None:
            return rate / over
    lanes, cores = device.metric("fp32_au_per_core"), device.metric("core_count")
    clock = device.metric("boost_clock_mhz") or device.metric("clock_mhz")
    return 2e-6 * lanes * cores * clock if lanes and cores and clock else None


def _matrix(device: Device) -> float | None:
    """Return TFLOP/s of products: of matrix units where there are any, on a CPU of its vectors.

    What llama.cpp gets from the matrix units of CPUs (AMX) is one and a half of its vectors at most
    (measured beside ``_WIDE``), and only of formats that it repacks: they are left out.
    """
    vector = _vector(device)
    if device.family in CPUS:
        of_all = _of_all_cores(device)
        return vector if vector is None or of_all is None else min(vector, of_all)
    if device.family is Family.NPU:
        integer = device.metric("int8_tops")
        return vector if integer is None else integer / _INTEGER_OVER_FLOAT
    half = device.metric("fp16_tflops") or device.metric("bf16_tflops")
    integer = device.metric("int8_tops")
    # Cards before tensor cores multiply bytes four at once; those with them reach twice the halves.
    rates = (vector, half, None if integer is None else integer / 2)
    return max((rate for rate in rates if rate is not None), default=None)


# FP32 lanes of two AVX2 units. One core of a Xeon with AVX-512 multiplies a prompt of a Llama in
# q8_0 at 80 GFLOP/s by ggml's kernels of 256 bits and at 119 by those of 512 (llama.cpp v0.5.0, one
# thread, the least of six runs): lanes beyond count half.
_WIDE: Final = 16.0


def _of_all_cores(device: Device) -> float | None:
    """Return TFLOP/s of the vectors of all cores at once, None where a fact is not known.

    Stated rates are at the clock of one busy core; the power of all of them is made for the base
    clock. The geometric mean of both is taken.
    """
    lanes, cores = device.metric("fp32_au_per_core"), device.metric("core_count")
    base, boost = device.metric("clock_mhz"), device.metric("boost_clock_mhz")
    if not (lanes and cores and (base or boost)):
        return None
    clock = math.sqrt((base or boost or 0.0) * (boost or base or 0.0))
    return 2e-6 * (min(lanes, _WIDE) + max(lanes - _WIDE, 0.0) / 2) * cores * clock


def _missing(device: Device, what: str) -> InputError:
    return InputError(
        device.id,
        f"{printable(device.name)} does not state {what}, which the speed of a language model "
        "depends on",
        "add the fact to the device file, or choose another device",
    )
