"""Many graphs of one search space as counts of the distinct kernels that they launch.

The networks of a search space repeat the same operators on the same shapes. So a few hundred
distinct kernels describe thousands of graphs without loss of their costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.graph.operator_graph import OperatorFlag, OperatorGraph

COLUMNS = (
    "op_code",
    "fused",
    "macs",
    "bytes_read",
    "weight_bytes",
    "bytes_written",
    "groups",
    "rows",
    "columns",
    "depth",
    "window",
    "stride",
)
"""Columns of a kernel. ``fused`` counts the operators in its epilogue; groups, rows (M),
columns (N) and depth (K) are those of its contraction, else 0; window and stride are heights."""

Kernel = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class KernelTable:
    """A graphs as counts of K distinct kernels.

    Attributes:
        kernels: int64 [K, 12], sorted rows with the columns :data:`COLUMNS`.
        counts: int32 [A, K], launches of each kernel by each graph.
    """

    kernels: NDArray[np.int64]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.counts)

    def column(self, name: str) -> NDArray[np.int64]:
        """Int64 [K], one property of every kernel."""
        values: NDArray[np.int64] = self.kernels[:, COLUMNS.index(name)]
        return values

    def total(self, of_each: NDArray[np.generic]) -> NDArray[np.float64]:
        """Sum a property of kernels over the launches of each graph.

        Args:
            of_each: [K] or [K, F].

        Returns:
            Float64 [A] or [A, F].
        """
        summed: NDArray[np.float64] = self.counts.astype(np.float64) @ of_each.astype(np.float64)
        return summed


def kernels_of(graph: OperatorGraph) -> Counter[Kernel]:
    """Count the kernels that one graph launches: views and fused operators launch none."""
    fused = np.bincount(graph.fused_into[graph.fused_into >= 0], minlength=len(graph))
    launched = (graph.fused_into < 0) & ~graph.has_flag(OperatorFlag.VIEW)
    rows = np.column_stack(
        [
            graph.op_code,
            fused,
            graph.macs,
            graph.bytes_read,
            graph.weight_bytes,
            graph.bytes_written,
            graph.gemm,
            graph.window[:, 0],
            graph.stride[:, 0],
        ]
    ).astype(np.int64)
    return Counter(map(tuple, rows[launched].tolist()))


def kernel_table(counted: Iterable[Counter[Kernel]]) -> KernelTable:
    """Join the counts of many graphs, one row each, in their order."""
    listed = list(counted)
    kernels = sorted(set().union(*listed))
    place = {kernel: index for index, kernel in enumerate(kernels)}
    counts = np.zeros((len(listed), len(kernels)), np.int32)
    for row, counter in enumerate(listed):
        for kernel, count in counter.items():
            counts[row, place[kernel]] = count
    return KernelTable(np.array(kernels, np.int64).reshape(len(kernels), len(COLUMNS)), counts)
