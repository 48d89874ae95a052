"""Maps of the learned factors of operators, of one model on one target, for the Attention view."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ctm_gui.attention.rows import AttentionRows, Map, by_operator, by_type
from ctm_gui.attention.summary import AttentionSummary, MapWords
from ctm_gui.widgets.ordering import FloatArray
from predictor.core.records import Device
from predictor.core.text import uncapitalised
from predictor.cost.engine import AttentionMaps
from predictor.presentation.wording import number, percent
from predictor.services.prediction.explain import OperatorTable

_NAMED = 3
_WORDS = MapWords(
    titles=("What was learned of operators", "Where it changes the time of a rate"),
    units=("added or saved of the row's time", "added or saved of the column's time"),
)
_SMALLEST = 0.005  # of a change worth naming


class LearnedSummary(AttentionSummary):
    """The part of the times that was learned of single operators beside those of their kinds.

    Cells are parts of the time now: above 0 what was learned adds, below it what it saves.

    Args:
        table: N operators; its attention must have learned factors.
        device: the device of the target, which names the metrics.
    """

    is_signed = True

    def __init__(self, table: OperatorTable, device: Device) -> None:
        super().__init__(table, device)
        if self.attention.learned is None:
            raise ValueError("nothing was learned of single operators")
        self._added: Map = (1 - 1 / self.attention.learned).astype(np.float32)

    @property
    def words(self) -> MapWords:
        """Titles and units of the maps."""
        return _WORDS

    @cached_property
    def operators(self) -> AttentionRows:
        """One row an operator, in the order of the model."""
        shares = self.attention
        maps = AttentionMaps(
            metrics=shares.metrics,
            operator_to_metric=shares.operator_to_metric * self._added,
            metric_to_operator=shares.metric_to_operator * self._added.T,
            blend=shares.blend,
            residual=shares.residual,
            is_time=True,
        )
        return by_operator(self.table, maps)

    @cached_property
    def types(self) -> AttentionRows:
        """One row a type of operator."""
        return by_type(self.operators, self.operators.latency_share)

    def meaning(self) -> str:
        """Return the meaning of the cells: a sentence a line, two of them."""
        return (
            "Learned on other targets, of operators like these beside others of their kind: left, "
            "what it adds to or saves of each operator's time; right, of the time of each rate.\n"
            f"The whole model counts × {number(self.attention.network)}, as models with the same "
            "products did on other chips."
        )

    def pairs(self, rows: AttentionRows) -> str:
        """Return by how much the slowest rows differ from their kind, in a sentence."""
        slowest = np.argsort(-rows.latency_share, kind="stable")[:_NAMED].tolist()
        changes = changes_of(rows)
        named = [
            f"{rows.label(row)} {percent(abs(float(changes[row])), 2)} "
            f"{'longer' if changes[row] > 0 else 'shorter'}"
            for row in slowest
            if abs(changes[row]) >= _SMALLEST
        ]
        if not named:
            return "The slowest operators take as long as their kind does"
        words = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
        return f"Learned: {words} than others of their kind"

    def cell_sentence(self, rows: AttentionRows, row: int, metric: int, *, backward: bool) -> str:
        """Return one cell of a map in words: operator, rate, what it adds or saves."""
        name = uncapitalised(self.labels[metric])
        part = float((rows.from_metrics if backward else rows.to_metrics)[row, metric])
        verb = "adds" if part > 0 else "saves" if part < 0 else "changes"
        change = f"What was learned {verb} {percent(abs(part))} of the time"
        if backward:
            return f"{change} that goes to {name}, in {rows.label(row)}"
        return f"{change} of {rows.label(row)}, on {name}"


def changes_of(rows: AttentionRows) -> FloatArray:
    """Return what was learned of each row's time over that without it, float64 [R], 0 for none."""
    added = rows.to_metrics.sum(axis=1, dtype=np.float64)
    changes: FloatArray = added / (1 - added)
    return changes
