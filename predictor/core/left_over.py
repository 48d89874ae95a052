"""What killed programs leave: partial files, found by their names and by notes of where they are.

A partial file carries its machine and process, ``NAME.MACHINE-BOOT-SPACE.PROCESS.partial``, so one
that a living process writes differs from one that no process will finish. It may lie in any folder
of the user's: while it is written, a note of its path lies in our own, and the next start looks
into the notes. Nothing is removed but a file of such a name whose process has ended, or whose
machine has started anew since. Processes of another machine or container, which may share the
folder, are not seen here: their files stay.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from predictor.core.text import printable

LOG: Final = logging.getLogger(__name__)
"""Gets a warning, in words for the user, for each file that is removed."""

# Of 255 that file systems allow a name; writer and ending need the rest, twice at a restoring.
_NAME_BYTES: Final = 150
_WRITER: Final = r"([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]{8})\.(\d{1,10})"
# Of files that SQLite writes beside a database.
_DATABASE_ENDINGS: Final = ("-wal", "-shm", "-journal")
_ENDING: Final = re.compile(
    rf"\.{_WRITER}\.(?:partial|restoring)(?:\.{_WRITER}\.partial)?(?:{'|'.join(_DATABASE_ENDINGS)})?"
)
_NOTE: Final = re.compile(rf"{_WRITER}\.\d{{1,10}}")
_LONGEST_PATH: Final = 2**16
_PRIVATE_FOLDER: Final = 0o700

_numbers = itertools.count()


def partial_path(target: Path, ending: str = "partial") -> Path:
    """Return where this process writes what is to become ``target``: in the same folder."""
    # A rename is atomic only within one file system.
    return target.with_name(f"{_short(target.name)}.{_writer()}.{ending}")


@contextmanager
def noted(path: Path) -> Iterator[None]:
    """Keep a note of a partial file while the block writes it."""
    note = None
    # Without a note the file is still found when its target is written again.
    with suppress(OSError):
        folder = _folder()
        folder.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
        note = folder / f"{_writer()}.{next(_numbers)}"
        note.write_bytes(os.fsencode(path))
    try:
        yield
    finally:
        if note is not None:
            with suppress(OSError):
                note.unlink()


@contextmanager
def work_folder(parent: Path, prefix: str = "") -> Iterator[Path]:
    """Make a folder for the block, and remove those that killed programs left beside it.

    Args:
        parent: folder that it is made in.
        prefix: of its name.

    Raises:
        OSError: it cannot be made.
    """
    for name in _names(parent):
        match = _NOTE.fullmatch(name, len(prefix)) if name.startswith(prefix) else None
        with suppress(OSError):
            if match is not None and _is_left(parent / name, match):
                shutil.rmtree(parent / name, ignore_errors=True)
    folder = parent / f"{prefix}{_writer()}.{next(_numbers)}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_noted() -> None:
    """Remove the partial files that killed programs have noted, and their notes; at a start."""
    for name in _names(folder := _folder()):
        note, match = folder / name, _NOTE.fullmatch(name)
        with suppress(OSError, ValueError):
            if match is not None and note.is_file() and _is_left(note, match):
                with note.open("rb") as file:
                    path = Path(os.fsdecode(file.read(_LONGEST_PATH)))
                writer = name.rpartition(".")[0]
                stem = max(path.name.rfind(f".{writer}."), 0)
                for ending in ("", *_DATABASE_ENDINGS):
                    _remove(path.with_name(path.name + ending), stem)
                note.unlink()


def remove_partials(target: Path) -> None:
    """Remove partial files that killed programs left of ``target``."""
    stem = _short(target.name)
    for name in _names(target.parent):
        if name.startswith(f"{stem}."):
            with suppress(OSError):
                _remove(target.with_name(name), len(stem))


def _remove(path: Path, stem: int) -> None:
    """Remove a file whose name has our ending from its character ``stem`` on, if it is left."""
    ending = _ENDING.fullmatch(path.name, stem)
    if ending is not None and path.is_file() and _is_left(path, ending):
        path.unlink()
        LOG.warning(
            "%s was left by a program that was killed, and is removed.", printable(str(path))
        )


def _folder() -> Path:
    import platformdirs  # noqa: PLC0415 - 2 ms, and the tests set the environment before

    return platformdirs.user_state_path("closertome", appauthor=False) / "unfinished"


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names only
    except OSError:
        return []


def _short(name: str) -> str:
    data = os.fsencode(name)
    return name if len(data) <= _NAME_BYTES else data[:_NAME_BYTES].decode(errors="ignore")


def _writer() -> str:
    """Return the part of a name that says which process of which machine writes the file."""
    return f"{'-'.join(_place())}.{os.getpid()}"


@cache
def _place() -> tuple[str, str, str]:
    """Return digests of this machine, its boot, and its name space of processes.

    Outside Linux the last two are those of nothing.
    """
    machine, boot, space = platform.node(), "", ""
    with suppress(OSError):
        machine += Path("/etc/machine-id").read_text(encoding="utf-8")
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8")
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it leads to no file
    return _digest(machine), _digest(boot), _digest(space)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _is_left(path: Path, writer: re.Match[str]) -> bool:
    """Whether the process that wrote a file has ended; its number may be another's by now."""
    import psutil  # noqa: PLC0415 - 10 ms that only what a kill left has to wait for

    machine, boot, space = _place()
    if writer[1] != machine:
        return False
    if writer[2] != boot:
        return True
    if writer[3] != space:
        return False
    try:
        started: float = psutil.Process(int(writer[4])).create_time()
    except psutil.NoSuchProcess:
        return True
    # Clocks of files are coarse.
    return path.stat().st_mtime < started - 1
