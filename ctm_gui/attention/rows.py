"""The Attention view without widgets: rows of operators or types, their maps, words and table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ctm_gui.widgets.grid import (
    Column,
    Grid,
    count_column,
    name_column,
    place_column,
    search_texts,
    share_column,
)
from ctm_gui.widgets.ordering import FloatArray, IndexArray, text_ranks
from predictor.core.records import Device
from predictor.core.text import plural, uncapitalised
from predictor.cost.engine import AttentionMaps
from predictor.presentation.wording import NOTHING, percent, shown
from predictor.services.prediction.attention import (
    AttentionPeak,
    attention_peak,
    token_label,
    token_text,
)
from predictor.services.prediction.explain import OperatorTable

Map = npt.NDArray[np.float32]
_PAIRS_NAMED = 3
# A largest share under this many times an equal one is no preference worth naming alone.
_EVEN = 1.5


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionRows:
    """R rows of the maps: operators, or the types of operators.

    Attributes:
        names: of the operators or types, as in the file.
        types: types of the operators; empty texts where rows are types themselves.
        counts: number of operators of each row, intp [R].
        latency_share: their part of the latency, float64 [R], 0 to 1.
        to_metrics: float32 [R, K], the attention of a row to each metric; rows add up to 1, and to
            0 where they are shares of no time. A type's is the mean of its operators'.
        from_metrics: float32 [R, K], the part of each metric's attention that goes to a row;
            columns add up to 1.
        row_of: row of each operator, intp [N].
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    counts: IndexArray
    latency_share: FloatArray
    to_metrics: Map
    from_metrics: Map
    row_of: IndexArray

    def __len__(self) -> int:
        return len(self.names)

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
        """Return the name of a row in a sentence: ``Conv conv1``, ``Conv (12 operators)``."""
        if self.types[row]:
            return f"{shown(self.types[row])} {shown(self.names[row])}"
        count = int(self.counts[row])
        return f"{shown(self.names[row])} ({plural(count, 'operator')})"

    def is_plural(self, row: int) -> bool:
        """Whether ``label`` stands for several operators: those of a type together."""
        return not self.types[row] and self.counts[row] != 1


def _by_operator(table: OperatorTable, attention: AttentionMaps) -> AttentionRows:
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
    )


def _by_type(rows: AttentionRows, weights: FloatArray) -> AttentionRows:
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


def looked_at(peak: AttentionPeak, row: int, labels: Sequence[str]) -> str:
    """Return the metric with a row's largest attention, where one stands out from the rest."""
    if not peak.share[row]:
        return NOTHING
    return "all alike" if peak.even[row] else labels[int(peak.at[row])]


class AttentionSummary:
    """The attention of one model on one target, with the sums and sentences of the view.

    Args:
        table: N operators; its attention must be there.
        device: the device of the target, which names the metrics and has their values.
    """

    def __init__(self, table: OperatorTable, device: Device) -> None:
        if table.attention is None or not table.attention.metrics:
            raise ValueError("no attention to sum up")
        self.table = table
        self.attention = table.attention
        self.labels = tuple(token_label(name, device) for name in self.attention.metrics)
        self.values = tuple(token_text(name, device) for name in self.attention.metrics)
        self.device_name = shown(device.name)

    @cached_property
    def operators(self) -> AttentionRows:
        """One row an operator, in the order of the model."""
        return _by_operator(self.table, self.attention)

    @cached_property
    def types(self) -> AttentionRows:
        """One row a type of operator."""
        rows = self.operators
        return _by_type(rows, rows.latency_share if self.is_time else np.ones(len(rows)))

    @property
    def is_time(self) -> bool:
        """Whether the weights are shares of time, and none of a network."""
        return self.attention.is_time

    def meaning(self) -> str:
        """Return the meaning of the weights: a sentence a line, two of them."""
        if self.is_time:
            return (
                "Shares of time, estimated: left, what the time of each operator goes to; right, "
                "in which operators that time is.\n"
                "A rate that is 1 % higher makes an operator faster by its share of 1 %."
            )
        blend = self.attention.blend
        return (
            f"Blend λ = {blend:.2f}: the prediction is made {percent(blend)} from operators "
            f"that looked at metrics and {percent(1 - blend)} from metrics that looked at "
            "operators.\n"
            f"Residual weight α = {self.attention.residual:.2f}: what an operator takes from "
            "the metrics is added to its own state with this weight."
        )

    def pairs(self, rows: AttentionRows) -> str:
        """Return the metrics that the slowest rows attend to most, in a sentence."""
        peaks = rows.to_peaks
        slowest = np.argsort(-rows.latency_share, kind="stable")[:_PAIRS_NAMED]
        slowest = slowest[peaks.share[slowest] > 0]
        even = peaks.share[slowest] < _EVEN / len(self.labels)
        if slowest.size > 1 and even.all():
            return f"{self._even(rows, int(slowest[0]), peaks)}; so are the next slowest"
        # Alike ones together: three times the same metric is one thing to know.
        alike: dict[int, list[int]] = {}
        for row, is_even in zip(slowest.tolist(), even.tolist(), strict=True):
            alike.setdefault(-1 - row if is_even else int(peaks.at[row]), []).append(row)
        return "; ".join(
            self._even(rows, rows_of_metric[0], peaks)
            if key < 0
            else self._standing(rows, rows_of_metric, peaks)
            for key, rows_of_metric in alike.items()
        )

    def _standing(self, rows: AttentionRows, alike: list[int], peaks: AttentionPeak) -> str:
        """Write ``Conv conv1 and Conv conv2 are most sensitive to memory bandwidth (41 to 52 %)``.

        Args:
            rows: operators or types.
            alike: those with the same metric.
            peaks: what they attend to.
        """
        names = [rows.label(row) for row in alike]
        are = "are" if len(names) > 1 or rows.is_plural(alike[0]) else "is"
        words = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        low, high = (percent(float(end(peaks.share[alike]))) for end in (np.min, np.max))
        shares = high if low == high else f"{low.removesuffix(' %')} to {high}"
        metric = uncapitalised(self.labels[int(peaks.at[alike[0]])])
        return f"{words} {are} most sensitive to {metric} ({shares})"

    def _even(self, rows: AttentionRows, row: int, peaks: AttentionPeak) -> str:
        """Write ``Add is about evenly sensitive to all 4 metrics, most to cores (26 %)``."""
        are, strongest = "are" if rows.is_plural(row) else "is", self.labels[int(peaks.at[row])]
        share, count = percent(float(peaks.share[row])), len(self.labels)
        evenly = f"{are} about evenly sensitive to all {count} metrics"
        return f"{rows.label(row)} {evenly}, most to {uncapitalised(strongest)} ({share})"

    def cell_sentence(self, rows: AttentionRows, row: int, metric: int, *, backward: bool) -> str:
        """Return one cell of a map in words: operator, metric with its value, share."""
        name, value = self.labels[metric], self.values[metric]
        shares = rows.from_metrics if backward else rows.to_metrics
        share, row_name = percent(float(shares[row, metric])), rows.label(row)
        s = "" if rows.is_plural(row) else "s"
        if self.is_time:
            name = uncapitalised(name)
            if backward:
                return f"{share} of the time that goes to {name} is in {row_name}"
            return f"{row_name} spend{s} {share} of the time on {name}"
        name = name if value == NOTHING else f"{name} ({value})"
        if backward:
            return f"{name} gives {share} of its attention to {row_name}"
        return f"{row_name} give{s} {share} of attention to {name}"


LATENCY = "latency"


class AttentionGrid(Grid):
    """Rows of the maps; a copy holds both maps whole, a column a metric.

    Args:
        summary: the attention.
        rows: operators or types.
    """

    def __init__(self, summary: AttentionSummary, rows: AttentionRows) -> None:
        self.rows = rows
        self.summary = summary
        super().__init__(len(rows), self._visible_columns(), self._maps())

    @property
    def search_texts(self) -> list[str]:
        """Names and types of the rows."""
        return self.rows.search_texts

    def _visible_columns(self) -> list[Column]:
        rows, labels = self.rows, self.summary.labels
        looks, peaks = rows.to_peaks, rows.from_peaks
        by_type, what = not any(rows.types), "time" if self.summary.is_time else "attention"
        kinds = (
            count_column("count", "Operators", rows.counts, str)
            if by_type
            else name_column("type", "Type", rows.types)
        )
        return [
            place_column(len(rows)),
            name_column("name", "Type" if by_type else "Operator", rows.names),
            share_column(LATENCY, "Latency share", lambda: rows.latency_share),
            kinds,
            _metric("looks", "Most sensitive to", looks, labels),
            share_column("attention", "Share", lambda: looks.share, f"Of the row's {what}."),
            _metric("seen", "Weighs most in", peaks, labels),
            share_column(
                "seen_share", "Share of it", lambda: peaks.share, f"Of the metric's {what}."
            ),
        ]

    def _maps(self) -> list[Column]:
        rows, labels = self.rows, self.summary.labels
        return [
            *(_cell(f"to {label}", rows.to_metrics, k) for k, label in enumerate(labels)),
            *(_cell(f"from {label}", rows.from_metrics, k) for k, label in enumerate(labels)),
        ]


def _metric(key: str, title: str, looks: AttentionPeak, labels: Sequence[str]) -> Column:
    ranks = text_ranks(labels)
    return Column(
        key=key,
        title=title,
        text=lambda row: looked_at(looks, row, labels),
        sort_keys=lambda: ranks[looks.at],
    )


def _cell(title: str, shares: Map, metric: int) -> Column:
    return share_column(title, title, lambda: shares[:, metric].astype(np.float64))
