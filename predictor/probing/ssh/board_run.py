"""One plan on one board: copy, start, follow, come back after a loss, clean up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import asyncssh

from predictor.core.errors import CtmError, HostError, InputError
from predictor.core.progress import Progress, ProgressCallback
from predictor.core.text import shortened
from predictor.core.units import format_bytes
from predictor.probing.measuring import interface
from predictor.probing.measuring.documents import event_of
from predictor.probing.runner.messages import parse_line
from predictor.probing.ssh.connection import Ask, LostError, connect
from predictor.probing.ssh.host_keys import KnownHosts
from predictor.probing.ssh.replies import ReplyError, RunnerEnd, RunnerLine
from predictor.probing.ssh.session import BoardSession
from predictor.probing.ssh.target import SshTarget

_log = logging.getLogger(__name__)

_FIRST_DELAY_S = 0.2
_LONGEST_DELAY_S = 10.0
# After half of a silence and a whole one: a board that is gone costs half a minute at most.
_CLEAN_UP_S = 5.0
# A cancelled run ends within a second: its clean-up has less time than others.
_CANCEL_S = 0.6
_MAX_RESTARTS = 3
_SMALL_DISK_BYTES = 2**20


@dataclass(eq=False, kw_only=True)
class BoardRun:
    """Measures a plan on a board.

    Attributes:
        target: where and as whom.
        known_hosts: whose keys are trusted.
        ask: asked about the key of a host that no file knows.
        post: given each event.
        progress: called with the state of copying.
        patience_s: so long the board may be out of reach.
    """

    target: SshTarget
    known_hosts: KnownHosts
    ask: Ask
    post: Callable[[interface.ProbeEvent], None]
    progress: ProgressCallback
    patience_s: float
    _session: BoardSession | None = field(default=None, init=False)
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _pending: list[interface.Command] = field(default_factory=list, init=False)
    _generation: int = field(default=0, init=False)
    _offset: int = field(default=0, init=False)
    _started: bool = field(default=False, init=False)
    _finished: bool = field(default=False, init=False)
    _wanted: frozenset[str] = field(default=frozenset(), init=False)
    _done: set[str] = field(default_factory=set, init=False)
    _restarts: int = field(default=0, init=False)
    _contact_s: float | None = field(default=None, init=False)

    async def measure(
        self, plan: interface.MeasuringPlan, files: Sequence[tuple[str, bytes]]
    ) -> None:
        """Measure and post events; ``RunFinished`` is the last, when the board is clean again.

        Args:
            plan: networks, configuration and settings.
            files: names and contents for the plan's folder on the board.

        Raises:
            InputError: the board cannot be reached as described.
            HostError: the board fails, or stays out of reach.
        """
        folder = f"{self.target.folder}/{plan.id}"
        self._wanted = frozenset(network.name for network in plan.networks)
        delay_s = _FIRST_DELAY_S
        while True:
            contact_s = self._contact_s
            try:
                async with await connect(self.target, self.known_hosts, self.ask) as connection:
                    await self._measure_over(connection, folder, files)
                break
            except LostError as error:
                self._check_patience(error)
                _log.info("%s: %s", self.target.label, error.words)
            except ReplyError as error:
                reason = f"what answers there is not the agent that was started ({error})"
                action = "check the address and the Python of the board"
                raise HostError(self.target.label, reason, action) from error
            # Any word from the board since the last attempt starts the delays again.
            delay_s = _FIRST_DELAY_S if self._contact_s != contact_s else delay_s * 2
            await asyncio.sleep(min(delay_s, _LONGEST_DELAY_S))
        self.post(interface.RunFinished())

    def _check_patience(self, error: LostError) -> None:
        if self._contact_s is None:
            action = "check the address, and that the SSH server of the board runs"
            raise InputError(self.target.label, error.words, action) from error
        if asyncio.get_running_loop().time() - self._contact_s > self.patience_s:
            raise HostError(
                self.target.label,
                f"the connection was lost and did not come back within {self.patience_s:g} s "
                f"({error.words})",
                "run the same plan again: the board measures on, and nothing of it is lost",
            ) from error

    async def _measure_over(
        self,
        connection: asyncssh.SSHClientConnection,
        folder: str,
        files: Sequence[tuple[str, bytes]],
    ) -> None:
        session = await BoardSession.start(self.target, connection)
        # Later a greeting alone is no contact: a board that closes after it was tried for ever.
        if self._contact_s is None:
            self._touch()
        try:
            await session.copy(folder, files, self._copied)
            self._session = session
            await self._follow_to_the_end(session)
        except (CtmError, ReplyError):
            session.close()
            await self._clean_up(connection, folder, min(_CLEAN_UP_S, self.target.silence_s))
            raise
        except asyncio.CancelledError:
            session.close()
            await self._clean_up(connection, folder, _CANCEL_S)
            raise
        else:
            with suppress(
                LostError, ReplyError, HostError
            ):  # all is measured: files left there are no reason to fail
                await session.request("remove", folder=folder)
        finally:
            self._session = None
            session.close()

    async def _clean_up(
        self, connection: asyncssh.SSHClientConnection, folder: str, limit_s: float
    ) -> None:
        """End the runner and remove the copied files, by a fresh agent: the old one may be busy.

        When the time is over the agent goes on by itself.
        """
        with suppress(LostError, ReplyError, CtmError, TimeoutError):
            async with asyncio.timeout(limit_s):
                session = await BoardSession.start(self.target, connection)
                await session.request("remove", folder=folder)

    async def _follow_to_the_end(self, session: BoardSession) -> None:
        while not self._finished:
            number = await session.start_runner(self._generation, self._offset)
            if number != self._generation:
                # The lines of another generation come from its start.
                self._generation, self._offset = number, 0
            self._touch()
            await self._send_pending(session)
            self._judge(await self._follow(session))

    async def _follow(self, session: BoardSession) -> RunnerEnd:
        """Take the runner's lines, and return its end."""
        while isinstance(message := await session.message(), RunnerLine):
            self._touch()
            if message.generation == self._generation:
                self._offset = message.offset
                self._take(message.text)
        return message

    def _copied(self, progress: Progress) -> None:
        self._touch()
        self.progress(progress)

    def _touch(self) -> None:
        self._contact_s = asyncio.get_running_loop().time()

    def _take(self, line: str) -> None:
        message = parse_line(line.encode())
        if message is None:
            _log.info("the runner printed: %s", shortened(line, 500))
            return
        payload = message["payload"]
        if message["kind"] == "error" and payload.get("event") == "run":
            refusal = InputError if payload.get("code") == InputError.exit_code else HostError
            reason = str(payload.get("reason"))
            raise refusal(self.target.label, reason, "install what is missing, or plan again")
        event = event_of(message)
        if isinstance(event, interface.RunFinished):
            self._finished = True
        elif event is not None and self._is_new(event):
            self.post(event)

    def _is_new(self, event: interface.ProbeEvent) -> bool:
        """Return whether an event is of this plan and new.

        A runner that was started again repeats some events, and one that is found at work may
        measure more networks than this plan has.
        """
        if (
            isinstance(event, interface.BlockStarted | interface.Samples | interface.NetworkFailed)
            and event.sentinel
        ):
            return True
        name = getattr(event, "name", None)
        if name is not None and name not in self._wanted:
            return False
        if isinstance(event, interface.RunStarted):
            was_started, self._started = self._started, True
            return not was_started
        if not isinstance(event, interface.NetworkDone):
            return True
        if event.name in self._done:
            return False
        self._done.add(event.name)
        self._restarts = 0
        return True

    def _judge(self, ending: RunnerEnd) -> None:
        """Raise where the runner ended too soon and another start would not help."""
        if self._finished:
            return
        free = ending.free_bytes
        if free is not None and free < _SMALL_DISK_BYTES:
            reason = f"its disk is full ({format_bytes(free)} are free)"
            raise HostError(self.target.label, reason, "free some space there, then run again")
        # Without an exit code the system killed it, as it does when a board is switched off.
        if ending.code is None and self._restarts < _MAX_RESTARTS:
            self._restarts += 1
            return
        how = "no exit code" if ending.code is None else f"exit code {ending.code}"
        reason = f"its runner ended with {how}{': ' if ending.words else ''}{ending.words}"
        raise HostError(self.target.label, reason, "try again")

    async def send(self, command: interface.Command) -> None:
        """Send the runner a command, now or when the connection stands again."""
        self._pending.append(command)
        if self._session is not None:
            with suppress(LostError):  # it is sent after the next start
                await self._send_pending(self._session)

    async def _send_pending(self, session: BoardSession) -> None:
        async with self._sending:
            while self._pending:
                await session.request("tell", command=self._pending[0].value)
                # Only after the answer: a command whose connection was lost is sent again.
                del self._pending[0]
