"""The table of past predictions, and that of errors by target."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ctm_gui.presenters.grid import Column, Grid
from ctm_gui.presenters.ordering import FloatArray, number_keys, text_ranks
from ctm_gui.presenters.past_rows import PastRow, PastRows, labels
from predictor.core.records import Basis, Configuration
from predictor.core.units import LatencyUnit
from predictor.core.wording import (
    NOTHING,
    adaptation_name,
    basis_text,
    batch_of,
    batch_text,
    configuration_text,
    in_unit,
    interval_text,
    local_time,
    number,
    percent,
    plain_number,
    shown,
    threads_text,
)
from predictor.services.history.truth import TargetErrors

TAGS, NOTE = "tags", "note"


class PastGrid(Grid):
    """A row for each prediction, latencies in ``unit``."""

    def __init__(self, data: PastRows, unit: LatencyUnit) -> None:
        self.data = data
        super().__init__(len(data), _Columns(data, unit).all())


class ErrorsGrid(Grid):
    """A row for each target, engine and basis that has measurements."""

    def __init__(self, data: PastRows) -> None:
        self.errors = data.errors
        rows = self.errors
        columns = [
            _words("target", "Target", [_target(e, data) for e in rows]),
            _count("count", "Measured", [e.count for e in rows]),
            _percents("error", "Median error", [e.median_error for e in rows], signed=False),
            _percents("bias", "Bias", [e.bias for e in rows], signed=True, tip=_BIAS),
            _words(
                "inside80",
                "In 80 % interval",
                [_inside(e.inside80, e.with_interval) for e in rows],
                _COVERAGE,
            ),
            _words(
                "inside95",
                "In 95 % interval",
                [_inside(e.inside95, e.with_interval) for e in rows],
            ),
            _words("basis", "Basis", [e.basis.value for e in rows]),
            _words("engine", "Engine", [shown(e.engine) for e in rows]),
        ]
        super().__init__(len(rows), columns)


_BIAS = "The middle error with its sign: over zero where predictions are too slow."
_COVERAGE = "How many measured latencies lie in their interval; of five, four should."


class _Columns:
    """Builds the columns; each reads one fact of a row."""

    def __init__(self, data: PastRows, unit: LatencyUnit) -> None:
        self._data, self._rows, self._unit = data, data.rows, unit

    def all(self) -> list[Column]:
        return [
            Column(
                "created",
                "When",
                numeric=False,
                text=lambda row: local_time(self._rows[row].stored.created_ns),
                sort_keys=lambda: self._data.created_ns.astype(np.float64),
            ),
            self._text("model", "Model", lambda row: shown(row.stored.prediction.model)),
            self._text("device", "Device", lambda row: shown(row.device_name)),
            self._latency("latency", "Predicted", lambda row: row.predicted_ms),
            self._text(
                "interval",
                f"80 % interval ({self._unit})",
                lambda row: _interval(row, self._unit),
                "Of what was predicted; a measured latency has its own.",
            ),
            self._latency("measured", "Measured", lambda row: row.measured_ms),
            Column(
                "error",
                "Error",
                numeric=True,
                text=lambda row: percent(self._rows[row].error, signed=True),
                sort_keys=lambda: np.abs(self._data.error),
                copied=lambda rows: [plain_number(v) for v in self._data.error[rows].tolist()],
                help="Predicted against measured; over zero where the prediction is too slow.",
            ),
            self._text(TAGS, "Tags", lambda row: labels(row.stored.tags), _EDIT),
            self._text(NOTE, "Note", lambda row: shown(row.stored.note), _EDIT),
            self._text("basis", "Basis", lambda row: basis_text(row.stored.prediction)),
            self._text(
                "adaptation",
                "Adapted by",
                lambda row: adaptation_name(row.stored.prediction.adaptation),
                "What took the number to its target: the times of operators there, FiLM of "
                "the network fine-tuned to it, or a Bayesian posterior alone.",
            ),
            self._text("engine", "Engine", lambda row: shown(row.stored.prediction.engine)),
            self._text("runtime", "Runtime", lambda row: _configuration(row).runtime),
            self._text("precision", "Precision", lambda row: _configuration(row).precision.value),
            self._whole(
                "threads", "Threads", lambda row: _configuration(row).threads, threads_text
            ),
            self._whole("batch", "Batch", lambda row: _configuration(row).batch, batch_text),
        ]

    def _text(self, key: str, title: str, fact: Callable[[PastRow], str], tip: str = "") -> Column:
        def keys() -> FloatArray:
            facts = (fact(row) for row in self._rows)
            return text_ranks(["" if found == NOTHING else found for found in facts])

        return Column(
            key,
            title,
            numeric=False,
            text=lambda row: fact(self._rows[row]),
            sort_keys=keys,
            help=tip,
        )

    def _whole(
        self, key: str, title: str, fact: Callable[[PastRow], int], write: Callable[[int], str]
    ) -> Column:
        return Column(
            key,
            title,
            numeric=True,
            text=lambda row: write(fact(self._rows[row])),
            sort_keys=lambda: number_keys([fact(row) for row in self._rows]),
        )

    def _latency(self, key: str, title: str, fact: Callable[[PastRow], float | None]) -> Column:
        def value(row: int) -> float | None:
            found = self._rows[row]
            return in_unit(fact(found), self._unit, batch_of(_configuration(found)))

        return Column(
            key,
            f"{title} ({self._unit})",
            numeric=True,
            text=lambda row: number(value(row)),
            sort_keys=lambda: number_keys([value(row) for row in range(len(self._rows))]),
            copied=lambda rows: [plain_number(value(row)) for row in rows],
        )


_EDIT = "F2 or a double click edits it."


def _configuration(row: PastRow) -> Configuration:
    return row.stored.prediction.configuration


def _interval(row: PastRow, unit: LatencyUnit) -> str:
    prediction = row.stored.prediction
    return NOTHING if prediction.basis is Basis.MEASURED else interval_text(prediction, unit)


def _target(errors: TargetErrors, data: PastRows) -> str:
    return f"{shown(data.name_of(errors.device_id))}, {configuration_text(errors.configuration)}"


def _inside(inside: int, of: int) -> str:
    return f"{inside} of {of}" if of else NOTHING


def _words(key: str, title: str, words: Sequence[str], tip: str = "") -> Column:
    return Column(
        key,
        title,
        numeric=False,
        text=lambda row: words[row],
        sort_keys=lambda: text_ranks(words),
        help=tip,
    )


def _count(key: str, title: str, counts: Sequence[int]) -> Column:
    return Column(
        key,
        title,
        numeric=True,
        text=lambda row: str(counts[row]),
        sort_keys=lambda: number_keys(counts),
    )


def _percents(
    key: str, title: str, parts: Sequence[float], *, signed: bool, tip: str = ""
) -> Column:
    return Column(
        key,
        title,
        numeric=True,
        text=lambda row: percent(parts[row], signed=signed),
        sort_keys=lambda: number_keys(parts),
        copied=lambda rows: [plain_number(parts[row]) for row in rows],
        help=tip,
    )
