"""An SSH server in this process that stands for a board which answers as it likes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import asyncssh

from predictor.probing.ssh.host_keys import KnownHosts
from predictor.probing.ssh.runner import SshRunner
from predictor.probing.ssh.target import SshTarget
from tests.support.ssh_scripts import FINISHED, STARTED, Script

Process = asyncssh.SSHServerProcess[bytes]
Mode = Callable[[Process], Awaitable[None]]

HELLO = {"agent": {"missing": [], "program": "python3"}}


def line(message: object) -> bytes:
    """Return a message as it goes over the wire."""
    return json.dumps(message).encode() + b"\n"


async def silent(process: Process) -> None:
    await process.stdin.read()


class Board:
    """An SSH server in a thread of its own that lets everybody in."""

    def __init__(self, folder: Path) -> None:
        self.mode: Mode = silent
        self._key = asyncssh.generate_private_key("ssh-ed25519")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.port: int = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        shown = self._key.export_public_key("openssh").decode()
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {shown}", encoding="utf-8")
        self.known = KnownHosts(folder / "known", read_only=())

    async def _listen(self) -> int:
        class Open(asyncssh.SSHServer):
            def begin_auth(self, _: str) -> bool:
                return False

        self._server = await asyncssh.create_server(
            Open,
            "127.0.0.1",
            0,
            server_host_keys=[self._key],
            process_factory=self._serve,
            encoding=None,
        )
        return self._server.get_port()

    async def _serve(self, process: Process) -> None:
        with suppress(asyncssh.Error, OSError, asyncio.IncompleteReadError):
            await self.mode(process)

    def stop(self) -> None:
        async def end() -> None:
            self._server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def runner(self, silence_s: float) -> SshRunner:
        """A runner that waits this long, where one of the user's waits half a minute."""
        target = SshTarget(
            host="127.0.0.1", user="me", port=self.port, timeout_s=silence_s, silence_s=silence_s,
            use_ssh_config=False,
        )  # fmt: skip
        script = Script(STARTED, FINISHED)
        return SshRunner(target=target, known_hosts=self.known, patience_s=0.5, files=script)
