"""The store as a file: contents, soundness, backups and putting one back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from predictor.core.errors import CtmError, HostError, InputError
from predictor.core.files import is_file, is_folder, is_same_file, is_there
from predictor.core.left_over import noted, partial_path
from predictor.graph.operator_graph import OperatorGraph
from predictor.store import maintenance
from predictor.store import models as model_records
from predictor.store.copies import keep_aside, put_back, write_copy
from predictor.store.database import has_store, open_read_only, store_path
from predictor.store.failures import explained
from predictor.store.recognition import refuse_other_program, refuse_special


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored store, and the backup of the one before it; None where there was none."""

    path: Path
    backup: Path | None


def store_info(path: Path | None = None) -> dict[str, object]:
    """Return path, size in bytes, schema and number of records, as JSON-able values.

    Nothing is made or changed; a read-only store will do, and one that is not there yet is empty.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: it cannot be read.
    """
    if not has_store(path):
        return maintenance.info_of_none(store_path(path))
    with closing(open_read_only(path)) as database:
        return maintenance.info(database)


def store_problems(path: Path | None = None) -> list[str]:
    """Return the defects of a store, one sentence each; none when it is sound.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: it cannot be read.
    """
    if not has_store(path):
        return []
    with closing(open_read_only(path)) as database:
        # What is damaged as a file can't be read record by record.
        return maintenance.problems(database) or [
            f"The operator graph of model {fingerprint} cannot be read."
            for fingerprint, graph in model_records.graphs(database)
            if not _is_graph_of(fingerprint, graph)
        ]


def back_up(target: Path, path: Path | None = None, *, replacing: bool = False) -> int:
    """Copy the store as it stands between two commits, also while other programs have it open.

    Args:
        target: the file to write; it is there whole or not at all.
        path: the store's file; None for the usual one.
        replacing: whether a file that is there may be replaced.

    Returns:
        The size of the copy in bytes.

    Raises:
        InputError: there is no store, or ``target`` cannot be used.
        HostError: the store is damaged, or the copy cannot be written.
    """
    location = store_path(path)
    if not has_store(location):
        raise InputError(str(location), "there is no store yet", "name its file with --store")
    _check_target(target, location, replacing=replacing)
    # Refuses the store of another program before anything is copied.
    open_read_only(location).close()
    with explained(location):
        write_copy(location, target, partial(_accept_copy, location))
    return target.stat().st_size


def restore(source: Path, path: Path | None = None) -> Restored:
    """Put a backup in the store's place; the present store is renamed beside it.

    Killed at any time, the store is the old one or the new one. Windows and commands that have it
    open go on with its new content.

    Args:
        source: a backup, or any store of this program; it is only read.
        path: the store's file; None for the usual one.

    Raises:
        InputError: the backup is damaged, no store, or a newer program's; or the present file is
            another program's.
        HostError: the disk fails, or another program holds the store.
    """
    # Through a link: the file that it leads to is replaced, and the link stays.
    location = Path(os.path.realpath(store_path(path)))
    if not is_file(source):
        raise InputError(str(source), "there is no such file", "name a backup of a store")
    if is_same_file(source, location):
        raise InputError(str(source), "it is the store itself", "name a backup of it")
    _prepare(location)
    staged = partial_path(location, "restoring")
    with noted(staged):
        try:
            _stage(source, staged)
            backup = _keep(location)
            put_back(staged, location)
        finally:
            staged.unlink(missing_ok=True)
    return Restored(location, backup)


def is_store(file: str, path: Path | None = None) -> bool:
    """Whether a file is the store, by this name or another.

    Args:
        file: any file.
        path: the store's file; None for the usual one.
    """
    return is_same_file(file, store_path(path))


def _check_target(target: Path, store: Path, *, replacing: bool) -> None:
    if is_folder(target):
        raise InputError(str(target), "this is a folder", "name a file in it")
    if is_same_file(target, store):
        raise InputError(str(target), "this is the store itself", "name another file")
    if is_there(target) and not replacing:
        raise InputError(str(target), "the file is there already", "name another, or add --replace")


def _accept_copy(store: Path, copy: Path) -> None:
    defects = _defects_of_copy(copy)
    if defects:
        raise HostError(
            str(store),
            f"the store is damaged ({defects[0]})",
            "see `ctm store check`; nothing was copied",
        )


def _defects_of_copy(copy: Path) -> list[str]:
    # Graphs are left alone: those of another version of the program can be made again.
    with closing(open_read_only(copy)) as database:
        return maintenance.problems(database)


def _prepare(location: Path) -> None:
    """Make the store's folder, and refuse a file there that is no store of this program."""
    try:
        location.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(
            str(location),
            f"its folder cannot be made ({error.strerror})",
            "make the folder writable for you, or name another file with --store",
        ) from error
    refuse_special(location)
    if location.exists() and location.stat().st_size:
        refuse_other_program(location)


def _stage(source: Path, staged: Path) -> None:
    """Copy a backup beside the store and look at the copy; errors name the backup."""
    with _blaming(source):
        open_read_only(source).close()
    with explained(source):
        write_copy(source, staged)
    with _blaming(source):
        defects = _defects_of_copy(staged)
        if defects:
            raise InputError(str(source), f"it is damaged ({defects[0]})", "")


@contextmanager
def _blaming(source: Path) -> Iterator[None]:
    try:
        yield
    except CtmError as error:
        action = "name a sound backup; nothing was changed"
        raise InputError(str(source), error.reason, action) from error


def _keep(location: Path) -> Path | None:
    # SQLite leaves an empty file where a store was opened and never written.
    if not location.exists() or not location.stat().st_size:
        return None
    time = datetime.now().astimezone()
    # Microseconds, so that two restores within a second keep both.
    backup = location.with_name(f"{location.name}.before-restore-{time:%Y%m%d-%H%M%S-%f}.backup")
    keep_aside(location, backup)
    return backup


def _is_graph_of(fingerprint: str, data: bytes) -> bool:
    try:
        return OperatorGraph.from_bytes(data).fingerprint == fingerprint
    except (ValueError, KeyError, TypeError):
        return False
