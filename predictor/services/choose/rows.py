"""Latencies of one model on all options, as arrays; records of single ones on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.prediction import Prediction
from predictor.core.records import (
    Basis,
    Device,
    Measurement,
    OperatingPoint,
    Precision,
    Target,
)
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
        predictions: returns the records of options by their places; of many at once in far less
            time than one by one.
    """

    times_ms: Floats
    memory_bytes: Floats
    is_too_large: NDArray[np.bool_]
    shared_error: NDArray[np.float32]
    is_limit: NDArray[np.bool_]
    needs_quantising: NDArray[np.bool_]
    batch: NDArray[np.int64]
    predictions: Callable[[Sequence[int]], Sequence[Prediction]]

    def prediction(self, place: int) -> Prediction:
        """Return the record of one option."""
        return self.predictions([place])[0]


def steps_of(options: Options) -> int:
    """Return how often :func:`row_of` calls its ``step``."""
    return len(options.batches) * (1 + len({mode.target for mode in options.modes}))


def row_of(
    model: Model,
    options: Options,
    measurements: Sequence[Measurement],
    measured: KnownTargets,
    devices: Mapping[str, Device],
    step: Callable[[], object] = lambda: None,
) -> Row:
    """Return the latencies of a model on all options.

    Args:
        model: at its own batch.
        options: N of them.
        measurements: the user's measurements, the oldest first.
        measured: measurements of targets, by target.
        devices: that ``measurements`` may be of beside those of the targets, by id.
        step: called after each part of the work; it may raise CancelledError.
    """
    further = without(measured, model.graph.fingerprint)
    table = open_engine().predict([model.graph], options.targets, further)
    overrides = _measured(model, options, table, measurements, measured, devices)
    factors = {place: _measured_factor(override) for place, override in overrides.items()}
    blocks = [_block(model, options, table, further, overrides, {}, step)]
    for factor in options.batches[1:]:
        larger = replace(model, graph=at_batch(model.graph, factor))
        table = open_engine().predict([larger.graph], options.targets, measured)
        blocks.append(_block(larger, options, table, measured, {}, factors, step))
    batch = model_batch(model) * np.repeat(options.batches, options.block)

    def predictions(places: Sequence[int]) -> list[Prediction]:
        records: dict[int, Prediction] = {}
        for number, part in enumerate(blocks):
            first = number * options.block
            here = [place for place in places if first <= place < first + options.block]
            made = part.predictions([place - first for place in here])
            records |= {
                place: at_batch_of(place, record) for place, record in zip(here, made, strict=True)
            }
        return [records[place] for place in places]

    def at_batch_of(place: int, record: Prediction) -> Prediction:
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
        predictions=predictions,
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
    step: Callable[[], object],
) -> Row:
    """Return the options of one batch.

    Args:
        model: at that batch.
        options: the options.
        table: the engine's, of the model on all targets.
        measured: measurements of targets.
        overrides: predictions in place of the engine's, by place of the target.
        factors: factors on the engine's, by place of the target.
        step: called once, and once for each target with modes.
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

    def usual(places: Sequence[int]) -> dict[int, Prediction]:
        free = [place for place in places if place not in overrides]
        records = {place: overrides[place] for place in places if place in overrides}
        for place, predicted in zip(free, of_table(table, 0, model, targets, free), strict=True):
            # Of a larger batch: scaled as a measurement scaled the usual one.
            factor = factors.get(place, 1.0)
            is_same = factor == 1.0
            records[place] = (
                predicted if is_same else predicted.scaled(factor, predicted.bound_ms or 0.0)
            )
        return records

    def followed(places: Sequence[int]) -> Iterator[ClockModel | None]:
        return clock_models(model, targets, table.latency_ms[0], places, measured)

    def predictions(places: Sequence[int]) -> list[Prediction]:
        at_clock = [place for place in places if place >= len(targets)]
        modes = {place: options.modes[place - len(targets)] for place in at_clock}
        of_targets = list(dict.fromkeys(mode.target for mode in modes.values()))
        records = usual(list(dict.fromkeys([*set(places) - set(modes), *of_targets])))
        made: dict[int, Prediction] = {}
        for target, model_of in zip(of_targets, followed(of_targets), strict=True):
            for place, mode in modes.items():
                if mode.target == target:
                    made[place] = _in_mode(records[target], model_of, targets[target], mode.point)
        return [made[place] if place in made else records[place] for place in places]

    step()
    places = options.target_places[: options.block]
    return Row(
        times_ms=np.concatenate([times, _in_modes(times, options, followed, step)], axis=1),
        memory_bytes=peak_bytes(model.graph, targets)[places],
        is_too_large=np.array([fits is False for fits in table.fits_memory[0]], np.bool_)[places],
        shared_error=shared[places],
        is_limit=is_limit[places],
        needs_quantising=in_int8[places],
        batch=np.empty(0, np.int64),
        predictions=predictions,
    )


def _in_mode(
    usual: Prediction, model_of: ClockModel | None, target: Target, point: OperatingPoint
) -> Prediction:
    """Return a prediction at usual clocks at those of a mode."""
    if model_of is None or usual.latency_ms is None:
        return usual
    clocks = clocks_of(target.device, point)
    return at_clocks(usual, model_of, target, clocks, point).prediction


def _in_modes(
    times: Floats,
    options: Options,
    followed: Callable[[Sequence[int]], Iterator[ClockModel | None]],
    step: Callable[[], object],
) -> Floats:
    """Return the times of the targets in their modes, [4, M].

    Args:
        times: float64 [4, T], at the usual clocks.
        options: the options; the modes of a target stand side by side.
        followed: yields the model's latency over the clocks of targets, by their places.
        step: called after each target.
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
        step()
    return np.concatenate(parts, axis=1)


def _measured_factor(measured: Prediction) -> float:
    """Return the ratio of a prediction with measurements to one without."""
    if measured.basis is Basis.MEASURED and measured.predicted_ms and measured.latency_ms:
        return measured.latency_ms / measured.predicted_ms
    return measured.scale
