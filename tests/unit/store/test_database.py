"""Opening: where the store is, what is refused, and what stays untouched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from predictor.core.errors import CtmError, HostError, InputError
from predictor.core.left_over import partial_path
from predictor.store import maintenance, reports
from predictor.store.database import (
    ENVIRONMENT_VARIABLE,
    Database,
    open_database,
    open_read_only,
    store_path,
)
from predictor.store.migrations import MIGRATIONS
from predictor.store.recognition import APPLICATION_ID
from predictor.store.values import next_time
from tests.support import store_settings as settings

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[2] / "golden" / "store"


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder with its bytes."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def test_an_argument_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTM_STORE", str(tmp_path / "named"))
    assert store_path(tmp_path / "given") == tmp_path / "given"
    assert store_path() == tmp_path / "named"


def test_without_a_name_the_store_is_in_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTM_STORE", "")
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name, **_: tmp_path / name)
    assert store_path() == tmp_path / "CloserToMe" / "store.sqlite"


def test_a_relative_path_does_not_follow_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert store_path(Path("a.sqlite")) == tmp_path / "a.sqlite"


def test_a_new_store_is_ours_durable_and_checked(database: Database) -> None:
    def pragma(name: str) -> object:
        return database.connection.execute(f"PRAGMA {name}").fetchone()[0]

    assert pragma("application_id") == APPLICATION_ID
    assert pragma("journal_mode") == "wal"
    assert pragma("foreign_keys") == 1
    assert pragma("synchronous") == 2  # FULL
    assert maintenance.problems(database) == []


@pytest.mark.parametrize("name", ["a b#c?d%20.sqlite", "ü.sqlite", "caf\udce9.sqlite"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for _ in range(2):
        opened = open_database(path)
        opened.close()
    assert [f.name for f in tmp_path.iterdir()] == [name]


def test_opening_a_current_store_changes_no_byte_and_imports_no_sqlite_utils(store: Path) -> None:
    open_database(store).close()
    before = contents(store.parent)
    script = (
        "import sys, pathlib\n"
        "from predictor.store.database import open_database\n"
        "open_database(pathlib.Path(sys.argv[1])).close()\n"
        "print('sqlite_utils' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, store], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
    assert contents(store.parent) == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    opened = open_database(path)
    assert maintenance.info(opened)["schema"] == MIGRATIONS[-1].name
    opened.close()


def test_a_file_that_died_before_its_first_commit_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "died"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0
    open_database(path).close()


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE places (id INTEGER PRIMARY KEY, url TEXT)")


def database_with_another_id(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")


def newer_by_version(path: Path) -> None:
    open_database(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def newer_by_name(path: Path) -> None:
    open_database(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('closertome', '0099_future', '')"
        )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        pytest.param(lambda p: p.write_text("model,ms\n" * 300), "no SQLite database", id="text"),
        pytest.param(lambda p: p.write_bytes(b"\0" * 8192), "no SQLite database", id="zeros"),
        pytest.param(lambda p: p.write_bytes(b"SQLite f"), "no SQLite database", id="cut"),
        pytest.param(foreign_database, "a database of another program", id="foreign"),
        pytest.param(database_with_another_id, "a database of another program", id="another id"),
        pytest.param(newer_by_version, "its schema has version 99", id="newer version"),
        pytest.param(newer_by_name, "its schema has the step 0099_future", id="newer name"),
        pytest.param(Path.mkdir, "this is a folder, not a file", id="folder"),
        pytest.param(os.mkfifo, "this is a device, not a file", id="fifo"),
    ],
)
def test_what_is_not_our_store_is_refused_in_one_sentence_and_left_alone(
    tmp_path: Path, make: object, sentence: str
) -> None:
    path = tmp_path / "file"
    assert callable(make)
    make(path)
    before = contents(tmp_path)

    with pytest.raises(InputError) as refusal:
        open_database(path)

    assert sentence in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert "--store" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert contents(tmp_path) == before


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match=r"its folder cannot be made or read"):
        open_database(tmp_path / "file" / "store.sqlite")


def test_a_killed_checkpoint_is_no_damage(store: Path, tmp_path: Path) -> None:
    """A log that was half copied into its file: the header tells more pages than are there."""
    opened = open_database(store)
    settings.put(opened, {"big": "x" * 100_000})
    torn = tmp_path / "torn.sqlite"
    shutil.copy(f"{store}-wal", f"{torn}-wal")
    whole = store.read_bytes()
    opened.close()
    pages = store.stat().st_size // 4096
    torn.write_bytes(store.read_bytes()[:100] + whole[100:])
    assert torn.stat().st_size // 4096 < pages

    reopened = open_database(torn)

    assert settings.load_all(reopened) == {"big": "x" * 100_000}
    assert maintenance.problems(reopened) == []
    reopened.close()


def test_damage_is_explained_when_it_keeps_the_store_from_opening(store: Path) -> None:
    open_database(store).close()
    with store.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)
    with pytest.raises(HostError, match="the store is damaged"):
        open_database(store)


def test_check_finds_damage_inside(store: Path) -> None:
    opened = open_database(store)
    settings.put(opened, {f"key{i}": "x" * 500 for i in range(200)})
    opened.close()
    size = store.stat().st_size
    with store.open("r+b") as file:
        file.seek(size - 3 * 4096)
        file.write(os.urandom(2 * 4096))

    reopened = open_database(store)
    found = maintenance.problems(reopened)
    reopened.close()

    assert found
    assert all(problem.startswith("The file is damaged: ") for problem in found)


def test_check_finds_dangling_references_and_empty_signatures(database: Database) -> None:
    run = database.connection.execute
    run("PRAGMA foreign_keys = OFF")
    run(
        "INSERT INTO signatures (id, target_id, active, created_ns) VALUES (?, 77, 1, 0)",
        ("a" * 32,),
    )
    assert maintenance.problems(database) == [
        "Row 1 of signatures refers to a row of targets that does not exist.",
        f"Signature {'a' * 32} has no measurement.",
    ]


def test_info_counts_the_records(database: Database, store: Path) -> None:
    settings.put(database, {"unit": "ms", "theme": "dark"})
    facts = maintenance.info(database)
    assert facts["path"] == str(store)
    assert facts["records"] == {**dict.fromkeys(maintenance.TABLES, 0), "settings": 2}
    assert isinstance(facts["size_bytes"], int)
    assert facts["size_bytes"] > store.stat().st_size


def test_every_table_is_counted(database: Database) -> None:
    tables = database.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    inner = {"signature_measurements", "report_predictions", "former_fingerprints"}
    assert {name for (name,) in tables} - inner - {"_sqlite_migrations"} == set(maintenance.TABLES)


def test_every_reference_has_an_index(database: Database) -> None:
    """Without one, each delete of a parent reads its child table whole."""
    run = database.connection.execute
    tables = [name for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        leading = {
            run(f"PRAGMA index_info({row[1]})").fetchone()[2]
            for row in run(f"PRAGMA index_list({table})")
        }
        columns = {row[3] for row in run(f"PRAGMA foreign_key_list({table})")}
        assert columns <= leading, table


def test_another_thread_may_not_use_the_connection(database: Database) -> None:
    errors: list[Exception] = []

    def use() -> None:
        try:
            settings.load_all(database)
        except sqlite3.ProgrammingError as error:
            errors.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_a_failing_block_leaves_nothing(database: Database) -> None:
    def fail() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO settings VALUES ('a', '1')")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert settings.load_all(database) == {}
    settings.put(database, {"b": 2})
    assert settings.load_all(database) == {"b": 2}


def test_the_header_tells_the_schema_while_the_store_is_still_open(
    database: Database, store: Path
) -> None:
    """An older program looks there, at the file alone, before it opens a newer store."""
    header = store.read_bytes()[:100]
    assert int.from_bytes(header[60:64]) == len(MIGRATIONS)
    assert header[68:72] == b"CTM1"


def test_a_new_store_waits_for_the_process_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as maker:
        maker.execute("BEGIN IMMEDIATE")
        waits: list[float] = []

        def release(seconds: float) -> None:
            waits.append(seconds)
            if maker.in_transaction:
                maker.execute("COMMIT")

        monkeypatch.setattr("predictor.store.database.time.sleep", release)
        open_database(path).close()
    assert waits


def test_a_new_store_does_not_wait_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as maker:
        maker.execute("BEGIN IMMEDIATE")
        with pytest.raises(HostError, match="kept the store locked"):
            open_database(path, busy_timeout_ms=1)


def test_a_store_that_another_program_holds_is_explained(store: Path) -> None:
    holder = open_database(store)
    waiting = open_database(store, busy_timeout_ms=1)
    with holder.transaction(), pytest.raises(HostError, match="kept the store locked"):
        settings.put(waiting, {"a": 1})
    settings.put(waiting, {"a": 1})
    assert settings.load_all(holder) == {"a": 1}
    waiting.close()
    holder.close()


@pytest.fixture
def tiny_disk(store: Path) -> Iterator[Database]:
    """A store that cannot grow: on a file system of 1 MiB, else limited by SQLite itself."""
    store.parent.mkdir()
    mounted = mount_tiny(store.parent)
    opened = open_database(store)
    if not mounted:
        (pages,) = opened.connection.execute("PRAGMA page_count").fetchone()
        opened.connection.execute(f"PRAGMA max_page_count = {pages + 20}")
    yield opened
    opened.close()
    if mounted:
        subprocess.run(["umount", store.parent], check=True)


def mount_tiny(folder: Path) -> bool:
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_full_disk_is_explained_and_loses_nothing(tiny_disk: Database) -> None:
    settings.put(tiny_disk, {"kept": "x" * 1000})

    with pytest.raises(HostError, match=r"the disk is full, .*; free some space"):
        settings.put(tiny_disk, {f"key{i}": "x" * 10_000 for i in range(300)})

    assert settings.load_all(tiny_disk) == {"kept": "x" * 1000}
    settings.put(tiny_disk, {"small": 1})
    assert settings.load_all(tiny_disk) == {"kept": "x" * 1000, "small": 1}
    assert maintenance.problems(tiny_disk) == []


DROPPED = """
import os, pathlib, sys
import sqlite_utils  # before root is dropped: its folder may not be readable for others
from predictor.core.errors import CtmError
from tests.support import store_settings as settings
from predictor.store.database import open_database
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    database = open_database(pathlib.Path(sys.argv[1]))
    settings.put(database, {"a": 1})
except CtmError as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that an unprivileged user can reach; pytest's own are closed to others."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@pytest.mark.parametrize("case", ["new", "folder", "file", "unreadable", "closed"])
def test_no_permission_is_explained(folder: Path, case: str) -> None:
    path = folder / "store.sqlite"
    if case != "new":
        open_database(path).close()
        path.chmod({"unreadable": 0o000, "folder": 0o666}.get(case, 0o444))
    folder.chmod({"closed": 0o700, "file": 0o777}.get(case, 0o555))
    if os.geteuid() != 0 and case == "closed":
        folder.chmod(0o000)
    before = path.read_bytes() if path.exists() and os.geteuid() == 0 else b""

    done = subprocess.run(
        [sys.executable, "-c", DROPPED, path], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert done.returncode == CtmError.exit_code
    assert done.stdout.startswith(f"{path}: ")
    assert "writable for you" in done.stdout
    assert done.stdout.count("\n") == 1
    if before:
        assert path.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
def test_a_store_is_the_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also an old one, its log too; a folder that is not ours keeps its rights."""
    usual = tmp_path / "data" / "store.sqlite"
    monkeypatch.setattr(
        "predictor.store.database.platformdirs.user_data_dir", lambda *_, **__: str(usual.parent)
    )
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    mask = os.umask(0o002)
    try:
        for path, folder_mode in ((usual, 0o700), (tmp_path / "own" / "store.sqlite", 0o775)):
            opened = open_database(None if path == usual else path)
            settings.put(opened, {"a": 1})
            files = [path.with_name(f"{path.name}{ending}") for ending in ("", "-wal", "-shm")]
            assert rights(path.parent) == 0o700
            assert {rights(file) for file in files} == {0o600}
            for file in files:
                file.chmod(0o664)
            path.parent.chmod(0o775)
            open_database(path).close()
            assert {rights(file) for file in files} == {0o600}
            assert rights(path.parent) == folder_mode
            opened.close()
    finally:
        os.umask(mask)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


READ = """
import os, pathlib, sys
import sqlite_utils  # before root is dropped: its folder may not be readable for others
from predictor.core.errors import CtmError
from predictor.store.database import open_database
from predictor.store import devices, predictions, reports
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
database = open_database(pathlib.Path(sys.argv[1]))
print(predictions.count(database), len(devices.load_all(database)))
try:
    reports.add(database, "title", "path", [])
except CtmError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
@pytest.mark.parametrize("earlier", [False, True], ids=["current", "of an earlier schema"])
@pytest.mark.parametrize("closed", ["file", "folder", "both"])
def test_a_read_only_store_is_read_and_a_write_to_it_refused(
    folder: Path, closed: str, earlier: bool
) -> None:
    path = folder / "store.sqlite"
    if earlier:
        shutil.copy(GOLDEN / "0001_tables.sqlite", path)
    else:
        open_database(path).close()
    path.chmod(0o666 if closed == "folder" else 0o444)
    folder.chmod(0o777 if closed == "file" else 0o555)
    before = path.read_bytes()

    done = subprocess.run(
        [sys.executable, "-c", READ, path], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    counts, sentence = done.stdout.splitlines()
    assert counts.split()[0] == str(int(earlier))
    assert sentence.startswith(f"{path}: the store or its folder is read-only; make both writable")
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="POSIX file types")
def test_a_pipe_and_a_device_are_no_store(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        for opening in (open_database, open_read_only):
            with pytest.raises(InputError, match="this is a device, not a file"):
                opening(path)


def test_what_a_kill_left_beside_the_store_goes_at_the_next_start(
    store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_database(store).close()
    killed = partial_path(store).name.replace(f".{os.getpid()}.", ".999999999.")
    left = [store.with_name(killed.replace("partial", end)) for end in ("partial", "restoring")]
    for path in left:
        path.touch()
    open_database(store).close()
    assert not any(path.exists() for path in left)
    assert len(caplog.messages) == 2


def test_a_clock_that_goes_back_changes_no_order(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([10**18, 10**18 + 5, 10**17, 3, 10**18 + 2, 2 * 10**18])
    monkeypatch.setattr("time.time_ns", lambda: next(times))
    ids = [reports.add(database, "title", "path", []) for _ in range(6)]

    with database.reading() as db:
        rows = list(db.query("SELECT id, created_ns FROM reports ORDER BY created_ns"))
    assert [row["id"] for row in rows] == ids
    assert len({row["created_ns"] for row in rows}) == 6
    assert rows[-1]["created_ns"] == 2 * 10**18


def test_a_time_that_is_no_clocks_is_not_followed(database: Database) -> None:
    with database.transaction() as db:
        row = {"id": "a" * 32, "title": "", "path": "", "created_ns": 2**63 - 1}
        db.table("reports").insert(row)
        assert next_time(db, "reports") < 2**62
