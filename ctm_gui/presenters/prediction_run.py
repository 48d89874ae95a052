"""One comparison: the models and devices that it is asked for, and the rows that come out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ctm_gui.presenters.comparison import ComparisonRow
from predictor.core.records import Device, Precision, Prediction, Target
from predictor.services.ingestion import Model
from predictor.services.prediction import predict, resolve_targets


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What the user asks for instead of each device's usual configuration.

    Attributes:
        batch: of every model; None is the model's own.
        precision: of every target; None is the device's usual one.
        threads: of every target; None is the device's usual count.
    """

    batch: int | None = None
    precision: Precision | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ComparedModel:
    """A model as it goes into a comparison.

    Attributes:
        entry_id: its id on the shelf.
        label: its name in the window, unique among the models.
        model: what was read from its file last.
        problem: why there are no numbers for it now, else empty.
    """

    entry_id: int
    label: str
    model: Model
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What one run found: ``rows`` are model-major, ``len(models) * len(targets)`` of them."""

    models: tuple[ComparedModel, ...] = ()
    targets: tuple[Target, ...] = ()
    rows: tuple[ComparisonRow, ...] = ()
    predicted: int = 0
    seconds: float = 0.0

    def pair_of(self, row: int) -> tuple[int, int]:
        """Return model and target index of a row."""
        return divmod(row, len(self.targets))


def compare(
    models: Sequence[ComparedModel], devices: Sequence[Device], what_if: WhatIf
) -> Comparison:
    """Predict every model on every device; models with a problem get rows without a number.

    Raises:
        InputError: the configuration asked for makes no sense.
    """
    started = time.perf_counter()
    targets = resolve_targets(devices, precision=what_if.precision, threads=what_if.threads)
    good = [compared.model for compared in models if not compared.problem]
    predictions = iter(predict(good, targets) if good and targets else ())
    rows = tuple(
        ComparisonRow(
            prediction=_unavailable(compared, target) if compared.problem else next(predictions),
            device_name=target.device.name,
            vendor=target.device.vendor,
            family=target.device.family.value,
            model_label=compared.label,
        )
        for compared in models
        for target in targets
    )
    return Comparison(
        tuple(models), targets, rows, len(good) * len(targets), time.perf_counter() - started
    )


def _unavailable(compared: ComparedModel, target: Target) -> Prediction:
    return Prediction(
        model=compared.label,
        fingerprint=compared.model.graph.fingerprint,
        device_id=target.device.id,
        configuration=target.configuration,
        engine="",
        basis=None,
        latency_ms=None,
        problem=compared.problem,
    )
