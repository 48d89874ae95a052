"""Two models' operators side by side as tables: by target, and operator by operator."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ctm_gui.presenters.difference import ModelDifference
from ctm_gui.presenters.grid import Grid, number_column, search_mask, search_texts, text_column
from ctm_gui.presenters.operators import operator_unit
from predictor.core.units import LatencyUnit
from predictor.core.wording import NOTHING, change_text, shape_text, shown, signed
from predictor.services.prediction.operator_difference import Change
from predictor.services.prediction.predict import OperatorFacts

MOVED = "moved"


class TargetsGrid(Grid):
    """A row a target: the latencies of both models, and where the time between them goes."""

    def __init__(self, difference: ModelDifference, unit: LatencyUnit) -> None:
        shown_in = operator_unit(unit)
        scale = shown_in.from_ms(1.0)
        times = [difference.times_on(target) for target in range(len(difference.targets))]
        before = np.array([t.before_ms.sum() for t in times]) * scale
        after = np.array([t.after_ms.sum() for t in times]) * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = after / before
        moved = [
            number_column(
                change.value,
                f"{change.value.capitalize()} ({shown_in})",
                np.array([t.moved_by(change) for t in times]) * scale,
                f"Time that the {_MEANING[change]} add; the four sum to the difference.",
                signed,
            )
            for change in Change
        ]
        super().__init__(
            len(difference.targets),
            [
                text_column("device", "Device", [shown(t.device.name) for t in difference.targets]),
                number_column("before", f"First ({shown_in})", before),
                number_column("after", f"Second ({shown_in})", after),
                number_column(
                    "difference",
                    f"Difference ({shown_in})",
                    after - before,
                    write=signed,
                ),
                number_column("change", "Change", ratio, write=change_text),
                *moved,
            ],
        )


_MEANING = {
    Change.ADDED: "operators of the second model alone",
    Change.REMOVED: "operators of the first model alone",
    Change.CHANGED: "operators that changed",
    Change.SAME: "operators that are the same",
}


class DifferenceGrid(Grid):
    """A row an operator, or a matched pair of them, with the time moved on one target."""

    def __init__(self, difference: ModelDifference, target: int, unit: LatencyUnit) -> None:
        self.difference = difference
        operators = difference.difference
        shown_in = operator_unit(unit)
        times, scale = difference.times_on(target), shown_in.from_ms(1.0)
        before, after = operators.before, operators.after
        self._names = _pairs(before.names, operators.first, after.names, operators.second)
        self._types = _pairs(before.op_types, operators.first, after.op_types, operators.second)
        shapes = _pairs(_shapes(before), operators.first, _shapes(after), operators.second)
        before_ms = np.where(operators.first < 0, np.nan, times.before_ms)
        after_ms = np.where(operators.second < 0, np.nan, times.after_ms)
        super().__init__(
            len(operators),
            [
                text_column("change", "Change", [change.value for change in operators.change]),
                text_column("what", "What", [what or NOTHING for what in operators.what]),
                text_column("name", "Operator", self._names),
                text_column("type", "Type", self._types),
                text_column("shape", "Output shape", shapes),
                number_column("before", f"First ({shown_in})", before_ms * scale),
                number_column("after", f"Second ({shown_in})", after_ms * scale),
                number_column(
                    MOVED,
                    f"Moved ({shown_in})",
                    times.moved_ms * scale,
                    "Time in the second model less time in the first. Sorted by its size.",
                    signed,
                    by_size=True,
                ),
            ],
        )

    def mask(self, search: str, change: Change | None) -> npt.NDArray[np.bool_]:
        """Return which rows hold every word and are of one kind of change, bool [R]."""
        mask = np.ones(self.count, dtype=np.bool_)
        if search.strip():
            mask = search_mask(search_texts(self._names, self._types), search)
        if change is not None:
            only = np.zeros(self.count, dtype=np.bool_)
            only[self.difference.difference.rows_of(change)] = True
            mask = mask & only
        return mask


def difference_summary(difference: ModelDifference) -> str:
    """Return in one line how many operators were added, removed and changed."""
    counts = {change: len(difference.difference.rows_of(change)) for change in Change}
    words = ", ".join(f"{count} {change.value}" for change, count in counts.items())
    return f"From {shown(difference.first.label)} to {shown(difference.second.label)}: {words}"


def _pairs(
    before: tuple[str, ...],
    first: npt.NDArray[np.intp],
    after: tuple[str, ...],
    second: npt.NDArray[np.intp],
) -> list[str]:
    """Return the text of each row: of one side, or of both where they differ."""
    texts = []
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        own, other = before[i] if i >= 0 else "", after[j] if j >= 0 else ""
        both = i >= 0 and j >= 0 and own != other
        texts.append(f"{shown(own)} → {shown(other)}" if both else shown(other or own))
    return texts


def _shapes(facts: OperatorFacts) -> tuple[str, ...]:
    return tuple(map(shape_text, facts.output_shapes))
