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
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

import numpy as np

from predictor.core.arrays import ArrayRecord, Floats
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, Target
from predictor.cost.capability import launch_us
from predictor.cost.columns import S_TO_MS, byte_ratios, ms_per_mac
from predictor.cost.rates.cores import thread_share
from predictor.cost.rates.facts import (
    bandwidth,
    fp32_macs_per_s,
    has_matrix_units,
    is_streaming,
    on_chip_bytes,
    stated_macs_per_s,
)
from predictor.devices.peaks import base_clock_mhz

_Value = TypeVar("_Value")

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

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, object]]) -> Typical:
        """Read the values of a checkpoint.

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReferenceRates(ArrayRecord):
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
        by_name = {
            name: np.array([getattr(row, name) for row in rows], np.float64)
            for name in _TargetRates._fields
        }
        weight_ratio, activation_ratio = byte_ratios(t.configuration.precision for t in targets)
        return cls(
            ms_per_mac=ms_per_mac(by_name["matrix"], by_name["vector"], by_name["integer"]),
            ms_per_byte=S_TO_MS / by_name["bandwidth"],
            weight_ratio=weight_ratio,
            activation_ratio=activation_ratio,
            launch_ms=by_name["launch_ms"],
            held_bytes=by_name["held_bytes"],
            on_chip_bytes=by_name["on_chip_bytes"],
        )

    def __len__(self) -> int:
        return len(self.ms_per_byte)


def is_rated(device: Device) -> bool:
    """Whether a device states its computing power: a rate, or clock and cores, also of clusters."""
    rates = (stated_macs_per_s(device, name) for name in ("fp32", "fp16", "bf16", "int8"))
    return any(rates) or cycles_per_s(device) is not None or bool(device.clusters)


class _TargetRates(NamedTuple):
    """Rates of one target: MACs and bytes a second, ms, bytes."""

    matrix: float
    vector: float
    integer: float
    bandwidth: float
    launch_ms: float
    held_bytes: float
    on_chip_bytes: float


def _rates(target: Target, typical: Typical) -> _TargetRates:
    device, configuration = target.device, target.configuration
    share = _share(device, configuration.threads)
    stated = {
        name: rate * share
        for name in ("fp32_matrix", "fp16", "bf16", "int8")
        if (rate := stated_macs_per_s(device, name)) is not None
    }
    device_fp32 = fp32_macs_per_s(device)
    fp32 = None if device_fp32 is None else device_fp32 * share
    matrix = _matrix(device, configuration.precision.number_format, fp32, stated, typical, share)
    vector = matrix if fp32 is None or not has_matrix_units(device) else fp32
    bytes_per_s = bandwidth(device)
    if math.isnan(bytes_per_s):
        # All cores share the memory, so its typical bandwidth follows from the whole device's rate.
        a, b = _of_family(typical.bandwidth, device)
        bytes_per_s = math.exp(a + b * math.log(device_fp32 or _typical_fp32(device, typical, 1.0)))
    on_chip = on_chip_bytes(device)
    return _TargetRates(
        matrix=matrix,
        vector=vector,
        integer=matrix if device.is_threaded else stated.get("int8", matrix),
        bandwidth=bytes_per_s,
        launch_ms=launch_us(device.family, configuration.runtime) * 1e-3,
        held_bytes=on_chip if is_streaming(device) else 0.0,
        on_chip_bytes=on_chip,
    )


def _matrix(
    device: Device,
    number_format: str,
    fp32: float | None,
    stated: Mapping[str, float],
    typical: Typical,
    share: float,
) -> float:
    """Return the rate of products in a number format, or in the nearest that is known."""
    # Few processors state an INT8 rate, and programs come near to few of those: the FP32 rate of
    # the threads, which most state, is the reference of all.
    int8 = None if device.is_threaded else stated.get("int8")
    quarter = int8 / 4 if int8 is not None and device.family in _WITHOUT_FLOAT else None
    single = fp32 or quarter
    if single is None:
        single = _typical_fp32(device, typical, share)
    half = stated.get("fp16", stated.get("bf16"))
    if half is None:
        half = int8 / 2 if fp32 is None and int8 is not None else 2 * single
    if number_format == "fp32":
        return stated.get("fp32_matrix", single)
    if number_format == "int8":
        if device.is_threaded:
            return single
        return 2 * half if int8 is None else int8
    return stated.get("bf16", half) if number_format == "bf16" else half


def _typical_fp32(device: Device, typical: Typical, share: float) -> float:
    cycles = cycles_per_s(device)
    if cycles is not None:
        return cycles * share * _of_family(typical.macs_per_cycle, device)
    return _of_family(typical.macs_per_s, device) * share


def _share(device: Device, threads: int) -> float:
    """Return the part of the device's rate that the threads have, by cores if no more is known."""
    try:
        return thread_share(device, threads)
    except InputError:
        cores = device.core_count
        return min(threads, cores) / cores if cores and threads else 1.0


def cycles_per_s(device: Device) -> float | None:
    """Return cores x clock of the whole device, None where one is not known."""
    clock = base_clock_mhz(device)
    cores = device.core_count or device.metric("core_count")
    if clock is None or cores is None:
        return None
    return clock * 1e6 * cores


def _of_family(values: Mapping[str, _Value], device: Device) -> _Value:
    return values.get(str(device.family), values[ANY_FAMILY])
