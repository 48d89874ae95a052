"""Recognition of store files: ours or another program's, of a known schema or a newer one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.files import is_file, is_folder, is_there
from predictor.store import migrations
from predictor.store.failures import OTHER_FILE, explained, has_code
from predictor.store.reading import connect_immutable

APPLICATION_ID = 0x43544D31  # "CTM1" in the file's header


def refuse_foreign_file(path: Path) -> None:
    """Look at an existing file without writing a byte, a lock or a file beside it.

    SQLite reads it, not ``open``: closing a plain file handle would drop the locks that another
    connection of this process has on the same file (https://www.sqlite.org/howtocorrupt.html,
    2.2). ``immutable`` ignores the write-ahead log; the real connection sees it.

    Raises:
        InputError: it is no store, or a newer program's.
    """
    refuse_special(path)
    if not is_there(path):
        return
    with closing(connect_immutable(path)) as connection:
        try:
            refuse_foreign(connection, path)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            # A process that copies its log into the file, or was killed at it, leaves the file
            # alone inconsistent: with its log, the real connection reads it.
            if has_code(error, sqlite3.SQLITE_CORRUPT):
                return
            raise
    if version > len(migrations.MIGRATIONS):
        raise newer(path, f"its schema has version {version}")


def refuse_special(path: Path) -> None:
    """Refuse a folder, and a pipe or a device, which SQLite would read without end.

    Raises:
        InputError: the path is one.
    """
    if is_there(path) and not is_file(path):
        kind = "folder" if is_folder(path) else "device"
        raise InputError(str(path), f"this is a {kind}, not a file", "name a file with --store")


def refuse_other_program(path: Path) -> None:
    """Refuse a file that is no store; a damaged or a newer one is a store.

    Raises:
        InputError: it is no database, or another program's.
    """
    with explained(path), closing(connect_immutable(path)) as connection:
        try:
            refuse_foreign(connection, path)
        except sqlite3.DatabaseError as error:
            if not has_code(error, sqlite3.SQLITE_CORRUPT):
                raise


def refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that has tables and not our id.

    Raises:
        InputError: it is another program's.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id == APPLICATION_ID:
        return
    # A file without a table is new: a start that was killed before its first commit leaves one.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application_id or tables:
        raise InputError(
            str(path), "this is a database of another program, not a store", OTHER_FILE
        )


def newer(path: Path, sign: str) -> InputError:
    """Return the error about a store of a newer program."""
    newest = len(migrations.MIGRATIONS)
    return InputError(
        str(path),
        f"a newer version of this program made the store ({sign}, this program knows "
        f"version {newest})",
        "install the newer version, or name another file with --store; this one was not touched",
    )
