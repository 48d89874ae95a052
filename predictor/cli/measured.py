"""``--measured``: latencies that the user measured of a model, and those of the store."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from predictor.cli.catalogue import quiet_catalogue
from predictor.cli.predicting import PredictionStore
from predictor.core.errors import InputError
from predictor.core.records import Precision, Target
from predictor.core.units import LatencyUnit
from predictor.graph.model import Model
from predictor.services.devices.catalogue import Catalogue
from predictor.services.history import stated
from predictor.services.history.stated import OPTION, Measured, StatedLatency
from predictor.services.prediction import targets
from predictor.services.prediction.predict import KnownTargets


def stated_latencies(
    options: argparse.Namespace, catalogue: Catalogue, models: int
) -> tuple[StatedLatency, ...]:
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
            OPTION,
            f"a latency is of one model, and {models} were requested",
            "give one model",
        )
    if not options.measured:
        return ()
    from predictor.services.history.past_predictions import latency_in_ms  # noqa: PLC0415 - rare

    latencies: list[StatedLatency] = []
    for text in options.measured:
        name, separator, value = text.rpartition("=")
        if not separator or not name:
            raise InputError(
                f"{OPTION} {text}",
                "it is not of the form DEVICE[/RUNTIME/PRECISION/tTHREADS]=MS",
                "write rtx3060=5.1, or rtx3060/tensorrt/fp16=5.1",
            )
        target = named_target(name, options, catalogue)
        if any(latency.target.id == target.id for latency in latencies):
            raise InputError(f"{OPTION} {text}", "it is given twice", "leave one out")
        latencies.append(
            StatedLatency(f"{OPTION} {text}", target, latency_in_ms(value, LatencyUnit.MS))
        )
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
    precision = Precision(options.precision) if options.precision else None
    return targets.named_target(name, catalogue, options.runtime, precision, options.threads)


def measured_of(
    options: argparse.Namespace,
    store: PredictionStore,
    models: Sequence[Model],
    latencies: Sequence[StatedLatency],
    measured: KnownTargets,
) -> Measured:
    """Return the user's measurements of models, those of ``--measured`` last.

    Args:
        options: engine and store.
        store: of the user.
        models: one model where latencies are stated.
        latencies: latencies of ``--measured``.
        measured: the user's measurements on the targets.

    Raises:
        InputError: a stated latency cannot be that of the model.
    """
    catalogue = partial(quiet_catalogue, options)
    return stated.measured_of(store, models, latencies, measured, options.engine, catalogue)
