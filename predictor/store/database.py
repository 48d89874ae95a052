"""Opening the store: where it is, whether a file is ours, migrating it, and transactions.

A store is recognised by its application id, and its schema by the names of its migrations. A
file that is not ours, or that a newer program has migrated, is refused before anything of it is
written.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import platformdirs

from predictor.core.errors import HostError, InputError
from predictor.store import migrations
from predictor.store.failures import OTHER_FILE, explain, explained, has_code

APPLICATION_ID = 0x43544D31  # "CTM1" in the file's header
ENVIRONMENT_VARIABLE = "CTM_STORE"
# Long enough for another process's commit on a slow disk. The store is never used on the
# window's thread, so a wait stalls nothing that the user sees.
BUSY_TIMEOUT_MS = 10_000
_RETRY_S = 0.005


class Database:
    """An open store. It belongs to the thread that opened it.

    Attributes:
        path: the file.
        connection: to it, in autocommit mode: writes belong into ``transaction``.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write everything in the block, or nothing of it.

        Raises:
            HostError: the disk is full, read-only or failing, or another program holds the store.
        """
        with explained(self.path), _transaction(self.connection):
            yield self.connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read in the block, failures of the host explained."""
        with explained(self.path):
            yield self.connection

    def close(self) -> None:
        """Close the file; the database can't be used any more."""
        self.connection.close()


def store_path(path: Path | None = None) -> Path:
    """Return the store's file: ``path``, else what CTM_STORE names, else the user's data folder."""
    if path is not None:
        return Path(path).absolute()
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Path(named).absolute()
    return Path(platformdirs.user_data_dir("CloserToMe", appauthor=False)) / "store.sqlite"


def open_database(path: Path | None = None, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> Database:
    """Open the store, making its folder and its tables where they are missing.

    Args:
        path: the file; None for CTM_STORE or the user's data folder.
        busy_timeout_ms: how long a step waits for another process that writes.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the disk is full, read-only or failing, or another program holds the store.
    """
    location = store_path(path)
    with explained(location):
        _prepare_folder(location)
        _refuse_foreign_file(location)
        connection = _connect(location, busy_timeout_ms)
        try:
            _refuse_foreign(connection, location)
            if _pending(connection, location):
                _migrate(connection, location, busy_timeout_ms)
        except BaseException:
            connection.close()
            raise
    return Database(location, connection)


def backup_path(path: Path, next_migration: str) -> Path:
    """Return where the copy from before ``next_migration`` is kept."""
    return path.with_name(f"{path.name}.before-{next_migration}.backup")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    # IMMEDIATE takes the write lock at once: a transaction that began by reading could not wait
    # for another writer, SQLite would refuse it.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk ends the transaction by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _prepare_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise InputError(
                str(path),
                f"this is a {'folder' if path.is_dir() else 'device'}, not a file",
                "name a file with --store",
            )
    except OSError as error:
        raise HostError(
            str(path),
            f"its folder cannot be made or read ({error.strerror})",
            "make the folder writable for you, or name another file with --store",
        ) from error


def _refuse_foreign_file(path: Path) -> None:
    """Look at an existing file without writing a byte, a lock or a file beside it.

    SQLite reads it, not ``open``: closing a plain file handle would drop the locks that another
    connection of this process has on the same file (https://www.sqlite.org/howtocorrupt.html,
    2.2). ``immutable`` ignores what stands in the write-ahead log; the real connection sees it.
    """
    if not path.exists():
        return
    with closing(sqlite3.connect(_uri(path, "mode=ro&immutable=1"), uri=True)) as connection:
        try:
            _refuse_foreign(connection, path)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            # A process that copies its log into the file, or was killed at it, leaves the file
            # alone inconsistent: with its log, the real connection reads it.
            if has_code(error, sqlite3.SQLITE_CORRUPT):
                return
            raise
    if version > len(migrations.MIGRATIONS):
        raise _newer(path, f"its schema has version {version}")


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id == APPLICATION_ID:
        return
    # A file without a table is new: a start that was killed before its first commit leaves one.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application_id or tables:
        raise InputError(
            str(path), "this is a database of another program, not a store", OTHER_FILE
        )


def _newer(path: Path, what: str) -> InputError:
    known = len(migrations.MIGRATIONS)
    return InputError(
        str(path),
        f"a newer version of this program made the store ({what}, this program knows "
        f"version {known})",
        "install the newer version, or name another file with --store; this one was not touched",
    )


def _uri(path: Path, options: str) -> str:
    name = path.as_posix()
    # Two slashes and an empty host, so that a Windows share's own two are not taken for a host.
    slash = "" if name.startswith("/") else "/"
    return f"file://{slash}{quote(os.fsencode(name), safe='/:')}?{options}"


def _connect(path: Path, busy_timeout_ms: int) -> sqlite3.Connection:
    # isolation_level None: transactions begin where the code says so, and nowhere else.
    connection = sqlite3.connect(path, timeout=busy_timeout_ms / 1e3, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    # FULL syncs the log at each commit. With NORMAL a power failure may take the last commits,
    # and a measurement that was acknowledged must stay.
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _enable_wal(connection: sqlite3.Connection, busy_timeout_ms: int) -> None:
    """Let readers and the writer work at once; on a disk that can't, SQLite keeps its journal.

    The switch needs the file alone, and SQLite answers "busy" to it at once without waiting, so
    two processes that make one store together would fail without the loop.
    """
    deadline = time.monotonic() + busy_timeout_ms / 1e3
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not has_code(error, sqlite3.SQLITE_BUSY) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)
        else:
            return


def _migrate(connection: sqlite3.Connection, path: Path, busy_timeout_ms: int) -> None:
    """Run what is pending, all or nothing, a copy of a store that has tables made before it."""
    _enable_wal(connection, busy_timeout_ms)
    with _transaction(connection):
        # Another process may have migrated while this one waited for the lock.
        pending = _pending(connection, path)
        if not pending:
            return
        if migrations.applied_names(connection):
            _back_up(path, backup_path(path, pending[0]))
        migrations.apply_pending(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations.MIGRATIONS)}")
    # Into the file itself, where an older program looks before it opens it.
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _pending(connection: sqlite3.Connection, path: Path) -> list[str]:
    applied = migrations.applied_names(connection)
    unknown = migrations.unknown_names(applied)
    if unknown:
        raise _newer(path, f"its schema has the step {unknown[0]}")
    return migrations.pending_names(applied)


def _back_up(path: Path, backup: Path) -> None:
    """Copy the store; a copy from an earlier attempt at the same step is replaced.

    The caller holds the write lock, so nothing is committed in between. It can't be the source
    itself: SQLite copies nothing from a connection that may write.

    Raises:
        HostError: the copy cannot be written; the store is then not migrated.
    """
    partial = backup.with_name(f"{backup.name}.partial")
    try:
        partial.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
            # Without a journal a kill leaves one partial file and nothing beside it.
            copy.execute("PRAGMA journal_mode = OFF")
            source.backup(copy)
        partial.replace(backup)
    except (OSError, sqlite3.OperationalError) as error:
        meaning = explain(error, backup) if isinstance(error, sqlite3.Error) else None
        raise HostError(
            str(backup),
            f"the backup before the upgrade of the store could not be written "
            f"({meaning.reason if meaning else error})",
            "free some space or make the folder writable, and start again",
        ) from error
