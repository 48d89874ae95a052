"""The choice of hardware for the open models, made anew when models or limits change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from ctm_gui.choose.language import LanguageChosen, LanguageLimits, chosen_language
from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.prediction.comparison import Comparison
from ctm_gui.prediction.followers import ComparisonFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.tasks.store_client import OwnMeasurements
from predictor.core.errors import CtmError
from predictor.core.records import Device, Measurement
from predictor.core.run_facts import MEDIAN
from predictor.core.text import capitalised
from predictor.graph.model import Model
from predictor.presentation.wording import shown
from predictor.services.choose.choice import Choice, Option
from predictor.services.choose.choose import EVEN, choose
from predictor.services.choose.options import BATCHES, Budget, Wanted, options_of
from predictor.services.signatures.user_signatures import UserSignatures

NO_MODEL = "Open a model, and state a budget: the devices that keep it are listed here."
NO_LANGUAGE_BUDGET = (
    "State a limit above: the devices that keep it with the run of the page Language Model are "
    "listed here."
)
NO_BUDGET = "State a limit above: the devices that keep it are listed here."
WORKING = "Judging every configuration of {count} devices…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A budget as it is typed, and what may be chosen; None and empty parts limit nothing."""

    model: str = ""  # the one that runs; empty for all
    max_ms: float | None = None
    min_fps: float | None = None
    min_throughput: float | None = None
    max_watts: float | None = None
    max_memory_mb: float | None = None
    percentile: int = MEDIAN
    chance: float = EVEN
    wanted: Wanted = field(default_factory=Wanted)
    language: LanguageLimits = field(default_factory=LanguageLimits)

    @property
    def budget(self) -> Budget | None:
        """The budget; None where nothing is limited."""
        names = ("max_ms", "min_fps", "min_throughput", "max_watts", "max_memory_mb")
        limits = {name: getattr(self, name) for name in names}
        if all(limit is None for limit in limits.values()):
            return None
        # Without a latency there is nothing that slow runs could miss.
        return Budget(**limits, percentile=MEDIAN if self.max_ms is None else self.percentile)


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
        chosen: the choice of models; None where there is none.
        chosen_language: that of a language model, likewise.
        message: why there is none, in a sentence.

    Args:
        worker: the thread that predictions are made on.
        user_measurements: the user's measurements.
        devices: returns all devices by id.
        language: the open language models and their run.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self,
        worker: SerialWorker,
        user_measurements: OwnMeasurements,
        devices: Callable[[], Mapping[str, Device]],
        language: LanguagePresenter,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(worker, parent)
        self._language = language
        language.state_changed.connect(self._follow_language)
        self._user_measurements, self._devices = user_measurements, devices
        self.limits = Limits()
        self.chosen: Chosen | None = None
        self.chosen_language: LanguageChosen | None = None
        self.message = NO_MODEL

    @property
    def device_count(self) -> int:
        """Number of all devices of the library."""
        return len(self._devices())

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models of which one may be chosen, the language models last."""
        names = [model.label for model in self._comparison.models if not model.problem]
        return (*names, *self.language_names)

    @property
    def language_names(self) -> dict[str, str]:
        """Label of each open language model here, to its label elsewhere."""
        labels = self._language.state.labels.values()
        return {f"{shown(label)} (tokens)": label for label in labels}

    @property
    def language_label(self) -> str:
        """The language model that devices are chosen for; empty where they are for other models."""
        names = self.language_names
        is_alone = len(names) == len(self.models)
        first = next(iter(names.values()), "") if is_alone else ""
        return names.get(self.limits.model, first)

    def set_limits(self, limits: Limits) -> None:
        """Choose by other limits."""
        if limits != self.limits:
            self.limits = limits
            self._refresh()

    def _begin(self) -> None:
        if self.language_label:
            self._begin_language(self.language_label)
            return
        models = [
            model
            for model in self._comparison.models
            if not model.problem and self.limits.model in {"", model.label}
        ]
        budget = self.limits.budget
        if not models or budget is None:
            self._show(NO_BUDGET if models else NO_MODEL)
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
        self._start(work, len(self._devices()))

    def _begin_language(self, label: str) -> None:
        limits, families = self.limits.language, self.limits.wanted.families
        budget, chance = limits.budget, self.limits.chance
        if budget is None:
            self._show(NO_LANGUAGE_BUDGET)
            return
        devices = [d for d in self._devices().values() if not families or d.family in families]
        run = self._language.work(devices).labelled(label)
        self._start(partial(chosen_language, run, budget, limits.prices, chance), len(devices))

    def _start(self, work: Callable[[], Chosen | LanguageChosen], count: int) -> None:
        self.message = WORKING.format(count=count)
        self._task.start(lambda _: work(), self._on_chosen, self._on_error)
        self.changed.emit()

    def _follow_language(self) -> None:
        """Choose anew for another language model or run of it."""
        if self.limits.model not in {"", *self.models}:
            self.limits = replace(self.limits, model="")
        if self.language_label or self.chosen_language is not None:
            self._refresh()
        self.changed.emit()

    def _let_go(self) -> None:
        self.chosen = self.chosen_language = None

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow other models; a model that was chosen and has gone gives way to all."""
        names = {model.label for model in comparison.models}
        if self.limits.model not in {"", *self.language_names, *names}:
            self.limits = replace(self.limits, model="")
        super().set_comparison(comparison)
        self.changed.emit()

    def _on_error(self, error: CtmError) -> None:
        self._show(f"{capitalised(error.reason)}; {error.action}.")

    def _on_chosen(self, chosen: Chosen | LanguageChosen) -> None:
        self.chosen = chosen if isinstance(chosen, Chosen) else None
        self.chosen_language = chosen if isinstance(chosen, LanguageChosen) else None
        self.message = ""
        self.changed.emit()

    def _show(self, message: str) -> None:
        self.chosen, self.chosen_language, self.message = None, None, message
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
