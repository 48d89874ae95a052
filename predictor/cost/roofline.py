"""The roofline engine: two analytic numbers, an estimate and a bound, that are never mixed.

The *estimate* is the time at the target's peaks: each operator takes the longer of its arithmetic
and its traffic, plus the overhead of starting it; the operators follow one another.

The *bound* is a time that no run can beat: arithmetic at the highest rate that the run may use
with fast algorithms allowed for, and traffic that cannot be avoided, beyond what fits on the chip.
The two overlap in time, so the bound is the longer of them. Every term of the bound is at most its
counterpart in the estimate, so the bound never exceeds the estimate.

Reference:
    Williams, Waterman and Patterson, Roofline: an insightful visual performance model for
    multicore architectures, CACM 52 (4), 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import ArrayRecord, Floats
from predictor.core.caching import IdentityCache
from predictor.core.errors import InputError
from predictor.core.records import Basis, Device, Target, TargetId
from predictor.cost.capability import Capability, capability, stated_capability
from predictor.cost.columns import (
    HALF,
    S_TO_MS,
    SINGLE,
    WIDTHS,
    Columns,
    ms_per_mac,
    width_ratios,
)
from predictor.cost.engine import (
    NOTHING_MEASURED,
    BoundType,
    Explanation,
    PredictionTable,
    TargetMeasurements,
    VariedTimes,
)
from predictor.cost.memory import memory_uses, refusals
from predictor.cost.physics import leaving_share
from predictor.cost.run_facts import uncounted
from predictor.cost.support import unsupported
from predictor.graph.operator_graph import OperatorGraph

_CHUNK_CELLS = 1 << 18  # operators x targets at a time: five temporaries of 2 MiB stay in cache


class RooflineEngine:
    """Analytic latencies from MACs, bytes and launches; needs no measurement."""

    def __init__(self, rate: Callable[[Sequence[Target]], RatedTargets] | None = None) -> None:
        """Make an engine.

        Args:
            rate: looks targets up in place of :meth:`RatedTargets.of`.
        """
        self._rate = rate or RatedTargets.of
        # The same targets are asked about again and again, for one graph after the other.
        self._rated: IdentityCache[RatedTargets] = IdentityCache(1)

    @property
    def name(self) -> str:
        """Name and version, as stored with each prediction."""
        return "roofline/1"

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements],  # noqa: ARG002  # of the protocol, not needed
    ) -> PredictionTable:
        """Predict every graph on every target; see :class:`predictor.cost.engine.Engine`."""
        rated = self._rated.get(
            tuple(target.device for target in targets),
            lambda: self._rate(targets),
            tuple(target.configuration for target in targets),
        )
        columns, rates, problems = rated.columns, rated.rates, rated.problems
        shape = (len(graphs), len(targets))
        latency, bound, memory = (np.full(shape, np.nan) for _ in range(3))
        for row, graph in enumerate(graphs):
            cost = Columns.of(graph)
            latency[row, columns] = _estimates(cost, rates)
            bound[row, columns] = _bounds(cost, rates, latency[row, columns])
            memory[row, columns] = _memory_bytes(cost, rates)
        dram_bytes = np.full(len(targets), np.nan)
        dram_bytes[columns] = rates.dram_bytes
        fits_memory = _fits(memory, dram_bytes)
        refused = refusals(graphs, targets)
        for row, place in refused:
            latency[row, place], fits_memory[row][place] = np.nan, False
        basis = tuple(None if t in problems else Basis.ANALYTIC for t in range(len(targets)))
        return PredictionTable(
            engine=self.name,
            latency_ms=latency,
            low80_ms=np.full(shape, np.nan),
            high80_ms=np.full(shape, np.nan),
            low95_ms=np.full(shape, np.nan),
            high95_ms=np.full(shape, np.nan),
            bound_ms=bound,
            basis=[basis] * len(graphs),
            memory_bytes=memory,
            fits_memory=fits_memory,
            problems={
                **{(g, t): text for g in range(len(graphs)) for t, text in problems.items()},
                **refused,
            },
            predicted_ms=latency,
            facts={
                "memory": [memory_uses(graph, targets) for graph in graphs],
                "unsupported": [unsupported(graph, targets) for graph in graphs],
                "flagged_operators": [[uncounted(graph)] * len(targets) for graph in graphs],
            },
        )

    def explain(
        self,
        graph: OperatorGraph,
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,  # noqa: ARG002
        *,
        predicted: Floats | None = None,  # noqa: ARG002 - the parts sum to it
        places: Sequence[int] | None = None,
    ) -> Iterator[Explanation | None]:
        """Explain one graph on targets; see :class:`predictor.cost.engine.Engine`."""
        cost = Columns.of(graph)
        chosen = targets if places is None else [targets[place] for place in places]
        return (_explanation(cost, target) for target in chosen)

    @staticmethod
    def operator_bounds(graph: OperatorGraph, target: Target) -> Floats:
        """Return the part of the bound that each operator's arithmetic makes, ms, float64 [N].

        NaN where its rate is not known.

        Raises:
            InputError: the device does not support the configuration.
        """
        stated, _ = stated_capability(target)
        return _operator_bounds(Columns.of(graph), PeakRates.of([stated]))

    def varied(
        self,
        graph: OperatorGraph,
        target: Target,
        devices: Sequence[Device],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,  # noqa: ARG002  # as above
    ) -> VariedTimes:
        """Return the times of a graph on a target whose device has other facts.

        Raises:
            InputError: the target has no number; the reason as in the table.
        """
        rates = PeakRates.of([capability(replace(target, device=device)) for device in devices])
        compute, memory, launch = _operator_times(Columns.of(graph), rates)
        operator_ms = np.maximum(compute, memory) + launch
        return VariedTimes(operator_ms, operator_ms.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PeakRates(ArrayRecord):
    """Capabilities of T targets as arrays, by the codes of :mod:`predictor.cost.columns`.

    Attributes:
        ms_per_mac: [T, CODES].
        bound_ms_per_mac: [T, CODES], NaN where the highest rate is not known.
        weight_ratio: [T, WIDTHS], bytes of a weight in the run for a byte in the file.
        activation_ratio: [T, WIDTHS], the same of an activation.
        bound_bytes_ratio: [T, WIDTHS], the least that the run may use.
        bandwidth: [T], bytes a second; NaN where it is not known, as each rate.
        streams: [T], 1 where data that fits on the chip never leaves it, else 0.
        launch_ms: [T].
        on_chip_bytes: [T], infinite where it is not known, so that no traffic is unavoidable.
        dram_bytes: [T], NaN where it is not known.
    """

    ms_per_mac: Floats
    bound_ms_per_mac: Floats
    weight_ratio: Floats
    activation_ratio: Floats
    bound_bytes_ratio: Floats
    bandwidth: Floats
    streams: Floats
    launch_ms: Floats
    on_chip_bytes: Floats
    dram_bytes: Floats

    @classmethod
    def of(cls, capabilities: Sequence[Capability]) -> PeakRates:
        """Return the rates of T capabilities."""
        names = [field.name for field in fields(Capability)]
        values = np.array([[getattr(c, n) for n in names] for c in capabilities], np.float64)
        by_name = dict(zip(names, values.reshape(-1, len(names)).T, strict=True))
        on_chip = by_name["on_chip_bytes"]
        return cls(
            ms_per_mac=ms_per_mac(
                by_name["matrix_macs_per_s"],
                by_name["vector_macs_per_s"],
                by_name["integer_macs_per_s"],
            ),
            bound_ms_per_mac=_bound_per_code(by_name),
            weight_ratio=width_ratios(by_name["weight_bytes"]),
            activation_ratio=width_ratios(by_name["activation_bytes"]),
            # A run is free to keep tensors as narrow as the file has them.
            bound_bytes_ratio=np.minimum(1.0, width_ratios(by_name["bound_float_bytes"])),
            bandwidth=by_name["bandwidth_bytes_per_s"],
            streams=by_name["streams"],
            launch_ms=by_name["launch_ms"],
            on_chip_bytes=np.where(np.isnan(on_chip), np.inf, on_chip),
            dram_bytes=by_name["dram_bytes"],
        )


def _bound_per_code(by_name: Mapping[str, Floats]) -> Floats:
    """Return the least ms for a MAC, [T, CODES]."""
    highest = by_name["bound_float_macs_per_s"]
    per_mac = ms_per_mac(highest, highest, by_name["bound_integer_macs_per_s"])
    # MATRIX and VECTOR: integers are no halves, and have a rate of their own.
    halves = [rating * WIDTHS + HALF for rating in range(2)]
    per_mac[:, halves] = (S_TO_MS / by_name["bound_half_macs_per_s"])[:, None]
    return per_mac


@dataclass(frozen=True, slots=True, eq=False)
class RatedTargets:
    """Peak rates of targets, and why other targets have none.

    Attributes:
        columns: places of the T targets that run.
        rates: of these T.
        problems: why others, or some of them, have no estimate, by place.
    """

    columns: list[int]
    rates: PeakRates
    problems: Mapping[int, str]

    @classmethod
    def of(cls, targets: Sequence[Target]) -> RatedTargets:
        """Look targets up."""
        capabilities: dict[int, Capability] = {}
        problems: dict[int, str] = {}
        for index, target in enumerate(targets):
            gap: InputError | None
            try:
                capabilities[index], gap = stated_capability(target)
            except InputError as error:
                gap = error.with_traceback(None)  # nor its frames, which hold it
            if gap is not None:
                problems[index] = f"{gap.reason}; {gap.action}"
        return cls(list(capabilities), PeakRates.of(list(capabilities.values())), problems)


def _explanation(cost: Columns, target: Target) -> Explanation | None:
    """Return where the time of a graph goes on a target; None where it has no estimate."""
    try:
        rates = PeakRates.of([capability(target)])
    except InputError:
        return None
    compute, memory, launch = (times[0] for times in _operator_times(cost, rates))
    return Explanation(
        latency_ms=np.maximum(compute, memory) + launch,
        compute_ms=compute,
        memory_ms=memory,
        launch_ms=launch,
        bound_ms=_operator_bounds(cost, rates),
        bound_type=_bound_types(compute, memory, launch),
    )


def _operator_times(cost: Columns, rates: PeakRates) -> tuple[Floats, Floats, Floats]:
    """Return compute, memory and launch times of every operator in ms, each [T, N]."""
    # Where a device streams, what its chip has room for does not leave it.
    held_bytes = np.where(rates.streams > 0, rates.on_chip_bytes, 0.0)
    leaving = leaving_share(_memory_bytes(cost, rates), held_bytes)
    ms_per_byte = (leaving * S_TO_MS / rates.bandwidth)[:, None]
    activations = np.take(rates.activation_ratio * ms_per_byte, cost.width, axis=1)
    weights = np.take(rates.weight_ratio * ms_per_byte, cost.width, axis=1)
    return (
        np.take(rates.ms_per_mac, cost.code, axis=1) * cost.macs,
        activations * cost.activation_bytes + weights * cost.weight_bytes,
        rates.launch_ms[:, None] * cost.launches,
    )


def _estimates(cost: Columns, rates: PeakRates) -> Floats:
    """Return the estimate in ms, [T].

    Each row holds one target's operators side by side, so that it is summed in the same order
    as an explanation and to the same last bit.
    """
    latency = np.empty(len(rates.launch_ms))
    step = max(1, _CHUNK_CELLS // max(1, len(cost.macs)))
    for start in range(0, len(latency), step):
        part = slice(start, start + step)
        compute, memory, launch = _operator_times(cost, rates.take(part))
        latency[part] = (np.maximum(compute, memory) + launch).sum(axis=1)
    return latency


def _bounds(cost: Columns, rates: PeakRates, estimate_ms: Floats) -> Floats:
    """Return the bound in ms, [T], from whatever rates are known; NaN where none is."""
    used = cost.reduced_macs_by_code > 0
    compute: Floats = rates.bound_ms_per_mac[:, used] @ cost.reduced_macs_by_code[used]
    excess = np.maximum(_irreducible_bytes(cost, rates) - rates.on_chip_bytes, 0.0)
    # An unknown rate bounds nothing, and the other bounds alone: fmax passes over NaN.
    excess[np.isinf(rates.on_chip_bytes)] = np.nan
    bound = np.fmax(compute, excess / rates.bandwidth * S_TO_MS)
    # Equal in exact arithmetic at most; the sums may differ in their last bit.
    return np.where(np.isnan(estimate_ms), bound, np.minimum(bound, estimate_ms))


def _irreducible_bytes(cost: Columns, rates: PeakRates) -> Floats:
    """Return the least bytes that a run must bring to or from the chip, [T].

    Weights once, inputs and outputs once, all as narrow as the run may keep them, and never more
    than its operators move.
    """
    weights = rates.bound_bytes_ratio @ cost.touched_by_width
    boundary = rates.bound_bytes_ratio[:, SINGLE] * cost.boundary_bytes
    return np.minimum(weights + boundary, rates.bound_bytes_ratio @ cost.traffic_by_width)


def _operator_bounds(cost: Columns, rates: PeakRates) -> Floats:
    """Return the bounds of operators' arithmetic on the first target, ms, [N]."""
    bounds: Floats = cost.reduced_macs * rates.bound_ms_per_mac[0][cost.code]
    return bounds


def _memory_bytes(cost: Columns, rates: PeakRates) -> Floats:
    """Return weights and peak activations in the run's precision, [T]."""
    weights: Floats = rates.weight_ratio @ cost.weights_by_width
    activations: Floats = rates.activation_ratio @ cost.live_by_width
    return weights + activations


def _fits(memory: Floats, dram_bytes: Floats) -> list[list[bool | None]]:
    unknown = np.isnan(memory) | np.isnan(dram_bytes)  # [G, T]
    # Objects, since a boolean array has no third value.
    fits = (memory <= dram_bytes).astype(object)
    fits[unknown] = None
    rows: list[list[bool | None]] = fits.tolist()
    return rows


def _bound_types(compute: Floats, memory: Floats, launch: Floats) -> NDArray[np.int8]:
    """Return the largest part of each operator's time, [N]."""
    work = np.where(compute >= memory, BoundType.COMPUTE, BoundType.MEMORY)
    mostly = np.where(launch > np.maximum(compute, memory), BoundType.LAUNCH, work)
    idle = np.maximum(compute, memory) + launch == 0
    return np.where(idle, BoundType.NONE, mostly).astype(np.int8)
