"""Predict: latencies of models on targets, through any engine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.prediction import TIMES, Prediction
from predictor.core.records import Basis, Configuration, Device, Measurement, Target, TargetId
from predictor.cost.engine import NOTHING_MEASURED, Engine, PredictionTable, TargetMeasurements
from predictor.graph.model import Model
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.measured import with_measured
from predictor.services.prediction.scaling import measured_targets, scaled

_NUMBERS = (*TIMES, "bound_ms", "predicted_ms")
NO_NUMBER = "the engine gives no number for this model; take another target or engine"
NO_DEVICES: Mapping[str, Device] = MappingProxyType({})
KnownTargets = Mapping[TargetId, TargetMeasurements]
"""Measurements of targets."""


def predict(
    models: Sequence[Model],
    targets: Sequence[Target],
    engine: str = "",
    measurements: Iterable[Measurement] = (),
    measured: KnownTargets = NOTHING_MEASURED,
    devices: Mapping[str, Device] = NO_DEVICES,
) -> tuple[Prediction, ...]:
    """Predict every model on every target; measured latencies stand before predicted ones.

    Args:
        models: the models.
        targets: the targets.
        engine: its name, empty for the usual one.
        measurements: the user's, the oldest first; see :mod:`.measured`. Those of a model on
            one target correct its predictions on others, see :mod:`.scaling`.
        measured: measurements of targets, by target.
        devices: that ``measurements`` may be of beside those of the targets, by id.

    Returns:
        One prediction a pair, all targets of the first model first. A pair without a number has
        a ``problem`` in words.

    Raises:
        InputError: there is no engine of that name.
    """
    measurements = tuple(measurements)
    measured_graphs = fingerprints(measurements, measured)
    predicted: list[Prediction] = []
    # A measured graph is predicted alone, from all measurements but its own.
    for is_measured, run in groupby(
        models, lambda model: model.graph.fingerprint in measured_graphs
    ):
        for batch in [[model] for model in run] if is_measured else [list(run)]:
            fingerprint = batch[0].graph.fingerprint
            evidence = without(measured, fingerprint) if is_measured else measured
            of_graph = {
                TargetId.of(measurement): measurement
                for measurement in measurements
                if is_measured and measurement.fingerprint == fingerprint
            }
            further = measured_targets(of_graph.values(), targets, devices)
            row = list(predicted_by(open_engine(engine), batch, [*targets, *further], evidence))
            if of_graph:
                row = list(scaled(row, [*targets, *further], of_graph))[: len(targets)]
            predicted += row
    return with_measured(predicted, measurements, models)


def fingerprints(measurements: Iterable[Measurement], measured: KnownTargets) -> set[str]:
    """Return the fingerprints of all graphs that the user measured anywhere."""
    signed = {graph.fingerprint for target in measured.values() for graph in target.graphs}
    return signed | {measurement.fingerprint for measurement in measurements}


def without(measured: KnownTargets, fingerprint: str) -> KnownTargets:
    """Return the measurements but for one graph, which is to be predicted from the rest."""
    return {key: _without(target, fingerprint) for key, target in measured.items()}


def _without(measured: TargetMeasurements, fingerprint: str) -> TargetMeasurements:
    keep = [i for i, graph in enumerate(measured.graphs) if graph.fingerprint != fingerprint]
    if len(keep) == len(measured.graphs):
        return measured
    # FiLM fitted without this graph, where one was: the other has seen its latency.
    film = measured.film and measured.film.unseen(fingerprint)
    return replace(selected(measured, keep), film=film)


def selected(measured: TargetMeasurements, keep: Sequence[int]) -> TargetMeasurements:
    """Return some of a target's measurements, without the FiLM that was tuned to all of them."""
    return TargetMeasurements(
        signature_id=measured.signature_id,
        graphs=tuple(measured.graphs[i] for i in keep),
        latency_ms=measured.latency_ms[keep],
        noise=measured.noise[keep],
        operators=tuple(measured.operators[i] for i in keep) if measured.operators else (),
        unstable=measured.unstable,
    )


def predicted_by(
    engine: Engine,
    models: Sequence[Model],
    targets: Sequence[Target],
    measured: KnownTargets,
) -> Iterator[Prediction]:
    """Yield an engine's own predictions, one a pair, all targets of the first model first."""
    table = engine.predict([model.graph for model in models], targets, measured)
    for row, model in enumerate(models):
        yield from of_table(table, row, model, targets, range(len(targets)))


_IDLE: Final = "its operators move and multiply nothing, so this engine has no time for it"


def of_table(
    table: PredictionTable,
    row: int,
    model: Model,
    targets: Sequence[Target],
    places: Sequence[int],
) -> Iterator[Prediction]:
    """Yield the predictions of one row of a table, for the targets at some places."""
    file = model.path.replace("\\", "/").rpartition("/")[2]
    batch = model_batch(model)
    columns = np.array(places, np.intp)
    numbers = {name: _column(getattr(table, name)[row, columns]) for name in _NUMBERS}
    for at, place in enumerate(places):
        values: dict[str, Any] = {
            **{name: column[at] for name, column in numbers.items()},
            **{name: rows[row][place] for name, rows in table.facts.items()},
        }
        problem = table.problems.get((row, place), "")
        if values["latency_ms"] == 0:  # under the roofline, a network of views alone
            values["latency_ms"], problem = None, _IDLE
        if values["latency_ms"] is None:
            problem = problem or NO_NUMBER
        basis = None if problem else table.basis[row][place]
        if basis is not Basis.MEASURED:
            values["predicted_ms"] = None
        if batch != 1:
            values["spread"] = None  # it is of batch 1 alone
        shared = table.shared_error
        yield Prediction(
            model=file,
            fingerprint=model.graph.fingerprint,
            device_id=targets[place].device.id,
            configuration=_resolved(targets[place], batch),
            engine=table.engine,
            basis=basis,
            fits_memory=table.fits_memory[row][place],
            problem=problem,
            out_of_distribution=table.out_of_distribution.get((row, place), ""),
            shared_error=b"" if shared is None else shared[row, place].tobytes(),
            **values,
        )


def _column(values: NDArray[np.float64]) -> list[float | None]:
    # NaN marks "no number" in arrays; records and JSON have None.
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _resolved(target: Target, batch: int) -> Configuration:
    c = target.configuration
    return Configuration(c.runtime, c.precision, target.threads, batch)


def model_batch(model: Model) -> int:
    """Return the batch that the model is bound to: the first dimension of its first input."""
    shapes = [info.shape for info in model.inputs if info.shape]
    return shapes[0][0] if shapes else 1
