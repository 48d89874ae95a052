"""Time of an operator's work at the rates of the hardware, in terms, before any efficiency.

An operator's time is a sum of terms, each its work over one rate of :mod:`predictor.cost.rates`:
arithmetic, one block of a product, memory, launch. The engine multiplies each term by an
efficiency. So a rate that grows never raises a time, nor lowers it by more than its own factor.

- *Arithmetic*: multiply-accumulates over the rate that the kernels of the runtime can reach. Of a
  product on a processor one core does a part alone, of one in the matrix units of a GPU the lanes
  do a part; these parts belong to the run, not to the rates of the hardware.
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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Final, NamedTuple

import numpy as np

from predictor.core.arrays import Bools, Floats, Integers, Places
from predictor.core.records import Precision, Target
from predictor.core.runtimes import runtime_of
from predictor.cost.columns import (
    S_TO_MS,
    VECTOR,
    WIDTHS,
    Columns,
    OperatorColumns,
    byte_ratios,
)
from predictor.cost.operator_kinds import is_convolution
from predictor.cost.rates.facts import bandwidth, chip_bytes
from predictor.cost.rates.runs import RunRates, as_run, run_rates
from predictor.cost.rates.typical import Rates
from predictor.cost.rates.units import GPUS
from predictor.graph.operator_graph import OperatorGraph

TERMS: Final = ("arithmetic", "block", "memory", "launch")

# Term of the arrays of a work, by the names of its fields.
_TERM_OF: Final = {
    "convolution_macs": 0,
    "matrix_macs": 0,
    "vector_macs": 0,
    "reduction": 1,
    "activation_bytes": 2,
    "weight_bytes": 2,
    "launches": 3,
}

# Outputs of a block of a product, 16 x 16: small enough for every kernel. Its size is part of the
# efficiency of the term.
BLOCK: Final = 256
# A start takes some thousand clocks on a processor, a microsecond where the clock says nothing.
_LAUNCH_CLOCKS: Final = 2000.0
_LAUNCH_S: Final = 1e-6
# Part of the arithmetic of a run that its threads do not share (Amdahl). Runtimes reach 1.4 to 2
# with two threads and 1.8 to 3.5 with four, and no more than 5 with 64.
_SERIAL: Final = 0.1
# Part of the arithmetic of a product in matrix units that the other lanes do.
_OUTSIDE_MATRICES: Final = 0.1
# Starts of a run whose operators all cost nothing; chosen, and less than that of any real operator.
_MIN_LAUNCHES: Final = 0.1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
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
        weight_totals: [WIDTHS], bytes of the distinct weights of the whole graph, as in the file.
    """

    convolution_macs: Floats
    matrix_macs: Floats
    vector_macs: Floats
    reduction: Floats
    activation_bytes: Floats
    weight_bytes: Floats
    launches: Floats
    weight_totals: Floats

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
        return replace(work, launches=np.full(len(graph), _MIN_LAUNCHES / max(len(graph), 1)))

    def take(self, operators: Places) -> Work:
        """Return the work of some of the operators."""
        return self._changed(lambda values: values[operators])

    def by_kind(self, kinds: Integers, count: int, factors: Floats) -> Work:
        """Return the work times factors, summed over the operators of kinds, [C, count].

        A sum of one context is the same to the last bit beside whichever others.

        Args:
            kinds: int64 [N].
            count: of kinds.
            factors: float64 [C, N, len(TERMS)], on the terms of the operators in C contexts.
        """
        order = np.argsort(kinds, kind="stable")
        present, starts = np.unique(kinds[order], return_index=True)
        columns = [getattr(self, name).reshape(len(kinds), -1).T for name in _TERM_OF]
        widths = [len(column) for column in columns]
        terms = np.repeat(list(_TERM_OF.values()), widths)
        scaled = factors.transpose(0, 2, 1)[:, terms[:, None], order]  # [C, columns, N]
        scaled *= np.concatenate(columns)[:, order]
        sums = np.zeros((len(factors), count, len(terms)))
        if len(kinds):
            sums[:, present] = np.add.reduceat(scaled, starts, axis=2).transpose(0, 2, 1)
        parts = np.split(sums, np.cumsum(widths)[:-1], axis=2)
        arrays = {
            name: part if getattr(self, name).ndim > 1 else part[..., 0]
            for name, part in zip(_TERM_OF, parts, strict=True)
        }
        return replace(self, **arrays)

    @staticmethod
    def joined(works: Sequence[Work]) -> Work:
        """Return works of one graph by contexts, one after the other."""
        arrays = {
            name: np.concatenate([getattr(work, name) for work in works]) for name in _TERM_OF
        }
        return replace(works[0], **arrays)

    def _changed(self, change: Callable[[Floats], Floats]) -> Work:
        """Return the work with another form of all that its operators have."""
        return replace(self, **{name: change(getattr(self, name)) for name in _TERM_OF})

    @classmethod
    def rated(
        cls,
        columns: OperatorColumns,
        reduction: Floats,
        weight_totals: Floats,
        convolutions: Bools,
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
            weight_totals=weight_totals,
        )


def term_times(work: Work, rates: Rates) -> Floats:
    """Return the terms in ms, [N, T, len(TERMS)]; NaN where a rate is not known."""
    return matched_times(work.take(np.s_[:, None]), rates)


def matched_times(work: Work, rates: Rates) -> Floats:
    """Return the terms in ms of work and rates whose axes broadcast, [..., len(TERMS)]."""
    leaving = leaving_share(rates.weight_ratio @ work.weight_totals, rates.held_bytes)
    traffic = _run_bytes(work.activation_bytes, rates.activation_ratio) * (rates.held_bytes == 0)
    traffic = traffic + _run_bytes(work.weight_bytes, rates.weight_ratio) * leaving
    arithmetic = work.convolution_macs / rates.convolution + work.matrix_macs / rates.matrix
    terms = (
        arithmetic + work.vector_macs / rates.vector,
        work.reduction * BLOCK / rates.unit,
        traffic / rates.bandwidth,
        work.launches * rates.launch_s,
    )
    times = np.stack(terms, axis=-1)
    times *= S_TO_MS
    return times


def _run_bytes(file_bytes: Floats, ratio: Floats) -> Floats:
    """Return bytes in the run, [...], from those in the file and their ratio, [..., WIDTHS]."""
    return reduce(add, (file_bytes[..., width] * ratio[..., width] for width in range(WIDTHS)))


def leaving_share(weight_bytes: Floats, held_bytes: Floats) -> Floats:
    """Return the part of weights that does not stay on a chip; all where none are held."""
    excess = 1 - held_bytes / np.maximum(weight_bytes, 1.0)
    share: Floats = np.where(held_bytes > 0, np.maximum(excess, 0.0), 1.0)
    return share


def rates_of(targets: Sequence[Target]) -> Rates:
    """Return the rates of targets, from their facts alone."""
    return rates_of_runs([as_run(target) for target in targets])


def rates_of_runs(targets: Sequence[Target]) -> Rates:
    """Return the rates of targets whose precision is that of the run."""
    terms = list(map(_term_rates, targets, run_rates(targets)))
    by_name = {
        name: np.array([getattr(term, name) for term in terms], np.float64)
        for name in _TermRates._fields
    }
    weight_ratio, activation_ratio = byte_ratios(t.configuration.precision for t in targets)
    return Rates(
        **by_name,
        bandwidth=np.array([bandwidth(target.device) for target in targets]),
        held_bytes=np.array([chip_bytes(target.device) for target in targets]),
        weight_ratio=weight_ratio,
        activation_ratio=activation_ratio,
    )


class _TermRates(NamedTuple):
    """Rates of the terms of one target, see :class:`Rates`."""

    convolution: float
    matrix: float
    vector: float
    unit: float
    launch_s: float


def _term_rates(target: Target, run: RunRates) -> _TermRates:
    """Return the rates of the terms at the rates of the hardware."""
    if target.device.is_threaded:
        shared = _joined(run.unit, run.matrix, _SERIAL)
        launch_s = _LAUNCH_S if np.isnan(run.core_hz) else _LAUNCH_CLOCKS / run.core_hz
        return _TermRates(shared, shared, shared, run.unit, launch_s)
    matrix, precision = run.matrix, target.configuration.precision
    if target.device.family in GPUS and matrix > run.vector:
        matrix = _joined(run.vector, matrix, _OUTSIDE_MATRICES)
    tf32 = runtime_of(target.configuration.runtime).tf32 if precision is Precision.FP32 else ""
    quick = float(np.fmax(matrix, run.tf32)) if tf32 else matrix
    products = quick if tf32 == "all" else matrix
    return _TermRates(quick, products, run.vector, run.unit, _LAUNCH_S / run.start_pace)


def _joined(slow: float, fast: float, part: float) -> float:
    """Return the rate of work of which a part runs at the slow rate, the rest at the fast one."""
    return 1 / (part / slow + (1 - part) / fast)
