"""Our end of the agent on the board: requests, files, and the runner's lines as they come."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncssh

from predictor.core.errors import HostError
from predictor.core.progress import Progress, ProgressCallback
from predictor.core.text import shortened
from predictor.core.units import format_bytes
from predictor.probing.measuring.documents import PLAN_FILE
from predictor.probing.ssh import replies
from predictor.probing.ssh.connection import LostError
from predictor.probing.ssh.target import SshTarget

# Read as text and never imported here: it needs Linux, and this may be another system.
_AGENT = Path(__file__).with_name("board_agent.py")
_AGENT_FILE = "ctm_board.py"
_OLDEST = (3, 8)
_CHUNK = 1 << 16
_LONGEST_WORDS = 200
# The program comes through standard input, so nothing needs to be on the board before. One line, as
# some shells take no others in quotes, that Python 2 reads too, to say that it is too old.
_BOOT = (
    f"import sys;old=sys.version_info<{_OLDEST};"
    'sys.stdout.write("{\\"old\\":\\"%s\\"}\\n"%sys.version.split()[0]) if old else None;'
    "n=0 if old else int(sys.stdin.buffer.readline());"
    'exec(compile("" if old else sys.stdin.buffer.read(n),"ctm_board","exec"))'
)


class BoardSession:
    """The agent over one connection."""

    def __init__(self, target: SshTarget, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._target = target
        self._process = process
        self._messages: asyncio.Queue[replies.RunnerLine | replies.RunnerEnd | None] = (
            asyncio.Queue()
        )
        self._answers: dict[int, asyncio.Future[replies.Answer]] = {}
        self._last_id = 0
        self._reader: asyncio.Task[None] | None = None
        # Raised wherever something of the agent is awaited once nothing more will come.
        self._failure: LostError | replies.ReplyError = LostError("it closed the connection")

    @classmethod
    async def start(
        cls, target: SshTarget, connection: asyncssh.SSHClientConnection
    ) -> BoardSession:
        """Start the agent.

        Raises:
            HostError: Python, numpy or onnxruntime is missing there, or Python is too old.
            ReplyError: something else answers.
            LostError: the connection is gone.
        """
        command = f"{shlex.quote(target.python)} -u -c {shlex.quote(_BOOT)}"
        try:
            async with asyncio.timeout(target.timeout_s):
                process = await connection.create_process(command, encoding=None)
        except (asyncssh.Error, OSError) as error:
            raise LostError(f"it starts no program ({error or 'no answer'})") from error
        session = cls(target, process)
        program = _AGENT.read_bytes()
        # Where there is no such Python the shell may have ended already: its words follow below.
        with suppress(LostError):
            session._write(b"%d\n" % len(program) + program)
        session._check(await session._hello())
        session._reader = asyncio.create_task(session._read())
        return session

    def _write(self, data: bytes) -> None:
        try:
            self._process.stdin.write(data)
        except (asyncssh.Error, OSError) as error:
            raise LostError("it closed the connection") from error

    async def _hello(self) -> replies.Hello | replies.OldPython:
        """Return the agent's first reply; prints of a login before it are passed over."""
        try:
            async with asyncio.timeout(self._target.timeout_s):
                async for reply in self._replies():
                    if isinstance(reply, replies.Hello | replies.OldPython):
                        return reply
                result = await self._process.wait(check=False)
        except TimeoutError as error:
            raise LostError(
                f"its Python does not answer within {self._target.timeout_s:g} s"
            ) from error
        except (asyncssh.Error, OSError) as error:
            raise LostError("it closed the connection") from error
        if result.exit_status is None:
            raise LostError("it closed the connection")
        words = shortened(_text(result.stderr).strip().rsplit("\n", 1)[-1], _LONGEST_WORDS)
        raise HostError(
            self._target.label,
            f"{self._target.python} does not start there ({words or result.exit_status})",
            "install Python 3 on the board, or name its program",
        )

    def _check(self, hello: replies.Hello | replies.OldPython) -> None:
        oldest = ".".join(map(str, _OLDEST))
        if isinstance(hello, replies.OldPython):
            reason = f"its Python is {hello.version}, the runner needs {oldest} or later"
            raise HostError(self._target.label, reason, "name a newer Python there")
        missing = " and ".join(hello.missing)
        if missing:
            raise HostError(
                self._target.label,
                f"{missing} {'are' if len(hello.missing) > 1 else 'is'} not installed for "
                f"{hello.program}",
                f"run there: {hello.program} -m pip install {' '.join(hello.missing)}",
            )

    async def _replies(self) -> AsyncIterator[replies.Reply]:
        """Yield the replies until the connection ends.

        Raises:
            ReplyError: one is wrong or too long.
        """
        while line := await self._line():
            reply = replies.parse_reply(line)
            if reply is not None:
                yield reply

    async def _line(self) -> bytes:
        """Return the next line; empty at the end."""
        line = b""
        # A line that fills the window of the connection comes in parts.
        while not line.endswith(b"\n") and (part := await self._process.stdout.readline()):
            line += part
            if len(line) > replies.LONGEST_LINE_BYTES:
                raise replies.ReplyError(
                    f"it is longer than {format_bytes(replies.LONGEST_LINE_BYTES)}"
                )
        return line

    async def _read(self) -> None:
        try:
            async for reply in self._replies():
                if isinstance(reply, replies.Answer):
                    answer = self._answers.pop(reply.id, None)
                    if answer is not None and not answer.done():
                        answer.set_result(reply)
                elif isinstance(reply, replies.RunnerLine | replies.RunnerEnd):
                    self._messages.put_nowait(reply)
        except (asyncssh.Error, OSError):
            pass  # the same as an end: nothing more will come
        except replies.ReplyError as error:
            self._failure = error
        finally:
            self._messages.put_nowait(None)
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(self._failure)

    async def message(self) -> replies.RunnerLine | replies.RunnerEnd:
        """Return the agent's next message of the runner.

        Raises:
            HostError: neither runner nor agent has said anything for too long.
            ReplyError: its message is another one.
            LostError: the connection is gone.
        """
        while True:
            try:
                async with asyncio.timeout(self._target.silence_s / 2):
                    message = await self._messages.get()
            except TimeoutError:
                # A runner that loads a large network is silent for a minute: the agent is not.
                await self.request("look")
            else:
                break
        if message is None:
            raise self._failure
        return message

    @asynccontextmanager
    async def _limited(self) -> AsyncIterator[None]:
        """Give up on a board that stays silent for too long."""
        try:
            async with asyncio.timeout(self._target.silence_s):
                yield
        except TimeoutError as error:
            reason = f"it has been silent for {self._target.silence_s:g} s"
            action = "check that the board is not busy with something else, then run again"
            raise HostError(self._target.label, reason, action) from error
        except (asyncssh.Error, OSError) as error:
            raise LostError("it closed the connection") from error

    async def request(self, do: str, *, content: bytes = b"", **fields: Any) -> object:
        """Ask the agent for something and return its answer.

        Args:
            do: name of the command.
            content: bytes that follow it.
            fields: its arguments.

        Raises:
            HostError: the board cannot do it (no space, no permission), or does not answer.
            LostError: the connection is gone.
        """
        if self._reader is None or self._reader.done():
            raise self._failure
        self._last_id += 1
        future: asyncio.Future[replies.Answer] = asyncio.get_running_loop().create_future()
        self._answers[self._last_id] = future
        self._write(json.dumps({"id": self._last_id, "do": do, **fields}).encode("ascii") + b"\n")
        # In chunks, so that the limit of silence holds for each and not for the whole file.
        for start in range(0, len(content), _CHUNK):
            self._write(content[start : start + _CHUNK])
            async with self._limited():
                await self._process.stdin.drain()
        async with self._limited():
            answer = await future
        if answer.refusal:
            raise self._refused(answer, fields.get("name", self._target.folder))
        return answer.value

    def _refused(self, answer: replies.Answer, subject: str) -> HostError:
        if answer.refusal == "full":
            return HostError(
                self._target.label,
                f"there is no space for {subject} ({answer.words})",
                "free some space there, or name another folder",
            )
        action = "check the folder on the board"
        return HostError(self._target.label, f"{subject}: {answer.words}", action)

    async def copy(
        self, folder: str, files: Iterable[tuple[str, bytes]], progress: ProgressCallback
    ) -> None:
        """Bring files to a folder on the board, those that it lacks.

        Raises:
            HostError: the board cannot take them.
            ReplyError: something else answers.
            LostError: the connection is gone.
        """
        contents = dict(files)
        contents[_AGENT_FILE] = _AGENT.read_bytes()
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
        plan = json.loads(contents[PLAN_FILE])
        answer = await self.request("open", folder=folder, files=digests, plan=plan)
        missing = replies.missing_files(answer, digests)
        for done, name in enumerate(missing):
            progress(Progress(done, len(missing), f"copying {name}"))
            data = contents[name]
            about = {"name": name, "size": len(data), "sha256": digests[name]}
            await self.request("put", content=data, **about)
        progress(Progress(len(missing), len(missing), "copied"))

    async def start_runner(self, generation: int, offset: int) -> int:
        """Start the runner or find it; its lines come as messages.

        Args:
            generation: whose lines are known here, 0 for none.
            offset: bytes of them that are known.

        Returns:
            The generation of the lines that come; those of another one come from its start.

        Raises:
            HostError: the board cannot start it.
            ReplyError: something else answers.
            LostError: the connection is gone.
        """
        return replies.generation_of(
            await self.request("start", generation=generation, offset=offset)
        )

    def close(self) -> None:
        """End the agent; the runner goes on unless it was removed."""
        if self._reader is not None:
            self._reader.cancel()
        self._process.close()


def _text(data: object) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data or "")
