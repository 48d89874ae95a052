"""The table under the maps of attention: what each row looks at, and both maps for a copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ctm_gui.presenters.attention import AttentionRows, AttentionSummary, Map, looked_at
from ctm_gui.presenters.grid import Column, Grid
from ctm_gui.presenters.ordering import FloatArray, text_ranks
from predictor.core.text import printable
from predictor.core.wording import percent, plain_number, shown
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
        second = Column(
            "count",
            "Operators",
            numeric=True,
            text=lambda row: str(rows.counts[row]),
            sort_keys=lambda: rows.counts.astype(np.float64),
        )
        return [
            Column(
                "number",
                "#",
                numeric=True,
                text=lambda row: str(row + 1),
                sort_keys=lambda: np.arange(self.count, dtype=np.float64),
                help="Place in the model, from its inputs to its outputs.",
            ),
            _text("name", "Type" if by_type else "Operator", rows.names),
            second if by_type else _text("type", "Type", rows.types),
            _share(LATENCY, "Latency share", lambda: rows.latency_share),
            _metric("looks", "Looks mostly at", looks, labels),
            _share("attention", "Attention", lambda: looks.share, "Of the row's attention."),
            _metric("seen", "Seen most by", seen, labels),
            _share("seen_share", "Attention of it", lambda: seen.share, "Of the metric's."),
        ]

    def _maps(self) -> list[Column]:
        rows, labels = self.rows, self.summary.labels
        return [
            *(_cell(f"to {label}", rows.to_metrics, k) for k, label in enumerate(labels)),
            *(_cell(f"from {label}", rows.from_metrics, k) for k, label in enumerate(labels)),
        ]


def _text(key: str, title: str, texts: Sequence[str]) -> Column:
    return Column(
        key,
        title,
        numeric=False,
        text=lambda row: shown(texts[row]),
        sort_keys=lambda: text_ranks(texts),
        copied=lambda rows: [printable(texts[row]) for row in rows],
    )


def _metric(key: str, title: str, found: AttentionPeak, labels: Sequence[str]) -> Column:
    ranks = text_ranks(labels)
    return Column(
        key,
        title,
        numeric=False,
        text=lambda row: looked_at(found, row, labels),
        sort_keys=lambda: ranks[found.at],
    )


def _share(key: str, title: str, shares: Callable[[], FloatArray], help_text: str = "") -> Column:
    return Column(
        key,
        title,
        numeric=True,
        text=lambda row: percent(float(shares()[row])),
        sort_keys=shares,
        copied=lambda rows: [plain_number(value) for value in shares()[rows].tolist()],
        help=help_text,
    )


def _cell(title: str, shares: Map, metric: int) -> Column:
    return Column(
        title,
        title,
        numeric=True,
        text=lambda row: percent(float(shares[row, metric])),
        sort_keys=lambda: shares[:, metric].astype(np.float64),
        copied=lambda rows: [plain_number(value) for value in shares[rows, metric].tolist()],
    )
