"""Runs on the board, with Python 3.8 and its standard library alone.

As the agent it lives as long as the connection and answers commands of standard input. The runner
itself is started by a separate keeper process, so that a lost connection costs no measurement: the
next agent finds the keeper, or what it left, in the plan's folder.

    plan.json, ctm_runner.pyz, networks/...   as ``carried_files`` gives them
    ctm_board.py    this file, for the keeper
    lines.N         the runner's lines; N counts the keepers of this folder
    exit.N          the runner's exit code, when it has ended
    commands.N      commands for the runner
    lock            held by the keeper while it lives; holds its process id
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

POLL_S = 0.05
STOP_S = 0.5
START_S = 10.0
LOCK_S = 2.0
AGENT_FILE = "ctm_board.py"
RUNNER_FILE = "ctm_runner.pyz"
PLAN_FILE = "plan.json"
_CHUNK = 1 << 16


class RefusedError(Exception):
    """A command that cannot be done: a code for the other side, and words."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(code, words)
        self.code = code
        self.words = words


def refusal_of(error: OSError) -> RefusedError:
    """Return what an error of the system means."""
    # A limit on the size of files shows as EFBIG, a quota as EDQUOT.
    full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    return RefusedError("full" if full else "file", error.strerror or str(error))


class Agent:
    """Answers commands, one JSON line each; ``put`` is followed by the bytes of a file."""

    def __init__(self, commands: Any, answers: Any) -> None:
        self._commands = commands
        self._answers = answers
        self._sending = threading.Lock()
        self._folder = Path()

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        data = json.dumps(message).encode("ascii") + b"\n"
        with self._sending:
            self._answers.write(data)
            self._answers.flush()

    def serve(self) -> None:
        """Answer until standard input ends."""
        self.send({"agent": facts()})
        for line in self._commands:
            command = json.loads(line.decode("utf-8"))
            try:
                answer = {"ok": getattr(self, "do_" + command["do"])(command)}
            except OSError as error:
                refusal = refusal_of(error)
                answer = {"error": refusal.code, "words": refusal.words}
            except RefusedError as refused:
                answer = {"error": refused.code, "words": refused.words}
            self.send({"id": command["id"], **answer})

    def do_open(self, command: dict[str, Any]) -> list[str]:
        """Take the folder of a plan; return the names of the files that it lacks.

        A plan of the same kind that names all these networks and more is kept: the program that
        asks was ended meanwhile, and asks only for what it has not got.
        """
        self._folder = Path(command["folder"]).expanduser()
        files = dict(command["files"])
        plan = self._folder / PLAN_FILE
        if plan.exists() and sha256(plan) != files[PLAN_FILE]:
            if covers(plan, command["plan"]):
                del files[PLAN_FILE]
            else:
                remove(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        return [
            name
            for name, digest in files.items()
            if not self._path(name).is_file() or sha256(self._path(name)) != digest
        ]

    def do_put(self, command: dict[str, Any]) -> None:
        """Take one file; it appears under its name when it is whole and right."""
        path = self._path(command["name"])
        partial = path.with_name(path.name + ".partial")
        try:
            self._receive(partial, command["size"], command["sha256"])
        except (OSError, RefusedError):
            with suppress(OSError):
                partial.unlink()
            raise
        partial.replace(path)

    def _receive(self, path: Path, size: int, digest: str) -> None:
        """Write the next bytes of standard input to a file; all are read, whatever happens."""
        left, sha256 = size, hashlib.sha256()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                while left:
                    data = self._read(min(left, _CHUNK))
                    left -= len(data)
                    sha256.update(data)
                    file.write(data)
        finally:
            while left:
                left -= len(self._read(min(left, _CHUNK)))
        if sha256.hexdigest() != digest:
            raise RefusedError("damaged", "its checksum differs")

    def _read(self, size: int) -> bytes:
        data: bytes = self._commands.read(size)
        if not data:
            os._exit(0)  # the connection is gone
        return data

    def _path(self, name: str) -> Path:
        path = Path(name)
        if not path.parts or ".." in path.parts or path.is_absolute():
            raise RefusedError("file", f"bad name {name!r}")
        return self._folder / path

    def do_start(self, command: dict[str, Any]) -> dict[str, int]:
        """Start the runner, or find it at work or done; then send its lines."""
        folder, last = self._folder, generation(self._folder)
        if not is_locked(folder) and (last == 0 or exit_code(folder, last) != 0):
            last += 1
            begin_generation(folder, last)
            launch(folder, last)
        offset = command["offset"] if command["generation"] == last else 0
        follower = Follower(folder, last, offset, self.send)
        threading.Thread(target=follower.follow, daemon=True).start()
        return {"generation": last}

    def do_look(self, _command: dict[str, Any]) -> None:
        """Answer that the connection stands, while the runner writes nothing."""

    def do_tell(self, command: dict[str, Any]) -> None:
        """Pass a command on to the runner."""
        with commands_path(self._folder).open("ab") as file:
            file.write(json.dumps({"command": command["command"]}).encode("ascii") + b"\n")

    def do_remove(self, command: dict[str, Any]) -> None:
        """End the runner and remove the folder."""
        remove(Path(command["folder"]).expanduser())


class Follower:
    """Sends the lines of a generation from an offset on, and how it ended."""

    def __init__(
        self, folder: Path, number: int, offset: int, send: Callable[[dict[str, Any]], None]
    ) -> None:
        self._folder = folder
        self._number = number
        self._offset = offset
        self._send = send

    def follow(self) -> None:
        """Send new lines until the keeper has ended."""
        while True:
            alive = is_locked(self._folder)  # before the last look, so that nothing is missed
            self._send_new()
            if not alive:
                break
            time.sleep(POLL_S)
        code = exit_code(self._folder, self._number)
        self._send({"exit": code, "words": last_words(self._folder), "free": free(self._folder)})

    def _send_new(self) -> None:
        try:
            with (self._folder / f"lines.{self._number}").open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            self._offset += len(line)
            text = line.decode("utf-8", "replace")
            self._send({"generation": self._number, "offset": self._offset, "line": text})


def facts() -> dict[str, Any]:
    """Return what the other side must know before it sends anything."""
    missing = [n for n in ("numpy", "onnxruntime") if importlib.util.find_spec(n) is None]
    return {"python": sys.version.split()[0], "program": sys.executable, "missing": missing}


def covers(path: Path, wanted: dict[str, Any]) -> bool:
    """Return whether a plan's file differs from a plan in having more networks alone."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        networks = stored.pop("networks")
    except (ValueError, KeyError, AttributeError, TypeError):  # another form of plan
        return False
    rest = {key: value for key, value in wanted.items() if key != "networks"}
    return bool(stored == rest) and all(network in networks for network in wanted["networks"])


def sha256(path: Path) -> str:
    """Return the SHA-256 (hex) of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for data in iter(lambda: file.read(_CHUNK), b""):
            digest.update(data)
    return digest.hexdigest()


def free(folder: Path) -> int | None:
    """Return the free bytes where a folder is, or None."""
    try:
        return shutil.disk_usage(str(folder)).free
    except OSError:
        return None


def generation(folder: Path) -> int:
    """Return the number of the latest keeper, 0 for none."""
    return max((int(path.suffix[1:]) for path in folder.glob("lines.*")), default=0)


def begin_generation(folder: Path, number: int) -> None:
    """Start a new file of lines with what earlier ones measured."""
    results = b""
    earlier = folder / f"lines.{number - 1}"
    if earlier.exists():
        lines = earlier.read_bytes().splitlines(keepends=True)
        results = b"".join(n for n in lines if b'"kind":"result"' in n and n.endswith(b"\n"))
    (folder / f"lines.{number}").write_bytes(results)


def commands_path(folder: Path) -> Path:
    """Return the file of the latest runner's commands."""
    return folder / f"commands.{generation(folder)}"


def exit_code(folder: Path, number: int) -> int | None:
    """Return the exit code of a generation's runner, None where it is not known."""
    try:
        return int((folder / f"exit.{number}").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def last_words(folder: Path) -> str:
    """Return the last line that the runner wrote to standard error."""
    try:
        lines = (folder / "errors").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")[:200]


def is_locked(folder: Path) -> bool:
    """Return whether a keeper lives."""
    try:
        with (folder / "lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def launch(folder: Path, number: int) -> None:
    """Start the keeper in a session of its own, and wait until it holds the lock or has ended."""
    command = [sys.executable, str(folder / AGENT_FILE), "keep", str(folder), str(number)]
    nothing = subprocess.DEVNULL
    keeper = subprocess.Popen(
        command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
    )
    end = time.monotonic() + START_S
    while not is_locked(folder) and keeper.poll() is None and time.monotonic() < end:
        time.sleep(POLL_S)


def keep(folder: Path, number: int) -> None:
    """Run the runner as its keeper and pass on its commands."""
    with (folder / "lock").open("ab") as lock:
        if not acquire(lock):
            return
        lock.truncate(0)
        lock.write(str(os.getpid()).encode("ascii"))
        lock.flush()
        code = run(folder, number)
        (folder / f"exit.{number}").write_text(str(code), encoding="ascii")


def acquire(lock: Any) -> bool:
    """Take the lock; a process that reads its state holds it for a moment."""
    end = time.monotonic() + LOCK_S
    while time.monotonic() < end:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(POLL_S / 5)
    return False


def run(folder: Path, number: int) -> int:
    """Run the runner to its end and return its exit code."""
    program = [sys.executable, str(folder / RUNNER_FILE), "run", "--lines", "--attached"]
    files = ["--plan", str(folder / PLAN_FILE), "--results", str(folder / "results.json")]
    commands, offset = folder / f"commands.{number}", 0
    with (folder / f"lines.{number}").open("ab") as lines, (folder / "errors").open("wb") as words:
        child = subprocess.Popen(program + files, stdin=subprocess.PIPE, stdout=lines, stderr=words)
        while child.poll() is None:
            data = commands.read_bytes()[offset:] if commands.exists() else b""
            if data and child.stdin is not None:
                offset += len(data)
                with suppress(OSError):  # it has just ended
                    child.stdin.write(data)
                    child.stdin.flush()
            time.sleep(POLL_S)
    return child.returncode


def stop(folder: Path) -> None:
    """End the keeper and all that it started."""
    if not is_locked(folder):
        return
    with commands_path(folder).open("ab") as file:
        file.write(b'{"command":"stop"}\n')
    end = time.monotonic() + STOP_S
    while is_locked(folder) and time.monotonic() < end:
        time.sleep(POLL_S)
    if is_locked(folder):
        os.killpg(int((folder / "lock").read_text(encoding="ascii")), signal.SIGKILL)


def remove(folder: Path) -> None:
    """End the runner, remove the folder, and the one above it where nothing else is in it."""
    with suppress(OSError, ValueError):  # a full disk takes no command; the keeper may just end
        stop(folder)
    shutil.rmtree(str(folder), ignore_errors=True)
    with suppress(OSError):  # another plan's folder is there
        folder.parent.rmdir()


def main(arguments: Sequence[str]) -> None:
    """Run as the keeper, or as the agent."""
    if list(arguments[:1]) == ["keep"]:
        keep(Path(arguments[1]), int(arguments[2]))
    else:
        Agent(sys.stdin.buffer, sys.stdout.buffer).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
