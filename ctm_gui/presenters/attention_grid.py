"""The table under the maps of attention: what each row looks at, and both maps for a copy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ctm_gui.presenters.attention import AttentionRows, AttentionSummary, Map, looked_at
from ctm_gui.presenters.grid import (
    Column,
    Grid,
    count_column,
    name_column,
    place_column,
    share_column,
)
from ctm_gui.presenters.ordering import text_ranks
from predictor.services.prediction.attention import AttentionPeak, attention_peak

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
        super().__init__(len(rows), self._shown(), self._maps())

    def _shown(self) -> list[Column]:
        rows, labels = self.rows, self.summary.labels
        looks, seen = attention_peak(rows.to_metrics), attention_peak(rows.from_metrics)
        by_type = not any(rows.types)
        kinds = (
            count_column("count", "Operators", rows.counts, str)
            if by_type
            else name_column("type", "Type", rows.types)
        )
        return [
            place_column(len(rows)),
            name_column("name", "Type" if by_type else "Operator", rows.names),
            kinds,
            share_column(LATENCY, "Latency share", lambda: rows.latency_share),
            _metric("looks", "Looks mostly at", looks, labels),
            share_column("attention", "Attention", lambda: looks.share, "Of the row's attention."),
            _metric("seen", "Seen most by", seen, labels),
            share_column("seen_share", "Attention of it", lambda: seen.share, "Of the metric's."),
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
        key,
        title,
        numeric=False,
        text=lambda row: looked_at(looks, row, labels),
        sort_keys=lambda: ranks[looks.at],
    )


def _cell(title: str, shares: Map, metric: int) -> Column:
    return share_column(title, title, lambda: shares[:, metric].astype(np.float64))
