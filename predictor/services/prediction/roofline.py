"""The roofline of a target, and where the operators of a model stand under it.

A roof is a rate that nothing passes: arithmetic in FLOP/s, or traffic in bytes a second, which is a
slope over the intensity. The roofs of the *estimate* are the rates that the device states or that
were measured on it; the roof of the *bound* is the highest rate that any kernel may reach, with
fast algorithms allowed for. One multiply-accumulate counts as two FLOPs.

Reference:
    Williams, Waterman and Patterson, Roofline: an insightful visual performance model for
    multicore architectures, CACM 52 (4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.metrics import METRIC_BY_NAME, RATE_METRIC
from predictor.core.records import Device, Target
from predictor.cost.capability import Capability, stated_capability
from predictor.cost.columns import HALF, Columns, fast_algorithm_gain, width_ratios
from predictor.cost.rates.facts import FLOPS_PER_MAC, stated_macs_per_s
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.presentation.metric_labels import metric_label
from predictor.services.prediction.explain import OperatorTable

Floats = NDArray[np.float64]

# What a rate counts: floating point, operations of any kind, or bytes of a memory.
FLOP, OP, BYTE = "FLOP", "OP", "B"
STATED, COMPUTED, MEASURED, BOUND = "stated", "computed", "measured", "bound"
_SCALE: Final = {"TFLOP/s": 1e12, "TOP/s": 1e12, "GB/s": 1e9}


@dataclass(frozen=True, slots=True)
class Roof:
    """A rate that bounds operators.

    Attributes:
        label: the fact that it comes from, such as ``FP16 peak``.
        rate: FLOP/s of arithmetic, bytes a second of a memory.
        origin: ``stated``, ``computed`` from stated facts, ``measured``, or ``bound``.
        source: of the fact, in words.
        counted: what its rate counts: ``FLOP``, ``OP`` of integers, or ``B`` of a memory.
    """

    label: str
    rate: float
    origin: str
    source: str
    counted: str = FLOP

    @property
    def is_memory(self) -> bool:
        """Whether it bounds traffic."""
        return self.counted == BYTE


@dataclass(frozen=True, slots=True, eq=False)
class Roofline:
    """The roofs of a target, and the N operators of a model under them.

    Attributes:
        roofs: memories first, each the lowest first; those of the bound last.
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
    return Roofline(
        roofs_of(model, target),
        run_bytes,
        flops / np.where(run_bytes > 0, run_bytes, np.nan),
        flops / seconds,
        run_bytes / seconds,
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


def _memories(device: Device) -> Iterator[Roof]:
    for name in ("dram_bw_gbps", "l2_bw_gbps"):
        yield from _facts(device, name)


def _arithmetic(
    graph: OperatorGraph, target: Target, rates_of_target: Capability
) -> Iterator[Roof]:
    """Yield the rates of the arithmetic that a graph has, and the bound's."""
    products = target.configuration.precision.number_format
    if products == "fp32" and stated_macs_per_s(target.device, "fp32_matrix") is not None:
        products = "fp32_matrix"
    rates = {RATE_METRIC[products]: rates_of_target.matrix_macs_per_s}
    if rates_of_target.vector_macs_per_s != rates_of_target.matrix_macs_per_s:
        rates["fp32_tflops"] = rates_of_target.vector_macs_per_s
    highest = rates_of_target.bound_float_macs_per_s
    if graph.has_flag(OperatorFlag.QUANTISED).any():
        rates["int8_tops"] = rates_of_target.integer_macs_per_s
        highest = max(highest, rates_of_target.bound_integer_macs_per_s)
    if (Columns.of(graph).width == HALF).any():
        highest = max(highest, rates_of_target.bound_half_macs_per_s)
    for name, rate in rates.items():
        if math.isfinite(rate):
            yield from _peaks(target, name, rate * FLOPS_PER_MAC)
    if math.isfinite(highest):
        gain = float(fast_algorithm_gain(graph).max(initial=1.0))
        fast = f", times {gain:.3g} for fast convolutions" if gain > 1 else ""
        rate = highest * FLOPS_PER_MAC * gain
        kind = OP if "int8_tops" in rates else FLOP
        yield Roof("Bound", rate, BOUND, f"the highest rate of any kernel{fast}", kind)


def _peaks(target: Target, name: str, rate: float) -> Iterator[Roof]:
    """Yield the rate that the threads in use have, and what was measured on all of them."""
    device, count = target.device, target.device.core_count
    is_part = bool(count and 0 < target.threads < count)
    if device.metric(name) is not None and not is_part:
        yield from _facts(device, name)
        return
    label = metric_label(name, device.family)
    if is_part:
        label = f"{label}, {target.threads} of {count} cores"
    source = "computed: cores in use x lanes x 2 x clock"
    yield Roof(label, rate, COMPUTED, source, _counted(name))


def _facts(device: Device, name: str) -> Iterator[Roof]:
    """Yield a rate that a device states, and the one that was measured on it."""
    scale, label = _SCALE[METRIC_BY_NAME[name].unit], metric_label(name, device.family)
    stated, measured = device.metric(name), device.measured.get(name)
    if stated is not None:
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
