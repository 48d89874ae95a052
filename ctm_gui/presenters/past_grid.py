"""The tables of the History view: past predictions, errors by target, and what changed since."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ctm_gui.presenters.comparison_grid import prediction_columns
from ctm_gui.presenters.grid import Column, Grid, count_column, number_column, text_column
from ctm_gui.presenters.past_rows import PastRow, PastRows, labels
from predictor.core.columns import Place, PredictionRow, TableContext
from predictor.core.records import Basis
from predictor.core.units import LatencyUnit
from predictor.core.wording import (
    NOTHING,
    batch_of,
    configuration_text,
    in_unit,
    interval_text,
    local_time,
    percent,
    shown,
)
from predictor.services.history.changes import Change
from predictor.services.history.truth import TargetErrors, engine_ms

_SIGNED = partial(percent, signed=True)
TAGS, NOTE = "tags", "note"
_NAMES = 2  # of the registry's columns: model and device
_SETTINGS = frozenset({"runtime", "precision", "threads", "batch"})
_EDIT = "F2 or a double click edits it."
_ERROR = "Predicted against measured; over zero where the prediction is too slow."
_BIAS = "The middle error with its sign: over zero where predictions are too slow."
_COVERAGE = "How many measured latencies lie in their interval; of five, four should."


class PastGrid(Grid):
    """A row for each prediction, latencies in ``unit``."""

    def __init__(self, data: PastRows, unit: LatencyUnit) -> None:
        self.data = data
        rows = [
            PredictionRow(row.stored.prediction, row.device_name, row.stored.prediction.model)
            for row in data.rows
        ]
        columns = prediction_columns(rows, TableContext(Place.HISTORY, unit))
        names, others = columns[:_NAMES], columns[_NAMES:]
        # Settings tell few rows apart, so they stand last.
        others.sort(key=lambda column: column.key in _SETTINGS)
        super().__init__(len(data), [_created(data), *names, *_figures(data, unit), *others])


class ErrorsGrid(Grid):
    """A row for each target, engine and basis that has measurements."""

    def __init__(self, data: PastRows) -> None:
        self.errors = errors = data.errors
        inside80 = [_inside(e.inside80, e.with_interval) for e in errors]
        inside95 = [_inside(e.inside95, e.with_interval) for e in errors]
        columns = [
            text_column("target", "Target", [_target(e, data) for e in errors]),
            count_column("count", "Measured", [e.count for e in errors], str),
            number_column("error", "Median error", [e.median_error for e in errors], "", percent),
            number_column("bias", "Bias", [e.bias for e in errors], _BIAS, _SIGNED),
            text_column("inside80", "In 80 % interval", inside80, _COVERAGE),
            text_column("inside95", "In 95 % interval", inside95),
            text_column("basis", "Basis", [e.basis.value for e in errors]),
            text_column("engine", "Engine", [shown(e.engine) for e in errors]),
        ]
        super().__init__(len(errors), columns)


class ChangeGrid(Grid):
    """A row for each prediction: what was said then, what is said now, what was measured.

    Args:
        entries: stored predictions against today's.
        rows: of the same predictions in the history.
        unit: of all latencies.
    """

    def __init__(
        self, entries: Sequence[Change], rows: Sequence[PastRow], unit: LatencyUnit
    ) -> None:
        self.entries = tuple(entries)
        then = [e.stored.prediction for e in entries]
        now_ms = [None if e.today is None else engine_ms(e.today) for e in entries]
        changes = [e.relative for e in entries]
        columns = [
            text_column("model", "Model", [shown(p.model) for p in then]),
            text_column("device", "Device", [shown(row.device_name) for row in rows]),
            _latency("then", "Then", rows, [engine_ms(p) for p in then], unit),
            _latency("now", "Now", rows, now_ms, unit),
            number_column("change", "Change", changes, write=_SIGNED, by_size=True),
            _latency("measured", "Measured", rows, [row.measured_ms for row in rows], unit),
            text_column("why", "Why", [_why(e) for e in entries]),
            text_column(
                "how", "Configuration", [configuration_text(p.configuration) for p in then]
            ),
            text_column("when", "Made", [local_time(e.stored.created_ns) for e in entries]),
            text_column("engine", "Engine now", [_engine(e) for e in entries]),
        ]
        super().__init__(len(self.entries), columns)


def _created(data: PastRows) -> Column:
    return Column(
        "created",
        "When",
        numeric=False,
        text=lambda row: local_time(data.rows[row].stored.created_ns),
        sort_keys=lambda: data.created_ns.astype(np.float64),
    )


def _figures(data: PastRows, unit: LatencyUnit) -> list[Column]:
    """Return what the engine said, what was measured, and what the user wrote on it."""
    rows = data.rows
    interval = Column(
        "interval",
        f"80 % interval ({unit})",
        numeric=False,
        text=lambda row: _interval(rows[row], unit),
        help="Of what was predicted; a measured latency has its own.",
    )
    error = number_column("error", "Error", data.error, _ERROR, _SIGNED, by_size=True)
    tags = Column(
        TAGS, "Tags", numeric=False, text=lambda row: labels(rows[row].stored.tags), help=_EDIT
    )
    note = Column(
        NOTE, "Note", numeric=False, text=lambda row: shown(rows[row].stored.note), help=_EDIT
    )
    return [
        _latency("latency", "Predicted", rows, [row.predicted_ms for row in rows], unit),
        interval,
        _latency("measured", "Measured", rows, [row.measured_ms for row in rows], unit),
        error,
        tags,
        note,
    ]


def _latency(
    key: str,
    title: str,
    rows: Sequence[PastRow],
    values_ms: Sequence[float | None],
    unit: LatencyUnit,
) -> Column:
    values = [
        in_unit(value_ms, unit, batch_of(row.stored.prediction.configuration))
        for value_ms, row in zip(values_ms, rows, strict=True)
    ]
    return number_column(key, f"{title} ({unit})", values)


def _interval(row: PastRow, unit: LatencyUnit) -> str:
    prediction = row.stored.prediction
    return NOTHING if prediction.basis is Basis.MEASURED else interval_text(prediction, unit)


def _target(errors: TargetErrors, data: PastRows) -> str:
    return f"{shown(data.name_of(errors.device_id))}, {configuration_text(errors.configuration)}"


def _inside(inside: int, of: int) -> str:
    return f"{inside} of {of}" if of else NOTHING


def _engine(entry: Change) -> str:
    return NOTHING if entry.today is None else shown(entry.today.engine)


def _why(entry: Change) -> str:
    if entry.problem:
        return shown(entry.problem)
    return shown("; ".join(entry.reasons)) or ("the same" if entry.relative == 0 else NOTHING)
