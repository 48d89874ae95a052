"""Columns of a graph for the roofline, computed once and used for every target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats, Integers, Places
from predictor.core.records import Precision
from predictor.cost.rates.runs import ACTIVATION_BYTES, WEIGHT_BYTES
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPES

S_TO_MS: Final = 1e3

# How an operator's arithmetic is rated ...
MATRIX, VECTOR, INTEGER = range(3)
# ... and how its tensors change with the precision: not at all, or from 2 or 4 bytes an element.
AS_IS, HALF, SINGLE = range(3)
WIDTHS = 3
CODES = 3 * WIDTHS  # code = rating * WIDTHS + width

_WIDTH_OF_DTYPE = np.array(
    [{"float32": SINGLE, "float16": HALF, "bfloat16": HALF}.get(name, AS_IS) for name in DTYPES]
)
_FREE = int(OperatorFlag.VIEW | OperatorFlag.FUSED)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OperatorColumns:
    """Columns of N operators.

    Attributes:
        width: int [N], AS_IS, HALF or SINGLE.
        code: int [N], rating * WIDTHS + width.
        macs: [N].
        activation_bytes: [N], read and written, as in the file; 0 for views and fused epilogues.
        weight_bytes: [N], read, as in the file; 0 for views and fused epilogues.
        launches: [N], 0 for views and fused epilogues.
    """

    width: NDArray[np.integer]
    code: NDArray[np.integer]
    macs: Floats
    activation_bytes: Floats
    weight_bytes: Floats
    launches: Floats

    def take(self, operators: Places) -> OperatorColumns:
        """Return the columns of some of the operators."""
        names = (field.name for field in fields(OperatorColumns))
        return OperatorColumns(**{name: getattr(self, name)[operators] for name in names})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Columns(OperatorColumns):
    """Columns of the N operators of a graph and sums over them.

    Attributes:
        reduced_macs: [N], MACs after the best fast algorithm, for the bound.
        reduced_macs_by_code: [CODES].
        traffic_by_width: [WIDTHS], bytes.
        weights_by_width: [WIDTHS], bytes of distinct weights.
        touched_by_width: [WIDTHS], bytes of weights that one run must read at least.
        live_by_width: [WIDTHS], bytes of the largest set of live activations.
        boundary_bytes: bytes of inputs and outputs.
    """

    reduced_macs: Floats
    reduced_macs_by_code: Floats
    traffic_by_width: Floats
    weights_by_width: Floats
    touched_by_width: Floats
    live_by_width: Floats
    boundary_bytes: float

    @classmethod
    def of(cls, graph: OperatorGraph) -> Columns:
        """Compute the columns of ``graph``, cost O(N)."""
        width = _WIDTH_OF_DTYPE[graph.dtype]
        code = _ratings(graph) * WIDTHS + width
        runs = np.where((graph.flags & _FREE) != 0, 0, 1)
        macs = graph.macs.astype(np.float64)
        reduced_macs = macs / fast_algorithm_gain(graph)
        activation_bytes = ((graph.bytes_read + graph.bytes_written) * runs).astype(np.float64)
        weight_bytes = (graph.weight_bytes * runs).astype(np.float64)
        # A loop reads its weights again in each trip, but they are the same weights.
        weights = _sums(width, graph.weight_bytes / graph.repeats, WIDTHS)
        written = _sums(width, graph.bytes_written, WIDTHS)
        return cls(
            width=width,
            code=code,
            macs=macs,
            reduced_macs=reduced_macs,
            activation_bytes=activation_bytes,
            weight_bytes=weight_bytes,
            launches=(graph.repeats * runs).astype(np.float64),
            reduced_macs_by_code=_sums(code, reduced_macs, CODES),
            traffic_by_width=_sums(width, activation_bytes + weight_bytes, WIDTHS),
            weights_by_width=_split(graph.weights_total_bytes, weights),
            # Shared weights are counted once, and of an embedding table only the rows read.
            touched_by_width=_split(min(graph.weights_total_bytes, weights.sum()), weights),
            live_by_width=_split(graph.peak_activation_bytes, written),
            boundary_bytes=float(graph.input_bytes + graph.output_bytes),
        )


def width_ratios(float_bytes: Sequence[float] | Floats) -> Floats:
    """Return bytes in the run for a byte in the file, [T, WIDTHS], from bytes of a float [T]."""
    sizes = np.array(float_bytes, np.float64)
    return np.stack([np.ones_like(sizes), sizes / 2, sizes / 4], axis=1)


def byte_ratios(precisions: Iterable[Precision]) -> tuple[Floats, Floats]:
    """Return bytes in T runs for a byte in the file: of weights, of activations, [T, WIDTHS]."""
    of_runs = list(precisions)
    weights, activations = (
        width_ratios([of_element[precision] for precision in of_runs])
        for of_element in (WEIGHT_BYTES, ACTIVATION_BYTES)
    )
    return weights, activations


def ms_per_mac(matrix: Floats, vector: Floats, integer: Floats) -> Floats:
    """Return ms for a MAC, [T, CODES], from MACs a second by rating, each [T]."""
    rates = np.stack([matrix, vector, integer], axis=1)  # [T, ratings]
    per_mac: Floats = np.repeat(S_TO_MS / rates, WIDTHS, axis=1)
    return per_mac


def fast_algorithm_gain(graph: OperatorGraph) -> Floats:
    """Return the factor by which fast algorithms may cut each operator's multiplications, [N].

    A Winograd convolution F(m, r) computes m outputs of an r-tap filter with m + r - 1
    multiplications instead of m * r, along each axis of the window. The largest tile in use is
    m = 6: beyond it the transforms lose too many digits. So each axis gains at most
    6 r / (r + 5): 2.25 for r = 3, and 2.25 * 2.25 = 5.0625 for a 3 x 3 window.

    Reference:
        Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
    """
    # Operators without a window have 0 there; 1 gives a gain of 1.
    window = np.maximum(graph.window, 1).astype(np.float64)
    gain: Floats = np.prod(6 * window / (window + 5), axis=1)
    return np.where(graph.has_flag(OperatorFlag.WINOGRAD), gain, 1.0)


def _ratings(graph: OperatorGraph) -> Integers:
    """Return MATRIX, VECTOR or INTEGER of each operator, [N].

    A product with one column, as each group of a depthwise convolution is one, does not fill a
    matrix unit.
    """
    ratings = np.where(graph.gemm[:, 2] > 1, MATRIX, VECTOR)
    return np.where(graph.has_flag(OperatorFlag.QUANTISED), INTEGER, ratings)


def _sums(groups: Integers, values: NDArray[np.generic], count: int) -> Floats:
    """Sum ``values`` by group, [count]."""
    return np.bincount(groups, values, count).astype(np.float64)


def _split(total: float, parts: Floats) -> Floats:
    """Split ``total`` in proportion to ``parts``; all of it stays as it is where they are 0."""
    parts_total = parts.sum()
    if parts_total == 0:
        return np.array([total if width == AS_IS else 0.0 for width in range(len(parts))])
    shares: Floats = parts * (total / parts_total)
    return shares
