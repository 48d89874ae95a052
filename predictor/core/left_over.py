"""What killed programs leave: partial files, found by their names and by notes of where they are.

A partial file carries the number of its process, ``NAME.PROCESS.partial``, so one that a living
process writes differs from one that no process will finish. It may lie in any folder of the user's:
while it is written, a note of its path lies in our own, and the next start looks into the notes.
Nothing is removed but a file of such a name whose process has ended.
"""

from __future__ import annotations

import itertools
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from predictor.core.text import printable

LOG: Final = logging.getLogger(__name__)
"""Gets a warning, in words for the user, for each file that is removed."""

# Of 255 that file systems allow a name; number and ending need the rest.
_NAME_BYTES: Final = 200
_ENDING: Final = re.compile(r"\.(\d{1,10})\.(?:partial|restoring)(?:\.\d{1,10}\.partial)?")
_LONGEST_PATH: Final = 2**16
_PRIVATE_FOLDER: Final = 0o700

_numbers = itertools.count()


def partial_path(target: Path, ending: str = "partial") -> Path:
    """Return where this process writes what is to become ``target``: in the same folder."""
    # A rename is atomic only within one file system.
    return target.with_name(f"{_short(target.name)}.{os.getpid()}.{ending}")


@contextmanager
def noted(path: Path) -> Iterator[None]:
    """Keep a note of a partial file while the block writes it."""
    note = None
    # Without a note the file is still found when its target is written again.
    with suppress(OSError):
        folder = _folder()
        folder.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
        note = folder / f"{os.getpid()}.{next(_numbers)}"
        note.write_bytes(os.fsencode(path))
    try:
        yield
    finally:
        if note is not None:
            with suppress(OSError):
                note.unlink()


def remove_noted() -> None:
    """Remove the partial files that killed programs have noted, and their notes; at a start."""
    for name in _names(folder := _folder()):
        note, process = folder / name, name.partition(".")[0]
        with suppress(OSError, ValueError):
            if process.isdecimal() and note.is_file() and _is_left(note, int(process)):
                with note.open("rb") as file:
                    path = Path(os.fsdecode(file.read(_LONGEST_PATH)))
                _remove(path, max(path.name.rfind(f".{process}."), 0))
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
    if ending is not None and path.is_file() and _is_left(path, int(ending[1])):
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


def _is_left(path: Path, process: int) -> bool:
    """Whether the process that wrote a file has ended; its number may be another's by now."""
    import psutil  # noqa: PLC0415 - 10 ms that only what a kill left has to wait for

    try:
        started: float = psutil.Process(process).create_time()
    except psutil.NoSuchProcess:
        return True
    # Clocks of files are coarse.
    return path.stat().st_mtime < started - 1
