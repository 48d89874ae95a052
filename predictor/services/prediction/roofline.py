"""The roofline of a target, and where the operators of a model stand under it.

A roof is a rate: arithmetic in FLOP/s, or traffic in bytes a second, which is a slope over the
intensity. The roofs are the rates that the engine divides work by: of convolutions, of other
products, of other multiplications, of integers and of the memory. Each operator that its arithmetic
or its traffic binds belongs to one of them. Rates that were measured stand beside them, and so does
the bound: the highest rate that any kernel may reach, with fast algorithms allowed for. One
multiply-accumulate counts as two FLOPs.

Reference:
    Williams, Waterman and Patterson, Roofline: an insightful visual performance model for
    multicore architectures, CACM 52 (4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.metrics import METRIC_BY_NAME, RATE_METRIC
from predictor.core.records import Device, Precision, Target
from predictor.cost.capability import Capability, stated_capability
from predictor.cost.columns import (
    HALF,
    INTEGER,
    VECTOR,
    WIDTHS,
    Columns,
    fast_algorithm_gain,
    width_ratios,
)
from predictor.cost.operator_kinds import is_convolution
from predictor.cost.physics import rates_of
from predictor.cost.rates.facts import FLOPS_PER_MAC
from predictor.cost.rates.runs import as_run
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.presentation.metric_labels import metric_label
from predictor.services.prediction.engines import rates_in_use
from predictor.services.prediction.explain import OperatorTable

Floats = NDArray[np.float64]

# What a rate counts: floating point, operations of any kind, or bytes of a memory.
FLOP, OP, BYTE = "FLOP", "OP", "B"
STATED, COMPUTED, MEASURED, BOUND = "stated", "computed", "measured", "bound"
TYPICAL = "typical"
NO_ROOF: Final = -1
# Kinds of arithmetic by their places: convolutions, other products, the rest, integers.
_CONVOLUTION, _PRODUCT, _OTHER, _INTEGERS = range(4)
_KINDS: Final = 4
_SAME: Final = 1e-3
_KERNELS: Final = "computed: what the kernels of the run can use"
_SCALE: Final = {"TFLOP/s": 1e12, "TOP/s": 1e12, "GB/s": 1e9}


@dataclass(frozen=True, slots=True)
class Roof:
    """A rate that bounds operators.

    Attributes:
        label: the fact that it comes from, such as ``FP16 peak``.
        rate: FLOP/s of arithmetic, bytes a second of a memory.
        origin: ``stated``, ``computed`` from stated facts, ``typical`` of such devices,
            ``measured``, or ``bound``. The engine divides work by those of the first three alone.
        source: of the fact, in words.
        counted: what its rate counts: ``FLOP``, ``OP`` of integers, or ``B`` of a memory.
        kinds: places in the kinds of arithmetic that it is the rate of; none of a memory.
    """

    label: str
    rate: float
    origin: str
    source: str
    counted: str = FLOP
    kinds: tuple[int, ...] = field(default=(), kw_only=True)

    @property
    def in_use(self) -> bool:
        """Whether the engine divides work by it."""
        return self.origin not in {MEASURED, BOUND}

    @property
    def is_memory(self) -> bool:
        """Whether it bounds traffic."""
        return self.counted == BYTE


@dataclass(frozen=True, eq=False)
class Roofline:
    """The roofs of a target, and the N operators of a model under them.

    Attributes:
        roofs: memories first, each the lowest first; those of the bound last.
        roof_of: intp [N], the roof that binds each operator; ``NO_ROOF`` of one that its start
            binds, that takes no time, or whose rate is no roof.
        run_bytes: float64 [N], bytes that each operator moves in the precision of the run.
        intensity: float64 [N], FLOPs a byte; 0 without multiplications, NaN without traffic.
        flops_per_s: float64 [N], reached; NaN of operators that take no time.
        bytes_per_s: float64 [N], reached; NaN of operators that take no time.
    """

    roofs: tuple[Roof, ...]
    run_bytes: Floats
    intensity: Floats
    flops_per_s: Floats
    bytes_per_s: Floats
    roof_of: NDArray[np.intp] = field(kw_only=True)

    @cached_property
    def reached(self) -> Floats:
        """Part of its roof that each operator reaches, float64 [N]; NaN without a roof."""
        rates = np.array([*(roof.rate for roof in self.roofs), np.nan])  # NO_ROOF is the last
        is_memory = np.array([*(roof.is_memory for roof in self.roofs), False])
        rate = np.where(is_memory[self.roof_of], self.bytes_per_s, self.flops_per_s)
        reached: Floats = rate / rates[self.roof_of]
        return reached

    @property
    def operation(self) -> str:
        """What the arithmetic is counted in: ``OP`` where a roof is of integers."""
        return OP if any(roof.counted == OP for roof in self.roofs) else FLOP


def roofline_of(model: Model, target: Target, table: OperatorTable) -> Roofline:
    """Return the roofs of a target and the places of a model's operators under them.

    Args:
        model: N operators.
        target: the target.
        table: the explanation of the model on the target.

    Raises:
        InputError: the device does not run the configuration.
    """
    rates_of_target, _ = stated_capability(target)
    run_bytes = _run_bytes(Columns.of(model.graph), rates_of_target)
    flops = FLOPS_PER_MAC * table.macs
    seconds = np.where(table.latency_ms > 0, table.latency_ms * 1e-3, np.nan)
    roofs = roofs_of(model, target)
    return Roofline(
        roofs,
        run_bytes,
        flops / np.where(run_bytes > 0, run_bytes, np.nan),
        flops / seconds,
        run_bytes / seconds,
        roof_of=_roof_of(model.graph, roofs, table.bound_type),
    )


def roofs_of(model: Model, target: Target) -> tuple[Roof, ...]:
    """Return the roofs of a target for the arithmetic of a model.

    Raises:
        InputError: the device does not run the configuration.
    """
    rates_of_target, _ = stated_capability(target)
    roofs = [*_memories(target.device), *_arithmetic(model.graph, target, rates_of_target)]
    return tuple(sorted(roofs, key=lambda r: (r.origin == BOUND, not r.is_memory, r.rate)))


def _run_bytes(columns: Columns, rates_of_target: Capability) -> Floats:
    activations = width_ratios([rates_of_target.activation_bytes])[0][columns.width]
    weights = width_ratios([rates_of_target.weight_bytes])[0][columns.width]
    total: Floats = columns.activation_bytes * activations + columns.weight_bytes * weights
    return total


def _roof_of(
    graph: OperatorGraph, roofs: tuple[Roof, ...], bound_type: tuple[str, ...]
) -> NDArray[np.intp]:
    """Return the roof that binds each operator, intp [N]."""
    of_kind = [NO_ROOF] * _KINDS
    memory = NO_ROOF
    for place, roof in enumerate(roofs):
        if roof.in_use and roof.is_memory and memory == NO_ROOF:
            memory = place
        for kind in roof.kinds if roof.in_use else ():
            of_kind[kind] = place
    arithmetic = np.array(of_kind, np.intp)[_arithmetic_kinds(graph)]
    bounds = np.array(bound_type)
    traffic = np.where(bounds == "memory", memory, NO_ROOF)
    roof_of: NDArray[np.intp] = np.where(bounds == "compute", arithmetic, traffic)
    return roof_of


def _arithmetic_kinds(graph: OperatorGraph) -> NDArray[np.intp]:
    """Return the place among the kinds of each operator's arithmetic, intp [N]."""
    rating = Columns.of(graph).code // WIDTHS
    kinds = np.where(is_convolution(graph.op_code, graph.window), _CONVOLUTION, _PRODUCT)
    kinds = np.where(rating == VECTOR, _OTHER, kinds)
    result: NDArray[np.intp] = np.where(rating == INTEGER, _INTEGERS, kinds).astype(np.intp)
    return result


def _memories(device: Device) -> Iterator[Roof]:
    for name in ("dram_bw_gbps", "l2_bw_gbps"):
        yield from _facts(device, name, in_use=name == "dram_bw_gbps")


def _arithmetic(
    graph: OperatorGraph, target: Target, rates_of_target: Capability
) -> Iterator[Roof]:
    """Yield the rates of the arithmetic that a graph has, what was measured, and the bound's."""
    kinds = _arithmetic_kinds(graph)
    present = [kind for kind in range(_KINDS) if graph.macs[kinds == kind].any()]
    floats = [kind for kind in present if kind != _INTEGERS]
    yield from _in_use(target, floats or ([] if present else [_PRODUCT]))
    highest, counted = rates_of_target.bound_float_macs_per_s, FLOP
    if len(floats) < len(present):
        integers = replace(target.configuration, precision=Precision.INT8)
        yield from _in_use(replace(target, configuration=integers), [_INTEGERS])
        highest, counted = max(highest, rates_of_target.bound_integer_macs_per_s), OP
    if target.configuration.precision is Precision.INT8:
        counted = OP
    if (Columns.of(graph).width == HALF).any():
        highest = max(highest, rates_of_target.bound_half_macs_per_s)
    if math.isfinite(highest):
        gain = float(fast_algorithm_gain(graph).max(initial=1.0))
        fast = f", times {gain:.3g} for fast convolutions" if gain > 1 else ""
        rate = highest * FLOPS_PER_MAC * gain
        yield Roof("Bound", rate, BOUND, f"the highest rate of any kernel{fast}", counted)


def _in_use(target: Target, kinds: Sequence[int]) -> Iterator[Roof]:
    """Yield the rates that the engine divides some kinds of arithmetic by, equal ones as one."""
    rates, stated = rates_in_use(target), rates_of([target])
    names = ("convolution", "matrix", "vector", "matrix")
    groups: list[tuple[float, list[int]]] = []
    for kind in kinds:
        rate = float(getattr(rates, names[kind])[0])
        alike = next((of for other, of in groups if abs(rate / other - 1) < _SAME), None)
        if alike is not None:
            alike.append(kind)
        elif math.isfinite(rate):
            groups.append((rate, [kind]))
    for rate, alike in groups:
        is_typical = not math.isfinite(float(getattr(stated, names[alike[0]])[0]))
        yield from _peaks(target, rate * FLOPS_PER_MAC, alike, is_typical=is_typical)


def _peaks(target: Target, rate: float, kinds: list[int], *, is_typical: bool) -> Iterator[Roof]:
    """Yield a rate in use, and what was measured of its number format on all cores."""
    device, count = target.device, target.device.core_count
    number_format = as_run(target).configuration.precision.number_format
    name = RATE_METRIC[number_format]
    scale, value = _SCALE[METRIC_BY_NAME[name].unit], device.metric(name)
    label, source, origin = f"{number_format.upper()} arithmetic", _KERNELS, COMPUTED
    if is_typical:
        source, origin = "of like devices, since this one states none", TYPICAL
    elif value is not None and abs(rate / (value * scale) - 1) < _SAME:
        label, source = metric_label(name, device.family), device.sources.get(name, "")
        origin = _origin(source)
    if kinds == [_OTHER]:
        label = "Other arithmetic"
    elif kinds == [_CONVOLUTION]:
        label = f"{number_format.upper()} convolutions"
    if count and 0 < target.threads < count:
        label = f"{label}, {target.threads} of {count} cores"
    elif (measured := device.measured.get(name)) is not None and kinds != [_OTHER]:
        title = metric_label(name, device.family)
        yield Roof(title, measured.value * scale, MEASURED, measured.source, _counted(name))
    yield Roof(label, rate, origin, source, _counted(name), kinds=tuple(kinds))


def _facts(device: Device, name: str, *, in_use: bool) -> Iterator[Roof]:
    """Yield a rate that a device states, where it is in use, and the one measured on it."""
    scale, label = _SCALE[METRIC_BY_NAME[name].unit], metric_label(name, device.family)
    stated, measured = device.metric(name), device.measured.get(name)
    if stated is not None and in_use:
        source = device.sources.get(name, "")
        yield Roof(label, stated * scale, _origin(source), source, _counted(name))
    if measured is not None:
        yield Roof(label, measured.value * scale, MEASURED, measured.source, _counted(name))


def _counted(name: str) -> str:
    return {"TFLOP/s": FLOP, "TOP/s": OP, "GB/s": BYTE}[METRIC_BY_NAME[name].unit]


def _origin(source: str) -> str:
    for origin in (COMPUTED, MEASURED):
        if source.startswith(origin):
            return origin
    return STATED
