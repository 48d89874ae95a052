"""Plans of probe sessions, made off the window's thread while the user changes what is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from ctm_gui.presenters.probing_choice import TargetChoice, Way
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from predictor.core.errors import CtmError, HostError
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Device
from predictor.services.probing_plan import (
    Coverage,
    ProbePlan,
    RunConfiguration,
    Wish,
    coverage,
    plan_probes,
    probe_target,
)
from predictor.services.probing_ssh import board_runner
from predictor.services.this_machine import THIS_MACHINE_ID, describe_this_machine, with_measured

SELECTORS = {
    "dbsel": "DBSel: where known devices differ",
    "dopt": "D-optimal: what is known least about",
    "iopt": "I-optimal: what tells most of the rest",
    "random": "Random",
}
# Typing 12 passes through 1.
PLAN_DELAY_MS = 250


@dataclass(frozen=True, slots=True)
class PlanWish:
    """What the second page says: how many networks, how long, what chooses them."""

    probes: int = 12
    minutes: int = 5
    selector: str = "dbsel"


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, how its networks lie among all, and a sentence where there are no estimates."""

    plan: ProbePlan
    coverage: Coverage
    note: str = ""


class ProbePlanner(QObject):
    """Keeps a plan true to what is asked; ``changed`` says that anything of it is another.

    Attributes:
        planned: the last plan; None while there is none for what is asked.
        error: why there is none.
        state: what is done now, in a few words.

    Args:
        store: the store's file, beside which host keys are; None for the usual one.
        parent: owner.
    """

    changed = Signal()

    def __init__(self, store: Path | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._worker = SerialWorker("probe planner", self)
        self._task: Task | None = None
        self._asked: tuple[TargetChoice, PlanWish] | None = None
        self._machine: tuple[Device, str] | None = None
        self._timer = QTimer(self, singleShot=True, interval=PLAN_DELAY_MS)
        self._timer.timeout.connect(self._submit)
        self.planned: Planned | None = None
        self.error: CtmError | None = None
        self.state = ""

    @property
    def busy(self) -> bool:
        """Whether a plan is still to come."""
        return self._timer.isActive() or self._task is not None

    def ask(self, choice: TargetChoice, wish: PlanWish) -> None:
        """Plan for what is asked now; an older wish is forgotten."""
        if (choice, wish) == self._asked and self.error is None:
            return
        self._asked = (choice, wish)
        self._forget("Planning…")
        self._timer.start()

    def forget(self) -> None:
        """Ask for nothing any more."""
        self._timer.stop()
        self._asked = None
        self._forget("")

    def close(self) -> None:
        """Stop all work."""
        self._timer.stop()
        self._worker.close()

    def _forget(self, state: str) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self.planned = self.error = None
        self.state = state
        self.changed.emit()

    def _submit(self) -> None:
        if self._asked is None:
            return
        work = partial(_plan, *self._asked, self._store, self._machine)
        self._task = self._worker.submit(
            work,
            on_result=self._on_planned,
            on_error=self._on_error,
            on_progress=self._on_progress,
        )

    def _on_progress(self, progress: Progress) -> None:
        self.state = progress.message
        self.changed.emit()

    def _on_planned(self, planned: Planned) -> None:
        self._task = None
        if planned.plan.target.device.id == THIS_MACHINE_ID:
            self._machine = (planned.plan.target.device, planned.note)
        self.planned, self.state = planned, ""
        self.changed.emit()

    def _on_error(self, error: CtmError) -> None:
        self._task = None
        self.error, self.state = error, ""
        self.changed.emit()


def _plan(
    choice: TargetChoice,
    wish: PlanWish,
    store: Path | None,
    machine: tuple[Device, str] | None,
    context: TaskContext,
) -> Planned:
    """Make a plan on the worker's thread."""
    if choice.way is Way.SSH:
        board_runner(choice.address, store)  # a wrong address is told before anything is planned
    if choice.device is not None:
        device, note = choice.device, ""
    else:
        if machine is None:
            message = "Measuring this machine's memory and arithmetic for the estimates…"
            context.report(Progress(0, 1, message))
        device, note = machine or _this_machine(context.token)
    context.token.check()
    target = probe_target(device, choice.threads)
    plan = plan_probes(
        Wish(
            target,
            wish.probes,
            wish.selector,
            budget_s=wish.minutes * 60.0,
            configuration=RunConfiguration(threads=target.configuration.threads),
        )
    )
    context.token.check()
    return Planned(plan, coverage(plan), note)


def _this_machine(token: CancelToken) -> tuple[Device, str]:
    """Return this machine, and a sentence where its rates could not be measured."""
    described = describe_this_machine()
    try:
        return with_measured(described, token), ""
    except HostError as error:
        return described, f"There are no estimates: {error}"
