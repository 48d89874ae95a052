"""What the History view says: its summary, its warnings, and the details of rows and points."""

from __future__ import annotations

import json

import numpy as np

from ctm_gui.presenters.past_rows import PastRow, PastRows, labels
from ctm_gui.translation import QT_TR_NOOP, tr
from predictor.core.records import Configuration
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
from predictor.services.history.then_and_now import ThenAndNow
from predictor.services.history.truth import CHANCE, Pair, TargetErrors

NOTHING_YET = QT_TR_NOOP(
    "Every prediction is kept here. Drop a model and tick targets, and come back: record what you "
    "measure, and see how right the predictions were."
)


def summary(data: PastRows) -> str:
    """Say in one line how many predictions there are and how right they were."""
    count = tr("%n predictions", "%n prediction", len(data))
    if data.count > len(data):
        count = tr("the last {data} of {count} predictions").format(
            data=len(data), count=data.count
        )
    measured = {pair.measured.measurement.id for pair in data.pairs}
    if not measured:
        return tr("{count}; none was measured yet.").format(count=count.capitalize())
    errors = [abs(pair.error) for pair in data.pairs]
    words = [
        tr("{count}; %n measured latencies", "{count}; %n measured latency", len(measured)).format(
            count=count.capitalize()
        ),
        tr("median error {errors}").format(errors=percent(float(np.median(errors)))),
    ]
    inside = [pair.inside80 for pair in data.pairs if pair.inside80 is not None]
    if inside:
        words.append(
            tr("{count} of {inside} inside their 80 % interval").format(
                count=inside.count(True), inside=len(inside)
            )
        )
    return ", ".join(words) + "."


def warnings(data: PastRows) -> list[str]:
    """Say of which targets recent measurements leave the interval more often than by chance.

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
        tr("{model} on {device_name}").format(
            model=shown(prediction.model), device_name=shown(row.device_name)
        ),
        (
            tr("Made {time} by {engine}, basis {basis}").format(
                time=local_time(stored.created_ns),
                engine=shown(prediction.engine),
                basis=basis_text(prediction),
            )
        ),
        tr("Configuration: {configuration}").format(
            configuration=configuration_text(prediction.configuration)
        ),
        tr("Predicted: {latency}").format(latency=latency_text(row.predicted_ms, unit, batch)),
    ]
    if prediction.low80_ms is not None:
        lines.append(
            tr("80 % interval: {interval} {unit}").format(
                interval=interval_text(prediction, unit), unit=unit
            )
        )
    if row.measured_ms is not None:
        lines.append(
            tr("Measured: {latency}").format(latency=latency_text(row.measured_ms, unit, batch))
        )
    if prediction.provenance:
        lines.append(
            tr("Shown was {latency}:").format(
                latency=latency_text(prediction.latency_ms, unit, batch)
            )
        )
        lines.append(shown(prediction.provenance))
    lines += _made_with(row)
    if stored.tags:
        lines.append(tr("Tags: {tags}").format(tags=labels(stored.tags)))
    if stored.note:
        lines.append(tr("Note: {note}").format(note=shown(stored.note)))
    return "\n".join(lines)


def pair_details(pair: Pair, data: PastRows, unit: LatencyUnit) -> str:
    """Return the lines that hovering over a point of the plot shows, as plain text."""
    prediction, measurement = pair.predicted.prediction, pair.measured.measurement
    batch = batch_of(prediction.configuration)
    lines = [
        tr("{model} on {name}").format(
            model=shown(prediction.model), name=shown(data.name_of(prediction.device_id))
        ),
        (
            tr("Predicted {latency} ({time}, {engine})").format(
                latency=latency_text(pair.predicted_ms, unit, batch),
                time=local_time(pair.predicted.created_ns),
                engine=shown(prediction.engine),
            )
        ),
        (
            tr("Measured {latency} ({statistic}, {time})").format(
                latency=latency_text(pair.measured_ms, unit, batch),
                statistic=shown(measurement.statistic),
                time=local_time(pair.measured.created_ns),
            )
        ),
        tr("Error {error}").format(error=percent(pair.error, signed=True)),
    ]
    if pair.inside80 is not None:
        where = (
            tr("inside the 80 % interval {interval} {unit}")
            if pair.inside80
            else tr("outside the 80 % interval {interval} {unit}")
        )
        lines.append(where.format(interval=interval_text(prediction, unit), unit=unit))
    note = json.loads(measurement.provenance).get("note")
    if note:
        lines.append(tr("Note: {note}").format(note=shown(str(note))))
    return "\n".join(lines)


def change_summary(entries: tuple[ThenAndNow, ...]) -> str:
    """Say in one line what predicting again has shown."""
    changes = [abs(entry.change) for entry in entries if entry.change is not None]
    failed = sum(1 for entry in entries if entry.problem)
    words = []
    if changes:
        same = sum(1 for change in changes if not change)
        words.append(tr("{same} of {changes} as they were").format(same=same, changes=len(changes)))
        if same < len(changes):
            words.append(
                tr("the largest change is {changes}").format(changes=percent(max(changes)))
            )
    if failed:
        words.append(tr("{failed} cannot be predicted now").format(failed=failed))
    text = ", ".join(words)
    return f"{text[:1].upper()}{text[1:]}."


def _made_with(row: PastRow) -> list[str]:
    lines = []
    if row.stored.prediction.signature:
        lines.append(tr("Signature: {signature}").format(signature=row.stored.prediction.signature))
    if adaptation := adaptation_text(row.stored.prediction):
        lines.append(tr("Adapted by: {adaptation}").format(adaptation=adaptation))
    settings = json.loads(row.stored.settings)
    if settings.get("program"):
        lines.append(
            tr("Program: CloserToMe {program}").format(program=shown(str(settings["program"])))
        )
    dimensions = settings.get("dimensions") or {}
    if dimensions:
        values = ", ".join(f"{name} = {value}" for name, value in dimensions.items())
        lines.append(tr("Dimensions: {values}").format(values=shown(values)))
    if row.stored.path:
        lines.append(tr("File: {path}").format(path=shown(row.stored.path)))
    return lines


def _chance(errors: TargetErrors | None) -> float:
    return 1.0 if errors is None or errors.surprise is None else errors.surprise.probability


def _warning(errors: TargetErrors, data: PastRows) -> str:
    found = errors.surprise
    assert found is not None  # noqa: S101 - the caller looked
    once = number(1 / found.probability) if found.probability > 1e-12 else tr("a trillion")
    direction = tr("slower") if errors.bias < 0 else tr("faster")
    expected = number(found.count / 5)
    return tr(
        "{name}, {configuration}: {outside} of the last {count} measured latencies "
        "lie outside the 80 % interval of {engine} ({basis}). About {expected} would "
        "be usual; so many come by chance in one of {once} cases. The device is "
        "{direction} than predicted: probe it again."
    ).format(
        name=shown(data.name_of(errors.device_id)),
        configuration=configuration_text(errors.configuration),
        outside=found.outside,
        count=found.count,
        engine=shown(errors.engine),
        basis=errors.basis,
        expected=expected,
        once=once,
        direction=direction,
    )
