"""A session that is measured off the window's thread: begun, paused, stopped, gone on with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from ctm_gui.probing.choice import TargetChoice, Way
from ctm_gui.probing.progress import RunProgress, StoredEvent
from ctm_gui.probing.shelf import ProbingStore
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from predictor.core.errors import CancelledError, CtmError
from predictor.core.progress import CancelToken, Progress
from predictor.core.stored import SessionProbe
from predictor.graph.model import Model
from predictor.probing.measuring.interface import (
    Command,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    ProbeRunner,
)
from predictor.probing.planning import ProbePlan
from predictor.services.probing.events import ProbesChosen
from predictor.services.probing.measure import measure
from predictor.services.probing.open import Probing, open_probing
from predictor.services.probing.runners import board_runner, local_runner
from predictor.services.probing.sessions import ProbeSession

# Drawing takes part of the machine that is measured: four times a second are enough.
FOLLOW_MS = 250
_ASK_POLL_S = 0.05


class Phase(StrEnum):
    """Phase of a run."""

    IDLE = "idle"
    MEASURING = "measuring"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    ENDED = "ended"


_ACTIVE = {Phase.MEASURING, Phase.PAUSED, Phase.STOPPING}


class HostKeyQuestion:
    """An unknown host key; the worker waits for the user's answer.

    Args:
        host, port: of the board.
        algorithm: of its key.
        fingerprint: ``SHA256:...``.
    """

    def __init__(self, host: str, port: int, algorithm: str, fingerprint: str) -> None:
        self.host = host
        self.port = port
        self.algorithm = algorithm
        self.fingerprint = fingerprint
        self._answered = threading.Event()
        self._accepted = False

    def answer(self, *, accepted: bool) -> None:
        """Answer the question; the first answer counts."""
        if not self._answered.is_set():
            self._accepted = accepted
            self._answered.set()

    def wait(self, cancel: CancelToken) -> bool:
        """Return the answer once it is there; no where the run is cancelled before."""
        # Polled: a cancelled run must not wait for an answer that never comes.
        while not self._answered.wait(_ASK_POLL_S):
            if cancel.cancelled:
                return False
        return self._accepted


@dataclass(frozen=True, slots=True)
class _SessionOpened:
    """The session that a run is about; ``progress`` is not touched by the worker any more."""

    session: ProbeSession
    progress: RunProgress


_Queued = StoredEvent | HostKeyQuestion | _SessionOpened | Progress | ProbeSession
"""Events of the worker; a session where further networks were chosen."""


class ProbeRun(QObject):
    """Measures one session at a time.

    ``changed`` is emitted when phase or progress changes, at most four times a second;
    ``host_key_requested`` gives a HostKeyQuestion; ``ended`` the id of a session that has ended,
    with its signature where one came of it.

    Attributes:
        choice: how its machine is reached.
        phase: of the run.
        progress: of the session; None before it is known.
        session_id: of the session, empty before it is known.
        error: that stopped the run.
        state: of the copying to a board, in a few words.
        again: names of the networks that are to be measured once more.

    Args:
        store: of the sessions.
        models: returns the open models; the adaptive selector chooses networks for them.
        parent: owner.
    """

    changed = Signal()
    host_key_requested = Signal(object)
    ended = Signal(str)

    def __init__(
        self,
        store: ProbingStore,
        models: Callable[[], Sequence[Model]] = tuple,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._models = store, models
        self._worker = SerialWorker("prober", self)
        self._queue: SimpleQueue[_Queued] = SimpleQueue()
        self._task: Task | None = None
        self._runner: ProbeRunner | None = None
        self.again: tuple[str, ...] = ()
        self._active_s = 0.0
        self._since_s: float | None = None
        self._timer = QTimer(self, interval=FOLLOW_MS)
        self._timer.timeout.connect(self._follow)
        self.choice = TargetChoice()
        self.phase = Phase.IDLE
        self.progress: RunProgress | None = None
        self.session_id = ""
        self.error: CtmError | None = None
        self.state = ""

    @property
    def active(self) -> bool:
        """Whether something is being measured, or will be after a pause."""
        return self.phase in _ACTIVE

    @property
    def seconds_left(self) -> float | None:
        """Expected seconds of the rest; None where they are not known."""
        if self.progress is None or not self.active:
            return None
        return self.progress.seconds_left(self._measured_s())

    def start(self, plan: ProbePlan, choice: TargetChoice) -> None:
        """Store a new session of a plan and measure it."""
        self._begin(choice, lambda probing: probing.sessions.start(plan))

    def go_on(self, session_id: str, choice: TargetChoice, again: Sequence[str] = ()) -> None:
        """Measure the waiting networks of a session.

        Args:
            session_id: of the session.
            choice: how its machine is reached.
            again: networks that are to be measured once more.
        """
        self._begin(choice, partial(_stored_session, session_id, tuple(again)))

    def pause(self) -> None:
        """Measure nothing after the block that runs."""
        if self.phase is Phase.MEASURING and self._runner is not None:
            self._runner.send(Command.PAUSE)
            self._stop_clock()
            self._show(Phase.PAUSED)

    def unpause(self) -> None:
        """End a pause."""
        if self.phase is Phase.PAUSED and self._runner is not None:
            self._runner.send(Command.CONTINUE)
            # Not the wall clock, which may be set back during a run.
            self._since_s = time.monotonic()
            self._show(Phase.MEASURING)

    def skip(self) -> None:
        """Leave the network that is being measured."""
        if self.active and self._runner is not None:
            self._runner.send(Command.SKIP)

    def stop(self) -> None:
        """Stop; finished measurements are stored, and the session can go on later."""
        if self.active and self._task is not None:
            self._task.token.cancel()
            self._show(Phase.STOPPING)

    def repeat(self, names: Sequence[str]) -> None:
        """Measure networks again: now, or after the present run."""
        if self.active:
            self.again = tuple(dict.fromkeys((*self.again, *names)))
            self.changed.emit()
        elif self.session_id:
            self.go_on(self.session_id, self.choice, names)

    def give_up(self) -> None:
        """End a stopped session; its measurements become its signature."""
        if self.phase is Phase.STOPPED and self.session_id:
            session_id = self.session_id
            self._store.run(
                lambda probing: probing.sessions.give_up(session_id),
                on_result=lambda _: self._end(),
                on_error=self._fail,
            )

    def close(self) -> None:
        """Stop all work; finished measurements are stored."""
        self._timer.stop()
        if self._task is not None:
            self._task.token.cancel()
        self._worker.close()

    def _begin(self, choice: TargetChoice, find: Any) -> None:
        if self.active:
            return
        self.choice, self.error, self.state = choice, None, "Preparing…"
        self.again = ()
        self._active_s, self._since_s = 0.0, time.monotonic()
        self._timer.start()
        # Taken here, since the window's models belong to the window's thread.
        graphs = [model.graph for model in self._models()]
        self._task = self._worker.submit(
            partial(self._measure, choice, find, graphs),
            on_result=self._on_done,
            on_error=self._fail,
        )
        self._show(Phase.MEASURING)

    def _measure(
        self, choice: TargetChoice, find: Any, graphs: Sequence[Any], context: TaskContext
    ) -> None:
        """Measure on the worker's thread, with a connection of its own."""
        with open_probing(self._store.path) as probing:
            session: ProbeSession = find(probing)
            measured = probing.sessions.measurements(session.id)
            self._queue.put(_SessionOpened(session, RunProgress(session, measured)))
            self._runner = runner = self._new_runner(choice, context.token)
            source = "ssh" if choice.way is Way.SSH else "local"
            try:
                for event in measure(
                    probing.sessions, session.id, runner, context.token, source, graphs
                ):
                    if isinstance(event, ProbesChosen):
                        self._queue.put(probing.sessions.get(session.id))
                        continue
                    self._queue.put(StoredEvent(event, _stored_probe(probing, session.id, event)))
            finally:
                self._runner = None

    def _new_runner(self, choice: TargetChoice, token: CancelToken) -> ProbeRunner:
        if choice.way is not Way.SSH:
            return local_runner()

        def accept(key: Any) -> bool:
            question = HostKeyQuestion(key.host, key.port, key.algorithm, key.fingerprint)
            self._queue.put(question)
            return question.wait(token)

        return board_runner(
            choice.address,
            self._store.path,
            [Path(choice.key_file)] if choice.key_file.strip() else [],
            accept,
            self._queue.put,
            choice.python.strip() or "python3",
        )

    def _follow(self) -> None:
        """Take the worker's events since the last call."""
        any_came = False
        while True:
            try:
                item = self._queue.get_nowait()
            except Empty:
                break
            any_came = True
            self._take(item)
        if any_came or self.phase is Phase.MEASURING:
            self.changed.emit()

    def _take(self, item: _Queued) -> None:
        if isinstance(item, _SessionOpened):
            self.session_id, self.progress = item.session.id, item.progress
        elif isinstance(item, HostKeyQuestion):
            self.host_key_requested.emit(item)
        elif isinstance(item, Progress):
            self.state = item.message
        elif isinstance(item, ProbeSession):
            if self.progress is not None:
                self.progress.grow(item)
        elif self.progress is not None:
            self.state = ""
            self.progress.take(item, self._measured_s())

    def _on_done(self, _: None) -> None:
        self._settle()
        self.phase = Phase.ENDED
        # go_on refuses while the phase is an active one, hence ENDED before it.
        if self.again:
            self.go_on(self.session_id, self.choice, self.again)
        else:
            self._end()

    def _end(self) -> None:
        self._show(Phase.ENDED)
        self.ended.emit(self.session_id)

    def _fail(self, error: CtmError) -> None:
        self._settle()
        self.error = None if isinstance(error, CancelledError) else error
        self._show(Phase.STOPPED)

    def _settle(self) -> None:
        self._follow()
        self._timer.stop()
        self._stop_clock()
        self._task, self.state = None, ""

    def _show(self, phase: Phase) -> None:
        self.phase = phase
        self.changed.emit()

    def _measured_s(self) -> float:
        running_s = 0.0 if self._since_s is None else time.monotonic() - self._since_s
        return self._active_s + running_s

    def _stop_clock(self) -> None:
        self._active_s, self._since_s = self._measured_s(), None


def _stored_session(session_id: str, again: Sequence[str], probing: Probing) -> ProbeSession:
    if again:
        probing.sessions.repeat(session_id, again)
    return probing.sessions.get(session_id)


def _stored_probe(probing: Probing, session_id: str, event: ProbeEvent) -> SessionProbe | None:
    """Return the stored network of an event; None where it is about none."""
    if not isinstance(event, NetworkDone | NetworkFailed):
        return None
    if isinstance(event, NetworkFailed) and event.sentinel:
        return None
    probes = probing.sessions.get(session_id).probes
    return next(probe for probe in probes if probe.name == event.name)
