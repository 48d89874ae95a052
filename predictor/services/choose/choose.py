"""Models on every option of hardware, held against a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.percentiles import Z80
from predictor.core.records import Basis, Device, Measurement, Prediction, Target
from predictor.core.wording import batch_of
from predictor.graph.model import Model
from predictor.graph.scaling import at_batch
from predictor.services.choose.chances import joint_chance
from predictor.services.choose.choice import Choice
from predictor.services.choose.options import POWER, Budget
from predictor.services.choose.settle import NextMeasurement, next_measurement
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.predict import (
    NO_DEVICES,
    KnownTargets,
    predict,
    predicted_by,
)

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

EVEN: Final = 0.5  # an option meets a budget from this chance on, unless the user says otherwise
# Chances beyond these are equal: no prediction is that certain.
_LEAST, _MOST = 0.01, 0.99
_MB: Final = 1e6


def choose(
    models: Sequence[Model],
    targets: Sequence[Target],
    budget: Budget,
    *,
    batches: Sequence[int] = (1,),
    least: float = EVEN,
    own: Iterable[Measurement] = (),
    signatures: KnownTargets | None = None,
    devices: Mapping[str, Device] = NO_DEVICES,
) -> Choice:
    """Hold models on every target, at every batch, against a budget.

    Args:
        models: M of them, which all have to keep the budget.
        targets: T targets.
        budget: the limits.
        batches: multiples of the models' own batch, 1 the first.
        least: chance from which an option meets the budget.
        own: the user's measurements, the oldest first.
        signatures: measurements of targets, by target.
        devices: that ``own`` may be of beside those of the targets, by id.

    Raises:
        InputError: no target has a number with an interval.
    """
    kept = tuple(own)
    rows = [
        list(_row(model, targets, batches, kept, signatures or {}, devices)) for model in models
    ]
    limits = np.array([budget.limit_ms(batch_of(each.configuration)) for each in rows[0]])
    z, deviation = _held(rows, limits)
    watts = np.array([t.device.metric(POWER) for t in targets] * len(batches), np.float64)
    memory = np.array([[_peak_bytes(each) for each in row] for row in rows], np.float64)
    memory_mb = memory.max(axis=0) / _MB
    broken = _broken(budget, rows, watts, memory_mb)
    chance = joint_chance(*_distinct(models, rows, z))
    chance[list(broken)] = 0.0
    choice = Choice(
        budget,
        least,
        targets,
        rows,
        z,
        deviation,
        chance,
        z.argmin(axis=0),
        watts,
        memory_mb,
        broken,
        np.flatnonzero(np.isfinite(chance)),
    )
    if not len(choice.order):
        raise InputError(
            "the choice",
            f"no option has a number with an interval ({rows[0][0].problem})",
            "choose other devices or configurations",
        )
    choice = replace(choice, order=_ranked(choice, limits))
    return replace(choice, settling=_settling(choice))


def _peak_bytes(prediction: Prediction) -> int | None:
    return None if prediction.memory is None else prediction.memory.peak_bytes


def _row(
    model: Model,
    targets: Sequence[Target],
    batches: Sequence[int],
    own: Sequence[Measurement],
    signatures: KnownTargets,
    devices: Mapping[str, Device],
) -> Iterator[Prediction]:
    """Yield the predictions of one model, all targets of the first batch first."""
    held = predict([model], targets, "", own, signatures, devices)
    yield from held
    larger = [replace(model, graph=at_batch(model.graph, factor)) for factor in batches[1:]]
    predicted = predicted_by(open_engine(), larger, targets, signatures) if larger else ()
    for index, each in enumerate(predicted):
        factor, at_one = batches[1 + index // len(targets)], held[index % len(targets)]
        batch = factor * batch_of(at_one.configuration)
        yield replace(_moved(each, at_one), configuration=replace(each.configuration, batch=batch))


def _moved(larger: Prediction, held: Prediction) -> Prediction:
    """Return the prediction of a larger batch, moved as a measurement moved that of the usual."""
    factor = held.scale
    if held.basis is Basis.MEASURED and held.predicted_ms and held.latency_ms:
        factor = held.latency_ms / held.predicted_ms
    if factor == 1.0:
        return larger
    bound_ms = larger.bound_ms or 0.0

    def moved(time_ms: float | None) -> float | None:
        return None if time_ms is None else max(time_ms * factor, bound_ms)

    return replace(
        larger,
        latency_ms=moved(larger.latency_ms),
        low80_ms=moved(larger.low80_ms),
        high80_ms=moved(larger.high80_ms),
        low95_ms=moved(larger.low95_ms),
        high95_ms=moved(larger.high95_ms),
    )


def _held(rows: Sequence[Sequence[Prediction]], limits: Floats) -> tuple[Floats, Floats]:
    """Return limits in standard deviations and standard deviations of ln(latency), [M, N] each.

    The side of the interval counts on which the limit is: the bound may cut the lower end.
    """
    p50, low, high, bound = (
        np.array([[getattr(each, name) for each in row] for row in rows], np.float64)
        for name in ("latency_ms", "low80_ms", "high80_ms", "bound_ms")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = np.where(limits >= p50, high / p50, p50 / low)
        deviation = np.log(edge) / Z80
        z = np.log(limits / p50) / deviation
        # A prediction at its bound: what is under it is impossible.
        z = np.where(
            (deviation == 0) & np.isfinite(p50), np.where(limits >= p50, 1, -1) * np.inf, z
        )
    return np.where(limits < bound, np.where(np.isnan(z), z, -np.inf), z), deviation


def _broken(
    budget: Budget, rows: Sequence[Sequence[Prediction]], watts: Floats, memory_mb: Floats
) -> dict[int, tuple[str, ...]]:
    """Return the limits other than of time that options do not keep, by place."""
    too_large = np.array([[each.fits_memory is False for each in row] for row in rows]).any(axis=0)
    checks = [(too_large, "does not fit the device's memory")]
    if budget.max_watts is not None:
        limit = f"{budget.max_watts:g} W"
        checks += [
            (watts > budget.max_watts, f"draws over {limit}"),
            (np.isnan(watts), "its power is not stated"),
        ]
    if budget.max_memory_mb is not None:
        limit = f"{budget.max_memory_mb:g} MB"
        checks += [
            (memory_mb > budget.max_memory_mb, f"takes over {limit}"),
            (np.isnan(memory_mb), "its memory is not known"),
        ]
    broken: dict[int, tuple[str, ...]] = {}
    for fails, words in checks:
        for place in np.flatnonzero(fails).tolist():
            broken[place] = (*broken.get(place, ()), words)
    return broken


def _distinct(
    models: Sequence[Model], rows: Sequence[Sequence[Prediction]], z: Floats
) -> tuple[Floats, Floats]:
    """Return limits and shared errors of the models with different graphs, [M', N] and [M', N, S].

    Equal graphs run alike; a measured latency shares no error with others.
    """
    first = {model.graph.fingerprint: index for index, model in enumerate(models)}
    kept = sorted(first.values())
    if len(kept) == 1:
        return z[kept], np.zeros((1, z.shape[1], 0))
    width = max(len(each.shared_error) for index in kept for each in rows[index])
    nothing = bytes(width)
    joined = b"".join(
        nothing if each.basis is Basis.MEASURED else each.shared_error or nothing
        for index in kept
        for each in rows[index]
    )
    shared = np.frombuffer(joined, np.float32).reshape(len(kept), z.shape[1], -1)
    return z[kept], shared.astype(np.float64)


def _ranked(choice: Choice, limits: Floats) -> Places:
    """Return the places of options with a number, the best first.

    Fewest broken limits, then the chance; where chances are equal for all that is known the lower
    power, then the shorter time. Hopeless ones by how far they are over the limit.
    """
    places = choice.order
    broken = np.array([len(choice.broken.get(place, ())) for place in places.tolist()])
    each = choice.z[:, places].min(axis=0)
    chance = np.where(broken, (each >= 0) * EVEN, choice.chance[places])
    latency = choice.latency_ms[places]
    over = np.where(chance < _LEAST, latency / limits[places], 0.0)
    watts = np.nan_to_num(choice.watts[places], nan=np.inf)
    # The last key counts first.
    keys = (latency, watts, over, -np.clip(chance, _LEAST, max(_MOST, choice.least)), broken)
    return places[np.lexsort(keys)]


def _settling(choice: Choice) -> NextMeasurement | None:
    """Return the measurement that would change the choice most."""
    first: dict[int, int] = {}  # a target's best option
    for place in choice.order.tolist():
        if place not in choice.broken:
            first.setdefault(place % len(choice.targets), place)
    places = list(first.values())
    if not places or choice.chance[places[0]] >= max(_MOST, choice.least):
        return None
    models = choice.slowest[places]
    return next_measurement(
        [choice.targets[place % len(choice.targets)] for place in places],
        models,
        choice.z[models, places],
        choice.deviation[models, places],
        choice.chance[places],
        choice.latency_ms[places],
        choice.least,
    )
