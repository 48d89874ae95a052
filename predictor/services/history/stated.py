"""Latencies that the user measured of models: those of the store, and those stated beside it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from predictor.core.documents import Provenance
from predictor.core.errors import CtmError, InputError
from predictor.core.records import Configuration, Device, Measurement, Target
from predictor.graph.model import Model
from predictor.services.devices.catalogue import Catalogue
from predictor.services.history.user_store import UserStore
from predictor.services.prediction.predict import KnownTargets, model_batch, predict
from predictor.services.prediction.scaling import check_plausible

OPTION: Final = "--measured"
"""Option of the command line that states one; the protocol of its measurement on any way in."""


class StatedLatency(NamedTuple):
    """A latency that the user states beside a request, and the target that it is of.

    ``text`` names it in errors, as the user wrote it.
    """

    text: str
    target: Target
    latency_ms: float


class Measured(NamedTuple):
    """The user's measurements of models, the oldest first, and the devices that they are of."""

    measurements: list[Measurement]
    devices: Mapping[str, Device]


def measured_of(
    store: UserStore,
    models: Sequence[Model],
    latencies: Sequence[StatedLatency],
    measured: KnownTargets,
    engine: str,
    catalogue: Callable[[], Catalogue],
) -> Measured:
    """Return the user's measurements of models, those that are stated beside the store last.

    Args:
        store: of the user.
        models: one model where latencies are stated.
        latencies: stated beside the store.
        measured: the user's measurements on the targets.
        engine: its name, empty for the usual one.
        catalogue: loads the devices, where a model was measured.

    Raises:
        InputError: a stated latency cannot be that of the model.
    """
    measurements = store.measured(models)
    # The catalogue is read only for a model that was measured: nearly none was.
    devices = (
        _devices(catalogue(), {measurement.device_id for measurement in measurements})
        if measurements
        else {}
    )
    if latencies:
        _check(models[0], latencies, engine, measured)
        measurements = [*measurements, *(_measurement(models[0], latency) for latency in latencies)]
    return Measured(
        measurements,
        devices | {latency.target.device.id: latency.target.device for latency in latencies},
    )


def _devices(catalogue: Catalogue, ids: Iterable[str]) -> dict[str, Device]:
    """Return devices by id; those that are there no more are left out."""
    devices = {}
    for identity in sorted(ids):
        try:
            devices[identity] = catalogue.stored(identity)
        except CtmError:
            continue
    return devices


def _check(
    model: Model, latencies: Sequence[StatedLatency], engine: str, measured: KnownTargets
) -> None:
    targets = [latency.target for latency in latencies]
    for latency, prediction in zip(
        latencies, predict([model], targets, engine, measured=measured), strict=True
    ):
        if prediction.latency_ms is None:
            raise InputError(
                latency.text,
                f"there is no prediction to compare it with ({prediction.problem})",
                "name the runtime and the precision that it was measured with",
            )
        check_plausible(latency.text, latency.latency_ms, prediction)


def _measurement(model: Model, latency: StatedLatency) -> Measurement:
    identity = latency.target.id
    return Measurement(
        id=uuid.uuid4().hex,
        fingerprint=model.graph.fingerprint,
        device_id=identity.device_id,
        configuration=_with_batch(identity.configuration, model_batch(model)),
        samples_ns=(),
        value_ms=latency.latency_ms,
        statistic="value",
        protocol=OPTION,
        provenance=Provenance({}),
    )


def _with_batch(configuration: Configuration, batch: int) -> Configuration:
    return replace(configuration, batch=batch)
