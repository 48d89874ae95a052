"""The columns of the comparison table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctm_gui.presenters.comparison import ComparisonRow, verdict_text
from ctm_gui.presenters.grid import Column, Grid
from ctm_gui.presenters.ordering import FloatArray, number_keys, text_ranks
from ctm_gui.presenters.wording import (
    NOTHING,
    basis_text,
    batch_of,
    batch_text,
    in_unit,
    interval_text,
    memory_text,
    number,
    plain_number,
    shown,
    threads_text,
)
from predictor.core.records import Prediction
from predictor.core.units import LatencyUnit

# Columns whose order turns round between a time and a rate.
TIME_COLUMNS = frozenset({"latency", "rate", "bound"})


class ComparisonGrid(Grid):
    """The comparison table over ``rows``, latencies in ``unit``, verdicts against the budget."""

    def __init__(
        self,
        rows: Sequence[ComparisonRow],
        unit: LatencyUnit,
        budget_ms: float | None,
    ) -> None:
        self.rows = tuple(rows)
        super().__init__(len(self.rows), _Columns(self.rows, unit, budget_ms).all())


class _Columns:
    """Builds the columns; each reads one fact of a row."""

    def __init__(
        self, rows: tuple[ComparisonRow, ...], unit: LatencyUnit, budget_ms: float | None
    ) -> None:
        self._rows = rows
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
            self._time("latency", self._titled("Latency"), lambda p: p.latency_ms, unit),
            self._interval(),
            self._time("rate", rate, lambda p: p.latency_ms, other),
            self._time("bound", self._titled("Bound"), lambda p: p.bound_ms, unit),
            self._text("memory", "Memory fit", lambda row: memory_text(row.prediction.fits_memory)),
            self._text("basis", "Basis", lambda row: basis_text(row.prediction)),
            self._text("verdict", "Budget", lambda row: verdict_text(row.prediction, budget)),
            self._text("problem", "Problem", lambda row: _problem(row.prediction)),
        ]

    def _titled(self, word: str) -> str:
        if self._unit is LatencyUnit.FPS:
            return {"Latency": "FPS", "Bound": "Bound (FPS)"}[word]
        return f"{word} ({self._unit})"

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
        fact: Callable[[Prediction], float | None],
        unit: LatencyUnit,
    ) -> Column:
        def value(row: ComparisonRow) -> float | None:
            return in_unit(fact(row.prediction), unit, batch_of(row.prediction.configuration))

        return Column(
            key,
            title,
            numeric=True,
            text=lambda row: number(value(self._rows[row])),
            sort_keys=lambda: number_keys([value(row) for row in self._rows]),
            copied=lambda rows: [plain_number(value(self._rows[row])) for row in rows],
        )

    def _interval(self) -> Column:
        def width(prediction: Prediction) -> float | None:
            if prediction.low80_ms is None or prediction.high80_ms is None:
                return None
            return prediction.high80_ms - prediction.low80_ms

        return Column(
            "interval",
            f"80 % interval ({self._unit})",
            numeric=True,
            text=lambda row: interval_text(self._rows[row].prediction, self._unit),
            sort_keys=lambda: number_keys([width(row.prediction) for row in self._rows]),
            help="Sorted by its width in milliseconds.",
        )


def _precision(prediction: Prediction) -> str:
    return prediction.configuration.precision.value


def _problem(prediction: Prediction) -> str:
    """Join what is wrong with a prediction: no number, an unknown model, memory."""
    facts = [prediction.problem]
    if prediction.out_of_distribution:
        facts.append(f"outside what the engine knows: {prediction.out_of_distribution}")
    if prediction.flagged_operators:
        count = len(prediction.flagged_operators)
        facts.append(f"{count} flagged operator{'s' if count > 1 else ''}")
    return shown("; ".join(fact for fact in facts if fact))
