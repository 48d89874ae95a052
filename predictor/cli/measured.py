"""Latencies that the user measured of a model: ``--measured``, and those of the store."""

from __future__ import annotations

import argparse
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from predictor.cli.catalogue import quiet_catalogue
from predictor.cli.predicting import PredictionStore
from predictor.core.documents import Provenance
from predictor.core.errors import CtmError, InputError
from predictor.core.records import Configuration, Device, Measurement, Precision, Target
from predictor.core.runtimes import RUNTIMES, usual_name
from predictor.core.units import LatencyUnit
from predictor.graph.model import Model
from predictor.services.devices.catalogue import Catalogue
from predictor.services.prediction.predict import KnownTargets, model_batch, predict
from predictor.services.prediction.scaling import check_plausible
from predictor.services.prediction.targets import resolve_targets

_OPTION: Final = "--measured"
_THREADS: Final = re.compile(r"t(\d{1,4})")


class Given(NamedTuple):
    """A latency of ``--measured`` and the target that it is of."""

    text: str
    target: Target
    latency_ms: float


class Measured(NamedTuple):
    """The user's measurements of models, the oldest first, and the devices that they are of."""

    measurements: list[Measurement]
    devices: Mapping[str, Device]


def stated_latencies(
    options: argparse.Namespace, catalogue: Catalogue, models: int
) -> tuple[Given, ...]:
    """Return the latencies of ``--measured``.

    Args:
        options: measured, runtime, precision and threads.
        catalogue: of devices.
        models: number of models that are asked about.

    Raises:
        InputError: one is of no device, no latency, given twice, or it is not clear of which model.
    """
    if options.measured and models != 1:
        raise InputError(
            _OPTION,
            f"a latency is of one model, and {models} were requested",
            "give one model",
        )
    if not options.measured:
        return ()
    from predictor.services.history.past_predictions import latency_in_ms  # noqa: PLC0415 - rare

    latencies: list[Given] = []
    for text in options.measured:
        name, separator, value = text.rpartition("=")
        if not separator or not name:
            raise InputError(
                f"{_OPTION} {text}",
                "it is not of the form DEVICE[/RUNTIME/PRECISION/tTHREADS]=MS",
                "write rtx3060=5.1, or rtx3060/tensorrt/fp16=5.1",
            )
        target = named_target(name, options, catalogue)
        if any(latency.target.id == target.id for latency in latencies):
            raise InputError(f"{_OPTION} {text}", "it is given twice", "leave one out")
        latencies.append(Given(text, target, latency_in_ms(value, LatencyUnit.MS)))
    return tuple(latencies)


def named_target(name: str, options: argparse.Namespace, catalogue: Catalogue) -> Target:
    """Return the target that DEVICE/RUNTIME/PRECISION/tTHREADS names, each part but DEVICE free.

    Args:
        name: the text.
        options: runtime, precision and threads of parts that are left out; None for the usual ones.
        catalogue: of devices.

    Raises:
        InputError: no device or several have the name.
    """
    runtime, threads = options.runtime, options.threads
    precision = Precision(options.precision) if options.precision else None
    head, _, last = name.rpartition("/")
    if head and (counted := _THREADS.fullmatch(last)):
        threads, name = int(counted[1]), head
    head, _, last = name.rpartition("/")
    if head and last in list(Precision):
        precision, name = Precision(last), head
    head, _, last = name.rpartition("/")
    if head and last in RUNTIMES:
        runtime, name = usual_name(last), head
    (target,) = resolve_targets([catalogue.find(name)], runtime, precision, threads)
    return target


def measured_of(
    options: argparse.Namespace,
    store: PredictionStore,
    models: Sequence[Model],
    latencies: Sequence[Given],
    measured: KnownTargets,
) -> Measured:
    """Return the user's measurements of models, those of ``--measured`` last.

    Args:
        options: engine and store.
        store: of the user.
        models: one model where latencies are given.
        latencies: latencies of ``--measured``.
        measured: the user's measurements on the targets.

    Raises:
        InputError: a given latency cannot be that of the model.
    """
    measurements = store.measured(models)
    # The catalogue is read only for a model that was measured: nearly none was.
    devices = (
        _devices(options, {measurement.device_id for measurement in measurements})
        if measurements
        else {}
    )
    if latencies:
        _check(models[0], latencies, options.engine, measured)
        measurements = [*measurements, *(_measurement(models[0], latency) for latency in latencies)]
    return Measured(
        measurements,
        devices | {latency.target.device.id: latency.target.device for latency in latencies},
    )


def _devices(options: argparse.Namespace, ids: Iterable[str]) -> dict[str, Device]:
    """Return devices by id; those that are there no more are left out."""
    devices, catalogue = {}, quiet_catalogue(options)
    for identity in sorted(ids):
        try:
            devices[identity] = catalogue.stored(identity)
        except CtmError:
            continue
    return devices


def _check(model: Model, latencies: Sequence[Given], engine: str, measured: KnownTargets) -> None:
    targets = [latency.target for latency in latencies]
    for latency, prediction in zip(
        latencies, predict([model], targets, engine, measured=measured), strict=True
    ):
        if prediction.latency_ms is None:
            raise InputError(
                f"{_OPTION} {latency.text}",
                f"there is no prediction to compare it with ({prediction.problem})",
                "name the runtime and the precision that it was measured with",
            )
        check_plausible(f"{_OPTION} {latency.text}", latency.latency_ms, prediction)


def _measurement(model: Model, latency: Given) -> Measurement:
    identity = latency.target.id
    return Measurement(
        id=uuid.uuid4().hex,
        fingerprint=model.graph.fingerprint,
        device_id=identity.device_id,
        configuration=_with_batch(identity.configuration, model_batch(model)),
        samples_ns=(),
        value_ms=latency.latency_ms,
        statistic="value",
        protocol=_OPTION,
        provenance=Provenance({}),
    )


def _with_batch(configuration: Configuration, batch: int) -> Configuration:
    return replace(configuration, batch=batch)
