"""Rates of a run: of a device under a runtime, in a precision, on a number of threads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import not_
from typing import Final

import numpy as np

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target, by_run
from predictor.core.runtimes import CPUS, Runtime, runtime_of
from predictor.cost.rates.cores import busy_rate, core_kinds
from predictor.cost.rates.hosts import host_pace
from predictor.cost.rates.lanes import Core, core_of, kernel_lanes
from predictor.cost.rates.power import sustained_fp32_macs_per_s
from predictor.cost.rates.units import product_macs_per_s, tf32_macs_per_s, unit_macs_per_s

WEIGHT_BYTES: Final[Mapping[Precision, int]] = {
    Precision.FP32: 4,
    Precision.FP16: 2,
    Precision.BF16: 2,
    Precision.INT8: 1,
    Precision.AMP_FP16: 4,
    Precision.AMP_BF16: 4,
}
"""Bytes of an element of a float weight; automatic mixed precision keeps FP32 weights."""

ACTIVATION_BYTES: Final[Mapping[Precision, int]] = {
    **WEIGHT_BYTES,
    Precision.AMP_FP16: 2,
    Precision.AMP_BF16: 2,
}
"""The same of a float activation: what a matrix product in half precision puts out is a half."""

_HALVING: Final = frozenset({Family.MOBILE_GPU, Family.NPU, Family.ASIC})
# Part of a product of integers, or of BF16, on a processor that runs at the FP32 rate: sums are
# packed, scaled and converted. Twice as many INT8 as FP32 lanes make OpenVINO 1.8 times as fast on
# x86, four times as many 2.7, and TFLite twice as fast on Arm. Halves are added up as they are.
_CONVERSIONS: Final = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRates:
    """Rates of the hardware that a run uses, MACs a second; NaN where a fact is not known.

    What software loses beside them, on one core or outside matrix units, is not in them.

    Attributes:
        matrix: of products in the number format of the run, of all its threads or units.
        vector: of other multiplications.
        tf32: of FP32 products in TF32, NaN where the chip has none.
        unit: of products on one core alone, SM or compute unit.
        core_hz: clock of one core alone; NaN of a chip without threads.
        start_pace: starts of a chip's host while that of a current desktop makes one.
    """

    matrix: float
    vector: float
    tf32: float
    unit: float
    core_hz: float
    start_pace: float = 1.0


_UNKNOWN: Final = RunRates(matrix=np.nan, vector=np.nan, tf32=np.nan, unit=np.nan, core_hz=np.nan)


def as_run(target: Target) -> Target:
    """Return a target with the precision that its runtime runs an FP32 network in.

    Mobile GPUs and accelerators run it in FP16 under a runtime that may, and so does ncnn on
    processors that multiply halves; on others it stores floats too. Other GPUs do not: there it
    raised the errors of ncnn by a quarter.
    """
    configuration, family = target.configuration, target.device.family
    if configuration.precision is not Precision.FP32:
        return target
    runtime = runtime_of(configuration.runtime)
    if family in CPUS:
        halves = runtime.hides_halves and _multiplies_halves(target.device, runtime)
    else:
        halves = runtime.may_halve and family in _HALVING
    if not halves:
        return target
    return replace(target, configuration=replace(configuration, precision=Precision.FP16))


def as_cast(target: Target) -> Target:
    """Return a target with the precision that its runtime runs a network of halves in.

    On a processor that multiplies no halves that is FP32 between casts, where the runtime does so.
    """
    configuration = target.configuration
    if not runs_by_casts(target.device, configuration):
        return target
    return replace(target, configuration=replace(configuration, precision=Precision.FP32))


def runs_by_casts(device: Device, configuration: Configuration) -> bool:
    """Return whether a run in FP16 computes in FP32 between casts."""
    is_half = configuration.precision is Precision.FP16
    # In this order, since many targets are looked at for each graph.
    if not is_half or not runtime_of(configuration.runtime).casts_halves:
        return False
    stated = {row.precision for row in device.configurations}
    return device.family in CPUS and Precision.FP32 in stated and Precision.FP16 not in stated


def run_rates(targets: Sequence[Target]) -> list[RunRates]:
    """Return the rates of the runs of T targets, whose precision is that of the run."""
    is_core = [target.device.is_threaded for target in targets]
    lanes = by_run(compress(targets, is_core), _run_lanes)
    cores = iter(map(_processor_rates, compress(targets, is_core), lanes))
    units = iter(by_run(compress(targets, map(not_, is_core)), _chip_rates))
    return [next(cores if threaded else units) for threaded in is_core]


def _processor_rates(target: Target, lanes: Sequence[float]) -> RunRates:
    """Return the rates of the threads of a processor, from the lanes of its kinds of cores.

    Threads fill the cores that are the fastest in this run first. A runtime that binds its threads
    to the fastest kind starts one on each core of it, where no number is set.
    """
    kinds, threads = core_kinds(target.device), target.configuration.threads
    if not kinds:
        return _UNKNOWN
    of_core = [
        (k.clock_hz(threads) * width, k.cores) for k, width in zip(kinds, lanes, strict=True)
    ]
    if not threads and runtime_of(target.configuration.runtime).fastest_cores:
        # One kind of cores need not be the faster in all: whichever does more.
        macs = max(rate * cores for rate, cores in of_core)
    else:
        macs = busy_rate(of_core, threads)
    # Of a core alone, so that further threads never make a block or a start slower.
    unit = max(k.clock_hz(1) * width for k, width in zip(kinds, lanes, strict=True))
    core_hz = max(kind.clock_hz(1) for kind in kinds)
    return RunRates(matrix=macs, vector=macs, tf32=np.nan, unit=unit, core_hz=core_hz)


def _chip_rates(target: Target) -> RunRates:
    """Return the rates of a chip without threads."""
    device, number_format = target.device, target.configuration.precision.number_format
    matrix = product_macs_per_s(device, number_format)
    single = sustained_fp32_macs_per_s(device)
    interpreted = runtime_of(target.configuration.runtime).interpreted
    return RunRates(
        matrix=matrix,
        vector=matrix if single is None else single,
        tf32=tf32_macs_per_s(device),
        unit=unit_macs_per_s(device, number_format),
        core_hz=np.nan,
        start_pace=host_pace(device) if interpreted else 1.0,
    )


def _cores(device: Device) -> list[Core | None]:
    """Return a core of each kind of a processor; None where no lanes are known."""
    return [core_of(device, cluster) for cluster in device.clusters or (None,)]


def _multiplies_halves(device: Device, runtime: Runtime) -> bool:
    """Return whether the kernels of a runtime have more lanes for FP16 than for FP32 somewhere."""
    return any(
        kernel_lanes(runtime, Precision.FP16, core) > kernel_lanes(runtime, Precision.FP32, core)
        for core in _cores(device)
        if core is not None
    )


def _run_lanes(target: Target) -> list[float]:
    """Return the lanes that a run uses of each kind of a processor's cores; NaN if all unknown."""
    device, configuration = target.device, target.configuration
    runtime = runtime_of(configuration.runtime)
    lanes = [
        math.nan if core is None else _core_lanes(runtime, configuration.precision, core)
        for core in _cores(device)
    ]
    # Cores whose lanes are not known have those of the narrowest beside them.
    narrowest = min((width for width in lanes if not math.isnan(width)), default=math.nan)
    return [narrowest if math.isnan(width) else width for width in lanes]


def _core_lanes(runtime: Runtime, precision: Precision, core: Core) -> float:
    narrow = kernel_lanes(runtime, precision, core)
    if precision.number_format == "fp16":
        return narrow
    single = kernel_lanes(runtime, Precision.FP32, core)
    return 1 / (_CONVERSIONS / single + (1 - _CONVERSIONS) / narrow)
