"""The attention of one model on one target: sums and sentences of the Attention view."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ctm_gui.attention.rows import AttentionRows, by_operator, by_type
from ctm_gui.widgets.ordering import FloatArray
from predictor.core.records import Device
from predictor.core.text import uncapitalised
from predictor.presentation.wording import NOTHING, percent, shown
from predictor.services.prediction.attention import (
    AttentionPeak,
    token_label,
    token_text,
)
from predictor.services.prediction.explain import OperatorTable

_PAIRS_NAMED = 3
# A largest share under this many times an equal one is no preference worth naming alone.
_EVEN = 1.5


@dataclass(frozen=True, slots=True)
class MapWords:
    """Titles of the two maps, and what their cells are parts of."""

    titles: tuple[str, str]
    units: tuple[str, str]


_OF_NETWORK = MapWords(
    titles=("Operators look at metrics", "Metrics look at operators"),
    units=("share of attention, each row 100 %", "share of attention, each column 100 %"),
)
_OF_TIME = MapWords(
    titles=("What operators wait for", "Which operators wait for it"),
    units=("share of time, each row 100 %", "share of time, each column 100 %"),
)


class AttentionSummary:
    """The attention of one model on one target, with the sums and sentences of the view.

    Args:
        table: N operators; its attention must be there.
        device: the device of the target, which names the metrics and has their values.
        name_ranks: of the operators, where they are known.
    """

    is_signed: ClassVar[bool] = False
    """Whether cells are above and below 0."""

    def __init__(
        self, table: OperatorTable, device: Device, name_ranks: FloatArray | None = None
    ) -> None:
        if table.attention is None or not table.attention.metrics:
            raise ValueError("no attention to sum up")
        self.table, self._name_ranks = table, name_ranks
        self.attention = table.attention
        self.labels = tuple(token_label(name, device) for name in self.attention.metrics)
        self.values = tuple(token_text(name, device) for name in self.attention.metrics)
        self.device_name = shown(device.name)

    @cached_property
    def operators(self) -> AttentionRows:
        """One row an operator, in the order of the model."""
        return by_operator(self.table, self.attention, self._name_ranks)

    @cached_property
    def types(self) -> AttentionRows:
        """One row a type of operator."""
        rows = self.operators
        return by_type(rows, rows.latency_share if self.is_time else np.ones(len(rows)))

    @property
    def words(self) -> MapWords:
        """Titles and units of the maps."""
        return _OF_TIME if self.is_time else _OF_NETWORK

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
        is_plural = len(names) > 1 or rows.is_plural(alike[0])
        words = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        low, high = (percent(float(end(peaks.share[alike]))) for end in (np.min, np.max))
        shares = high if low == high else f"{low.removesuffix(' %')} to {high}"
        metric = uncapitalised(self.labels[int(peaks.at[alike[0]])])
        if self.is_time:
            wait, whose = ("wait", "their") if is_plural else ("waits", "its")
            return f"{words} {wait} mostly for {metric} ({shares} of {whose} time)"
        return f"{words} {'are' if is_plural else 'is'} most sensitive to {metric} ({shares})"

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
