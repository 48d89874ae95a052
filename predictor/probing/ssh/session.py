"""Our end of the agent on the board: requests, files, and the runner's lines as they come."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncssh

from predictor.core.errors import HostError
from predictor.core.progress import Progress, ProgressCallback
from predictor.probing.measuring.documents import PLAN_FILE
from predictor.probing.ssh.connection import LostError
from predictor.probing.ssh.target import SshTarget

# Read as text and never imported here: it needs Linux, and this may be another system.
_AGENT = Path(__file__).with_name("board_agent.py")
_AGENT_FILE = "ctm_board.py"
_OLDEST = (3, 8)
_CHUNK = 1 << 16
# The program comes through standard input, so nothing needs to be on the board before. One line, as
# some shells take no others in quotes, that Python 2 reads too, to say that it is too old.
_BOOT = (
    f"import sys;old=sys.version_info<{_OLDEST};"
    'sys.stdout.write("{\\"old\\":\\"%s\\"}\\n"%sys.version.split()[0]) if old else None;'
    "n=0 if old else int(sys.stdin.buffer.readline());"
    'exec(compile("" if old else sys.stdin.buffer.read(n),"ctm_board","exec"))'
)


class BoardSession:
    """The agent over one connection.

    Attributes:
        messages: what the agent tells unasked: lines of the runner and its end; None when the
            connection is gone.
    """

    def __init__(self, target: SshTarget, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self.messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._target = target
        self._process = process
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last_id = 0
        self._reader: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, target: SshTarget, connection: asyncssh.SSHClientConnection
    ) -> BoardSession:
        """Start the agent.

        Raises:
            HostError: Python, numpy or onnxruntime is missing there, or Python is too old.
            LostError: the connection is gone.
        """
        command = f"{shlex.quote(target.python)} -u -c {shlex.quote(_BOOT)}"
        try:
            process = await connection.create_process(command, encoding=None)
        except (asyncssh.Error, OSError) as error:
            raise LostError(f"it starts no program ({error})") from error
        session = cls(target, process)
        program = _AGENT.read_bytes()
        # Where there is no such Python the shell may have ended before this: its words tell below.
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

    async def _hello(self) -> Mapping[str, Any]:
        """Return the agent's first message; what a login prints before it is passed over."""
        try:
            async with asyncio.timeout(self._target.timeout_s):
                while line := await self._process.stdout.readline():
                    message = _parsed(line)
                    if "agent" in message or "old" in message:
                        return message
                result = await self._process.wait(check=False)
        except TimeoutError as error:
            raise LostError(
                f"its Python does not answer within {self._target.timeout_s:g} s"
            ) from error
        except (asyncssh.Error, OSError) as error:
            raise LostError("it closed the connection") from error
        if result.exit_status is None:
            raise LostError("it closed the connection")
        words = _text(result.stderr).strip().rsplit("\n", 1)[-1]
        raise HostError(
            self._target.label,
            f"{self._target.python} does not start there ({words or result.exit_status})",
            "install Python 3 on the board, or name its program",
        )

    def _check(self, hello: Mapping[str, Any]) -> None:
        oldest = ".".join(map(str, _OLDEST))
        if "old" in hello:
            reason = f"its Python is {hello['old']}, the runner needs {oldest} or later"
            raise HostError(self._target.label, reason, "name a newer Python there")
        missing = " and ".join(hello["agent"]["missing"])
        if missing:
            program = hello["agent"]["program"]
            raise HostError(
                self._target.label,
                f"{missing} {'are' if ' and ' in missing else 'is'} not installed for {program}",
                f"run there: {program} -m pip install {missing.replace(' and ', ' ')}",
            )

    async def _read(self) -> None:
        try:
            while line := await self._process.stdout.readline():
                message = _parsed(line)
                answer = self._answers.pop(message.get("id", 0), None)
                if answer is not None and not answer.done():
                    answer.set_result(message)
                elif "line" in message or "exit" in message:
                    self.messages.put_nowait(message)
        except (asyncssh.Error, OSError):
            pass  # the same as an end: nothing more will come
        finally:
            self.messages.put_nowait(None)
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(LostError("it closed the connection"))

    async def request(self, do: str, *, content: bytes = b"", **fields: Any) -> Any:
        """Ask the agent for something and return its answer.

        Args:
            do: name of the command.
            content: bytes that follow it.
            fields: its arguments.

        Raises:
            HostError: the board cannot do it: no space, no permission.
            LostError: the connection is gone.
        """
        if self._reader is None or self._reader.done():
            raise LostError("it closed the connection")
        self._last_id += 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._last_id] = answer
        self._write(json.dumps({"id": self._last_id, "do": do, **fields}).encode("ascii") + b"\n")
        try:
            for start in range(0, len(content), _CHUNK):
                self._write(content[start : start + _CHUNK])
                await self._process.stdin.drain()
        except (asyncssh.Error, OSError) as error:
            raise LostError("it closed the connection") from error
        message = await answer
        if "error" in message:
            raise self._refused(message, fields.get("name", self._target.folder))
        return message["ok"]

    def _refused(self, message: Mapping[str, Any], subject: str) -> HostError:
        if message["error"] == "full":
            return HostError(
                self._target.label,
                f"there is no space for {subject} ({message['words']})",
                "free some space there, or name another folder",
            )
        action = "check the folder on the board"
        return HostError(self._target.label, f"{subject}: {message['words']}", action)

    async def copy(
        self, folder: str, files: Iterable[tuple[str, bytes]], progress: ProgressCallback
    ) -> None:
        """Bring files to a folder on the board, those that it lacks.

        Raises:
            HostError: the board cannot take them.
            LostError: the connection is gone.
        """
        contents = dict(files)
        contents[_AGENT_FILE] = _AGENT.read_bytes()
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
        plan = json.loads(contents[PLAN_FILE])
        missing = await self.request("open", folder=folder, files=digests, plan=plan)
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
            LostError: the connection is gone.
        """
        answer = await self.request("start", generation=generation, offset=offset)
        return int(answer["generation"])

    def close(self) -> None:
        """End the agent; the runner goes on unless it was removed."""
        if self._reader is not None:
            self._reader.cancel()
        self._process.close()


def _parsed(line: bytes) -> dict[str, Any]:
    """Return a message; a line that is none of the agent's gives an empty one."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _text(data: object) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data or "")
