"""Predictions of a graph corrected by the user's measurements of it on other devices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from predictor.calibration.graph_deviation import corrections
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80
from predictor.core.prediction import Prediction, ScaledFrom
from predictor.core.records import Device, Measurement, Target, TargetId
from predictor.presentation.wording import configuration_text, number, shown

MAX_RATIO: Final = 1000.0
"""Factor between a measured and a predicted latency from which the value is of something else."""

MIN_SHARE_OF_BOUND: Final = 0.2
"""Part of the bound under which no run can be, however far off the facts of the device are."""


def measured_targets(
    measurements: Iterable[Measurement], targets: Sequence[Target], devices: Mapping[str, Device]
) -> list[Target]:
    """Return the targets of measurements beside ``targets``, as far as their devices are known.

    Args:
        measurements: of one graph.
        targets: that are predicted.
        devices: by id, beside those of ``targets``.
    """
    devices_by_id = {**devices, **{target.device.id: target.device for target in targets}}
    target_ids = {target.id for target in targets}
    keys = dict.fromkeys(TargetId.of(measurement) for measurement in measurements)
    return [
        Target(devices_by_id[key.device_id], key.configuration)
        for key in keys
        if key not in target_ids and key.device_id in devices_by_id
    ]


def scaled(
    predictions: Sequence[Prediction],
    targets: Sequence[Target],
    measurements: Mapping[TargetId, Measurement],
) -> Iterator[Prediction]:
    """Yield predictions of one graph, corrected by the measurements on some of their targets.

    Those of the measured targets stay. So do targets without a number or an interval, and those
    that no measured target informs.

    Args:
        predictions: of an engine, one a target.
        targets: the targets, those of the measurements among them.
        measurements: the user's measurements of the graph, by target.
    """
    places = [
        place
        for place, (target, prediction) in enumerate(zip(targets, predictions, strict=True))
        if target.id in measurements and not doubt_of(measurements[target.id].value_ms, prediction)
    ]
    if not places:
        yield from predictions
        return
    log_ratios = [
        _log_ratio(measurements[targets[at].id].value_ms, predictions[at]) for at in places
    ]
    deviation = np.array([_deviation(prediction) for prediction in predictions])
    change = corrections(targets, deviation, np.array(places), np.array(log_ratios))
    for target, prediction, shift, width, used in zip(targets, predictions, *change, strict=True):
        if target.id in measurements or not used.any():
            yield prediction
            continue
        used_places = [places[place] for place in np.flatnonzero(used).tolist()]
        sources = tuple(_source(targets[at], measurements[targets[at].id]) for at in used_places)
        names = [targets[at].device.name for at in used_places]
        yield _corrected(prediction, float(shift), float(width), sources, names)


def doubt_of(value_ms: float, prediction: Prediction) -> str:
    """Return why a latency cannot be that of a predicted run; empty where it can be."""
    if doubt := _bound_doubt(value_ms, prediction):
        return doubt
    latency_ms = _engines_ms(prediction)
    if latency_ms and abs(math.log(value_ms / latency_ms)) > math.log(MAX_RATIO):
        factor = number(MAX_RATIO, 4)
        return f"it is more than {factor} times off the prediction, {number(latency_ms)} ms"
    return ""


def check_plausible(subject: str, value_ms: float, prediction: Prediction) -> None:
    """Refuse a latency that cannot be that of a predicted run.

    Raises:
        InputError: it is far under the bound, or a thousand times off the prediction.
    """
    _refuse(subject, doubt_of(value_ms, prediction))


def check_bound(subject: str, value_ms: float, prediction: Prediction) -> None:
    """Refuse a latency by the bound of a predicted run alone.

    Raises:
        InputError: it is far under the bound.
    """
    _refuse(subject, _bound_doubt(value_ms, prediction))


def _refuse(subject: str, doubt: str) -> None:
    if doubt:
        raise InputError(subject, doubt, "look at its unit, and whether it is of this model")


def _bound_doubt(value_ms: float, prediction: Prediction) -> str:
    bound_ms = prediction.bound_ms
    if bound_ms is None or value_ms >= MIN_SHARE_OF_BOUND * bound_ms:
        return ""
    return f"the device needs {number(bound_ms)} ms for it at its peak"


def _engines_ms(prediction: Prediction) -> float | None:
    return prediction.latency_ms if prediction.predicted_ms is None else prediction.predicted_ms


def _log_ratio(value_ms: float, prediction: Prediction) -> float:
    """Return ln(measured / predicted), 0 where nothing was predicted."""
    return math.log(value_ms / prediction.latency_ms) if prediction.latency_ms else 0.0


def _deviation(prediction: Prediction) -> float:
    """Return the standard deviation of ln(latency); NaN for engines without intervals."""
    latency_ms, high_ms = prediction.latency_ms, prediction.high80_ms
    # The upper end: the lower one may have been raised to the bound.
    return math.log(high_ms / latency_ms) / Z80 if latency_ms and high_ms else math.nan


def _source(target: Target, measured: Measurement) -> ScaledFrom:
    return ScaledFrom(target.device.id, target.id.configuration, measured.value_ms)


def _corrected(
    prediction: Prediction,
    shift: float,
    width: float,
    sources: tuple[ScaledFrom, ...],
    names: Sequence[str],
) -> Prediction:
    latency_ms = prediction.latency_ms
    assert latency_ms is not None  # noqa: S101 - a target without a number is not corrected
    bound_ms = prediction.bound_ms or 0.0
    now_ms = max(latency_ms * math.exp(shift), bound_ms)

    def reach(high_ms: float | None) -> float:
        return 1.0 if high_ms is None else (high_ms / latency_ms) ** width

    wide80, wide95 = reach(prediction.high80_ms), reach(prediction.high95_ms)
    measured = " and ".join(
        f"{number(source.latency_ms)} ms that you measured on "
        f"{'this device' if source.device_id == prediction.device_id else shown(name)} "
        f"({configuration_text(source.configuration)})"
        for source, name in zip(sources, names, strict=True)
    )
    words = f"scaled from {measured}; {number(latency_ms)} ms without"
    evidence = ": ".join(filter(None, [words, prediction.evidence]))
    return replace(
        prediction,
        latency_ms=now_ms,
        low80_ms=max(now_ms / wide80, bound_ms),
        high80_ms=now_ms * wide80,
        low95_ms=max(now_ms / wide95, bound_ms),
        high95_ms=now_ms * wide95,
        evidence=evidence,
        scale=now_ms / latency_ms,
        scaled_from=sources,
    )
