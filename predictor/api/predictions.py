"""Latencies of models on targets: ``predict``, ``compare`` and ``measured``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from predictor.api.models import loading
from predictor.api.tables import Table, html_table
from predictor.api.targets import Requested, catalogue, targets_of
from predictor.core.errors import InputError
from predictor.core.fields import PREDICTION_DOCUMENT, Kind
from predictor.core.prediction import Prediction
from predictor.core.records import Device, Measurement, Target
from predictor.graph.model import Model
from predictor.services.history.stated import StatedLatency, measured_of
from predictor.services.history.user_store import UserStore
from predictor.services.models.names import unique_names
from predictor.services.prediction import predict as service
from predictor.services.prediction.energy import RunEnergy, energies
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.throughput import Throughput, throughputs

Targets = str | Device | Target | Sequence[str | Device | Target] | None
"""Devices and targets: records, names, or ``DEVICE/RUNTIME/PRECISION/tTHREADS``; None for the
devices that ``ctm predict`` takes without ``--device``."""
Store = str | os.PathLike[str] | None
"""File of the local store; None for that of ``CTM_STORE``, else the user's."""

_DISPLAYED: Final = (
    "model",
    "device",
    "runtime",
    "precision",
    "threads",
    "latency_ms",
    "low80_ms",
    "high80_ms",
    "basis",
    "problem",
)


_RATES: Final = ("per_s", "low80_per_s", "high80_per_s", "alone_per_s", "gain")
_ENERGIES: Final = ("mj", "low80_mj", "high80_mj", "watts")


class MeasuredLatency(NamedTuple):
    """A latency that was measured: target as text or record, and the ms of one run."""

    target: str | Target
    latency_ms: float


def measured(target: str | Target, latency_ms: float) -> MeasuredLatency:
    """State a latency that you measured of a model, for ``predict(measured=[...])``.

    It stands for the prediction there and corrects those of related targets.

    Args:
        target: that it was on, as ``predict`` takes one.
        latency_ms: of one run.

    Raises:
        InputError: it is not a number over 0.
    """
    if not 0 < latency_ms < float("inf"):
        raise InputError("ctm.measured", f"{latency_ms} is not a number over 0", "state the ms")
    return MeasuredLatency(target, float(latency_ms))


class Predictions(Table):
    """Latencies of models on targets, a row a pair, all targets of the first model first.

    Attributes:
        models: the models.
        targets: the targets.
        predictions: the records, one a row.
        budget_ms: latency that is allowed; None for no budget.
        throughputs: one a row where they were requested, None without a latency; else empty.
        energies: the same, None where nothing is known of the power.
    """

    def __init__(
        self,
        models: Sequence[Model],
        targets: Sequence[Target],
        predictions: Sequence[Prediction],
        budget_ms: float | None = None,
        throughputs: Sequence[Throughput | None] = (),
        energies: Sequence[RunEnergy | None] = (),
    ) -> None:
        self.models, self.targets = tuple(models), tuple(targets)
        self.predictions, self.budget_ms = tuple(predictions), budget_ms
        self.throughputs, self.energies = tuple(throughputs), tuple(energies)
        labels = [name for name in unique_names(models) for _ in targets]
        rows = [_row(*pair) for pair in zip(labels, predictions, strict=True)]
        for names, values in ((_RATES, throughputs), (_ENERGIES, energies)):
            for row, value in zip(rows, values, strict=False):
                row |= {name: getattr(value, name, None) for name in names}
        super().__init__(rows)

    def svg(self) -> str:
        """Return the chart of the latencies with their 80 % intervals, the fastest first."""
        from predictor.api.charts import latencies_svg  # noqa: PLC0415  # few predictions want it

        return latencies_svg(self.models, self.targets, self.predictions, self.budget_ms)

    def _repr_html_(self) -> str:
        return self.svg() + html_table(self.rows, _DISPLAYED) if self.rows else ""


def _row(label: str, prediction: Prediction) -> dict[str, object]:
    row: dict[str, object] = {}
    for field in PREDICTION_DOCUMENT:
        value = field.of(prediction)
        if field.kind is Kind.CONFIGURATION:
            configuration = prediction.configuration
            row |= {
                "runtime": configuration.runtime,
                "precision": configuration.precision.value,
                "threads": configuration.threads,
                "batch": configuration.batch,
            }
        elif field.kind is Kind.NAMES:
            row[field.key] = ", ".join(prediction.flagged_operators) or None
        elif field.kind is Kind.BASIS:
            row[field.key] = prediction.basis and prediction.basis.value
        else:
            row[field.key] = (value or None) if field.kind is Kind.REMARK else value
    memory = prediction.memory
    return {**row, "model": label, "memory_bytes": memory and memory.peak_bytes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Models and targets of a request, with what the user measured of them."""

    models: list[Model]
    targets: tuple[Target, ...]
    measured: KnownTargets
    measurements: Sequence[Measurement]
    devices: Mapping[str, Device]
    engine: str

    def predicted(self) -> tuple[Prediction, ...]:
        """Return one prediction a pair, all targets of the first model first."""
        return service.predict(
            self.models,
            self.targets,
            self.engine,
            self.measurements,
            self.measured,
            self.devices,
        )


@contextmanager
def context_of(
    models: Any,
    targets: Targets,
    requested: Requested,
    engine: str = "",
    latencies: Sequence[MeasuredLatency] = (),
    store: Store = None,
) -> Iterator[tuple[Context, UserStore]]:
    """Load models, resolve targets and read what the user measured; yields the open store too.

    A store that fails costs no prediction: it is a warning.

    Raises:
        InputError: a model, a target or the engine is wrong.
    """
    path = None if store is None else Path(store)
    with loading(models) as readings, closing(UserStore(path)) as user_store:
        chosen = targets_of(targets, requested, path)
        stated = [_stated(latency, path) for latency in latencies]
        measured = user_store.signatures([*chosen, *(latency.target for latency in stated)])
        open_engine(engine)  # while the models are read
        read = [reading.result() for reading in readings]
        if stated and len(read) != 1:
            reason = f"a latency is of one model, and {len(read)} were requested"
            raise InputError("measured", reason, "give one model")
        measurements, devices = measured_of(
            user_store, read, stated, measured, engine, lambda: catalogue(path)
        )
        context = Context(
            models=read,
            targets=chosen,
            measured=measured,
            measurements=measurements,
            devices=devices,
            engine=engine,
        )
        yield context, user_store
    for failure in (user_store.failure, *user_store.refused):
        if failure is not None:
            warnings.warn(f"the store was not used: {failure}", RuntimeWarning, stacklevel=4)


def _stated(latency: MeasuredLatency, store: Path | None) -> StatedLatency:
    (target,) = targets_of(latency.target, Requested(), store)
    return StatedLatency(f"measured on {target.id}", target, latency.latency_ms)


def predict(
    models: Any,
    targets: Targets = None,
    *,
    runtime: str | None = None,
    precision: str | None = None,
    threads: int | None = None,
    engine: str = "",
    budget_ms: float | None = None,
    measured: Sequence[MeasuredLatency] = (),
    store: Store = None,
    record: bool = False,
    throughput: bool = False,
    energy: bool = False,
) -> Predictions:
    """Predict models on targets, as ``ctm predict`` does.

    Args:
        models: models of ``load`` or what it takes, alone or in a list.
        targets: devices or targets, alone or in a list.
        runtime: in place of the usual one of the devices.
        precision: the same.
        threads: the same; 0 for all cores.
        engine: ``closertome`` or ``roofline``; empty for the usual one.
        budget_ms: latency that is allowed, a line of the chart.
        measured: latencies that you measured of the one model.
        store: of what you measured before.
        record: whether the predictions are stored, as those of the command line are.
        throughput: whether rows have items a second with as many runs at once as pay.
        energy: whether rows have the energy of a run.

    Raises:
        InputError: a model, a target or another argument is wrong.
        HostError: the reader of model files cannot be started.
    """
    requested = Requested(runtime, precision, threads)
    with context_of(models, targets, requested, engine, measured, store) as (context, user_store):
        predictions = context.predicted()
        if record:
            user_store.record(context.models, predictions)
    rates: list[Throughput | None] = []
    joules: list[RunEnergy | None] = []
    count = len(context.targets)
    for place, model in enumerate(context.models):
        row = predictions[place * count : (place + 1) * count]
        rates += throughputs(model, context.targets, row) if throughput else []
        joules += energies(model, context.targets, row, context.measured) if energy else []
    return Predictions(context.models, context.targets, predictions, budget_ms, rates, joules)
