"""Work of the operators of a graph, as calibration by operators sees them.

Unlike the network's, this work counts fused operators too: a profile shows whether a runtime really
fuses them, and those that run apart take time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operator_fit import RatedOperators
from predictor.core.arrays import Bools, Floats, Integers
from predictor.core.caching import IdentityCache
from predictor.core.records import Device, Target
from predictor.cost.columns import Columns, OperatorColumns
from predictor.cost.operator_kinds import NETWORK_KINDS
from predictor.cost.rates.facts import core_cache_bytes
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.network.features import (
    SCALE_FREE_NAMES,
    exact_features,
    network_kinds,
    scale_free,
)
from predictor.network.reference_rates import ReferenceRates, Typical
from predictor.network.work_terms import TERMS, off_chip_share, work_terms

_COMPUTE, _MEMORY, _START = (TERMS.index(name) for name in ("compute", "memory", "start"))
_FIRST_CACHE: Final = 0.25  # of the time of traffic to memory, where the first cache holds it
_PIECE_MS: Final = 2e-3  # to begin one of several products of an operator
_L1_BYTES, _L2_BYTES = 48 * 1024.0, 1024 * 1024.0  # of a core that does not say them
_TRAITS: Final = [
    SCALE_FREE_NAMES.index(name)
    for name in (
        "log1p_gemm_n",
        "log1p_gemm_k",
        "log1p_window_height",
        "log1p_stride_height",
        "log1p_weight_groups",
        "log_read_per_written",
        "log_macs_per_byte_written",
    )
]
_DEPTHWISE: Final = SCALE_FREE_NAMES.index("is_depthwise")
_LANES: Final = (
    16  # FP32 numbers of the widest vector: channels are padded to it, or not vectorised
)
_MAX_GRAPHS: Final = 512  # a whole pool of reference networks, and the user's models
_EPILOGUES: Final = ("Clip", "LeakyRelu", "Relu")  # that every runtime runs inside the product
_EPILOGUE: Final = len(NETWORK_KINDS)  # beside the kinds of the network
_INSIDE: Final = 1 << 16  # added to the code of a type: inside another operator it is another one


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TimedGraph:
    """A graph whose R operators that are no views may be timed.

    Attributes:
        places: int64 [R], of the operators in the graph.
        operators: costs of the R.
        traits: float64 [R, S], sizes as logarithms; none changes with the batch.
        kind: int64 [R].
        code: int64 [R], of their types.
        pieces: float64 [R], products that run one after the other in it, beyond a single one.
        weights: [1, WIDTHS], bytes of its distinct weights.
        live: [1, WIDTHS], bytes of its largest set of live activations.
    """

    places: Integers
    operators: OperatorColumns
    traits: Floats
    kind: Integers
    code: Integers
    pieces: Floats
    weights: Floats
    live: Floats

    @classmethod
    def of(cls, graph: OperatorGraph) -> TimedGraph:
        """Look at a graph, cost O(N)."""
        places = np.flatnonzero(~graph.has_flag(OperatorFlag.VIEW))
        if not len(places):
            places = np.zeros(1, np.int64)  # it stands for all: a run takes some time
        columns = Columns.of(graph)
        features = scale_free(exact_features(graph))[places]
        inside = graph.has_flag(OperatorFlag.FUSED)[places]
        types = np.array(graph.op_types)[places]
        kind = network_kinds(graph.op_code[places].astype(np.int64), features)
        epilogue = inside & np.isin(types, _EPILOGUES)
        groups = graph.gemm[places, 0]
        several = (groups > 1) & (features[:, _DEPTHWISE] == 0)
        sizes = (_row_sizes(graph, places), _alignments(graph, places, features))
        return cls(
            places=places,
            operators=_operators(graph, columns, places, inside),
            traits=np.column_stack([features[:, _TRAITS].astype(np.float64), *sizes]),
            kind=np.where(epilogue, _EPILOGUE, kind),
            code=graph.op_code[places].astype(np.int64) + _INSIDE * epilogue,
            pieces=(groups * graph.repeats[places] * several).astype(np.float64),
            weights=columns.weights_by_width[None],
            live=columns.live_by_width[None],
        )

    def work(self, device: Device, rates: ReferenceRates) -> RatedOperators:
        """Return the work of the operators on a target.

        Its parts are arithmetic, all traffic, traffic beyond the first cache and beyond the second,
        the launch, and the start of each product: small operators are faster, for their tensors
        stay in the caches.

        Args:
            device: of the target.
            rates: of the one target.
        """
        leaving = off_chip_share(self.weights, self.live, rates)
        terms = work_terms(self.operators, leaving, rates)[:, 0].astype(np.float64)
        memory = terms[:, _MEMORY]
        cache_limits_ms = _cache_bytes(device) * float(rates.ms_per_byte[0])
        excess_ms = (np.maximum(memory - cached_ms, 0.0) for cached_ms in cache_limits_ms)
        parts = [terms[:, _COMPUTE], _FIRST_CACHE * memory, *excess_ms, terms[:, _START]]
        return RatedOperators(
            parts_ms=np.stack([*parts, _PIECE_MS * self.pieces], axis=1),
            traits=self.traits,
            kind=self.kind,
            code=self.code,
        )


class OperatorWorks:
    """Work of the operators of graphs on targets; the last graphs are remembered."""

    def __init__(self, typical: Typical) -> None:
        """Take rates where facts of a device are missing."""
        self._typical = typical
        self._graphs: IdentityCache[TimedGraph] = IdentityCache(_MAX_GRAPHS)

    def graph(self, graph: OperatorGraph) -> TimedGraph:
        """Return the operators of a graph that may be timed."""
        return self._graphs.get((graph,), lambda: TimedGraph.of(graph))

    def work(self, graph: OperatorGraph, target: Target) -> RatedOperators:
        """Return their work on a target."""
        rates = ReferenceRates.of([target], self._typical)
        return self.graph(graph).work(target.device, rates)


def by_resource(parts_ms: Floats) -> Floats:
    """Return the parts of :meth:`TimedGraph.work` as arithmetic, traffic and launches, [R, 3]."""
    return np.stack([parts_ms[:, 0], parts_ms[:, 1:4].sum(axis=1), parts_ms[:, 4:].sum(axis=1)], 1)


def _operators(
    graph: OperatorGraph, columns: Columns, places: Integers, inside: Bools
) -> OperatorColumns:
    """Return the costs of operators; those inside others with the traffic that they have apart.

    They read and write the output of the operator that they are fused into.
    """
    traffic, operators = 2 * graph.bytes_written[graph.fused_into[places]], columns.take(places)
    return replace(
        operators,
        activation_bytes=np.where(inside, traffic, operators.activation_bytes),
        launches=graph.repeats[places].astype(np.float64),
    )


def _row_sizes(graph: OperatorGraph, places: Integers) -> Floats:
    """Return log(1 + last dim) of the operators' outputs, [R]; short rows are slow."""
    ends, ranks = graph.shape_offsets[1:][places], np.diff(graph.shape_offsets)[places]
    # A leading scalar ends at 0 and reads index -1, which must exist and be 0.
    dims = np.append(graph.shape_dims, 0)
    last = np.where(ranks > 1, dims[ends - 1], 0)  # the only dim may be the batch
    return np.log1p(last)


def _alignments(graph: OperatorGraph, places: Integers, features: NDArray[np.float32]) -> Floats:
    """Return log2 of the largest part of a vector that divides a convolution's channels, [R]."""
    groups, _, outward, inner = graph.gemm[places].T
    window = graph.window[places].astype(np.int64).prod(axis=1)
    inward = inner // np.maximum(window, 1)
    depthwise = features[:, _DEPTHWISE] > 0
    channels = np.where(depthwise, groups, np.gcd(inward, outward))
    aligned = np.log2(np.gcd(channels, _LANES).clip(1))
    alignments: Floats = np.where((window > 0) & (outward > 0), aligned, np.log2(_LANES))
    return alignments


def _cache_bytes(device: Device) -> Floats:
    """Return the bytes of the first and the second cache that one core of a device has, [2]."""
    first, second = core_cache_bytes(device)
    return np.array(
        [_L1_BYTES if first is None else first, _L2_BYTES if second is None else second]
    )
