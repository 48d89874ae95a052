"""The columns of the comparison table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ctm_gui.presenters.comparison import ComparisonRow
from ctm_gui.presenters.comparison_columns import ComparisonColumns
from ctm_gui.presenters.grid import Column, Grid
from ctm_gui.presenters.ordering import FloatArray, number_keys, text_ranks
from predictor.core.records import Prediction
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.core.verdict import verdict_text
from predictor.core.wording import (
    NOTHING,
    basis_text,
    batch_text,
    interval_text,
    memory_text,
    number,
    plain_number,
    shown,
    threads_text,
)

# Columns whose order turns round between a time and a rate.
TIME_COLUMNS = frozenset({"latency", "rate", "predicted", "bound"})


class ComparisonGrid(Grid):
    """The comparison table over ``data``, latencies in ``unit``, verdicts against the budget."""

    def __init__(
        self,
        data: ComparisonColumns,
        unit: LatencyUnit,
        budget_ms: float | None,
    ) -> None:
        self.rows = data.rows
        super().__init__(len(data), _Columns(data, unit, budget_ms).all())


class _Columns:
    """Builds the columns; each reads one fact of a row."""

    def __init__(self, data: ComparisonColumns, unit: LatencyUnit, budget_ms: float | None) -> None:
        self._data = data
        self._rows = data.rows
        self._unit = unit
        self._budget_ms = budget_ms

    def all(self) -> list[Column]:
        budget, unit = self._budget_ms, self._unit
        rate = "FPS" if unit is not LatencyUnit.FPS else "Latency (ms)"
        other = LatencyUnit.FPS if unit is not LatencyUnit.FPS else LatencyUnit.MS
        return [
            self._text("model", "Model", lambda row: shown(row.model_label)),
            self._text("device", "Device", lambda row: shown(row.device_name)),
            self._text("runtime", "Runtime", lambda row: row.prediction.configuration.runtime),
            self._text("precision", "Precision", lambda row: _precision(row.prediction)),
            self._count("threads", "Threads", lambda p: p.configuration.threads, threads_text),
            self._count("batch", "Batch", lambda p: p.configuration.batch, batch_text),
            self._time(
                "latency",
                self._titled("Latency", rate="FPS"),
                lambda: self._data.latency_ms,
                unit,
            ),
            self._interval(),
            self._time(
                "predicted",
                self._titled("Predicted"),
                lambda: self._data.predicted_ms,
                unit,
                "What the engine predicts where the latency was measured.",
            ),
            self._time("rate", rate, lambda: self._data.latency_ms, other),
            self._time("bound", self._titled("Bound"), lambda: self._data.bound_ms, unit),
            self._text("memory", "Memory fit", lambda row: memory_text(row.prediction.fits_memory)),
            self._text("basis", "Basis", lambda row: basis_text(row.prediction)),
            self._text("verdict", "Budget", lambda row: verdict_text(row.prediction, budget)),
            self._text("remarks", "Remarks", _remarks),
        ]

    def _titled(self, word: str, rate: str | None = None) -> str:
        return rate if rate and self._unit is LatencyUnit.FPS else f"{word} ({self._unit})"

    def _text(self, key: str, title: str, fact: Callable[[ComparisonRow], str]) -> Column:
        def text(row: int) -> str:
            return fact(self._rows[row])

        def keys() -> FloatArray:
            facts = (fact(row) for row in self._rows)
            return text_ranks(["" if found == NOTHING else found for found in facts])

        return Column(key, title, numeric=False, text=text, sort_keys=keys)

    def _count(
        self,
        key: str,
        title: str,
        fact: Callable[[Prediction], int],
        write: Callable[[int], str],
    ) -> Column:
        def keys() -> FloatArray:
            return number_keys([fact(row.prediction) for row in self._rows])

        return Column(
            key,
            title,
            numeric=True,
            text=lambda row: write(fact(self._rows[row].prediction)),
            sort_keys=keys,
        )

    def _time(
        self,
        key: str,
        title: str,
        times_ms: Callable[[], FloatArray],
        unit: LatencyUnit,
        help_text: str = "",
    ) -> Column:
        @cache
        def values() -> FloatArray:
            return self._data.in_unit(times_ms(), unit)

        return Column(
            key,
            title,
            numeric=True,
            text=lambda row: number(float(values()[row])),
            sort_keys=values,
            copied=lambda rows: [plain_number(value) for value in values()[rows].tolist()],
            help=help_text,
        )

    def _interval(self) -> Column:
        return Column(
            "interval",
            f"80 % interval ({self._unit})",
            numeric=True,
            text=lambda row: interval_text(self._rows[row].prediction, self._unit),
            sort_keys=lambda: self._data.high80_ms - self._data.low80_ms,
            help="Sorted by its width in milliseconds.",
        )


def _precision(prediction: Prediction) -> str:
    return prediction.configuration.precision.value


def _remarks(row: ComparisonRow) -> str:
    """Join what a number does not say itself: why there is none, what it assumes, doubts."""
    prediction = row.prediction
    facts = [prediction.problem, *row.notes]
    if prediction.out_of_distribution:
        facts.append(f"outside what the engine knows: {prediction.out_of_distribution}")
    if prediction.flagged_operators:
        count = len(prediction.flagged_operators)
        facts.append(plural(count, "flagged operator"))
    return shown("; ".join(fact for fact in facts if fact))
