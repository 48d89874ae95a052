"""Backups and putting one back: consistent, whole or not at all, killed at any step."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from predictor.core.errors import HostError, InputError
from predictor.services.history.store_files import back_up, restore, store_info, store_problems
from predictor.store import copies, maintenance
from predictor.store.database import open_database
from predictor.store.migrations import MIGRATIONS
from tests.support import store_settings as settings

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[3] / "golden" / "store"


def filled(path: Path, unit: str, pages: int = 0) -> Path:
    """A store that says which one it is, and holds some pages besides."""
    with closing(open_database(path)) as database:
        settings.put(database, {"unit": unit, **{f"page{i}": "x" * 4000 for i in range(pages)}})
    return path


def says(path: Path) -> object:
    with closing(open_database(path)) as database:
        return settings.load_all(database)["unit"]


def names(folder: Path) -> set[str]:
    return {f.name for f in folder.iterdir()}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stores and a backup of the second, to be copied."""
    folder = tmp_path_factory.mktemp("stores")
    filled(folder / "store.sqlite", "old", 30)
    filled(folder / "new.sqlite", "new", 60)
    back_up(folder / "backup", folder / "new.sqlite")
    return folder


@pytest.fixture
def store(stores: Path, tmp_path: Path) -> Path:
    shutil.copy(stores / "store.sqlite", tmp_path / "store.sqlite")
    return tmp_path / "store.sqlite"


@pytest.fixture
def backup(stores: Path, tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(stores / "backup", tmp_path / "elsewhere" / "backup")
    return tmp_path / "elsewhere" / "backup"


def test_a_backup_is_a_store_with_everything(store: Path, tmp_path: Path) -> None:
    size = back_up(tmp_path / "copy", store)
    assert size == (tmp_path / "copy").stat().st_size
    assert store_problems(tmp_path / "copy") == []
    assert says(tmp_path / "copy") == "old"
    assert names(tmp_path) == {"store.sqlite", "copy"}


def test_a_backup_holds_what_is_in_the_log_and_nothing_uncommitted(
    store: Path, tmp_path: Path
) -> None:
    with closing(open_database(store)) as window:
        settings.put(window, {"unit": "in the log"})
        with window.transaction() as connection:
            connection.execute("UPDATE settings SET value = '\"half\"' WHERE key = 'unit'")
            back_up(tmp_path / "copy", store)
    assert says(tmp_path / "copy") == "in the log"


def test_a_file_that_is_there_is_replaced_only_when_asked(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    target.write_text("mine")
    with pytest.raises(InputError, match="there already; name another, or add --replace"):
        back_up(target, store)
    assert target.read_text() == "mine"
    back_up(target, store, replacing=True)
    assert says(target) == "old"


def test_the_store_itself_and_a_folder_are_no_place_for_its_copy(
    store: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="the store itself"):
        back_up(store, store, replacing=True)
    with pytest.raises(InputError, match="this is a folder"):
        back_up(tmp_path, store, replacing=True)
    with pytest.raises(InputError, match="there is no store yet"):
        back_up(tmp_path / "copy", tmp_path / "none")
    assert names(tmp_path) == {"store.sqlite"}


def test_a_damaged_store_is_not_backed_up(store: Path, tmp_path: Path) -> None:
    damage(store)
    (tmp_path / "copy").write_text("an older, sound backup")
    with pytest.raises(HostError, match="the store is damaged"):
        back_up(tmp_path / "copy", store, replacing=True)
    assert (tmp_path / "copy").read_text() == "an older, sound backup"
    assert names(tmp_path) == {"store.sqlite", "copy"}


def test_restoring_brings_the_backup_and_keeps_the_store_aside(store: Path, backup: Path) -> None:
    content = backup.read_bytes()
    restored = restore(backup, store)
    assert says(store) == "new"
    assert restored.path == store
    assert restored.backup is not None
    assert says(restored.backup) == "old"
    assert names(store.parent) == {"store.sqlite", "elsewhere", restored.backup.name}
    assert backup.read_bytes() == content


def test_paths_may_be_relative(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    back_up(Path("copy"), Path("store.sqlite"))
    restore(Path("copy"), Path("other.sqlite"))
    assert says(tmp_path / "other.sqlite") == "old"


def test_restoring_where_there_is_no_store_makes_one(backup: Path, tmp_path: Path) -> None:
    restored = restore(backup, tmp_path / "new folder" / "store.sqlite")
    assert restored.backup is None
    assert says(tmp_path / "new folder" / "store.sqlite") == "new"


def test_who_has_the_store_open_sees_the_backup(store: Path, backup: Path) -> None:
    with closing(open_database(store)) as window:
        assert settings.load_all(window)["unit"] == "old"
        restore(backup, store)
        assert settings.load_all(window)["unit"] == "new"
        settings.put(window, {"unit": "newer"})
    assert says(store) == "newer"


def test_a_store_that_is_being_written_is_not_replaced(
    store: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "BUSY_TIMEOUT_MS", 1)
    with closing(open_database(store)) as window:
        with window.transaction(), pytest.raises(HostError, match="kept the store locked"):
            restore(backup, store)
        assert settings.load_all(window)["unit"] == "old"


@pytest.mark.parametrize("sample", sorted(GOLDEN.glob("*.sqlite")), ids=lambda s: s.stem)
def test_a_backup_of_every_earlier_schema_is_restored(store: Path, sample: Path) -> None:
    restore(sample, store)
    with closing(open_database(store)) as database:
        assert settings.load_all(database) == {"unit": "ms", "budget_ms": 30.5}
        assert maintenance.problems(database) == []
    assert store_info(store)["schema"] == MIGRATIONS[-1].name


def damage(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 2)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def text(path: Path) -> None:
    path.write_text("not a store\n" * 500)


def changed(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)

    return change


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (damage, "damaged"),
        (cut, "damaged"),
        (text, "not a store of this program"),
        (changed("PRAGMA user_version = 99"), "a newer version of this program"),
        (changed("PRAGMA application_id = 7"), "a database of another program"),
        (changed("CREATE TRIGGER t AFTER INSERT ON settings BEGIN DELETE FROM models; END"),
         "the trigger t, which this program does not make"),
        (changed("INSERT INTO prediction_marks VALUES ('x', '[]', '')"),
         "refers to a row of predictions that does not exist"),
        (changed("UPDATE settings SET value = 'no json' WHERE key = 'unit'"), "is not JSON"),
        (Path.unlink, "there is no such file"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_sound_backup_is_refused_in_one_sentence(
    store: Path, backup: Path, spoil: Callable[[Path], None], sentence: str
) -> None:
    spoil(backup)
    before = store.read_bytes()
    with pytest.raises(InputError, match=sentence) as refusal:
        restore(backup, store)
    assert str(refusal.value).startswith(f"{backup}: ")
    assert "\n" not in str(refusal.value)
    assert store.read_bytes() == before
    assert names(store.parent) == {"store.sqlite", "elsewhere"}


def test_a_file_of_another_kind_is_not_replaced_by_a_store(backup: Path, tmp_path: Path) -> None:
    text(tmp_path / "notes.txt")
    with pytest.raises(InputError, match="not a store of this program"):
        restore(backup, tmp_path / "notes.txt")
    with pytest.raises(InputError, match="this is a folder"):
        restore(backup, tmp_path)
    with pytest.raises(InputError, match="the store itself"):
        restore(backup, backup)


@pytest.mark.parametrize("place", [100, 4096 * 3])
def test_a_damaged_store_is_replaced_and_kept_as_it_was(
    store: Path, backup: Path, place: int
) -> None:
    with store.open("r+b") as file:
        file.seek(place)
        file.write(b"\xff" * 3900)
    broken = store.read_bytes()
    restored = restore(backup, store)
    assert says(store) == "new"
    assert store_problems(store) == []
    assert restored.backup is not None
    assert restored.backup.read_bytes()[4096:] == broken[4096:]


def test_a_newer_store_gives_way_to_a_backup_of_this_version(store: Path, backup: Path) -> None:
    changed("PRAGMA user_version = 99")(store)
    kept = restore(backup, store).backup
    assert says(store) == "new"
    assert kept is not None
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (99,)


# Restores, and kills itself before the n-th of the steps that touch the disk, or amid the pages.
KILLED = """
import os, signal, sys
from pathlib import Path
from predictor.core import files
from predictor.store import copies
from predictor.services.history.store_files import restore

step, left = sys.argv[1], int(sys.argv[2])

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def counted(work):
    def count(*arguments, **named):
        global left
        left -= 1
        if left == 0:
            die()
        return work(*arguments, **named)
    return count

def slowly(origin, target):
    (size,) = target.execute("PRAGMA page_count").fetchone()
    if size == 0:
        origin.backup(target)
        return
    def watch(_status, remaining, total):
        if total - remaining >= left:
            die()
    origin.backup(target, pages=1, progress=watch)

if step == "pages":
    copies._copy_pages = slowly
else:
    for module in (copies, files) if step == "sync" else (copies,):
        setattr(module, step, counted(getattr(module, step)))
    Path.replace = counted(Path.replace) if step == "sync" else Path.replace
restore(Path(sys.argv[3]), Path(sys.argv[4]))
"""


@pytest.mark.parametrize(
    ("step", "number"),
    [("_copy_pages", 1), ("_copy_pages", 2), ("_copy_pages", 3), ("sync", 3), ("sync", 6),
     ("pages", 1), ("pages", 40), ("pages", 60)],
)  # fmt: skip
def test_a_restore_that_is_killed_leaves_the_old_store(
    store: Path, backup: Path, step: str, number: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, step, str(number), backup, store],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    assert says(store) == "old"
    assert store_problems(store) == []
    assert says(backup) == "new"
    restore(backup, store)
    assert says(store) == "new"


LOOK = textwrap.dedent(
    """
    import os, pathlib, sys
    import sqlite_utils  # before the user changes, who may not reach the folder of this Python
    from predictor.core.errors import CtmError
    from predictor.services.history.store_files import back_up, store_info, store_problems
    if os.geteuid() == 0:
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
    path = pathlib.Path(sys.argv[1])
    try:
        print(store_info(path)["records"]["settings"], store_problems(path))
        print(back_up(pathlib.Path(sys.argv[2]), path) > 0)
    except CtmError as error:
        print(error)
    """
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that an unprivileged user can reach; pytest's own are closed to others."""
    made = Path(tempfile.mkdtemp())
    (made / "open").mkdir(mode=0o777)
    (made / "open").chmod(0o777)
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def looked_at(path: Path, copy: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, path, copy], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("closed", ["file", "folder", "both"])
def test_a_read_only_store_is_looked_at_and_copied(folder: Path, closed: str) -> None:
    path = filled(folder / "store" / "store.sqlite", "old")
    before = path.read_bytes()
    path.chmod(0o666 if closed == "folder" else 0o444)
    path.parent.chmod(0o777 if closed == "file" else 0o555)
    assert looked_at(path, folder / "open" / "copy") == ["1 []", "True"]
    assert path.read_bytes() == before
    assert says(folder / "open" / "copy") == "old"
    path.parent.chmod(0o755)


def test_a_log_that_cannot_be_read_is_not_passed_over(folder: Path) -> None:
    with closing(open_database(folder / "live.sqlite")) as database:
        settings.put(database, {"unit": "in the log"})
        (folder / "store").mkdir()
        path = folder / "store" / "store.sqlite"
        for ending in ("", "-wal"):
            shutil.copy(f"{folder / 'live.sqlite'}{ending}", f"{path}{ending}")
            path.with_name(f"{path.name}{ending}").chmod(0o644)
    path.parent.chmod(0o555)
    (sentence,) = looked_at(path, folder / "open" / "copy")
    assert "its log cannot be read in a read-only folder" in sentence
    path.parent.chmod(0o755)


def test_looking_makes_nothing(tmp_path: Path) -> None:
    info = store_info(tmp_path / "none" / "store.sqlite")
    assert (info["size_bytes"], info["schema"]) == (0, "")
    assert store_problems(tmp_path / "none" / "store.sqlite") == []
    assert names(tmp_path) == set()


def test_looking_at_an_earlier_schema_does_not_migrate_it(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    shutil.copy(GOLDEN / "0001_tables.sqlite", path)
    before = path.read_bytes()
    info = store_info(path)
    assert info["schema"] == "0001_tables"
    assert isinstance(info["records"], dict)
    assert (info["records"]["predictions"], info["records"]["prediction_marks"]) == (1, 0)
    # The sample holds no real graph.
    assert store_problems(path) == [f"The operator graph of model {'ab' * 32} cannot be read."]
    assert path.read_bytes() == before
    assert names(tmp_path) == {"store.sqlite"}
