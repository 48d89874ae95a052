"""Words of the History view: its summary, its warnings, and the details of rows and points."""

from __future__ import annotations

import numpy as np

from ctm_gui.presenters.past_rows import PastRow, PastRows, labels
from predictor.core.records import Configuration
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.core.wording import (
    adaptation_text,
    basis_text,
    batch_of,
    configuration_text,
    interval_text,
    latency_text,
    local_time,
    number,
    percent,
    shown,
)
from predictor.services.history.changes import Change
from predictor.services.history.truth import CHANCE, Pair, TargetErrors

NOTHING_YET = (
    "Every prediction is kept here. Drop a model and tick targets, and come back: record what you "
    "measure, and see how right the predictions were."
)


def summary(data: PastRows) -> str:
    """Return in one line how many predictions there are and how right they were."""
    count = plural(len(data), "prediction")
    if data.count > len(data):
        count = f"the last {len(data)} of {data.count} predictions"
    measured = {pair.measured.measurement.id for pair in data.pairs}
    if not measured:
        return f"{count.capitalize()}; none was measured yet."
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
        f"Predicted: {latency_text(row.predicted_ms, unit, batch)}",
    ]
    if prediction.low80_ms is not None:
        lines.append(f"80 % interval: {interval_text(prediction, unit)} {unit}")
    if row.measured_ms is not None:
        lines.append(f"Measured: {latency_text(row.measured_ms, unit, batch)}")
    if prediction.provenance:
        lines.append(f"Shown was {latency_text(prediction.latency_ms, unit, batch)}:")
        lines.append(shown(prediction.provenance))
    lines += _made_with(row)
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
    """Return in one line how predictions changed since."""
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
        f"interval of {shown(errors.engine)} ({errors.basis}). About {expected} would be usual; "
        f"so many come by chance in one of {once} cases. The device is {direction} than "
        "predicted: probe it again."
    )
