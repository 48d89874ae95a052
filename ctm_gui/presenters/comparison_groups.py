"""The targets of the latency chart: which rows each gathers, and their order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from ctm_gui.presenters.comparison_columns import ComparisonColumns
from ctm_gui.presenters.ordering import IndexArray, text_ranks
from predictor.core.wording import shown


class GroupOrder(StrEnum):
    """Orders of the targets in the chart."""

    LATENCY = "Latency"
    NAME = "Name"
    FAMILY = "Family"


@dataclass(frozen=True, slots=True)
class TargetGroups:
    """The rows of G targets, one a model, target after target.

    Attributes:
        columns: all rows.
        rows: indices of the rows gathered, intp [M].
        starts: where each group starts in ``rows``, intp [G].
    """

    columns: ComparisonColumns
    rows: IndexArray
    starts: IndexArray

    def __len__(self) -> int:
        return self.starts.size

    @property
    def sizes(self) -> IndexArray:
        """Rows of each group, intp [G]."""
        return np.diff(self.starts, append=self.rows.size)

    def members(self, group: int) -> IndexArray:
        """Return the rows of a group, in the order of the models."""
        end = self.starts[group + 1] if group + 1 < len(self) else self.rows.size
        return self.rows[self.starts[group] : end]

    def name(self, group: int) -> str:
        """Return the device's name as shown."""
        return shown(self.columns.rows[self.rows[self.starts[group]]].device_name)

    def detail(self, group: int) -> str:
        """Return the configuration in words; several where the models' own batches differ."""
        texts = (self.columns.configuration_text(row) for row in self.members(group).tolist())
        return " / ".join(dict.fromkeys(texts))

    def ordered(self, order: GroupOrder) -> TargetGroups:
        """Order the targets: by their fastest model, by name, or by family and then latency.

        Targets without any number come last in the orders by latency.
        """
        if not len(self):
            return self
        firsts = [self.columns.rows[row] for row in self.rows[self.starts].tolist()]
        if order is GroupOrder.NAME:
            names = text_ranks([shown(first.device_name) for first in firsts])
            return self._permuted(np.argsort(names, kind="stable"))
        latency_ms = np.nan_to_num(self.columns.latency_ms[self.rows], nan=np.inf)
        fastest = np.minimum.reduceat(latency_ms, self.starts)
        if order is GroupOrder.LATENCY:
            return self._permuted(np.argsort(fastest, kind="stable"))
        ranks = {name: rank for rank, name in enumerate(sorted({f.family for f in firsts}))}
        families = np.array([ranks[first.family] for first in firsts])
        return self._permuted(np.lexsort((fastest, families)))

    def _permuted(self, order: IndexArray) -> TargetGroups:
        sizes = self.sizes[order]
        starts = np.cumsum(sizes) - sizes
        places = np.repeat(self.starts[order] - starts, sizes) + np.arange(self.rows.size)
        return TargetGroups(self.columns, self.rows[places], starts)


def target_groups(
    columns: ComparisonColumns, shown_rows: npt.NDArray[np.bool_] | None = None
) -> TargetGroups:
    """Gather the rows of each target, in the order in which the targets first appear.

    Where a model appears twice on a target, its second row belongs to a second group.

    Args:
        columns: N rows.
        shown_rows: bool [N], the rows to gather; None for all.
    """
    rows = np.arange(len(columns)) if shown_rows is None else np.flatnonzero(shown_rows)
    target = columns.target[rows]
    repeat = _repeats(target * max(len(columns.models), 1) + columns.model[rows])
    keys = target * (repeat.max(initial=0) + 1) + repeat
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(first.size)
    groups = rank[group]
    sizes = np.bincount(groups, minlength=first.size)
    return TargetGroups(columns, rows[np.argsort(groups, kind="stable")], np.cumsum(sizes) - sizes)


def _repeats(keys: IndexArray) -> IndexArray:
    """Return for each key how often it came before, intp [N]."""
    order = np.argsort(keys, kind="stable")
    place = np.arange(keys.size)
    starts = np.concatenate(([True], np.diff(keys[order]) != 0))[: keys.size]
    repeats = np.empty_like(place)
    repeats[order] = place - np.maximum.accumulate(np.where(starts, place, 0))
    return repeats
