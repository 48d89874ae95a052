"""The choice of hardware for the open models, made anew when models or limits change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from ctm_gui.choose.language import LanguageChosen, chosen_language
from ctm_gui.choose.limits import Limits
from ctm_gui.choose.work import ChoiceRequest, ChoiceWork, Chosen
from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.prediction.comparison import Comparison
from ctm_gui.prediction.followers import ComparisonFollower
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from ctm_gui.tasks.store_client import OwnMeasurements
from predictor.core.errors import CtmError
from predictor.core.progress import Progress
from predictor.core.records import Device
from predictor.core.text import capitalised
from predictor.presentation.wording import shown

NO_MODEL = "Open a model, and state a budget: the devices that keep it are listed here."
NO_LANGUAGE_BUDGET = (
    "State a limit above: the devices that keep it with the run of the page Language Model are "
    "listed here."
)
NO_BUDGET = "State a limit above: the devices that keep it are listed here."
CANCELLED = "The choice was cancelled: change a limit, or choose again."
WORKING = "Judging every configuration of {count} devices…"


class ChoicePresenter(ComparisonFollower):
    """Holds the limits and the choice that follows from them.

    ``changed`` is emitted with another choice, or another reason for none, ``progressed`` with
    another progress.

    Attributes:
        limits: as typed.
        chosen: the choice of models; None where there is none.
        chosen_language: that of a language model, likewise.
        message: why there is none, in a sentence.
        progress: of the work; None before its first report.
        is_cancelled: whether the user stopped the present choice.

    Args:
        worker: the thread that predictions are made on.
        user_measurements: the user's measurements.
        devices: returns all devices by id.
        language: the open language models and their run.
        parent: owner.
    """

    changed = Signal()
    progressed = Signal()

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
        self.progress: Progress | None = None
        self.is_cancelled = False
        self._work = ChoiceWork()

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
        request = ChoiceRequest(
            models=[model.model for model in models],
            names=tuple(model.label for model in models),
            devices=tuple(self._devices().values()),
            budget=budget,
            limits=self.limits,
            measurements=self._user_measurements.measurements,
            signatures=self._user_measurements.signatures,
        )
        self._start(partial(self._work.run, request), len(self._devices()))

    def _begin_language(self, label: str) -> None:
        limits, families = self.limits.language, self.limits.wanted.families
        budget, chance = limits.budget, self.limits.chance
        if budget is None:
            self._show(NO_LANGUAGE_BUDGET)
            return
        devices = [d for d in self._devices().values() if not families or d.family in families]
        run = self._language.work(devices).labelled(label)

        def work(_: TaskContext) -> LanguageChosen:
            return chosen_language(run, budget, limits.prices, chance)

        self._start(work, len(devices))

    def _start(self, work: Callable[[TaskContext], Chosen | LanguageChosen], count: int) -> None:
        self.message, self.progress = WORKING.format(count=count), None
        self._task.start(work, self._on_chosen, self._on_error, self._on_progress)
        self.changed.emit()

    def cancel(self) -> None:
        """Stop choosing; nothing is chosen until the user asks again."""
        self._task.cancel()
        self.is_cancelled = True
        self._show(CANCELLED)

    def choose_again(self) -> None:
        """Choose after a stop."""
        self._refresh()

    def _refresh(self) -> None:
        self.is_cancelled = False
        super()._refresh()

    def _on_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.progressed.emit()

    def _follow_language(self) -> None:
        """Choose anew for another language model or run of it."""
        if self.limits.model not in {"", *self.models}:
            self.limits = replace(self.limits, model="")
        if self.language_label or self.chosen_language is not None:
            self._refresh()
        self.changed.emit()

    def _let_go(self) -> None:
        self.chosen = self.chosen_language = None
        self._work = ChoiceWork()  # the work that was cancelled may still end in the other one

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
