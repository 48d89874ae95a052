"""The sentences over the chart: who meets the budget, how sure that is, what would settle it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from ctm_gui.prediction.columns import ComparisonColumns, target_groups
from ctm_gui.widgets.ordering import IndexArray
from predictor.core.prediction import Prediction
from predictor.core.records import Basis
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.presentation.remarks import no_number
from predictor.presentation.verdict import budget_probability, likelihood
from predictor.presentation.wording import (
    FEW_CHECKED,
    QUANTISED,
    interval_in_unit,
    latency_text,
    model_name,
    number,
    p50_text,
    runtime_text,
    shown,
)
from predictor.services.prediction.fastest import is_rankable

# More models than this are counted first, and answered in a few words each.
_MODELS_ANSWERED = 3
_MODELS_NAMED = 12
_OPERATORS_NAMED = 3
# A chance of meeting the budget between these leaves the question open.
_DOUBTFUL = (0.05, 0.95)


def summary(columns: ComparisonColumns, budget_ms: float | None, unit: LatencyUnit) -> str:
    """Return a sentence a model, after a count over all where they are many; then the assumptions.

    No sentence compares models, which may be different networks.

    For example ``resnet50: 1 of 2 targets meets 30 ms, fastest 4.1 ms on RTX 3060, likely 3 to 6
    (> 99 % sure); nearest miss 52 ms on Pi 5, likely 40 to 68 (< 1 % chance)``.
    """
    if not len(columns):
        return ""
    answers = [
        _Answer(columns, model, budget_ms, unit)
        for model in range(min(len(columns.models), _MODELS_NAMED))
    ]
    if len(columns.models) > _MODELS_ANSWERED:
        counted = "; ".join(_over_all(columns, budget_ms))
        said = [*filter(None, [counted]), *(part.brief() for part in answers)]
    else:
        said = [part.sentence() for part in answers]
    return "\n".join([*said, *dict.fromkeys(note for row in columns.rows for note in row.notes)])


def title_of(columns: ComparisonColumns) -> str:
    """Return what is compared in a few words: ``resnet50 on 4 targets``."""
    models = columns.models
    if not models:
        return ""
    what = model_name(models[0]) if len(models) == 1 else plural(len(models), "model")
    compared = np.arange(len(columns)) < columns.compared
    of_files = compared & ~columns.is_tokens
    groups = target_groups(columns, of_files if of_files.any() else compared)
    return f"{what} on {plural(len(groups), 'target')}"


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer for one model, whose rows it sorts by latency."""

    columns: ComparisonColumns
    model: int
    budget_ms: float | None
    unit: LatencyUnit

    def sentence(self) -> str:
        """Return the sentence about the model."""
        counted = self._counted()
        if not counted:
            return f"{self._name}: {self._nothing_counted()}"
        parts = self._fastest(counted) if self.budget_ms is None else self._against_budget(counted)
        rows = self._rows()
        limits = int(self.columns.is_lower_limit[rows].sum())
        parts = [*parts, plural(limits, "lower limit")] if limits else parts
        if missing := int(np.isnan(self.columns.latency_ms[rows]).sum()):
            parts = [*parts, f"{missing} not predictable"]
        return f"{self._name}: {'; '.join(parts)}"

    def brief(self) -> str:
        """Return the fastest target of the model in a few words."""
        counted = self._counted()
        if not counted:
            return f"{self._name}: {self._nothing_counted()}"
        best = self._leading(counted)
        text = p50_text(self._prediction(best), self._words_unit)
        leads = f"{self._leads(best)} " if len(counted) > 1 else ""
        words = f"{self._name}: {leads}{text} on {self._place(best)}"
        return "; ".join([words, *self._before(best, counted)])

    @property
    def _name(self) -> str:
        return model_name(self.columns.models[self.model])

    def _rows(self) -> IndexArray:
        return np.flatnonzero(self.columns.model == self.model)

    def _counted(self) -> list[int]:
        """Return the rows whose every operator is counted, the fastest first."""
        latency_ms, rows = self.columns.latency_ms, self._rows()
        counted = rows[~np.isnan(latency_ms[rows]) & ~self.columns.is_lower_limit[rows]]
        ordered: list[int] = counted[np.argsort(latency_ms[counted], kind="stable")].tolist()
        return ordered

    def _leading(self, rows: list[int]) -> int:
        """Return the row that is named the fastest: one that runs the file as it is goes first.

        One of a class that was checked on few chips is named only where there is no other.
        """
        # Lazily: there may be thousands of rows, and the first is nearly always the one.
        rankable = (row for row in rows if is_rankable(self._prediction(row)))
        first = next(rankable, rows[0])
        alternatives = (row for row in rankable if not self.columns.rows[row].notes)
        return next(alternatives, first) if self.columns.rows[first].notes else first

    def _leads(self, row: int) -> str:
        """Return the words before a row that leads: no fastest where its class is unchecked."""
        return self._shortest if is_rankable(self._prediction(row)) else "least"

    def _before(self, best: int, rows: list[int]) -> Iterator[str]:
        """Yield why rows with less than the leading one, of sorted ones, are not the fastest."""
        latency_ms = self.columns.latency_ms
        # The fastest come first: of thousands of rows a few are looked at.
        less = list(takewhile(lambda row: latency_ms[row] < latency_ms[best], rows))
        if not is_rankable(self._prediction(best)):
            yield FEW_CHECKED
            return
        # The place of one that needs a quantised model says so.
        checked = [row for row in less if is_rankable(self._prediction(row))]
        unchecked = [row for row in less if row not in checked]
        for rows_of_kind, doubt in ((checked, ""), (unchecked, f", but {FEW_CHECKED}")):
            if rows_of_kind:
                also = f" and {len(rows_of_kind) - 1} more" if len(rows_of_kind) > 1 else ""
                words = f"{p50_text(self._prediction(rows_of_kind[0]), self._words_unit)} on"
                yield f"apart from {words} {self._place(rows_of_kind[0])}{also}{doubt}"

    def _nothing_counted(self) -> str:
        """Return why no latency of the model can be ranked."""
        rows = self._rows()
        limits = rows[self.columns.is_lower_limit[rows]]
        limits = limits[~np.isnan(self.columns.latency_ms[limits])]
        if not limits.size:
            return no_number(self._prediction(int(rows[0])))
        return self._lower_limit(int(limits[np.argmin(self.columns.latency_ms[limits])]))

    def _lower_limit(self, row: int) -> str:
        """Return why the latencies of a model of unknown cost rank behind others."""
        operators = self._prediction(row).flagged_operators
        names = ", ".join(shown(part) for part in operators[:_OPERATORS_NAMED])
        more = len(operators) - _OPERATORS_NAMED
        names += f" and {more} more" if more > 0 else ""
        verb = "is" if len(operators) == 1 else "are"
        count = plural(len(operators), "operator")
        lowest = f"{p50_text(self._prediction(row), self.unit)} on {self._place(row)}"
        return f"{lowest}, a lower limit: {count} {verb} of unknown cost ({names})"

    def _fastest(self, rows: list[int]) -> list[str]:
        best = self._leading(rows)
        alternatives = [row for row in rows if row != best]
        parts = [f"{self._leads(best)} {self._words(best)}" if alternatives else self._words(best)]
        low_ms, best_ms = self.columns.low80_ms, self.columns.latency_ms[best]
        batch = self.columns.batch
        # NaN compares false: a row without an interval is no rival.
        rivals = [
            row
            for row in alternatives
            if batch[row] == batch[best]
            and low_ms[row] < best_ms
            and self.columns.latency_ms[row] >= best_ms
        ]
        if rivals:
            also = f" and {len(rivals) - 1} more" if len(rivals) > 1 else ""
            parts.append(f"{self._place(rivals[0])}{also} may be faster: measure to be sure")
        return [*parts, *self._before(best, rows), *self._best_rate(rows)]

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
            verb, best = "meets" if count == 1 else "meet", self._leading(rows[:count])
            leads = self._leads(best)
            parts = [f"{of_targets} {verb} {budget}, {leads} {self._with_chance(best)}"]
            parts += self._before(best, rows[:count])
            if len(self.columns.models) == 1 and count < len(rows):
                parts.append(f"nearest miss {self._with_chance(rows[count])}")
        return [*parts, *self._best_rate(rows), *self._to_measure(rows)]

    @property
    def _has_several_batches(self) -> bool:
        """Whether the model's calls hold different batches, so that their times are not alike."""
        return np.unique(self.columns.batch[self.columns.model == self.model]).size > 1

    @property
    def _shortest(self) -> str:
        return "shortest call" if self._has_several_batches else "fastest"

    def _best_rate(self, rows: list[int]) -> Iterator[str]:
        """Yield where most items a second are done within the budget, if batches differ."""
        columns, limit_ms = self.columns, self.budget_ms or np.inf
        within = [row for row in rows if columns.latency_ms[row] <= limit_ms]
        if within and self._has_several_batches:
            best = min(within, key=lambda row: columns.latency_ms[row] / columns.batch[row])
            latency_ms, batch = float(columns.latency_ms[best]), int(columns.batch[best])
            rate = latency_text(latency_ms, LatencyUnit.FPS, batch)
            yield f"most a second {rate} on {self._place(best)}"

    def _to_measure(self, rows: list[int]) -> Iterator[str]:
        """Yield the most informative measurement: where the chance is nearest to a half."""
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
        prediction, unit = self._prediction(row), self._words_unit
        measured = " measured" if prediction.basis is Basis.MEASURED else ""
        words = f"{p50_text(prediction, unit)}{measured} on {self._place(row)}"
        low, high = interval_in_unit(prediction, unit)
        # Beside a chance the interval is only for the reader of one model: three would be a wall.
        is_short = len(self.columns.models) > 1 and self.budget_ms is not None
        if low is None or high is None or is_short:
            return words
        return f"{words}, likely {number(low)} to {number(high)}"

    @property
    def _words_unit(self) -> LatencyUnit:
        # A rate does not show how long a call takes where batches differ.
        is_unlike = self.unit is LatencyUnit.FPS and self._has_several_batches
        return LatencyUnit.MS if is_unlike else self.unit

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
    """Return a row's device with what distinguishes its configuration.

    That is the whole of it where the device has several, runtime and precision where those of the
    rows differ; and that an INT8 model has to be made.
    """
    record = columns.rows[row]
    several = columns.targets_of_device[record.prediction.device_id] > 1
    words = []
    if several:
        words.append(columns.configuration_text(row))
    elif not columns.is_alike:
        words.append(runtime_text(record.prediction.configuration))
    if record.notes:
        words.append(QUANTISED)
    name = shown(record.device_name)
    return f"{name} ({', '.join(words)})" if words else name


def _over_all(columns: ComparisonColumns, budget_ms: float | None) -> Iterator[str]:
    """Yield the parts of a sentence that counts over many models."""
    targets, models = plural(len(target_groups(columns)), "target"), len(columns.models)
    if budget_ms is not None:
        count = int((columns.latency_ms[~columns.is_lower_limit] <= budget_ms).sum())
        budget = f"{number(budget_ms)} ms"
        yield f"{count} of {len(columns)} predictions meet {budget} ({models} models on {targets})"
    partial = np.unique(columns.model[columns.is_lower_limit]).size
    if partial:
        yield f"{plural(partial, 'model')} with operators of unknown cost not counted"
    if missing := int(np.isnan(columns.latency_ms).sum()):
        yield f"{missing} not predictable"
