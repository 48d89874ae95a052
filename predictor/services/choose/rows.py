"""Latencies of one model on all options, as arrays; records of single ones on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Device, Measurement, Precision
from predictor.cost.clocks import ClockModel
from predictor.cost.engine import PredictionTable
from predictor.cost.memory import peak_bytes
from predictor.cost.run_facts import uncounted
from predictor.devices.operating import clocks_of
from predictor.graph.model import Model
from predictor.graph.scaling import at_batch
from predictor.services.choose.options import Options
from predictor.services.prediction.assumptions import is_quantised
from predictor.services.prediction.clocks import at_clocks, clock_models, latencies_at
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.measured import published_targets, with_measured
from predictor.services.prediction.predict import (
    KnownTargets,
    fingerprints,
    model_batch,
    of_table,
    predict,
    without,
)

Floats = NDArray[np.float64]

TIMES: Final = ("latency_ms", "low80_ms", "high80_ms", "bound_ms")
_MAX_CLOCK_MODELS: Final = 4  # targets whose modes are read one after the other


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """One model on N options.

    Attributes:
        times_ms: float64 [4, N], the fields of ``TIMES``; NaN where there is no number.
        memory_bytes: float64 [N].
        is_too_large: bool [N], whether it does not fit the device's memory.
        shared_error: float32 [N, S], see ``PredictionTable.shared_error``; 0 of measured ones.
        is_limit: bool [N], whether a latency is a lower limit.
        needs_quantising: bool [N], whether it is of an INT8 model that is still to be made.
        batch: int [N], of a run.
        prediction: returns the record of an option.
    """

    times_ms: Floats
    memory_bytes: Floats
    is_too_large: NDArray[np.bool_]
    shared_error: NDArray[np.float32]
    is_limit: NDArray[np.bool_]
    needs_quantising: NDArray[np.bool_]
    batch: NDArray[np.int64]
    prediction: Callable[[int], Prediction]


def row_of(
    model: Model,
    options: Options,
    measurements: Sequence[Measurement],
    measured: KnownTargets,
    devices: Mapping[str, Device],
) -> Row:
    """Return the latencies of a model on all options.

    Args:
        model: at its own batch.
        options: N of them.
        measurements: the user's measurements, the oldest first.
        measured: measurements of targets, by target.
        devices: that ``measurements`` may be of beside those of the targets, by id.
    """
    further = without(measured, model.graph.fingerprint)
    table = open_engine().predict([model.graph], options.targets, further)
    overrides = _measured(model, options, table, measurements, measured, devices)
    factors = {place: _measured_factor(override) for place, override in overrides.items()}
    blocks = [_block(model, options, table, further, overrides, {})]
    for factor in options.batches[1:]:
        larger = replace(model, graph=at_batch(model.graph, factor))
        table = open_engine().predict([larger.graph], options.targets, measured)
        blocks.append(_block(larger, options, table, measured, {}, factors))
    batch = model_batch(model) * np.repeat(options.batches, options.block)

    def prediction(place: int) -> Prediction:
        block, at = divmod(place, options.block)
        record = blocks[block].prediction(at)
        configuration = replace(record.configuration, batch=int(batch[place]))
        spread = record.spread if configuration.batch == 1 else None
        return replace(record, configuration=configuration, spread=spread)

    return Row(
        times_ms=np.concatenate([part.times_ms for part in blocks], axis=1),
        memory_bytes=np.concatenate([part.memory_bytes for part in blocks]),
        is_too_large=np.concatenate([part.is_too_large for part in blocks]),
        shared_error=np.concatenate([part.shared_error for part in blocks]),
        is_limit=np.concatenate([part.is_limit for part in blocks]),
        needs_quantising=np.concatenate([part.needs_quantising for part in blocks]),
        batch=batch,
        prediction=prediction,
    )


def _measured(
    model: Model,
    options: Options,
    table: PredictionTable,
    measurements: Sequence[Measurement],
    measured: KnownTargets,
    devices: Mapping[str, Device],
) -> dict[int, Prediction]:
    """Return predictions that measurements of the model changed, by place of the target."""
    targets, fingerprint = options.targets, model.graph.fingerprint
    if fingerprint in fingerprints(measurements, measured):
        return dict(enumerate(predict([model], targets, "", measurements, measured, devices)))
    published = published_targets(model.graph)
    devices_measured = {target_id.device_id for target_id in published}
    places = [
        place
        for place, target in enumerate(targets)
        if target.device.id in devices_measured and target.id in published
    ]
    predicted = of_table(table, 0, model, targets, places)
    return dict(zip(places, with_measured(list(predicted), (), [model]), strict=True))


def _block(
    model: Model,
    options: Options,
    table: PredictionTable,
    measured: KnownTargets,
    overrides: Mapping[int, Prediction],
    factors: Mapping[int, float],
) -> Row:
    """Return the options of one batch.

    Args:
        model: at that batch.
        options: the options.
        table: the engine's, of the model on all targets.
        measured: measurements of targets.
        overrides: predictions in place of the engine's, by place of the target.
        factors: factors on the engine's, by place of the target.
    """
    targets = options.targets
    times = np.array([getattr(table, name)[0] for name in TIMES])
    if factors:
        factor = np.array([factors.get(place, 1.0) for place in range(len(targets))])
        times[:3] = np.maximum(times[:3] * factor, np.nan_to_num(times[3]))
    assert table.shared_error is not None  # noqa: S101 - the usual engine has intervals
    shared = table.shared_error[0]
    is_limit = np.full(len(targets), bool(uncounted(model.graph)))
    is_int8 = [target.configuration.precision is Precision.INT8 for target in targets]
    in_int8 = np.array(is_int8, np.bool_) & (not is_quantised(model))
    for place, override in overrides.items():
        times[:, place] = [getattr(override, name) for name in TIMES]
        # The error of a measured latency is independent.
        is_measured = override.basis is Basis.MEASURED
        is_limit[place] = override.is_lower_limit
        in_int8[place] &= not is_measured
        shared[place] = 0.0 if is_measured else np.frombuffer(override.shared_error, np.float32)

    def usual(place: int) -> Prediction:
        if place in overrides:
            return overrides[place]
        (predicted,) = of_table(table, 0, model, targets, [place])
        # Of a larger batch: scaled as a measurement scaled the usual one.
        factor = factors.get(place, 1.0)
        return predicted if factor == 1.0 else predicted.scaled(factor, predicted.bound_ms or 0.0)

    def followed(places: Sequence[int]) -> Iterator[ClockModel | None]:
        return clock_models(model, targets, table.latency_ms[0], places, measured)

    @lru_cache(maxsize=_MAX_CLOCK_MODELS)  # a model has numbers for each operator
    def followed_at(place: int) -> ClockModel | None:
        return next(followed([place]))

    def prediction(place: int) -> Prediction:
        if place < len(targets):
            return usual(place)
        mode = options.modes[place - len(targets)]
        target, model_of = targets[mode.target], followed_at(mode.target)
        record = usual(mode.target)
        if model_of is None or record.latency_ms is None:
            return record
        clocks = clocks_of(target.device, mode.point)
        return at_clocks(record, model_of, target, clocks, mode.point).prediction

    places = options.target_places[: options.block]
    return Row(
        times_ms=np.concatenate([times, _in_modes(times, options, followed)], axis=1),
        memory_bytes=peak_bytes(model.graph, targets)[places],
        is_too_large=np.array([fits is False for fits in table.fits_memory[0]], np.bool_)[places],
        shared_error=shared[places],
        is_limit=is_limit[places],
        needs_quantising=in_int8[places],
        batch=np.empty(0, np.int64),
        prediction=prediction,
    )


def _in_modes(
    times: Floats,
    options: Options,
    followed: Callable[[Sequence[int]], Iterator[ClockModel | None]],
) -> Floats:
    """Return the times of the targets in their modes, [4, M].

    Args:
        times: float64 [4, T], at the usual clocks.
        options: the options; the modes of a target stand side by side.
        followed: yields the model's latency over the clocks of targets, by their places.
    """
    parts = [np.empty((4, 0))]
    places = list(dict.fromkeys(mode.target for mode in options.modes))
    of_modes = groupby(options.modes, lambda mode: mode.target)
    for (place, modes), model in zip(of_modes, followed(places), strict=True):
        target = options.targets[place]
        points = [clocks_of(target.device, mode.point) for mode in modes]
        parts.append(
            np.full((4, len(points)), np.nan)
            if model is None
            else latencies_at(times[:, place], model, target, points)
        )
    return np.concatenate(parts, axis=1)


def _measured_factor(measured: Prediction) -> float:
    """Return the ratio of a prediction with measurements to one without."""
    if measured.basis is Basis.MEASURED and measured.predicted_ms and measured.latency_ms:
        return measured.latency_ms / measured.predicted_ms
    return measured.scale
