"""Time of an operator's work at the rates of the hardware, in terms, before any efficiency.

An operator's time is a sum of terms, each its work over one rate: arithmetic, one block of a
product, memory, launch. An efficiency multiplies each term; where it comes from is no matter of
this module. So a rate that grows never raises a time, nor lowers it by more than its own factor.

- *Arithmetic*: multiply-accumulates over the rate that the kernels of the runtime can reach: on a
  processor the lanes of its instruction sets that they use (:mod:`predictor.cost.kernels`), with
  a part that one core does alone, and of integers a part at the rate of FP32.
- *Block*: a product is cut into blocks, one core or SM works on one. A product of few blocks leaves
  the others idle, so it takes the time of a block at least. The sum of both terms is the smooth
  form of ``max(1, blocks / units)`` waves (docs/decisions/0016-physics.md has the alternatives).
- *Memory*: bytes over the bandwidth of the memory. Levels of caches between did not lower errors
  (docs/decisions/0016-physics.md). An accelerator without a memory beyond its chip keeps
  activations and as many weights as its memory holds; the others come over the host link.
- *Launch*: the start of an operator.

Reference:
    Lee et al., NeuSight, ASPLOS 2025 (tiles and waves); Williams et al., Roofline, CACM 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import compress
from operator import not_
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device, Precision, Target, by_run
from predictor.core.runtimes import CPUS, Runtime, runtime_of
from predictor.cost.capability import ACTIVATION_BYTES, WEIGHT_BYTES, is_streaming
from predictor.cost.columns import S_TO_MS, VECTOR, WIDTHS, Columns, width_ratios
from predictor.cost.kernels import Core, core_of, kernel_lanes
from predictor.cost.operator_kinds import is_convolution
from predictor.devices.architectures import architecture_of, kind
from predictor.graph.operator_graph import OperatorGraph

Floats = NDArray[np.float64]

TERMS: Final = ("arithmetic", "block", "memory", "launch")

# Outputs of a block of a product, 16 x 16: small enough for every kernel. Its size is part of the
# efficiency of the term.
BLOCK: Final = 256
# A start takes some thousand clocks on a processor, a microsecond where the clock says nothing.
_LAUNCH_CLOCKS: Final = 2000.0
_LAUNCH_S: Final = 1e-6
# Part of the arithmetic of a run that its threads do not share (Amdahl). Runtimes reach 1.4 to 2
# with two threads and 1.8 to 3.5 with four, and no more than 5 with 64.
_SERIAL: Final = 0.1
# Part of a product of integers, or of BF16, on a processor that runs at the FP32 rate: sums are
# packed, scaled and converted. Twice as many INT8 as FP32 lanes make OpenVINO 1.8 times as fast on
# x86, four times as many 2.7, and TFLite twice as fast on Arm. Halves are added up as they are.
_CONVERSIONS: Final = 0.3
# A graphics card keeps the boost clock of its FP32 lanes where it may take so much energy for an
# operation, in pJ for a nanometre of its process: a T4 has 0.7 at 12 nm and falls to 1 GHz, a V100
# has 1.5 and does not. Between power that falls as the clock and as its cube lies the exponent.
_PJ_OF_NANOMETRE: Final = 4 / 3
_OF_POWER: Final = 0.7
# Part of the arithmetic of a product in matrix units that the other lanes do.
_BESIDE_MATRICES: Final = 0.1
# Instructions of a product for one that multiplies: a third more load and step. An SM that issues
# no more than it has lanes reaches three quarters: cuBLAS in FP32 73 % on an RTX PRO 6000, 82 % on
# an H200 (kernelspace.substack.com, on a defect of cuBLAS), and 95 % on a V100, which issues twice
# as much (NeuSight's operators).
_ISSUED: Final = 4 / 3
# Starts of a run whose operators all cost nothing; chosen, and less than that of any real operator.
_LEAST_LAUNCHES: Final = 0.1
# Boost clock over base clock of an x86 processor that states its base clock alone: between the
# medians of the catalogue's desktops and laptops, 1.45, and of its servers, 1.48.
_BOOST: Final = 1.47
_TERA_MACS: Final = 1e12 / 2
_METRIC: Final[Mapping[Precision, str]] = {
    Precision.FP32: "fp32",
    Precision.FP16: "fp16",
    Precision.BF16: "bf16",
    Precision.INT8: "int8",
    Precision.AMP_FP16: "fp16",
    Precision.AMP_BF16: "bf16",
}
_HALVING: Final = frozenset({Family.MOBILE_GPU, Family.NPU, Family.ASIC})
_FLOATS: Final = frozenset({"fp16", "bf16"})
# Rate over the FP32 rate where a device states none: a register holds as many more of them.
_NARROWER: Final[Mapping[str, float]] = {"fp32": 1.0, "fp16": 2.0, "bf16": 2.0, "int8": 4.0}


class RatedOperators(Protocol):
    """Columns of N operators, as :class:`predictor.cost.columns.Columns` has them."""

    @property
    def code(self) -> NDArray[np.integer]:
        """Rating and width, int [N]."""

    @property
    def macs(self) -> Floats:
        """Multiply-accumulates, [N]."""

    @property
    def activation_bytes(self) -> Floats:
        """Read and written, as in the file, [N]."""

    @property
    def weight_bytes(self) -> Floats:
        """Read, as in the file, [N]."""

    @property
    def launches(self) -> Floats:
        """Starts, [N]."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work of the N operators of one graph.

    Attributes:
        convolution_macs: [N], of convolutions with more than one column, or of integers.
        matrix_macs: [N], of other products with more than one column, or of integers.
        vector_macs: [N], of the others.
        reduction: [N], length of the sum of an element of a product, all launches together.
        activation_bytes: [N, WIDTHS], read and written, as in the file.
        weight_bytes: [N, WIDTHS], as in the file.
        launches: [N], 0 of views and fused epilogues; views alone share a little.
        whole_weights: [WIDTHS], bytes of the distinct weights of the whole graph, as in the file.
    """

    convolution_macs: Floats
    matrix_macs: Floats
    vector_macs: Floats
    reduction: Floats
    activation_bytes: Floats
    weight_bytes: Floats
    launches: Floats
    whole_weights: Floats

    @classmethod
    def of(cls, graph: OperatorGraph) -> Work:
        """Return the work of the operators of a graph, cost O(N)."""
        columns = Columns.of(graph)
        work = cls.rated(
            columns,
            graph.gemm[:, 3] * columns.launches,
            columns.weights_by_width,
            is_convolution(graph.op_code, graph.window),
        )
        if work.launches.any():
            return work
        # Views alone start nothing, but no run takes no time.
        return replace(work, launches=np.full(len(graph), _LEAST_LAUNCHES / max(len(graph), 1)))

    def take(self, operators: NDArray[np.integer]) -> Work:
        """Return the work of some of the operators."""
        return self._changed(lambda each: each[operators])

    def scaled(self, factors: Floats) -> Work:
        """Return the work times a factor on each term of each operator, [N, len(TERMS)]."""
        arithmetic, block, memory, launch = factors.T
        return Work(
            self.convolution_macs * arithmetic,
            self.matrix_macs * arithmetic,
            self.vector_macs * arithmetic,
            self.reduction * block,
            self.activation_bytes * memory[:, None],
            self.weight_bytes * memory[:, None],
            self.launches * launch,
            self.whole_weights,
        )

    @staticmethod
    def stacked(works: Sequence[Work]) -> Work:
        """Return C works of one graph as one, whose arrays have a first axis of C."""
        names = (field.name for field in fields(Work) if field.name != "whole_weights")
        arrays = {name: np.stack([getattr(work, name) for work in works]) for name in names}
        return replace(works[0], **arrays)

    def by_kind(self, kinds: NDArray[np.integer], count: int) -> Work:
        """Return the work summed over the operators of each of ``count`` kinds; kinds is [N]."""
        of_kind = (np.arange(count)[:, None] == kinds).astype(np.float64)
        return self._changed(lambda each: of_kind @ each)

    def _changed(self, change: Callable[[Floats], Floats]) -> Work:
        """Return the work with another form of all that its operators have."""
        names = (field.name for field in fields(self) if field.name != "whole_weights")
        return replace(self, **{name: change(getattr(self, name)) for name in names})

    @classmethod
    def rated(
        cls,
        columns: RatedOperators,
        reduction: Floats,
        whole_weights: Floats,
        convolutions: NDArray[np.bool_],
    ) -> Work:
        """Return the work of operators whose columns for the roofline are at hand."""
        rating, width = np.divmod(columns.code, WIDTHS)
        products = columns.macs * (rating != VECTOR)
        of_width = np.eye(WIDTHS)[width]  # [N, WIDTHS]
        return cls(
            convolution_macs=products * convolutions,
            matrix_macs=products * ~convolutions,
            vector_macs=columns.macs * (rating == VECTOR),
            reduction=reduction,
            activation_bytes=columns.activation_bytes[:, None] * of_width,
            weight_bytes=columns.weight_bytes[:, None] * of_width,
            launches=columns.launches,
            whole_weights=whole_weights,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Rates of T targets; NaN where the facts of the device give none.

    Attributes:
        convolution: [T], multiply-accumulates a second of convolutions.
        matrix: [T], of other products, in the precision of the run.
        vector: [T], of other multiplications.
        unit: [T], of products on one core or SM.
        bandwidth: [T], bytes a second of the memory, or of the host link where it streams.
        launch_s: [T], seconds.
        held_bytes: [T], memory of a chip that streams the rest from the host; 0 of the others.
        weight_ratio, activation_ratio: [T, WIDTHS], bytes in the run for a byte in the file.
    """

    convolution: Floats
    matrix: Floats
    vector: Floats
    unit: Floats
    bandwidth: Floats
    launch_s: Floats
    held_bytes: Floats
    weight_ratio: Floats
    activation_ratio: Floats

    def take(self, targets: NDArray[np.integer]) -> Rates:
        """Return the rates of some of the targets."""
        return Rates(*(getattr(self, field.name)[targets] for field in fields(self)))


def term_times(work: Work, rates: Rates) -> Floats:
    """Return the terms in ms, [N, T, len(TERMS)]; NaN where a rate is not known."""
    arithmetic = work.convolution_macs[:, None] / rates.convolution
    arithmetic += work.matrix_macs[:, None] / rates.matrix
    arithmetic += work.vector_macs[:, None] / rates.vector
    leaving = leaving_share(rates.weight_ratio @ work.whole_weights, rates.held_bytes)
    moved = work.activation_bytes @ rates.activation_ratio.T * (rates.held_bytes == 0)
    moved += work.weight_bytes @ rates.weight_ratio.T * leaving  # [N, T]
    times = np.stack(
        [
            arithmetic,
            work.reduction[:, None] * BLOCK / rates.unit,
            moved / rates.bandwidth,
            work.launches[:, None] * rates.launch_s,
        ],
        axis=-1,
    )
    times *= S_TO_MS
    return times


def matched_times(work: Work, rates: Rates) -> Floats:
    """Return the terms in ms of T lists of K works, each at the rates of one target, [T, K, terms].

    Args:
        work: [T, K] in place of [N].
        rates: of T targets.
    """
    leaving = leaving_share(rates.weight_ratio @ work.whole_weights, rates.held_bytes)
    moves = (rates.held_bytes == 0)[:, None]
    moved = np.einsum("tkw,tw->tk", work.activation_bytes, rates.activation_ratio) * moves
    moved += np.einsum("tkw,tw->tk", work.weight_bytes, rates.weight_ratio) * leaving[:, None]
    convolution, matrix, vector, unit, bandwidth, launch_s = (
        getattr(rates, name)[:, None]
        for name in ("convolution", "matrix", "vector", "unit", "bandwidth", "launch_s")
    )
    times = np.stack(
        [
            work.convolution_macs / convolution
            + work.matrix_macs / matrix
            + work.vector_macs / vector,
            work.reduction * BLOCK / unit,
            moved / bandwidth,
            work.launches * launch_s,
        ],
        axis=-1,
    )
    times *= S_TO_MS
    return times


def leaving_share(weight_bytes: Floats, held_bytes: Floats) -> Floats:
    """Return the part of weights that does not stay on a chip; all where none are held."""
    beyond = 1 - held_bytes / np.maximum(weight_bytes, 1.0)
    share: Floats = np.where(held_bytes > 0, np.maximum(beyond, 0.0), 1.0)
    return share


def rates_of(targets: Sequence[Target]) -> Rates:
    """Return the rates of targets, from their facts alone."""
    targets = [_as_run(target) for target in targets]
    is_core = [target.device.family in CPUS | {Family.MCU} for target in targets]
    lanes = by_run(compress(targets, is_core), _lanes_of_cores)
    cores = iter(map(_of_cores, compress(targets, is_core), lanes))
    units = iter(by_run(compress(targets, map(not_, is_core)), _of_units))
    rows = [next(cores if each else units) for each in is_core]
    convolution, matrix, vector, unit, launch_s = np.array(rows, np.float64).reshape(-1, 5).T
    precisions = [target.configuration.precision for target in targets]
    return Rates(
        convolution,
        matrix,
        vector,
        unit,
        np.array([_bandwidth(target.device) for target in targets]),
        launch_s,
        np.array([_held_bytes(target.device) for target in targets]),
        width_ratios([WEIGHT_BYTES[each] for each in precisions]),
        width_ratios([ACTIVATION_BYTES[each] for each in precisions]),
    )


def _as_run(target: Target) -> Target:
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


def _multiplies_halves(device: Device, runtime: Runtime) -> bool:
    """Return whether the kernels of a runtime have more lanes for FP16 than for FP32 somewhere."""
    return any(
        kernel_lanes(runtime, Precision.FP16, core) > kernel_lanes(runtime, Precision.FP32, core)
        for core in _cores_of(device)
        if core is not None
    )


def _cores_of(device: Device) -> list[Core | None]:
    """Return a core of each kind of a processor; None where no lanes can be told."""
    return [core_of(device, cluster) for cluster in device.clusters or (None,)]


def _lanes_of_cores(target: Target) -> list[float]:
    """Return the lanes that a run uses of each kind of a processor's cores; NaN if all unknown."""
    device, configuration = target.device, target.configuration
    runtime = runtime_of(configuration.runtime)
    lanes = [
        np.nan if core is None else _lanes_of_core(runtime, configuration.precision, core)
        for core in _cores_of(device)
    ]
    # Cores whose lanes are not known have those of the narrowest beside them.
    known: list[float] = np.nan_to_num(lanes, nan=np.fmin.reduce(lanes)).tolist()
    return known


def _lanes_of_core(runtime: Runtime, precision: Precision, core: Core) -> float:
    narrow = kernel_lanes(runtime, precision, core)
    if _METRIC[precision] == "fp16":
        return narrow
    single = kernel_lanes(runtime, Precision.FP32, core)
    return 1 / (_CONVERSIONS / single + (1 - _CONVERSIONS) / narrow)


def _of_cores(target: Target, lanes: Sequence[float]) -> tuple[float, ...]:
    """Return rates of convolutions, products, others and a unit, and the launch, of threads.

    Threads fill the cores that are the fastest in this run first, so that more cores of one kind
    never displace faster ones.

    Args:
        target: the target.
        lanes: of its kinds of cores.
    """
    device, configuration = target.device, target.configuration
    kinds = _kinds_of_cores(device, configuration.threads)
    if not kinds:
        return (np.nan, np.nan, np.nan, np.nan, _LAUNCH_S)
    # Of a core alone, so that further threads never make a block or a start slower.
    alone = _kinds_of_cores(device, 1)
    launch_s = _LAUNCH_CLOCKS / max(clock for _, clock, _ in alone)
    rates = [(clock * own, cores) for (cores, clock, _), own in zip(kinds, lanes, strict=True)]
    rates.sort(reverse=True)
    macs, left = 0.0, float(configuration.threads) or np.inf
    for rate, cores in rates:
        macs += rate * min(cores, left)
        left -= min(cores, left)
    unit = max(clock * own for (_, clock, _), own in zip(alone, lanes, strict=True))
    shared = 1 / (_SERIAL / unit + (1 - _SERIAL) / macs)
    return (shared, shared, shared, unit, launch_s)


def _kinds_of_cores(device: Device, threads: int) -> list[tuple[float, float, Cluster | None]]:
    """Return cores, clock in Hz and cluster of the kinds of cores; threads 0 is one a core."""
    if device.clusters:
        return [(c.cores, c.clock_mhz * 1e6, c) for c in device.clusters]
    base, boost = device.metric("clock_mhz"), device.metric("boost_clock_mhz")
    if base and not boost and kind(device) == "x86":
        # A system tells the base clock alone, and a virtual machine knows no other.
        boost = base * _BOOST
    base, boost, cores = base or boost, boost or base, device.metric("core_count")
    if not (base and boost and cores):
        return []
    # One core alone runs at the boost clock. All together run above the base clock, which is that
    # of the heaviest load at the rated power: half way on a scale of ratios lowers errors on x86
    # by a tenth. Some run in between.
    together = np.sqrt(base * boost)
    idle = max(cores - threads, 0.0) / max(cores - 1, 1.0) if threads else 0.0
    return [(cores, (together + idle * (boost - together)) * 1e6, None)]


def _of_units(target: Target) -> tuple[float, ...]:
    """Return rates of convolutions, products, others and a unit, and the launch, of a chip."""
    device = target.device
    name = _METRIC[target.configuration.precision]
    units = device.metric("core_count")
    clock = device.metric("boost_clock_mhz") or device.metric("clock_mhz")
    per_clock = units * clock * 1e6 if units and clock else np.nan
    is_gpu = device.family in {Family.GPU, Family.MOBILE_GPU}
    single = _sustained(device)
    matrix = _products(device, name, single, per_clock)
    if is_gpu and single is not None and matrix > single:
        matrix = 1 / (_BESIDE_MATRICES / single + (1 - _BESIDE_MATRICES) / matrix)
    vector = matrix if single is None else single
    tf32 = runtime_of(target.configuration.runtime).tf32 if name == "fp32" else ""
    quick = np.fmax(matrix, _tf32(device, per_clock)) if tf32 else matrix
    return (
        quick,
        quick if tf32 == "all" else matrix,
        vector,
        # Not the whole rate over the units: more of them would then make each of them slower.
        _lanes_of_unit(device, name) * clock * 1e6 if clock and is_gpu else np.nan,
        _LAUNCH_S,
    )


def _sustained(device: Device) -> float | None:
    """Return the FP32 rate that a device keeps: a card of little power lowers its clock."""
    peak, watts, nm = _stated(device, "fp32"), device.metric("tdp_w"), device.metric("process_nm")
    if peak is None or not (watts and nm) or device.family is not Family.GPU:
        return peak
    needed_w = 2 * peak * _PJ_OF_NANOMETRE * nm * 1e-12
    kept: float = min(1.0, watts / needed_w) ** _OF_POWER
    return kept * peak


def _products(device: Device, name: str, single: float | None, per_clock: float) -> float:
    """Return the rate of products in a number format, from it or from the nearest fact."""
    stated = _issued(device, single) if name == "fp32" else _stated(device, name)
    if stated is not None:
        # Kernels compute halves in FP32 where that is faster, as cuBLAS does on Pascal.
        return max(stated, single or 0.0) if name in _FLOATS else stated
    design = architecture_of(device)
    if design is not None and name in design.matrix_lanes and np.isfinite(per_clock):
        return design.matrix_lanes[name] * per_clock
    if single is not None:
        factor = {} if design is None else design.numbers
        halves = max(factor.get("fp16_factor", 2.0), 1.0)
        return single * (halves if name == "fp16" else _NARROWER[name])
    # An accelerator without a rate of floats: by the widest format that it states.
    for other in ("fp16", "bf16", "int8"):
        rate = _stated(device, other)
        if rate is not None:
            return rate * _NARROWER[name] / _NARROWER[other]
    return np.nan


def _issued(device: Device, single: float | None) -> float | None:
    """Return the FP32 rate of products, whose other instructions are issued beside the lanes'."""
    design = architecture_of(device)
    if single is None or design is None or "issue_lanes" not in design.numbers:
        return single
    issued = design.numbers["issue_lanes"] / (_ISSUED * design.numbers["fp32_lanes"])
    return min(1.0, issued) * single


def _tf32(device: Device, per_clock: float) -> float:
    """Return the rate of products in TF32; NaN of a GPU that has none."""
    stated, design = _stated(device, "tf32"), architecture_of(device)
    if stated is None and design is not None and "tf32" in design.matrix_lanes:
        return design.matrix_lanes["tf32"] * per_clock
    return np.nan if stated is None else stated


def _lanes_of_unit(device: Device, name: str) -> float:
    """Return multiply-accumulates a clock of an SM or compute unit; NaN where not known."""
    design = architecture_of(device)
    if design is None:
        return device.metric("fp32_au_per_core") or np.nan
    if name in design.matrix_lanes:
        return design.matrix_lanes[name]
    # A block runs on all units that share the local memory of a group.
    lanes = design.numbers.get("fp32_lanes", np.nan) * design.numbers.get("group_units", 1.0)
    return lanes * (max(design.numbers.get("fp16_factor", 1.0), 1.0) if name == "fp16" else 1.0)


def _stated(device: Device, name: str) -> float | None:
    value = device.metric("int8_tops" if name == "int8" else f"{name}_tflops")
    return None if value is None else value * _TERA_MACS


def _bandwidth(device: Device) -> float:
    stated = device.metric("host_link_gbps" if is_streaming(device) else "dram_bw_gbps")
    return np.nan if stated is None else stated * 1e9


def _held_bytes(device: Device) -> float:
    stated = device.metric("onchip_sram_kb") if is_streaming(device) else None
    return 0.0 if stated is None else stated * 1024.0


def kinds_of_devices(targets: Sequence[Target]) -> list[str]:
    """Return the kind of each target's device, such as ``x86`` or ``nvidia``."""
    return by_run(targets, lambda target: kind(target.device))


def likenesses(targets: Sequence[Target]) -> list[tuple[str, ...]]:
    """Return the groups of targets that are like each one, from the nearest on.

    Devices with the same chip in the number format of the run, devices of its kind, and all.
    """
    return by_run(targets, _likeness)


def _likeness(target: Target) -> tuple[str, ...]:
    of_device, chip = kind(target.device), target.device.chip
    name = _METRIC[target.configuration.precision]
    nearest = (f"{of_device} of {chip} {name}",) if chip else ()
    return (*nearest, of_device, "")
