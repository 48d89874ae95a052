"""The one way to work off the window's thread: one serial worker a purpose, outcomes by signal.

Reading files, predicting and the store each have a worker of their own: the tasks of one run in
order on one thread, so an SQLite connection stays on its thread and a child process gets
one request at a time. Outcomes come back on the window's thread, a few milliseconds of them between
its other events; those of dropped tasks never do.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from predictor.core.errors import CtmError
from predictor.core.progress import CancelToken, ProgressCallback, no_progress

T = TypeVar("T")
# About half of a frame at 60 Hz; the rest is for painting and keys.
_TURN_S = 0.008


@dataclass(frozen=True, slots=True)
class TaskContext:
    """Argument of submitted work.

    Attributes:
        token: asks it to stop.
        report: takes progress.
        part: takes a partial result, and waits until the window has shown it: both at once
            would be slower, for one Python computes at a time.

    Of reports that come faster than the window takes them it gets the last one.
    """

    token: CancelToken
    report: ProgressCallback
    part: Callable[[Any], None]


class Task:
    """Work that was submitted. Its owner may drop it: then none of its callbacks is called.

    Attributes:
        token: asks the work to stop.
    """

    def __init__(self) -> None:
        self.token = CancelToken()
        self._dropped = False
        self._settled = False
        self._future: Future[object] | None = None
        self._displayed = threading.Event()

    @property
    def active(self) -> bool:
        """Whether an outcome is still to come."""
        return not (self._dropped or self._settled)

    def ignore(self) -> None:
        """Ignore the outcome of work that is to be done all the same."""
        self._dropped = True
        self._displayed.set()

    def drop(self) -> None:
        """Ignore the outcome; waiting work never starts, running work goes on."""
        self.ignore()
        if self._future is not None:
            self._future.cancel()
            self._future = None

    def cancel(self) -> None:
        """Ignore the outcome and ask the work to stop."""
        self.token.cancel()
        self.drop()

    def _wait(self, post: Callable[[], None]) -> None:
        """Post a part from the worker's thread and wait until it is shown."""
        # Before the check: cleared after it, the event of a drop in between would be lost.
        self._displayed.clear()
        if not self._dropped:
            post()
            self._displayed.wait()

    def _attach(self, future: Future[object]) -> None:
        self._future = future

    def _settle(self) -> None:
        self._settled = True
        # It holds the callbacks, and with them what those refer to.
        self._future = None


class SerialWorker(QObject):
    """Runs submitted work in order on one thread of its own.

    Made and used on the window's thread; ``close`` must be called before it is deleted.

    Attributes:
        closed: whether it takes no more work.

    Args:
        name: of the thread, for reports.
        parent: owner.
    """

    _posted = Signal(object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._outcomes: deque[tuple[object, Callable[[], None]]] = deque()
        self._showing: list[Task] = []
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._take_turn)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._tasks: set[Task] = set()
        self.closed = False
        # Queued even where the sender happens to be this thread: an outcome never comes before
        # ``submit`` has returned.
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """Whether any outcome is still to come."""
        return any(task.active for task in self._tasks)

    def submit(
        self,
        work: Callable[[TaskContext], T],
        *,
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
        on_progress: ProgressCallback = no_progress,
        on_part: Callable[[T], None] = lambda _: None,
    ) -> Task:
        """Run ``work`` after the tasks submitted before it.

        Args:
            work: called on the worker's thread; it touches no widget and no presenter.
            on_result: called on the window's thread with the result of ``work``.
            on_error: called on the window's thread with a CtmError that ``work`` raised. Any other
                exception is a defect and is raised on the window's thread.
            on_progress: called on the window's thread with reports of ``work``.
            on_part: called on the window's thread with partial results; ``work``
                goes on when that is painted.
        """
        task = Task()
        report = partial(self._report, task, on_progress)
        part = partial(self._report_part, task, on_part)
        future = self._executor.submit(work, TaskContext(task.token, report, part))
        task._attach(future)  # type: ignore[arg-type]  # noqa: SLF001 - one subject, two classes
        self._tasks.add(task)
        future.add_done_callback(
            lambda done: self._posted.emit(
                None, partial(self._deliver, task, done, on_result, on_error)
            )
        )
        return task

    def cancel_all(self) -> None:
        """Cancel every task."""
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()

    def close(self, last: Callable[[], None] | None = None, *, finish: bool = False) -> None:
        """Run ``last`` on the worker's thread after everything else, and wait for it to end.

        Closing again does nothing.

        Args:
            last: releases resources of the thread.
            finish: complete the submitted tasks (outcomes are dropped); otherwise cancel them.
        """
        if self.closed:
            return
        self.closed = True
        for task in self._tasks:
            # Both release a worker that waits for its part to be shown, or shutdown would deadlock.
            task.ignore() if finish else task.cancel()
        self._tasks.clear()
        if last is not None:
            # On that thread: SQLite connections may only be closed where they were opened.
            self._executor.submit(last).result()
        self._executor.shutdown(wait=True)

    def _report(self, task: Task, call: Callable[[Any], None], what: object) -> None:
        self._posted.emit((task, call), partial(self._call, task, call, what))

    def _report_part(self, task: Task, call: Callable[[Any], None], what: object) -> None:
        show = partial(self._show, task, call, what)
        task._wait(partial(self._posted.emit, None, show))  # noqa: SLF001 - as above

    def _show(self, task: Task, call: Callable[[Any], None], what: object) -> None:
        self._showing.append(task)
        self._call(task, call, what)

    @staticmethod
    def _call(task: Task, call: Callable[[Any], None], what: object) -> None:
        if task.active:
            call(what)

    def _deliver(
        self,
        task: Task,
        future: Future[T],
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> None:
        self._tasks.discard(task)
        if not task.active or future.cancelled():
            return
        task._settle()  # noqa: SLF001 - one subject, two classes
        try:
            result = future.result()
        except CtmError as error:
            on_error(error)
        else:
            on_result(result)

    @Slot(object, object)
    def _on_posted(self, source: object, call: Callable[[], None]) -> None:
        # A newer report of the same task replaces one that is not delivered yet.
        if source is not None and self._outcomes and self._outcomes[-1][0] == source:
            self._outcomes.pop()
        self._outcomes.append((source, call))
        if not self._turns.isActive():
            self._turns.start()

    def _take_turn(self) -> None:
        """Deliver outcomes for ``_TURN_S`` seconds; the rest follows in the next turn.

        Parts of the last turn have been painted since, so their work may go on.
        """
        for task in self._showing:
            task._displayed.set()  # noqa: SLF001 - as above
        self._showing.clear()
        until_s = time.perf_counter() + _TURN_S
        while self._outcomes and time.perf_counter() < until_s:
            _, call = self._outcomes.popleft()
            call()
        if not (self._outcomes or self._showing):
            self._turns.stop()


class OneTask:
    """The present one of tasks on a shared worker, where each takes the place of the one before.

    Args:
        worker: that does the work.
    """

    def __init__(self, worker: SerialWorker) -> None:
        self._worker = worker
        self._task: Task | None = None

    @property
    def busy(self) -> bool:
        """Whether an outcome is still to come."""
        return self._task is not None and self._task.active

    def start(
        self,
        work: Callable[[TaskContext], T],
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
        on_progress: ProgressCallback = no_progress,
    ) -> None:
        """Submit work as ``SerialWorker.submit`` does, and cancel the work before."""
        self.cancel()
        self._task = self._worker.submit(
            work, on_result=on_result, on_error=on_error, on_progress=on_progress
        )

    def cancel(self) -> None:
        """Cancel the present task, where there is one."""
        if self._task is not None:
            self._task.cancel()
