"""What killed programs leave is found at the next start, and nothing else is removed."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path

import pytest

from predictor.core.files import replaced, write_bytes
from predictor.core.left_over import (
    noted,
    partial_path,
    remove_noted,
    remove_partials,
    work_folder,
)
from tests.support.killed_writer import killed_writer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="SIGKILL, folders by XDG")

NOBODY = 999_999_999


@pytest.fixture
def notes() -> Path:
    return Path(os.environ["XDG_STATE_HOME"], "closertome", "unfinished")


def writer(process: int, place: str = "") -> str:
    """The part of a partial file's name that says which process of which machine writes it."""
    here = partial_path(Path("file")).name.split(".")[1]
    return f"{place or here}.{process}"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_next_start_removes_what_a_killed_writer_left_anywhere(
    tmp_path: Path, notes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "reports").mkdir()
    left = killed_writer(tmp_path / "reports" / ("ä.124." + 90 * "ä"))
    assert len(names(notes)) == 1

    remove_noted()
    remove_noted()

    assert names(tmp_path / "reports") == names(notes) == set()
    assert caplog.messages == [f"{left} was left by a program that was killed, and is removed."]


def test_nothing_but_left_partial_files_is_removed(
    tmp_path: Path, notes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notes.mkdir(parents=True)
    mine, nobody = writer(os.getpid()), writer(NOBODY)
    kept = ["mine.txt", f"a.{mine}.partial", f"b.{nobody}.partial.txt", f"e.{NOBODY}.partial"]
    kept.append(f"c.{writer(NOBODY - 1)}.partial")
    for number, name in enumerate((*kept, "gone")):
        if name != "gone":
            (tmp_path / name).touch()
        (notes / f"{nobody}.{number}").write_bytes(os.fsencode(tmp_path / name))
    (tmp_path / f"folder.{nobody}.partial").mkdir()
    (notes / f"{nobody}.8").write_bytes(os.fsencode(tmp_path / f"folder.{nobody}.partial"))
    (notes / f"{nobody}.9").write_bytes(b"\0")
    (notes / f"{mine}.0").write_bytes(os.fsencode(tmp_path / kept[0]))
    (notes / "else").touch()

    remove_noted()

    assert names(notes) == {f"{mine}.0", "else"}
    assert names(tmp_path) >= {*kept, f"folder.{nobody}.partial"}
    assert caplog.messages == []


def test_files_of_other_machines_and_containers_stay_and_of_other_boots_go(
    tmp_path: Path, notes: Path
) -> None:
    notes.mkdir(parents=True)
    machine, boot, space = writer(NOBODY).partition(".")[0].split("-")
    other = "01234567"
    places = {
        "machine": f"{other}-{boot}-{space}",
        "container": f"{machine}-{boot}-{other}",
        "boot": f"{machine}-{other}-{space}",
    }
    for name, place in places.items():
        path = tmp_path / f"{name}.{writer(os.getpid(), place)}.partial"
        path.touch()
        (notes / f"{writer(os.getpid(), place)}.0").write_bytes(os.fsencode(path))

    remove_noted()

    assert {name.partition(".")[0] for name in names(tmp_path)} == {"machine", "container"}


def test_a_writer_notes_its_partial_file_as_long_as_it_writes(tmp_path: Path, notes: Path) -> None:
    with replaced(tmp_path / "file") as partial:
        (note,) = notes.iterdir()
        assert note.read_bytes() == os.fsencode(partial)
        remove_noted()
        assert partial.exists(), "its process is alive"
    assert names(notes) == set()


def test_a_folder_of_notes_that_cannot_be_made_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    remove_noted()
    write_bytes(tmp_path / "other", b"x")
    assert (tmp_path / "other").read_bytes() == b"x"


def test_a_number_that_another_process_got_keeps_nothing(tmp_path: Path, notes: Path) -> None:
    partial = tmp_path / f"file.{writer(os.getpid())}.partial"
    with noted(partial):
        partial.touch()
        (note,) = notes.iterdir()
        before_this_process = time.time() - 10**6
        for path in (partial, note):
            os.utime(path, (before_this_process, before_this_process))
        remove_noted()
    assert not partial.exists()


def test_what_a_killed_writer_left_is_removed_when_its_file_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "file"
    left = killed_writer(path)
    mine, nobody = f"file.{writer(os.getpid())}.partial", writer(NOBODY)
    others = {mine, "file.1x.partial", "file.partial", f"other.{nobody}.partial"}
    for name in (*others, f"file.{nobody}.restoring.{nobody}.partial"):
        (tmp_path / name).touch()

    with caplog.at_level(logging.WARNING):
        remove_partials(path)
        told = list(caplog.messages)
        remove_partials(path)

    assert others <= names(tmp_path)
    assert len(told) == 2
    assert any(str(left) in message for message in told)
    assert caplog.messages == told


def test_a_work_folder_goes_at_its_end_and_those_of_killed_programs_before(
    tmp_path: Path,
) -> None:
    left = tmp_path / f"w-{writer(NOBODY)}.0"
    others = {f"w-{writer(os.getpid())}.99", "w-old", f"v-{writer(NOBODY)}.0"}
    for folder in (left.name, *others):
        (tmp_path / folder / "inner").mkdir(parents=True)

    with work_folder(tmp_path, "w-") as made:
        assert not left.exists()
        assert names(tmp_path) == {*others, made.name}

    assert names(tmp_path) == others


def test_what_sqlite_left_beside_a_partial_file_goes_too(tmp_path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"s.db.{writer(NOBODY)}.partial{ending}").touch()

    remove_partials(tmp_path / "s.db")

    assert names(tmp_path) == set()
