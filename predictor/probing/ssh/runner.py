"""Measures on a board over SSH; a lost connection costs no measurement."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.probing.measuring.documents import carried_files
from predictor.probing.measuring.interface import Command, MeasuringPlan, ProbeEvent
from predictor.probing.ssh.board_run import BoardRun
from predictor.probing.ssh.host_keys import Decision, HostKey, KnownHosts, refuse_unknown
from predictor.probing.ssh.target import SshTarget

PATIENCE_S = 120.0
_POLL_S = 0.05  # how late a cancel is noticed
# Below the second that a cancel may take, and above the clean-up's share of it.
_SETTLE_S = 0.8


@dataclass(eq=False, kw_only=True)
class SshRunner:
    """Measures plans on a board; see :class:`ProbeRunner`.

    The board needs Python 3.8 with numpy and onnxruntime. Where the connection is lost the board
    measures on, and this end comes back for the missed lines. A plan that was left alone so is
    found again by its id, at work or done. That also holds when this program was started anew, and
    asks only for the networks that it has not got.

    Attributes:
        target: where and as whom.
        known_hosts: whose keys are trusted.
        decide: asked in the thread that iterates about the key of a host that no file knows.
        progress: called with the state of copying, in another thread.
        patience_s: so long the board may be out of reach before the run is given up.
        files: names and contents for a plan's folder on the board.
    """

    target: SshTarget
    known_hosts: KnownHosts
    decide: Decision = refuse_unknown
    progress: ProgressCallback = no_progress
    patience_s: float = PATIENCE_S
    files: Callable[[MeasuringPlan], Iterable[tuple[str, bytes]]] = carried_files
    _work: _Work | None = field(default=None, init=False)

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        """Measure; see :class:`ProbeRunner`."""
        files = list(self.files(plan))
        work = self._work = _Work(self)
        try:
            yield from work.events(plan, files, cancel or CancelToken())
        finally:
            self._work = None
            work.end()

    def send(self, command: Command) -> None:
        """Send a command to the run under way; see :class:`ProbeRunner`."""
        work = self._work
        if work is not None:
            work.send(command)


@dataclass(frozen=True, slots=True)
class _Question:
    """A host key that the iterating thread is asked about."""

    key: HostKey
    _answer: asyncio.Future[bool]

    def settle(self, accepted: bool) -> None:
        """Give the answer; the run may have ended meanwhile."""
        with suppress(RuntimeError):
            self._answer.get_loop().call_soon_threadsafe(self._set, accepted)

    def _set(self, accepted: bool) -> None:
        if not self._answer.done():
            self._answer.set_result(accepted)


class _Work:
    """A run in an event loop of its own, in a thread of its own."""

    def __init__(self, runner: SshRunner) -> None:
        self._decide = runner.decide
        self._posted: SimpleQueue[ProbeEvent | _Question | None] = SimpleQueue()
        self._run = BoardRun(
            target=runner.target,
            known_hosts=runner.known_hosts,
            ask=self._ask,
            post=self._posted.put,
            progress=runner.progress,
            patience_s=runner.patience_s,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    async def _ask(self, key: HostKey) -> bool:
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._posted.put(_Question(key, answer))
        return await answer

    def events(
        self, plan: MeasuringPlan, files: list[tuple[str, bytes]], cancel: CancelToken
    ) -> Iterator[ProbeEvent]:
        """Yield the run's events, and answer its questions in this thread."""
        measuring = self._submit(self._run.measure(plan, files))
        measuring.add_done_callback(lambda _: self._posted.put(None))
        while True:
            cancel.check()
            try:
                item = self._posted.get(timeout=_POLL_S)
            except Empty:
                continue
            if item is None:
                measuring.result()
                return
            if isinstance(item, _Question):
                item.settle(self._decide(item.key))
            else:
                yield item

    def _submit(self, work: Coroutine[Any, Any, None]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def send(self, command: Command) -> None:
        """Pass a command on; nothing happens where the loop has ended."""
        if self._thread.is_alive():
            self._submit(self._run.send(command))

    def end(self) -> None:
        """Cancel the tasks that still run, give them time to clean up, and end the thread."""
        self._submit(self._settle()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _settle(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_SETTLE_S)
        await asyncio.sleep(0)  # transports that were closed say so in the next turn
