"""SQLite's failures as errors for the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from predictor.core.errors import CtmError, HostError, InputError

OTHER_FILE = "name another file with --store; this one was not touched"

REFUSALS = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    ValueError,
)
"""Errors of a row that the store cannot hold, through no failure of the host."""

# The low byte of an SQLite error code is the primary code: https://www.sqlite.org/rescode.html
_PRIMARY = 0xFF

_HOST_FAILURES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full, and nothing of the last step was stored",
        "free some space and try again",
    ),
    sqlite3.SQLITE_READONLY: (
        "the store or its folder is read-only",
        "make both writable for you, or name another file with --store",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the system does not let it be opened or made for writing",
        "make the file and its folder writable for you, or name another file with --store",
    ),
    sqlite3.SQLITE_PERM: (
        "the system gives no permission to use it",
        "make the file and its folder writable for you, or name another file with --store",
    ),
    sqlite3.SQLITE_BUSY: (
        "another program kept the store locked for longer than the time limit",
        "close the other program and try again",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk failed to read or write it",
        "check the disk, or name a file on another one with --store",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the store is damaged",
        "put a backup in its place, or name another file with --store",
    ),
}


def has_code(error: sqlite3.Error, primary_code: int) -> bool:
    """Return whether ``error`` is of SQLite's ``primary_code`` or of one that refines it."""
    # Errors that Python's binding raises by itself (a wrong thread, a wrong type) have no code.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & _PRIMARY == primary_code


def explain(error: sqlite3.Error, path: Path) -> CtmError | None:
    """Return ``error`` in words for the user, or None where it is a defect of this program."""
    if has_code(error, sqlite3.SQLITE_NOTADB):
        return InputError(
            str(path),
            "the file is not a store of this program (it is no SQLite database)",
            OTHER_FILE,
        )
    for code, (reason, action) in _HOST_FAILURES.items():
        if has_code(error, code):
            return HostError(str(path), reason, action)
    return None


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn failures of the host inside the block into errors for the user.

    Raises:
        HostError: the disk is full, read-only, locked, damaged, not permitted.
        InputError: the file is no SQLite database.
    """
    try:
        yield
    except sqlite3.Error as error:
        meaning = explain(error, path)
        if meaning is None:
            raise
        raise meaning from error
