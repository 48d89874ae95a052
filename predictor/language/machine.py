"""The rates of a device as language models use them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from predictor.core.errors import InputError
from predictor.core.metrics import RATE_METRIC, Family
from predictor.core.records import Device
from predictor.core.runtimes import CPUS
from predictor.core.text import printable
from predictor.cost.rates.cores import busy_rate, core_kinds
from predictor.cost.rates.facts import (
    FLOPS_PER_MAC,
    fp32_macs_per_s,
    memory_bandwidth,
    reached_bandwidth,
    stated_macs_per_s,
)
from predictor.cost.rates.lanes import core_of
from predictor.cost.rates.power import sustained_product_macs_per_s
from predictor.cost.rates.units import NARROWER
from predictor.devices.architectures import architecture_of
from predictor.devices.peaks import highest_clock_mhz
from predictor.language.cards import ONE_CARD, Cards, Link

_USUAL_CLOCK_GHZ: Final = 1.5
# Dies that start two thread blocks in a cycle where others start one: what a key costs a query head
# on A100 and H100 is half of that on eleven other cards, in cycles (decision 0023).
_TWO_STARTS: Final = frozenset({"ampere-ga100", "hopper", "blackwell-gb100"})
# INT8 operations of an NPU for each byte of its memory's bandwidth where its rate is not published:
# the NPUs of phones that state both lie about it.
_INTEGER_OVER_BANDWIDTH: Final = 500.0


@dataclass(frozen=True, slots=True, kw_only=True)
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
        threads: that meet at every product; 1 on what is launched as one.
        block_rate: thread blocks that a graphics card starts, in 1e9 a second.
        dies: of all cards, that software takes for a card each.
        cards: that share the model; rates are those of all of them where they share its layers.
        link: between the cards; None of one card.
    """

    bandwidth: float
    stated_bandwidth: float
    vector: float
    matrix: float
    stated_matrix: float
    peak: float
    clock: float
    threads: float
    block_rate: float
    dies: float = 1.0
    cards: Cards = ONE_CARD
    link: Link | None = None

    @property
    def parallel(self) -> int:
        """Cards that work at a layer at once."""
        return 1 if self.cards.pipeline else self.cards.count


def machine_of(device: Device) -> Machine:
    """Return the rates of a device.

    Raises:
        InputError: its memory bandwidth, or all of its arithmetic rates, are not known.
    """
    stated, reached = memory_bandwidth(device), reached_bandwidth(device)
    if stated is None or reached is None:
        raise _missing(device, "its memory bandwidth (dram_bw_gbps)")
    vector = _vector_macs_per_s(device)
    if vector is None:
        raise _missing(device, "any of its arithmetic rates (fp32_tflops or another)")
    matrix = _matrix_macs_per_s(device, vector)
    clock_mhz = highest_clock_mhz(device)
    clock = clock_mhz / 1000 if clock_mhz else _USUAL_CLOCK_GHZ
    return Machine(
        bandwidth=reached,
        stated_bandwidth=stated,
        vector=FLOPS_PER_MAC * vector,
        matrix=FLOPS_PER_MAC * sustained_product_macs_per_s(device, matrix),
        stated_matrix=FLOPS_PER_MAC * matrix,
        peak=FLOPS_PER_MAC * _peak_macs_per_s(device, vector, matrix),
        clock=clock,
        threads=float(device.core_count or 1) if device.family in CPUS else 1.0,
        block_rate=clock * (2.0 if device.architecture in _TWO_STARTS else 1.0),
        dies=_dies(device),
    )


def with_float8(machine: Machine, device: Device) -> Machine:
    """Return the rates for weights in floats of 8 bits: those of halves where it has no others.

    Matrix units that multiply such floats do so at the rate of integers of 8 bits.
    """
    halves, integers = stated_macs_per_s(device, "fp16"), stated_macs_per_s(device, "int8")
    design = architecture_of(device)
    has_float8 = design is not None and "fp8" in design.matrix_lanes
    if not has_float8 or not halves or not integers:
        return machine
    ratio = max(integers / halves, 1.0)
    return replace(
        machine, matrix=ratio * machine.matrix, stated_matrix=ratio * machine.stated_matrix
    )


def shared(machine: Machine, cards: Cards, link: Link | None) -> Machine:
    """Return the rates of several cards together: a part of each layer is on every card.

    As a pipeline a token passes one card after the other, so the rates are those of one.
    """
    if cards.count == 1:
        return machine
    times = 1 if cards.pipeline else cards.count
    return replace(
        machine,
        cards=cards,
        link=link,
        bandwidth=times * machine.bandwidth,
        stated_bandwidth=times * machine.stated_bandwidth,
        vector=times * machine.vector,
        matrix=times * machine.matrix,
        stated_matrix=times * machine.stated_matrix,
        peak=times * machine.peak,
        block_rate=times * machine.block_rate,
        dies=times * machine.dies,
    )


def _dies(device: Device) -> float:
    """Return the dies of a card, each a device to software where the design says how large."""
    design, count = architecture_of(device), device.metric("core_count")
    units = None if design is None else design.numbers.get("die_units")
    return float(math.ceil(count / units)) if units and count else 1.0


def _vector_macs_per_s(device: Device) -> float | None:
    """Return the FP32 rate of the vector units; of an NPU a share of what it is known for."""
    single = fp32_macs_per_s(device)
    if single is not None:
        return single
    for name in ("fp16", "int8"):
        if (rate := stated_macs_per_s(device, name)) is not None:
            return rate / NARROWER[name]
    bandwidth = memory_bandwidth(device)
    if device.family is not Family.NPU or bandwidth is None:
        return None
    return bandwidth * _INTEGER_OVER_BANDWIDTH / FLOPS_PER_MAC / NARROWER["int8"]


def _matrix_macs_per_s(device: Device, vector: float) -> float:
    """Return the rate of products: of matrix units where there are any, on a CPU of its vectors.

    What llama.cpp gets from the matrix units of CPUs (AMX) is one and a half of its vectors at most
    (measured beside ``_WIDE``), and only of formats that it repacks: they are left out.
    """
    if device.family in CPUS:
        return min(vector, _all_cores_macs_per_s(device) or vector)
    integer = stated_macs_per_s(device, "int8")
    if device.family is Family.NPU:
        return vector if integer is None else integer / NARROWER["int8"]
    half = stated_macs_per_s(device, "fp16") or stated_macs_per_s(device, "bf16")
    # Cards before tensor cores multiply bytes four at once; those with them reach twice the halves.
    return max(vector, half or 0.0, (integer or 0.0) / 2)


# FP32 lanes of two AVX2 units. One core of a Xeon with AVX-512 multiplies a prompt of a Llama in
# q8_0 at 80 GFLOP/s by ggml's kernels of 256 bits and at 119 by those of 512 (llama.cpp v0.5.0, one
# thread, the least of six runs): lanes beyond count half.
_WIDE: Final = 16.0


def _all_cores_macs_per_s(device: Device) -> float | None:
    """Return the rate of the vectors of all cores at once, None where a fact is not known."""
    rates: list[tuple[float, float]] = []
    for kind in core_kinds(device):
        core = core_of(device, kind.cluster)
        if core is None:
            return None
        lanes = min(core.fp32_lanes, _WIDE) + max(core.fp32_lanes - _WIDE, 0.0) / 2
        rates.append((kind.clock_hz(0) * lanes, kind.cores))
    return busy_rate(rates, 0) if rates else None


# Products of bytes over FP32 where their rate is not stated: AVX2 multiplies pairs of bytes, GPUs
# have a dot product of four.
_CPU_INTEGERS: Final = 2.0
_GPU_INTEGERS: Final = 4.0


def _peak_macs_per_s(device: Device, vector: float, matrix: float) -> float:
    """Return the highest rate of any precision that is stated, or implied by the vectors."""
    stated = {name: stated_macs_per_s(device, name) for name in RATE_METRIC if name != "int4"}
    peak = max(vector, matrix, *(rate for rate in stated.values() if rate is not None))
    if stated["int8"] is None:
        peak = max(peak, vector * (_CPU_INTEGERS if device.family in CPUS else _GPU_INTEGERS))
    return peak


def _missing(device: Device, what: str) -> InputError:
    return InputError(
        device.id,
        f"{printable(device.name)} does not state {what}, which the speed of a language model "
        "depends on",
        "add the fact to the device file, or choose another device",
    )
