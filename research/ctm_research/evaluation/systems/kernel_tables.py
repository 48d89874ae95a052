"""PM2Lat with its own tables: the kernels of a card were timed on that card.

Products look up the throughput of the kernel that the library would choose: that of the nearest
timed sizes, interpolated over sizes. What moves memory is linear in operations and bytes.

Reference:
    PM2Lat, arXiv 2603.00549, 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import cKDTree

from ctm_research.evaluation.judge.groups import Floats
from ctm_research.evaluation.systems.operator_data import CLASSES, Operators

_NEAREST: Final = 4
_S_TO_MS: Final = 1e3


@dataclass(frozen=True, slots=True, eq=False)
class KernelTables:
    """The tables of one card.

    Attributes:
        throughput: by class of products, the timed sizes with FLOP/s and kernel of each.
        lines: by class of the others, ms of a start, of an operation and of a byte.
    """

    throughput: Mapping[int, tuple[cKDTree, Floats, Floats]]
    lines: Mapping[int, Floats]

    @classmethod
    def fit(cls, timed: Operators) -> KernelTables:
        """Build the tables from the operators timed on a card."""
        throughput, lines = {}, {}
        for klass in range(len(CLASSES)):
            part = timed.take(timed.klass == klass)
            if klass <= CLASSES.index("bmm"):
                rate = part.flops / part.ms * _S_TO_MS
                kernel = part.kernel.astype(np.float64)
                throughput[klass] = cKDTree(np.log2(part.size)), rate, kernel
            else:
                lines[klass] = fitted_line(_columns(part), part.ms)
        return cls(throughput, lines)

    def predict(self, operators: Operators) -> Floats:
        """Return ms of each operator, float64 [N]."""
        classes = np.flatnonzero(np.bincount(operators.klass)).tolist()
        if len(classes) == 1:  # as one operator is: nothing to take apart
            return self._of_class(operators, classes[0])
        result = np.empty(len(operators))
        for klass in classes:
            mine = operators.klass == klass
            result[mine] = self._of_class(operators.take(mine), klass)
        return result

    def _of_class(self, operators: Operators, klass: int) -> Floats:
        """Return ms of operators of one class."""
        if klass in self.lines:
            moved: Floats = _columns(operators) @ self.lines[klass]
            return moved
        tree, rate, kernel = self.throughput[klass]
        distance, place = tree.query(np.log2(operators.size), k=_NEAREST)
        # The kernel of the nearest sizes runs; other kernels' throughputs say nothing of it.
        weight = (kernel[place] == kernel[place[:, :1]]) / (distance + 1e-3)
        interpolated = (weight * rate[place]).sum(axis=1) / weight.sum(axis=1)
        computed: Floats = _S_TO_MS * operators.flops / interpolated
        return computed


def _columns(operators: Operators) -> Floats:
    return np.column_stack([np.ones(len(operators)), operators.flops, operators.bytes])


def fitted_line(columns: Floats, ms: Floats) -> Floats:
    """Return the coefficients, none negative, of least relative squares."""
    size = columns.max(axis=0)
    weights, _ = nnls(columns / size / ms[:, None], np.ones(len(ms)))
    result: Floats = weights / size
    return result
