"""Opening the store: where it is, whether a file is ours, migrating it, and transactions.

A store is recognised by its application id, and its schema by the names of its migrations. A
file that is not ours, or that a newer program has migrated, is refused before anything of it is
written.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path

import platformdirs

from predictor.core.errors import HostError
from predictor.core.files import is_file, is_there
from predictor.core.left_over import remove_partials
from predictor.store import migrations
from predictor.store.copies import SIDE_FILES, write_copy
from predictor.store.failures import REFUSALS, explained, has_code
from predictor.store.reading import BUSY_TIMEOUT_MS, READ_ONLY_PLACE, connect_read_only
from predictor.store.recognition import APPLICATION_ID, newer, refuse_foreign, refuse_foreign_file
from predictor.store.tables import Tables

ENVIRONMENT_VARIABLE = "CTM_STORE"
_RETRY_S = 0.005
_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700


class Database:
    """An open store. It belongs to the thread that opened it.

    Attributes:
        path: the file.
        connection: to it, in autocommit mode: writes belong into ``transaction``.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @cached_property
    def tables(self) -> Tables:
        """The tables."""
        return Tables(self.connection)

    @contextmanager
    def transaction(self) -> Iterator[Tables]:
        """Write everything in the block, or nothing of it; one inside another is a part of it.

        Raises:
            HostError: the disk is full, read-only or failing, or another program holds the store.
        """
        tables = self.tables
        if self.connection.in_transaction:
            yield tables
            return
        with explained(self.path), _transaction(self.connection):
            yield tables

    @contextmanager
    def step(self) -> Iterator[None]:
        """Write the changes of the block, or none where a row is refused; inside a transaction."""
        self.connection.execute("SAVEPOINT step")
        try:
            yield
            self.connection.execute("RELEASE step")
        except REFUSALS:
            self.connection.execute("ROLLBACK TO step")
            self.connection.execute("RELEASE step")
            raise

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        """Read in the block, failures of the host explained."""
        with explained(self.path):
            yield self.tables

    def close(self) -> None:
        """Close the file; the database can't be used any more."""
        self.connection.close()


def store_path(path: Path | None = None) -> Path:
    """Return the store's file: ``path``, else the one in CTM_STORE, else the user's data folder."""
    if path is not None:
        return Path(path).absolute()
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Path(named).absolute()
    return _usual_path()


def _usual_path() -> Path:
    return Path(platformdirs.user_data_dir("CloserToMe", appauthor=False)) / "store.sqlite"


def has_store(path: Path | None = None) -> bool:
    """Whether there is a file at :func:`store_path`; opening would make one."""
    return is_there(store_path(path))


def open_database(path: Path | None = None, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> Database:
    """Open the store, making its folder and its tables where they are missing.

    One that may only be read is opened for reading, and each write to it is refused.

    Args:
        path: the file; None for CTM_STORE or the user's data folder.
        busy_timeout_ms: longest wait of a step for another process that writes.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the disk is full, read-only or failing, or another program holds the store.
    """
    location = store_path(path)
    with explained(location):
        try:
            return _open_for_writing(location, busy_timeout_ms)
        except sqlite3.OperationalError as error:
            if not any(has_code(error, code) for code in READ_ONLY_PLACE) or not is_file(location):
                raise
            return _open_as_it_is(location)


def open_read_only(path: Path | None = None) -> Database:
    """Open an existing store of this schema or an earlier one to look at it.

    Nothing is made, migrated or changed, and the file, its folder and its disk may be read-only.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: it cannot be read.
    """
    location = store_path(path)
    with explained(location):
        refuse_foreign_file(location)
        connection = connect_read_only(location)
        try:
            refuse_foreign(connection, location)
            _pending(connection, location)
        except BaseException:
            connection.close()
            raise
    return Database(location, connection)


def _open_for_writing(location: Path, busy_timeout_ms: int) -> Database:
    _prepare_folder(location)
    refuse_foreign_file(location)
    # Left by a copy whose process was killed: beside the real file, not beside a link.
    remove_partials(Path(os.path.realpath(location)))
    connection = _connect(location, busy_timeout_ms)
    try:
        _keep_private(location)
        refuse_foreign(connection, location)
        if _pending(connection, location):
            _migrate(connection, location, busy_timeout_ms)
    except BaseException:
        connection.close()
        raise
    return Database(location, connection)


def _open_as_it_is(location: Path) -> Database:
    """Open a store that may only be read; one of an earlier schema is migrated in memory."""
    connection = connect_read_only(location)
    try:
        if _pending(connection, location):
            with closing(connection) as origin:
                connection = sqlite3.connect(":memory:", isolation_level=None)
                origin.backup(connection)
            migrations.apply_pending(connection)
        connection.execute("PRAGMA query_only = ON")
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
        path.parent.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
        if path == _usual_path():
            _restrict_to_owner(path.parent, _PRIVATE_FOLDER)
    except OSError as error:
        raise HostError(
            str(path),
            f"its folder cannot be made or read ({error.strerror})",
            "make the folder writable for you, or name another file with --store",
        ) from error


def _keep_private(path: Path) -> None:
    """Restrict the store and its log to the owner; SQLite makes a log with the store's rights."""
    for ending in ("", *SIDE_FILES):
        _restrict_to_owner(path.with_name(f"{path.name}{ending}"), _PRIVATE_FILE)


def _restrict_to_owner(path: Path, mode: int) -> None:
    # Who is not the owner, or on a disk without rights, cannot.
    with suppress(OSError):
        present = stat.S_IMODE(path.stat().st_mode)
        if present & ~mode:
            path.chmod(present & mode)


def _connect(path: Path, busy_timeout_ms: int) -> sqlite3.Connection:
    # isolation_level None: Python would else begin and commit transactions by itself.
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
    """Run the pending steps, all or nothing; a store that has tables is copied before."""
    _enable_wal(connection, busy_timeout_ms)
    with _transaction(connection):
        # Another process may have migrated while this one waited for the lock.
        pending = _pending(connection, path)
        if not pending:
            return
        if migrations.applied_names(connection):
            _back_up(path, backup_path(path, pending[0]))
        migrations.apply_pending(connection)
        # Pragmas take no parameters; both numbers are ours.
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations.MIGRATIONS)}")
    # Into the file itself, where an older program looks before it opens it.
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _pending(connection: sqlite3.Connection, path: Path) -> list[str]:
    applied = migrations.applied_names(connection)
    unknown = migrations.unknown_names(applied)
    if unknown:
        raise newer(path, f"its schema has the step {unknown[0]}")
    return migrations.pending_names(applied)


def _back_up(path: Path, backup: Path) -> None:
    """Copy the store; a copy from an earlier attempt at the same step is replaced.

    The caller holds the write lock, so nothing is committed in between.

    Raises:
        HostError: the copy cannot be written; the store is then not migrated.
    """
    try:
        write_copy(path, backup)
    except HostError as error:
        raise HostError(
            str(backup),
            f"the backup before the upgrade of the store could not be written ({error.reason})",
            "free some space or make the folder writable, and start again",
        ) from error
