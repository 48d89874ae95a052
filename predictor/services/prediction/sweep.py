"""Latencies of one model on one target over its batch, and over its threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.prediction import Prediction
from predictor.core.records import Device, Measurement, Target
from predictor.cost.engine import NOTHING_MEASURED
from predictor.graph.model import Model
from predictor.graph.scaling import at_batch
from predictor.presentation.wording import batch_of
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.predict import (
    NO_DEVICES,
    KnownTargets,
    predict,
    predicted_by,
    without,
)

_FACTORS: Final = (1, 2, 4, 8, 16, 32, 64)
_MAX_SINGLE_COUNTS: Final = 8  # threads up to which each number is a point of the curve


@dataclass(frozen=True, slots=True)
class Sweep:
    """Latencies of a model on a target over one choice of its configuration.

    Attributes:
        kind: ``batch`` or ``threads``.
        now: place of the present choice among the predictions.
        predictions: with the choice in their configurations, ascending.
    """

    kind: str
    now: int
    predictions: tuple[Prediction, ...]

    @property
    def choices(self) -> NDArray[np.int64]:
        """The batch or the number of threads of each prediction, int64 [N]."""
        values = [getattr(prediction.configuration, self.kind) for prediction in self.predictions]
        return np.maximum(np.array(values, dtype=np.int64), 1)


def sweeps(
    model: Model,
    target: Target,
    measurements: Sequence[Measurement] = (),
    measured: KnownTargets = NOTHING_MEASURED,
    devices: Mapping[str, Device] = NO_DEVICES,
) -> tuple[Sweep, ...]:
    """Return the sweep over the batch, and over the threads where they mean something.

    Latencies at other batches are those of a network of independent samples, see
    :func:`predictor.graph.scaling.at_batch`.

    Args:
        model: the model, at the batch of its file.
        target: the target.
        measurements: the user's, the oldest first; those of the model stand for predictions.
        measured: measurements of targets, by target.
        devices: that ``measurements`` may be of, by id.
    """
    counts = _thread_counts(target)
    targets = [
        Target(target.device, replace(target.configuration, threads=count)) for count in counts
    ]
    predicted = predict(
        [model],
        [target, *targets],
        measurements=measurements,
        measured=measured,
        devices=devices,
    )
    now, *over_threads = predicted
    batches = Sweep("batch", 0, tuple(_over_batch(model, target, now, measured)))
    if not counts:
        return (batches,)
    return batches, Sweep("threads", counts.index(target.threads), tuple(over_threads))


def _over_batch(
    model: Model, target: Target, now: Prediction, measured: KnownTargets
) -> Iterator[Prediction]:
    yield now
    rest = without(measured, model.graph.fingerprint)
    larger = [replace(model, graph=at_batch(model.graph, factor)) for factor in _FACTORS[1:]]
    rows = predicted_by(open_engine(), larger, [target], rest)
    for factor, row in zip(_FACTORS[1:], rows, strict=True):
        batch = factor * batch_of(now.configuration)
        # A measurement elsewhere that scales the model's latency scales it at every batch.
        configuration = replace(row.configuration, batch=batch)
        yield replace(row.scaled(now.scale), configuration=configuration)


def _thread_counts(target: Target) -> list[int]:
    """Return numbers of threads up to that of the cores; empty where threads mean nothing."""
    cores = target.device.core_count or 0
    if not target.threads or cores < 2:
        return []
    doubled: Iterable[int] = (2**power for power in range(cores.bit_length()))
    counts = range(1, cores + 1) if cores <= _MAX_SINGLE_COUNTS else doubled
    return sorted({*counts, target.threads, cores})
