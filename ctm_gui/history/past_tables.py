"""The tables of the History view: past predictions, errors by target, changes; their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ctm_gui.compare.comparison_grid import prediction_columns
from ctm_gui.history.past_rows import PastRow, PastRows, labels
from ctm_gui.widgets.grid import Column, Grid, count_column, number_column, text_column
from predictor.core.records import Configuration
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.wording import (
    NOTHING,
    adaptation_text,
    basis_text,
    batch_of,
    configuration_text,
    in_unit,
    interval_text,
    latency_text,
    limit_sign,
    local_time,
    number,
    percent,
    shown,
)
from predictor.services.history.changes import Change
from predictor.services.history.truth import CHANCE, Pair, TargetErrors, engine_ms

_SIGNED = partial(percent, signed=True)
TAGS, NOTE = "tags", "note"
# The registry's columns that stand first, and those that only a copy holds apart.
_NAMES = ("model", "device", "configuration")
_SETTINGS = frozenset({"runtime", "precision", "threads", "batch"})
_RUNS = "Predictions of this model on this target; Every run shows them all."
_EDIT = "F2 or a double click edits it."
_ERROR = "Predicted against measured; over zero where the prediction is too slow."
_BIAS = "The middle error with its sign: over zero where predictions are too slow."
_COVERAGE = "How many measured latencies lie in their interval; of five, four should."


class PastGrid(Grid):
    """A row for each prediction, latencies in ``unit``."""

    def __init__(self, data: PastRows, unit: LatencyUnit) -> None:
        self.data = data
        rows = [
            PredictionRow(
                prediction=row.stored.prediction,
                device_name=row.device_name,
                model_label=row.stored.prediction.model,
            )
            for row in data.rows
        ]
        columns = prediction_columns(rows, TableContext(Place.HISTORY, unit))
        by_key = {column.key: column for column in columns}
        model, *target = (by_key[name] for name in _NAMES)
        latency, *figures = _figures(data, unit)
        further = [c for c in columns if c.key not in {*_NAMES, *_SETTINGS}]
        runs = count_column("runs", "Runs", data.runs, str, _RUNS)
        super().__init__(
            len(data),
            [model, latency, *target, *figures, _created(data), runs, *_marks(data), *further],
            [column for column in columns if column.key in _SETTINGS],
        )


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
            text_column("basis", "Basis", [e.basis.words for e in errors]),
            text_column("engine", "Engine", [shown(e.engine) for e in errors]),
        ]
        super().__init__(len(errors), columns)


class ChangeGrid(Grid):
    """A row for each prediction: the stored latency, today's, and the measured one.

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
        key="created",
        title="When",
        text=lambda row: local_time(data.rows[row].stored.created_ns),
        sort_keys=lambda: data.created_ns.astype(np.float64),
    )


def _figures(data: PastRows, unit: LatencyUnit) -> list[Column]:
    """Return the engine's prediction and the measurement."""
    rows = data.rows
    interval = Column(
        key="interval",
        title=f"80 % interval ({unit})",
        text=lambda row: _interval(rows[row], unit),
        help="Of what was predicted, also where it was measured since.",
    )
    error = number_column("error", "Error", data.error, _ERROR, _SIGNED, by_size=True)
    predicted = _latency("latency", "Predicted", rows, [row.predicted_ms for row in rows], unit)
    limits = [limit_sign(row.stored.prediction, unit) for row in rows]
    return [
        replace(predicted, text=lambda row: f"{limits[row]}{predicted.text(row)}"),
        interval,
        _latency("measured", "Measured", rows, [row.measured_ms for row in rows], unit),
        error,
    ]


def _marks(data: PastRows) -> list[Column]:
    """Return what the user typed."""
    stored = [row.stored for row in data.rows]
    return [
        Column(
            key=TAGS,
            title="Tags",
            text=lambda row: labels(stored[row].tags),
            typed=lambda row: ", ".join(stored[row].tags),
            help=_EDIT,
        ),
        Column(
            key=NOTE,
            title="Note",
            text=lambda row: shown(stored[row].note),
            typed=lambda row: stored[row].note,
            help=_EDIT,
        ),
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
    return NOTHING if row.estimated is None else interval_text(row.estimated, unit)


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


NOTHING_YET = (
    "Every prediction is kept here. Drop a model and tick targets, and come back: record what you "
    "measure, and see how right the predictions were."
)


def summary(data: PastRows) -> str:
    """Return one line with the number of predictions and their errors."""
    count = plural(len(data), "prediction")
    if data.count > len(data):
        count = f"the last {len(data)} of {data.count} predictions"
    measured = {pair.measured.measurement.id for pair in data.pairs}
    if not measured:
        return f"{count.capitalize()} {_of_what(data)}; nothing measured yet.{_changed(data)}"
    latencies = plural(len(measured), "measured latency", "measured latencies")
    errors = [abs(pair.error) for pair in data.pairs]
    words = [
        f"{count.capitalize()}; {latencies}",
        f"median error {percent(float(np.median(errors)))}",
    ]
    inside = [pair.inside80 for pair in data.pairs if pair.inside80 is not None]
    if inside:
        words.append(f"{inside.count(True)} of {len(inside)} inside their 80 % interval")
    return ", ".join(words) + "."


def _of_what(data: PastRows) -> str:
    """Return what was predicted, and since when."""
    if not data.rows:
        return ""
    models, devices = plural(len(data.models()), "model"), plural(len(data.devices()), "device")
    first = local_time(min(row.stored.created_ns for row in data.rows)).split()[0]
    return f"of {models} on {devices} since {first}"


def _changed(data: PastRows) -> str:
    """Return how many predictions another engine made than the newest one."""
    engines = [row.stored.prediction.engine for row in data.rows]
    older = sum(engine != engines[0] for engine in engines)
    now = f" {plural(older, 'prediction')} of another engine: Compare with Now shows what changed."
    return now if older else ""


def warnings(data: PastRows) -> list[str]:
    """Return warnings of targets that leave their interval more often than by chance.

    A target is named once, by the predictions that chance explains least.
    """
    worst: dict[tuple[str, Configuration], TargetErrors] = {}
    for errors in data.errors:
        target = errors.device_id, errors.configuration
        if _chance(errors) <= min(_chance(worst.get(target)), CHANCE):
            worst[target] = errors
    return [_warning(errors, data) for errors in worst.values()]


def row_details(row: PastRow, unit: LatencyUnit) -> str:
    """Return the lines that hovering over a row shows, as plain text."""
    stored, prediction = row.stored, row.stored.prediction
    batch = batch_of(prediction.configuration)
    lines = [
        f"{shown(prediction.model)} on {shown(row.device_name)}",
        (
            f"Made {local_time(stored.created_ns)} by {shown(prediction.engine)}, basis "
            f"{basis_text(prediction)}"
        ),
        f"Configuration: {configuration_text(prediction.configuration)}",
        (f"Predicted: {limit_sign(prediction, unit)}{latency_text(row.predicted_ms, unit, batch)}"),
    ]
    if (interval := _interval(row, unit)) != NOTHING:
        lines.append(f"80 % interval: {interval} {unit}")
    if row.measured_ms is not None:
        lines.append(f"Measured: {latency_text(row.measured_ms, unit, batch)}")
    if prediction.provenance:
        lines.append(f"Shown was {latency_text(prediction.latency_ms, unit, batch)}:")
        lines.append(shown(prediction.provenance))
    lines += _made_with(row)
    if explanation := prediction.configuration.precision.explanation:
        lines.append(explanation)
    if stored.tags:
        lines.append(f"Tags: {labels(stored.tags)}")
    if stored.note:
        lines.append(f"Note: {shown(stored.note)}")
    return "\n".join(lines)


def pair_details(pair: Pair, data: PastRows, unit: LatencyUnit) -> str:
    """Return the lines that hovering over a point of the plot shows, as plain text."""
    prediction, measurement = pair.predicted.prediction, pair.measured.measurement
    batch = batch_of(prediction.configuration)
    lines = [
        f"{shown(prediction.model)} on {shown(data.name_of(prediction.device_id))}",
        (
            f"Predicted {latency_text(pair.predicted_ms, unit, batch)} "
            f"({local_time(pair.predicted.created_ns)}, {shown(prediction.engine)})"
        ),
        (
            f"Measured {latency_text(pair.measured_ms, unit, batch)} "
            f"({shown(measurement.statistic)}, {local_time(pair.measured.created_ns)})"
        ),
        f"Error {percent(pair.error, signed=True)}",
    ]
    if pair.inside80 is not None:
        side = "inside" if pair.inside80 else "outside"
        lines.append(f"{side} the 80 % interval {interval_text(prediction, unit)} {unit}")
    if note := measurement.provenance.note:
        lines.append(f"Note: {shown(note)}")
    return "\n".join(lines)


def change_summary(entries: tuple[Change, ...]) -> str:
    """Return one line on the changes of predictions since."""
    changes = [abs(entry.relative) for entry in entries if entry.relative is not None]
    failed = sum(1 for entry in entries if entry.problem)
    words = []
    if changes:
        same = sum(1 for change in changes if not change)
        words.append(f"{same} of {len(changes)} as they were")
        if same < len(changes):
            words.append(f"the largest change is {percent(max(changes))}")
    if failed:
        words.append(f"{failed} cannot be predicted now")
    text = ", ".join(words)
    return f"{text[:1].upper()}{text[1:]}."


def _made_with(row: PastRow) -> list[str]:
    lines = []
    if row.stored.prediction.signature:
        lines.append(f"Signature: {row.stored.prediction.signature}")
    if adaptation := adaptation_text(row.stored.prediction):
        lines.append(f"Adapted by: {adaptation}")
    settings = row.stored.settings
    if settings.program:
        lines.append(f"Program: CloserToMe {shown(settings.program)}")
    if settings.dimensions:
        values = ", ".join(f"{name} = {value}" for name, value in settings.dimensions.items())
        lines.append(f"Dimensions: {shown(values)}")
    if row.stored.path:
        lines.append(f"File: {shown(row.stored.path)}")
    return lines


def _chance(errors: TargetErrors | None) -> float:
    return 1.0 if errors is None or errors.surprise is None else errors.surprise.probability


def _warning(errors: TargetErrors, data: PastRows) -> str:
    surprise = errors.surprise
    assert surprise is not None  # noqa: S101 - the caller looked
    once = number(1 / surprise.probability) if surprise.probability > 1e-12 else "a trillion"
    direction = "slower" if errors.bias < 0 else "faster"
    expected = number(surprise.count / 5)
    return (
        f"{shown(data.name_of(errors.device_id))}, {configuration_text(errors.configuration)}: "
        f"{surprise.outside} of the last {surprise.count} measured latencies lie outside the 80 % "
        f"interval of {shown(errors.engine)} ({errors.basis.words}). About {expected} would be "
        f"usual; so many come by chance in one of {once} cases. The device is {direction} than "
        "predicted: probe it again."
    )
