"""Connections that read a database and change nothing, on a read-only disk too."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from predictor.core.errors import HostError
from predictor.store.failures import has_code

# Long enough for another process's commit on a slow disk. The store is never used on the
# window's thread, so a wait stalls nothing that the user sees.
BUSY_TIMEOUT_MS = 10_000
READ_ONLY_PLACE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Return a connection that reads a database with its write-ahead log.

    To read a write-ahead log SQLite needs a file beside it. Where none can be made there, the
    database file alone is read: it is all there is unless a process that wrote was killed.

    Raises:
        HostError: the log holds something and cannot be read.
        sqlite3.Error: the file cannot be read.
    """
    # Not "ro": such a connection leaves the files of the log behind when it is the last.
    connection = _connect(path, "mode=rw")
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if not any(has_code(error, code) for code in READ_ONLY_PLACE):
            raise
        _refuse_log(path, error)
        return connect_immutable(path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_immutable(path: Path) -> sqlite3.Connection:
    """Return a connection to a file without writers: no lock, no side file, no log."""
    return _connect(path, "mode=ro&immutable=1")


def uri(path: Path, options: str) -> str:
    """Return the SQLite URI of a file."""
    name = path.absolute().as_posix()
    # Two slashes and an empty host, so that a Windows share's own two are not taken for a host.
    slash = "" if name.startswith("/") else "/"
    return f"file://{slash}{quote(os.fsencode(name), safe='/:')}?{options}"


def _refuse_log(path: Path, error: sqlite3.Error) -> None:
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise HostError(
            str(path),
            "a process that wrote it was killed, and its log cannot be read in a read-only folder",
            f"copy {path.name} and {log.name} to a folder that you may write to",
        ) from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(
        uri(path, options), uri=True, timeout=BUSY_TIMEOUT_MS / 1e3, isolation_level=None
    )
