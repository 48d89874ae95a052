"""Plans of probe sessions, made off the window's thread while the user changes the request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from ctm_gui.probing.choice import TargetChoice, Way
from ctm_gui.probing.progress import duration
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.errors import CtmError, HostError
from predictor.core.progress import Progress
from predictor.core.records import Device, SustainedRates
from predictor.core.text import plural
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.graph.model import Model
from predictor.presentation.wording import shown
from predictor.probing.choice import ADAPTIVE, DEFAULT_SELECTOR, PlanRequest
from predictor.probing.measuring.interface import RunConfiguration
from predictor.probing.planning import ProbePlan
from predictor.services.devices.this_machine import MachineRates, measure_rates, this_machine
from predictor.services.probing.expectation import (
    ExpectedInterval,
    expected_interval,
    interval_words,
)
from predictor.services.probing.plan import (
    Coverage,
    coverage,
    plan_probes,
    planned_once,
    probe_target,
)
from predictor.services.probing.runners import board_runner

SELECTORS = {
    "iopt": "The most informative about all others",
    "dbsel": "Where known devices differ most",
    "dopt": "The least certain ones",
    "random": "Random ones",
    ADAPTIVE: "The most informative next, in steps",
}
SELECTOR_SENTENCES = {
    "iopt": "The usual choice: what they show says most about networks that are not measured.",
    "dbsel": "Networks whose latencies tell the devices of the catalogue apart best.",
    "dopt": "Networks whose latencies are known least so far, each for itself.",
    "random": "Drawn by chance, to see what choosing them is worth.",
    ADAPTIVE: "A few first, then those that say most after these; it ends once it is sure enough.",
}
_MEASURING = "Measuring two rates of this PC, about 2 s…"
# Typing 12 passes through 1.
PLAN_DELAY_MS = 250


@dataclass(frozen=True, slots=True)
class PlanFields:
    """Fields of the second page: number of networks, time, selector.

    ``within`` is the interval in percent at which the adaptive selector stops; 0 for never.
    """

    probes: int = 12
    minutes: int = 5
    selector: str = DEFAULT_SELECTOR
    within: int = 0


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, its coverage of the pool, and the expected interval after it.

    Attributes:
        plan: its first networks, or all of them.
        coverage: of the plan.
        interval: now and when it is carried out; None where the engine gives none.
        models: number of open models of the interval; 0 for networks of the pool.
        note: a sentence where there are no estimates.
    """

    plan: ProbePlan
    coverage: Coverage
    interval: ExpectedInterval | None = None
    models: int = 0
    note: str = ""


def plan_words(planned: Planned) -> str:
    """Return the size, duration and expected gain of a plan in words."""
    plan, count = planned.plan, len(planned.plan.probes)
    first = plural(count, "network")
    if plan.to_come:
        first += f" first, and up to {plan.to_come} more that are chosen by what these show"
    expected, longest = duration(plan.expected_s), duration(plan.request.budget_s)
    words = [f"{first}; expected to take {expected}, on a busy machine up to {longest}."]
    words.append(
        f"Between them {shown(plan.sentinel.network.name)} is measured three times, to see "
        "whether the machine changes its speed."
    )
    if planned.interval is not None:
        words.append(interval_words(planned.interval, models=planned.models))
    return " ".join(words)


class ProbePlanner(QObject):
    """Keeps a plan up to date with the request; ``changed`` is emitted when an attribute changes.

    Attributes:
        planned: the last plan; None while there is none for the request.
        error: the reason for a missing plan.
        state: the present activity, in a few words.

    Args:
        store: the store's file, beside which host keys are; None for the usual one.
        models: returns the open models, the subjects of later predictions.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self,
        store: Path | None,
        models: Callable[[], Sequence[Model]] = tuple,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._models = store, models
        self._worker = SerialWorker("probe planner", self)
        self._request: tuple[TargetChoice, PlanFields] | None = None
        self._machine: tuple[Device, str] | None = None
        self._timer = QTimer(self, singleShot=True, interval=PLAN_DELAY_MS)
        self._timer.timeout.connect(self._submit)
        self.planned: Planned | None = None
        self.error: CtmError | None = None
        self.state = ""

    @property
    def busy(self) -> bool:
        """Whether a plan is still to come."""
        return self._timer.isActive() or self._worker.busy

    def ask(self, choice: TargetChoice, fields: PlanFields) -> None:
        """Plan for this request; an older one is dropped."""
        if (choice, fields) == self._request and self.error is None:
            return
        self._request = (choice, fields)
        self._forget("Planning…")
        self._timer.start()

    def forget(self) -> None:
        """Ask for nothing any more."""
        self._timer.stop()
        self._request = None
        self._forget("")

    def close(self) -> None:
        """Stop all work."""
        self._timer.stop()
        self._worker.close()

    def _forget(self, state: str) -> None:
        self._worker.cancel_all()
        self.planned = self.error = None
        self.state = state
        self.changed.emit()

    def _submit(self) -> None:
        if self._request is None:
            return
        models = tuple(self._models())
        work = partial(_plan, *self._request, self._store, self._machine, models)
        self._worker.submit(
            work, on_result=self._on_planned, on_error=self._on_error, on_progress=self._on_progress
        )

    def _on_progress(self, progress: Progress) -> None:
        self.state = progress.message
        self.changed.emit()

    def _on_planned(self, planned: Planned) -> None:
        if planned.plan.target.device.id == THIS_MACHINE_ID:
            # Measuring this machine takes seconds: later plans use the same values.
            self._machine = (planned.plan.target.device, planned.note)
        self.planned, self.state = planned, ""
        self.changed.emit()

    def _on_error(self, error: CtmError) -> None:
        self.error, self.state = error, ""
        self.changed.emit()


def _plan(
    choice: TargetChoice,
    fields: PlanFields,
    store: Path | None,
    machine: tuple[Device, str] | None,
    models: Sequence[Model],
    context: TaskContext,
) -> Planned:
    """Make a plan on the worker's thread."""
    if choice.way is Way.SSH:
        board_runner(choice.address, store)  # a wrong address is refused before anything is planned
    if choice.device is not None:
        device, note = choice.device, ""
    else:
        device, note = machine or _this_machine(MachineRates(store), context)
    context.token.check()
    target = probe_target(device, choice.threads)
    request = PlanRequest(
        target=target,
        probes=fields.probes,
        selector=fields.selector,
        budget_s=fields.minutes * 60.0,
        configuration=RunConfiguration(threads=target.configuration.threads),
        live=choice.way is not Way.KIT,
        within=fields.within / 100 if fields.within and fields.selector == ADAPTIVE else None,
    )
    graphs = [model.graph for model in models]
    plan = plan_probes(request, graphs)
    context.token.check()
    # What is still to come is not known: the plan of a kit is taken in its place.
    complete = planned_once(request, graphs) if plan.to_come else plan
    context.token.check()
    prints = [probe.network.fingerprint for probe in complete.probes]
    interval = expected_interval(target, prints, graphs)
    context.token.check()
    return Planned(plan, coverage(plan), interval, len(graphs), note)


def _this_machine(rates: MachineRates, context: TaskContext) -> tuple[Device, str]:
    """Return this machine, and a sentence where its rates could not be measured."""
    notes: list[str] = []

    def measured(machine: Device) -> SustainedRates | None:
        context.report(Progress(0, 1, _MEASURING))
        try:
            # Started, the session keeps the device with its rates in the store.
            return measure_rates(machine, rates, lambda _: None, context.token)
        except HostError as error:
            notes.append(f"There are no estimates: {error}")
            return None

    return this_machine(None, rates, measured), "".join(notes)
