"""Whole copies of a store: backups, and putting one back.

SQLite's backup interface copies the state between two commits, whoever else has the store open. A
copy that becomes a file is there whole or not at all; one that goes into a store is one
transaction there.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from predictor.core.errors import HostError
from predictor.core.files import replaced, sync
from predictor.store.failures import explain, has_code
from predictor.store.reading import BUSY_TIMEOUT_MS, connect_read_only

SIDE_FILES = ("-wal", "-shm")


def write_copy(store: Path, copy: Path, accept: Callable[[Path], None] | None = None) -> None:
    """Write the store at ``store`` into the file ``copy``, which is replaced where it is there.

    Args:
        store: the file to copy.
        copy: the file to write.
        accept: looks at the finished copy before it gets its name, and raises where it is wrong.

    Raises:
        HostError: the store cannot be read or the copy cannot be written; ``copy`` is as it was.
    """
    try:
        with replaced(copy, private=True) as partial:
            with (
                closing(connect_read_only(store)) as origin,
                closing(sqlite3.connect(partial)) as new,
            ):
                # Without a journal a kill leaves one partial file and nothing beside it.
                new.execute("PRAGMA journal_mode = OFF")
                _copy_pages(origin, new)
            if accept is not None:
                accept(partial)
    except sqlite3.OperationalError as error:
        raise _not_written(copy, error) from error


def put_back(copy: Path, store: Path) -> None:
    """Replace the store's content by ``copy``: killed at any time, it is the old or the new.

    Other processes may have the store open: they see the new content at their next step.

    Args:
        copy: a sound store without other users.
        store: a store, also a damaged one; it need not exist.

    Raises:
        HostError: another program holds the store, or the disk fails; it is as it was.
    """
    try:
        if store.exists():
            _into_store(copy, store)
        else:
            _into_place(copy, store)
    except sqlite3.DatabaseError as error:
        if not has_code(error, sqlite3.SQLITE_CORRUPT):
            raise _not_written(store, error) from error
        _into_place(copy, store)
    except OSError as error:
        raise _not_written(store, error) from error


def keep_aside(store: Path, aside: Path) -> None:
    """Copy a store before it is replaced; a damaged one byte by byte, with its log.

    Raises:
        HostError: the copy cannot be written.
    """
    try:
        write_copy(store, aside)
    except sqlite3.DatabaseError:
        for ending in ("", *SIDE_FILES):
            part = store.with_name(f"{store.name}{ending}")
            if part.exists():
                with replaced(aside.with_name(f"{aside.name}{ending}"), private=True) as partial:
                    shutil.copyfile(part, partial)


def _into_store(copy: Path, store: Path) -> None:
    patience_s = BUSY_TIMEOUT_MS / 1e3
    with (
        closing(sqlite3.connect(copy)) as origin,
        closing(sqlite3.connect(store, timeout=patience_s)) as target,
    ):
        target.execute("PRAGMA synchronous = FULL")
        _match_pages(origin, target)
        _copy_pages(origin, target)


def _match_pages(origin: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Rewrite the copy with pages of the store's size: a store with a log takes no other."""
    (page_size,) = target.execute("PRAGMA page_size").fetchone()
    if origin.execute("PRAGMA page_size").fetchone() != (page_size,):
        origin.execute("PRAGMA journal_mode = DELETE")
        origin.execute(f"PRAGMA page_size = {page_size}")
        origin.execute("VACUUM")


def _into_place(copy: Path, store: Path) -> None:
    # A log of the damaged store would be taken for one of the new.
    for ending in SIDE_FILES:
        store.with_name(f"{store.name}{ending}").unlink(missing_ok=True)
    copy.replace(store)
    # A rename is durable only once its folder is on the disk.
    sync(store.parent)


def _copy_pages(origin: sqlite3.Connection, target: sqlite3.Connection) -> None:
    # All pages in one step: in several, each commit of another process starts it again.
    origin.backup(target, pages=-1, progress=_patience(), sleep=0.05)


def _patience() -> Callable[[int, int, int], None]:
    """Return a callback that ends a copy kept waiting too long: Python tries for ever."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1e3

    def watch(status: int, _remaining: int, _total: int) -> None:
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} and time.monotonic() > deadline:
            busy = sqlite3.OperationalError("database is locked")
            busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise busy

    return watch


def _not_written(path: Path, error: OSError | sqlite3.Error) -> HostError:
    meaning = explain(error, path) if isinstance(error, sqlite3.Error) else None
    reason = meaning.reason if meaning else getattr(error, "strerror", None) or str(error)
    return HostError(
        str(path),
        f"it could not be written ({reason})",
        "free some space, or choose a folder that you may write to",
    )
