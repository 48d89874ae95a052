"""Rows of the Attention view: operators or types of operators, with their parts of the maps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ctm_gui.widgets.grid import name_ranks, search_texts
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from predictor.core.text import plural
from predictor.cost.engine import AttentionMaps
from predictor.presentation.wording import shown
from predictor.services.prediction.attention import AttentionPeak, attention_peak
from predictor.services.prediction.explain import OperatorTable

Map = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionRows:
    """R rows of the maps: operators, or the types of operators.

    Attributes:
        names: of the operators or types, as in the file.
        types: types of the operators; empty texts where rows are types themselves.
        counts: number of operators of each row, intp [R].
        latency_share: their part of the latency, float64 [R], 0 to 1.
        to_metrics: float32 [R, K], the attention of a row to each metric; rows add up to 1, and to
            0 where they are shares of no time. A type's is the mean of its operators'. Of what was
            learned: the part of the row's time that it adds by each metric, below 0 where it saves.
        from_metrics: float32 [R, K], the part of each metric's attention that goes to a row;
            columns add up to 1. Of what was learned: the part of the metric's time that it adds.
        row_of: row of each operator, intp [N].
        ranks: of the names, float64 [R]; None where they are not known.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    counts: IndexArray
    latency_share: FloatArray
    to_metrics: Map
    from_metrics: Map
    row_of: IndexArray
    ranks: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def name_ranks(self) -> FloatArray:
        """Ranks of the names, float64 [R]."""
        return name_ranks(self.names) if self.ranks is None else self.ranks

    @cached_property
    def search_texts(self) -> list[str]:
        """Texts that the search box looks through, by row."""
        return search_texts(self.names, self.types)

    @cached_property
    def to_peaks(self) -> AttentionPeak:
        """The metric that each row attends to most."""
        return attention_peak(self.to_metrics)

    @cached_property
    def from_peaks(self) -> AttentionPeak:
        """The metric that attends to each row most."""
        return attention_peak(self.from_metrics)

    def label(self, row: int) -> str:
        """Return the name of a row in a sentence: ``Conv conv1``, ``Conv (12 operators)``.

        A name that says the type, such as ``Conv_3`` or ``/layer1/Conv``, stands alone.
        """
        kind, name = self.types[row], self.names[row]
        if kind:
            says_kind = kind.casefold() in name.casefold()
            return shown(name) if says_kind else f"{shown(kind)} {shown(name)}"
        count = int(self.counts[row])
        return f"{shown(self.names[row])} ({plural(count, 'operator')})"

    def is_plural(self, row: int) -> bool:
        """Whether ``label`` stands for several operators: those of a type together."""
        return not self.types[row] and self.counts[row] != 1


def by_operator(
    table: OperatorTable, attention: AttentionMaps, ranks: FloatArray | None = None
) -> AttentionRows:
    """Return the maps of N operators, a row each in the order of the model; ``ranks`` of names."""
    count = len(table.names)
    to_metrics = attention.operator_to_metric
    if attention.is_time:
        # No time has no shares: equal ones would be read as such.
        to_metrics = np.where(table.share[:, None] > 0, to_metrics, np.float32(0.0))
    return AttentionRows(
        names=table.names,
        types=table.op_types,
        counts=np.ones(count, dtype=np.intp),
        latency_share=table.share,
        to_metrics=to_metrics,
        # float32 [K, N] to [N, K].
        from_metrics=np.ascontiguousarray(attention.metric_to_operator.T),
        row_of=np.arange(count, dtype=np.intp),
        ranks=ranks,
    )


def by_type(rows: AttentionRows, weights: FloatArray) -> AttentionRows:
    """Gather operators of one type, in the order of each type's first operator.

    Args:
        rows: a row an operator, N.
        weights: of the operators in the mean of their type, float64 [N].
    """
    types = tuple(dict.fromkeys(rows.types))
    code_of = {kind: code for code, kind in enumerate(types)}
    row_of = np.fromiter((code_of[kind] for kind in rows.types), np.intp, len(rows))
    weighted = (rows.to_metrics * weights[:, None]).astype(np.float32)
    counts = np.bincount(row_of, minlength=len(types))
    totals = np.bincount(row_of, weights, len(types))[:, None]
    means = _summed(weighted, row_of, counts) / np.where(totals > 0, totals, 1.0)
    return AttentionRows(
        names=types,
        types=("",) * len(types),
        counts=counts,
        latency_share=np.bincount(row_of, rows.latency_share, len(types)).astype(np.float64),
        to_metrics=means.astype(np.float32),
        from_metrics=_summed(rows.from_metrics, row_of, counts),
        row_of=row_of,
    )


def _summed(values: Map, row_of: IndexArray, counts: IndexArray) -> Map:
    """Add up the rows of ``values`` that go to one row; each row gets at least one."""
    # float32 [N, K] to [R, K]. For an empty run reduceat would give the row at its start.
    sums: Map = np.add.reduceat(
        values[np.argsort(row_of, kind="stable")], np.cumsum(counts) - counts, axis=0
    )
    return sums
