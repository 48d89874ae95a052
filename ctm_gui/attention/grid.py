"""The table of the Attention view."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ctm_gui.attention.learned import changes_of
from ctm_gui.attention.rows import AttentionRows, Map
from ctm_gui.attention.summary import AttentionSummary
from ctm_gui.widgets.grid import (
    Column,
    Grid,
    count_column,
    name_column,
    place_column,
    share_column,
)
from ctm_gui.widgets.ordering import text_ranks
from predictor.presentation.wording import NOTHING
from predictor.services.prediction.attention import AttentionPeak, attention_peak

LATENCY = "latency"
_CHANGE = "What was learned of the row's time, over the time without it."


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
        first = self._names()
        if self.summary.is_signed:
            peaks = attention_peak(np.abs(rows.to_metrics))
            return [
                *first,
                share_column("change", "Change", lambda: changes_of(rows), _CHANGE),
                _metric("by", "Most by", peaks, labels),
            ]
        looks, peaks = rows.to_peaks, rows.from_peaks
        what = "time" if self.summary.is_time else "attention"
        return [
            *first,
            _metric("looks", "Most sensitive to", looks, labels),
            share_column("attention", "Share", lambda: looks.share, f"Of the row's {what}."),
            _metric("seen", "Weighs most in", peaks, labels),
            share_column(
                "seen_share", "Share of it", lambda: peaks.share, f"Of the metric's {what}."
            ),
        ]

    def _names(self) -> list[Column]:
        rows = self.rows
        by_type = not any(rows.types)
        return [
            place_column(len(rows)),
            name_column(
                "name", "Type" if by_type else "Operator", rows.names, lambda: rows.name_ranks
            ),
            share_column(LATENCY, "Latency share", lambda: rows.latency_share),
            count_column("count", "Operators", rows.counts, str)
            if by_type
            else name_column("type", "Type", rows.types),
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


def looked_at(peak: AttentionPeak, row: int, labels: Sequence[str]) -> str:
    """Return the metric with a row's largest attention, where one stands out from the rest."""
    if not peak.share[row]:
        return NOTHING
    return "all alike" if peak.even[row] else labels[int(peak.at[row])]
