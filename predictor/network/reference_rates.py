"""Rates that the shipped network measures efficiency against: facts where known, typical else.

The roofline engine has no number where a fact is missing. The network can say one, with a wider
interval: it learns the distance of a target from its reference rates, and a typical rate of the
family takes the place of a missing fact. Typical rates are learned from the training devices and
kept with the network.

No torch: the runtime of the shipped network uses this file too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, Precision, Target
from predictor.cost.capability import ACTIVATION_BYTES, WEIGHT_BYTES, is_streaming, launch_us
from predictor.cost.columns import S_TO_MS, ms_per_mac, width_ratios
from predictor.cost.cores import core_use

Floats = NDArray[np.float64]
_Value = TypeVar("_Value")

# A FLOP count has two operations for a multiply-accumulate.
_TERA_MACS: Final = 1e12 / 2
_WITHOUT_FLOAT: Final = frozenset({Family.NPU, Family.ASIC, Family.FPGA})
ANY_FAMILY: Final = "any"


@dataclass(frozen=True, slots=True)
class Typical:
    """Typical rates of families of devices, where a device does not state its own.

    Attributes:
        macs_per_cycle: FP32 multiply-accumulates of a core in a cycle, by family.
        macs_per_s: FP32 rate of the whole device, by family.
        bandwidth: (a, b) with ln(bytes/s) = a + b ln(FP32 MACs/s), by family.
    """

    macs_per_cycle: Mapping[str, float]
    macs_per_s: Mapping[str, float]
    bandwidth: Mapping[str, tuple[float, float]]

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, object]]) -> Typical:
        """Rebuild from :meth:`to_json`.

        Raises:
            KeyError, TypeError, ValueError: a part is missing or wrong.
        """
        return cls(
            {str(k): float(v) for k, v in data["macs_per_cycle"].items()},  # type: ignore[arg-type]
            {str(k): float(v) for k, v in data["macs_per_s"].items()},  # type: ignore[arg-type]
            {
                str(k): (float(v[0]), float(v[1]))  # type: ignore[index]
                for k, v in data["bandwidth"].items()
            },
        )


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceRates:
    """Reference rates of T targets; every value is finite and positive unless said.

    Attributes:
        ms_per_mac: [T, CODES], by the codes of :mod:`predictor.cost.columns`.
        ms_per_byte: [T], of traffic that leaves the chip.
        weight_ratio: [T, WIDTHS], bytes of a weight in the run for a byte in the file.
        activation_ratio: [T, WIDTHS], the same of an activation.
        launch_ms: [T], may be 0.
        held_bytes: [T], bytes that stay on the chip of a target that streams; 0 elsewhere.
        on_chip_bytes: [T], NaN where it is not known.
    """

    ms_per_mac: Floats
    ms_per_byte: Floats
    weight_ratio: Floats
    activation_ratio: Floats
    launch_ms: Floats
    held_bytes: Floats
    on_chip_bytes: Floats

    @classmethod
    def of(cls, targets: Sequence[Target], typical: Typical) -> ReferenceRates:
        """Derive the rates; the batch of a configuration means nothing here."""
        rows = [_rates(target, typical) for target in targets]
        matrix, vector, integer, bandwidth, launch_ms, held, on_chip = (
            np.array([row[place] for row in rows], np.float64) for place in range(7)
        )
        precisions = [target.configuration.precision for target in targets]
        return cls(
            ms_per_mac=ms_per_mac(matrix, vector, integer),
            ms_per_byte=S_TO_MS / bandwidth,
            weight_ratio=width_ratios([WEIGHT_BYTES[each] for each in precisions]),
            activation_ratio=width_ratios([ACTIVATION_BYTES[each] for each in precisions]),
            launch_ms=launch_ms,
            held_bytes=held,
            on_chip_bytes=on_chip,
        )

    def __len__(self) -> int:
        return len(self.ms_per_byte)

    def take(self, targets: NDArray[np.integer]) -> ReferenceRates:
        """Return the rates of some of the targets, in their order."""
        return ReferenceRates(*(getattr(self, field.name)[targets] for field in fields(self)))


def is_rated(device: Device) -> bool:
    """Whether a device states its computing power: a rate, or clock and cores."""
    stated = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops")
    return any(map(device.metric, stated)) or cycles_per_s(device, 0) is not None


def _rates(target: Target, typical: Typical) -> tuple[float, ...]:
    """Return matrix, vector and integer rate, bandwidth, launch ms, held bytes, on-chip bytes."""
    device, configuration = target.device, target.configuration
    share = _share(device, configuration.threads)
    stated = {
        name: value * _TERA_MACS * share
        for name in ("fp32_matrix_tflops", "fp16_tflops", "bf16_tflops", "int8_tops")
        if (value := device.metric(name)) is not None
    }
    fp32 = fp32_macs_per_s(device, configuration.threads)
    matrix = _matrix(device, configuration.precision, fp32, stated, typical, share)
    has_units = device.metric("matrix_units") is not None and fp32 is not None
    vector = fp32 if has_units and fp32 is not None else matrix
    # All cores share the memory, so its typical bandwidth follows from the whole device's rate.
    whole = (fp32_macs_per_s(device) if configuration.threads else fp32) or _typical_fp32(
        device, typical, 0, 1.0
    )
    sizes = [device.metric(name) for name in ("l2_kb", "llc_kb", "onchip_sram_kb")]
    held = [size for size in sizes if size is not None]
    on_chip = sum(held) * 1024.0 if held else math.nan
    link = (
        device.metric("host_link_gbps") if is_streaming(device) else device.metric("dram_bw_gbps")
    )
    a, b = _of_family(typical.bandwidth, device)
    bandwidth = math.exp(a + b * math.log(whole)) if link is None else link * 1e9
    return (
        matrix,
        vector,
        matrix if device.is_threaded else stated.get("int8_tops", matrix),
        bandwidth,
        launch_us(device.family, configuration.runtime) * 1e-3,
        on_chip if is_streaming(device) else 0.0,
        on_chip,
    )


def _matrix(
    device: Device,
    precision: Precision,
    fp32: float | None,
    stated: Mapping[str, float],
    typical: Typical,
    share: float,
) -> float:
    """Return the rate of products in a precision, or of the nearest precision that is known."""
    # Few processors state an INT8 rate, and programs come near to few of those: the FP32 rate of
    # the threads, which most state, is the reference of all.
    int8 = None if device.is_threaded else stated.get("int8_tops")
    quarter = int8 / 4 if int8 is not None and device.family in _WITHOUT_FLOAT else None
    single = fp32 or quarter
    if single is None:
        single = _typical_fp32(device, typical, 0, share)
    half = stated.get("fp16_tflops", stated.get("bf16_tflops"))
    if half is None:
        half = int8 / 2 if fp32 is None and int8 is not None else 2 * single
    if precision is Precision.FP32:
        return stated.get("fp32_matrix_tflops", single)
    if precision is Precision.INT8:
        if device.is_threaded:
            return single
        return 2 * half if int8 is None else int8
    if precision in {Precision.BF16, Precision.AMP_BF16}:
        return stated.get("bf16_tflops", half)
    return half


def fp32_macs_per_s(device: Device, threads: int = 0) -> float | None:
    """Return the FP32 rate in MACs/s of ``threads`` threads, None where it is not known."""
    stated = device.metric("fp32_tflops")
    if stated is not None:
        return stated * _TERA_MACS * _share(device, threads)
    try:
        return core_use(device, threads).macs_per_s
    except InputError:
        return None


def _typical_fp32(device: Device, typical: Typical, threads: int, share: float) -> float:
    cycles = cycles_per_s(device, threads)
    if cycles is not None:
        return cycles * share * _of_family(typical.macs_per_cycle, device)
    return _of_family(typical.macs_per_s, device) * share


def _share(device: Device, threads: int) -> float:
    """Return the part of the device's rate that the threads have, by cores if no more is known."""
    try:
        return core_use(device, threads).share
    except InputError:
        cores = device.core_count
        return min(threads, cores) / cores if cores and threads else 1.0


def cycles_per_s(device: Device, threads: int) -> float | None:
    """Return cores x clock of the whole device, None where one is not known."""
    clock = device.metric("clock_mhz") or device.metric("boost_clock_mhz")
    cores = device.core_count or device.metric("core_count")
    if clock is None or cores is None:
        return None
    return clock * 1e6 * (min(threads, cores) if threads else cores)


def _of_family(values: Mapping[str, _Value], device: Device) -> _Value:
    return values.get(str(device.family), values[ANY_FAMILY])
