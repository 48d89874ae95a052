"""The choice of hardware for the open models, made anew when models or limits change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from ctm_gui.prediction.comparison import Comparison
from ctm_gui.prediction.followers import ComparisonFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.tasks.store_client import OwnMeasurements
from predictor.core.errors import CtmError
from predictor.core.records import Device, Measurement
from predictor.core.run_facts import MEDIAN
from predictor.core.text import capitalised
from predictor.graph.model import Model
from predictor.services.choose.choice import Choice, Option
from predictor.services.choose.choose import EVEN, choose
from predictor.services.choose.options import BATCHES, Budget, Wanted, options_of
from predictor.services.signatures.user_signatures import UserSignatures

NO_MODEL = "Open a model, and state a budget: the devices that keep it are listed here."
NO_BUDGET = "State a limit above: the devices that keep it are listed here."
WORKING = "Judging every configuration of {count} devices…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A budget as it is typed, and what may be chosen; None and empty parts limit nothing."""

    model: str = ""  # the one that runs; empty for all
    max_ms: float | None = None
    min_fps: float | None = None
    max_watts: float | None = None
    max_memory_mb: float | None = None
    percentile: int = MEDIAN
    chance: float = EVEN
    wanted: Wanted = field(default_factory=Wanted)

    @property
    def budget(self) -> Budget | None:
        """The budget; None where nothing is limited."""
        limits = (self.max_ms, self.min_fps, self.max_watts, self.max_memory_mb)
        if not any(limit is not None for limit in limits):
            return None
        # Without a latency there is nothing that slow runs could miss.
        return Budget(*limits, MEDIAN if self.max_ms is None else self.percentile)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A choice as the view shows it.

    Attributes:
        choice: of all options.
        options: the best one of each device, the best first.
        names: of the models.
    """

    choice: Choice
    options: tuple[Option, ...]
    names: tuple[str, ...]


class ChoicePresenter(ComparisonFollower):
    """Holds the limits and the choice that follows from them.

    ``changed`` is emitted with another choice, or another reason for none.

    Attributes:
        limits: as typed.
        chosen: the choice; None where there is none.
        message: why there is none, in a sentence.

    Args:
        worker: the thread that predictions are made on.
        user_measurements: the user's measurements.
        devices: returns all devices by id.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self,
        worker: SerialWorker,
        user_measurements: OwnMeasurements,
        devices: Callable[[], Mapping[str, Device]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(worker, parent)
        self._user_measurements, self._devices = user_measurements, devices
        self.limits = Limits()
        self.chosen: Chosen | None = None
        self.message = NO_MODEL

    @property
    def device_count(self) -> int:
        """Number of all devices of the library."""
        return len(self._devices())

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models of which one may be chosen."""
        return tuple(model.label for model in self._comparison.models if not model.problem)

    def set_limits(self, limits: Limits) -> None:
        """Choose by other limits."""
        if limits != self.limits:
            self.limits = limits
            self._refresh()

    def _begin(self) -> None:
        models = [
            model
            for model in self._comparison.models
            if not model.problem and self.limits.model in {"", model.label}
        ]
        budget = self.limits.budget
        if not models or budget is None:
            self._show(None, NO_BUDGET if models else NO_MODEL)
            return
        work = partial(
            _chosen,
            models=[model.model for model in models],
            names=tuple(model.label for model in models),
            devices=tuple(self._devices().values()),
            budget=budget,
            limits=self.limits,
            measurements=self._user_measurements.measurements,
            signatures=self._user_measurements.signatures,
        )
        self.message = WORKING.format(count=self.device_count)
        self._task.start(lambda _: work(), lambda chosen: self._show(chosen, ""), self._on_error)
        self.changed.emit()

    def _let_go(self) -> None:
        self.chosen = None

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow other models; a model that was chosen and has gone gives way to all."""
        if self.limits.model not in {"", *(model.label for model in comparison.models)}:
            self.limits = replace(self.limits, model="")
        super().set_comparison(comparison)
        self.changed.emit()

    def _on_error(self, error: CtmError) -> None:
        self._show(None, f"{capitalised(error.reason)}; {error.action}.")

    def _show(self, chosen: Chosen | None, message: str) -> None:
        self.chosen, self.message = chosen, message
        self.changed.emit()


def _chosen(
    models: Sequence[Model],
    names: tuple[str, ...],
    devices: Sequence[Device],
    budget: Budget,
    limits: Limits,
    measurements: Sequence[Measurement],
    signatures: UserSignatures,
) -> Chosen:
    batches = (1,) if limits.min_fps is None else BATCHES
    options = options_of(devices, limits.wanted, batches)
    choice = choose(
        models,
        options,
        budget,
        min_chance=limits.chance,
        measurements=measurements,
        measured=signatures.of(options.targets),
        devices={device.id: device for device in devices},
    )
    return Chosen(choice, tuple(map(choice.option, choice.of_devices)), names)
