"""The sentences over the chart: who meets the budget, how sure that is, what would settle it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ctm_gui.compare.columns import ComparisonColumns, target_groups
from predictor.core.columns import no_number
from predictor.core.records import Basis, Prediction
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.core.verdict import budget_probability, likelihood
from predictor.core.wording import (
    batch_of,
    interval_in_unit,
    latency_text,
    model_name,
    number,
    shown,
)

# More models than this are summed up instead of answered one by one.
_MODELS_ANSWERED = 3
_OPERATORS_NAMED = 3
# A chance of meeting the budget between these leaves the question open.
_DOUBTFUL = (0.05, 0.95)


def summary(columns: ComparisonColumns, budget_ms: float | None, unit: LatencyUnit) -> str:
    """Return a sentence a model, or one over all where they are many; then the assumptions.

    For example ``resnet50: 1 of 2 targets meets 30 ms, fastest 4.1 ms on RTX 3060, likely 3 to 6
    (> 99 % sure); nearest miss 52 ms on Pi 5, likely 40 to 68 (< 1 % chance)``.
    """
    if not len(columns):
        return ""
    if len(columns.models) > _MODELS_ANSWERED:
        said = ["; ".join(filter(None, _over_all(columns, budget_ms, unit)))]
    else:
        models = range(len(columns.models))
        said = [_Answer(columns, model, budget_ms, unit).sentence() for model in models]
    return "\n".join([*said, *dict.fromkeys(note for row in columns.rows for note in row.notes)])


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer for one model, whose rows it sorts by latency."""

    columns: ComparisonColumns
    model: int
    budget_ms: float | None
    unit: LatencyUnit

    def sentence(self) -> str:
        """Return the sentence about the model."""
        latency_ms = self.columns.latency_ms
        rows = np.flatnonzero(self.columns.model == self.model)
        numbers = rows[~np.isnan(latency_ms[rows])]
        numbers = numbers[np.argsort(latency_ms[numbers], kind="stable")]
        name = model_name(self.columns.models[self.model])
        if not numbers.size:
            return f"{name}: {no_number(self._prediction(rows[0]))}"
        if self.columns.is_lower_limit[numbers].any():
            return f"{name}: {self._lower_limit(int(numbers[0]))}"
        places = numbers.tolist()
        parts = self._fastest(places) if self.budget_ms is None else self._against_budget(places)
        if numbers.size < rows.size:
            parts = [*parts, f"{rows.size - numbers.size} not predictable"]
        return f"{name}: {'; '.join(parts)}"

    def _lower_limit(self, row: int) -> str:
        """Return why the latencies of a model of unknown cost rank behind others."""
        operators = self._prediction(row).flagged_operators
        names = ", ".join(shown(each) for each in operators[:_OPERATORS_NAMED])
        more = len(operators) - _OPERATORS_NAMED
        names += f" and {more} more" if more > 0 else ""
        verb = "is" if len(operators) == 1 else "are"
        count = plural(len(operators), "operator")
        return f"its latencies are lower limits, {count} {verb} of unknown cost ({names})"

    def _fastest(self, rows: list[int]) -> list[str]:
        best, *others = rows
        parts = [f"{self._shortest} {self._words(best)}" if others else self._words(best)]
        low_ms, best_ms = self.columns.low80_ms, self.columns.latency_ms[best]
        batch = self.columns.batch
        # NaN compares false: a row without an interval is no rival.
        rivals = [row for row in others if batch[row] == batch[best] and low_ms[row] < best_ms]
        if rivals:
            also = f" and {len(rivals) - 1} more" if len(rivals) > 1 else ""
            parts.append(f"{self._place(rivals[0])}{also} may be faster: measure to be sure")
        return [*parts, *self._most_a_second(rows)]

    def _against_budget(self, rows: list[int]) -> list[str]:
        assert self.budget_ms is not None  # noqa: S101 - sentence() asks only with a budget
        budget = f"{number(self.budget_ms)} ms{' a call' if self._has_several_batches else ''}"
        count = int((self.columns.latency_ms[rows] <= self.budget_ms).sum())
        of_targets = f"{count or 'none'} of {plural(len(rows), 'target')}"
        if len(rows) == 1:
            verb = "meets" if count else "misses"
            parts = [f"{self._words(rows[0])}, {verb} {budget}{self._chance(rows[0])}"]
        elif not count:
            parts = [f"{of_targets} meets {budget}, nearest {self._with_chance(rows[0])}"]
        else:
            verb = "meets" if count == 1 else "meet"
            parts = [f"{of_targets} {verb} {budget}, {self._shortest} {self._with_chance(rows[0])}"]
            if len(self.columns.models) == 1 and count < len(rows):
                parts.append(f"nearest miss {self._with_chance(rows[count])}")
        return [*parts, *self._most_a_second(rows), *self._to_measure(rows)]

    @property
    def _has_several_batches(self) -> bool:
        """Whether the model's calls hold different batches, so that their times are not alike."""
        return np.unique(self.columns.batch[self.columns.model == self.model]).size > 1

    @property
    def _shortest(self) -> str:
        return "shortest call" if self._has_several_batches else "fastest"

    def _most_a_second(self, rows: list[int]) -> Iterator[str]:
        """Yield where most items a second are done within the budget, if batches differ."""
        columns, limit_ms = self.columns, self.budget_ms or np.inf
        within = [row for row in rows if columns.latency_ms[row] <= limit_ms]
        if within and self._has_several_batches:
            best = min(within, key=lambda row: columns.latency_ms[row] / columns.batch[row])
            latency_ms, batch = float(columns.latency_ms[best]), int(columns.batch[best])
            rate = latency_text(latency_ms, LatencyUnit.FPS, batch)
            yield f"most a second {rate} on {self._place(best)}"

    def _to_measure(self, rows: list[int]) -> Iterator[str]:
        """Yield where a measurement would tell most: where the chance is nearest to a half."""
        low, high = _DOUBTFUL
        chances = {row: self._probability(row) for row in rows}
        open_ = [row for row, chance in chances.items() if low < chance < high]
        if open_:
            first = min(open_, key=lambda row: abs(chances[row] - 0.5))
            where = "it" if len(rows) == 1 else f"on {self._place(first)}"
            in_doubt = f"{len(open_)} in doubt, measure {where} first"
            yield in_doubt if len(open_) > 1 else f"to be sure, measure {where}"

    def _with_chance(self, row: int) -> str:
        return f"{self._words(row)}{self._chance(row)}"

    def _words(self, row: int) -> str:
        """Write a latency with its place and interval: ``52 ms on Pi 5, likely 40 to 68``."""
        prediction = self._prediction(row)
        batch = batch_of(prediction.configuration)
        measured = " measured" if prediction.basis is Basis.MEASURED else ""
        # A rate does not tell how long a call takes where each holds another batch.
        unit = self.unit
        if unit is LatencyUnit.FPS and self._has_several_batches:
            unit = LatencyUnit.MS
        words = (
            f"{latency_text(prediction.latency_ms, unit, batch)}{measured} on {self._place(row)}"
        )
        low, high = interval_in_unit(prediction, unit)
        # Beside a chance the interval is only for the reader of one model: three would be a wall.
        is_short = len(self.columns.models) > 1 and self.budget_ms is not None
        if low is None or high is None or is_short:
            return words
        return f"{words}, likely {number(low)} to {number(high)}"

    def _chance(self, row: int) -> str:
        """Write the chance of meeting the budget in brackets, empty without an interval."""
        assert self.budget_ms is not None  # noqa: S101 - only asked with a budget
        chance = budget_probability(self._prediction(row), self.budget_ms)
        if chance is None:
            return ""
        meets = self.columns.latency_ms[row] <= self.budget_ms
        return f" ({likelihood(chance)} {'sure' if meets else 'chance'})"

    def _probability(self, row: int) -> float:
        assert self.budget_ms is not None  # noqa: S101 - only asked with a budget
        prediction = self._prediction(row)
        chance = budget_probability(prediction, self.budget_ms)
        # What was measured or has no interval leaves nothing to settle.
        return 1.0 if chance is None or prediction.basis is Basis.MEASURED else chance

    def _place(self, row: int) -> str:
        return target_name(self.columns, row)

    def _prediction(self, row: int) -> Prediction:
        return self.columns.rows[row].prediction


def target_name(columns: ComparisonColumns, row: int) -> str:
    """Return a row's device, with its configuration where the device has several."""
    name = shown(columns.rows[row].device_name)
    several = columns.targets_of_device[columns.rows[row].prediction.device_id] > 1
    return f"{name} ({columns.configuration_text(row)})" if several else name


def _over_all(
    columns: ComparisonColumns, budget_ms: float | None, unit: LatencyUnit
) -> Iterator[str]:
    """Yield the parts of a sentence over many models."""
    targets, models = plural(len(target_groups(columns)), "target"), len(columns.models)
    if budget_ms is None:
        yield f"{targets}, {models} models"
    else:
        count = int((columns.latency_ms[~columns.is_lower_limit] <= budget_ms).sum())
        budget = f"{number(budget_ms)} ms"
        yield f"{count} of {len(columns)} predictions meet {budget} ({models} models on {targets})"
    ranked = np.where(columns.is_lower_limit, np.nan, columns.latency_ms)
    if not np.isnan(ranked).all():
        row = int(np.nanargmin(ranked))
        prediction = columns.rows[row].prediction
        text = latency_text(prediction.latency_ms, unit, batch_of(prediction.configuration))
        model = shown(columns.rows[row].model_label)
        word = "shortest call" if columns.has_several_batches else "fastest"
        yield f"{word}: {model} on {target_name(columns, row)} ({text})"
    partial = len({columns.model[row] for row in np.flatnonzero(columns.is_lower_limit).tolist()})
    if partial:
        yield f"{plural(partial, 'model')} with operators of unknown cost not counted"
    if missing := int(np.isnan(columns.latency_ms).sum()):
        yield f"{missing} not predictable"
