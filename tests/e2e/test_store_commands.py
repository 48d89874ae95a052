"""Backups and projects on the command line: real processes on real stores."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from predictor.services.history.history import open_history
from tests.support.past_predictions import predictions_of, small_model

Run = Callable[..., CompletedProcess[str]]


def predictions(store: Path) -> int:
    with closing(sqlite3.connect(store)) as connection:
        return int(connection.execute("SELECT count(*) FROM predictions").fetchone()[0])


@pytest.fixture
def predicted(own_store: Path) -> Path:
    """A store with two predictions."""
    model = small_model()
    with open_history(own_store) as history:
        history.record([model], predictions_of(model))
    return own_store


def test_a_backup_is_put_back_and_the_store_kept(ctm: Run, predicted: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    made = ctm("store", "backup", copy, "--json")
    again = ctm("store", "backup", copy)
    with closing(sqlite3.connect(predicted)) as connection, connection:
        connection.execute("DELETE FROM predictions")
    restored = ctm("store", "restore", copy, "--json")

    assert json.loads(made.stdout) == {"file": str(copy), "size_bytes": copy.stat().st_size}
    assert (again.returncode, again.stdout) == (2, "")
    assert "add --replace" in again.stderr
    document = json.loads(restored.stdout)
    assert document["store"] == str(predicted)
    assert (predictions(predicted), predictions(Path(document["kept"]))) == (2, 0)
    assert ctm("store", "check").stdout == "The store is sound.\n"


def test_a_damaged_backup_is_refused_and_a_damaged_store_found(
    ctm: Run, predicted: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    ctm("store", "backup", copy)
    for path in (copy, predicted):
        content = bytearray(path.read_bytes())
        content[4096 * 3 : 4096 * 4] = b"\xff" * 4096
        path.write_bytes(bytes(content))

    refused = ctm("store", "restore", copy)
    found = ctm("store", "check", "--json")
    damaged = ctm("store", "backup", tmp_path / "other")

    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert found.returncode == 3
    assert json.loads(found.stdout)["sound"] is False
    assert damaged.returncode == 3
    assert not (tmp_path / "other").exists()


def test_a_project_goes_to_another_store(ctm: Run, predicted: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "team.ctmproject", tmp_path / "other.db"
    out = json.loads(ctm("store", "export", file, "--json").stdout)
    dry = json.loads(ctm("store", "import", file, "--dry-run", "--json", "--store", other).stdout)
    between = predictions(other)
    done = ctm("store", "import", file, "--json", "--store", other)
    same = ctm("store", "import", file, "--store", other)

    assert (out["predictions"], out["models"], out["left_out"]) == (2, 1, 0)
    assert (dry["imported"], dry["records"]["predictions"]["new"], between) == (False, 2, 0)
    assert json.loads(done.stdout)["imported"] is True
    assert (same.returncode, predictions(other)) == (0, 2)
    assert same.stdout.endswith("Imported.\n")


def test_conflicts_are_shown_and_nothing_is_imported_without_an_answer(
    ctm: Run, predicted: Path, tmp_path: Path
) -> None:
    file = tmp_path / "team.ctmproject"
    with closing(sqlite3.connect(predicted)) as connection, connection:
        connection.execute(
            "INSERT INTO prediction_marks SELECT id, '[\"theirs\"]', '' FROM predictions LIMIT 1"
        )
    ctm("store", "export", file)
    with closing(sqlite3.connect(predicted)) as connection, connection:
        connection.execute("UPDATE prediction_marks SET tags = '[\"mine\"]'")

    refused = ctm("store", "import", file)
    kept = ctm("store", "import", file, "--conflicts", "keep")
    joined = ctm("store", "import", file, "--conflicts", "both", "--json")

    assert refused.returncode == 2
    assert "tags and note" in refused.stdout
    assert "Nothing was imported" in refused.stdout
    assert "--conflicts keep, take or both" in refused.stderr
    assert kept.returncode == 0
    (conflict,) = json.loads(joined.stdout)["conflicts"]
    assert (conflict["mine"], conflict["theirs"]) == ("mine; no note", "theirs; no note")
    with closing(sqlite3.connect(predicted)) as connection:
        (tags,) = connection.execute("SELECT tags FROM prediction_marks").fetchone()
    assert json.loads(tags) == ["mine", "theirs"]


def test_what_is_no_project_is_refused(ctm: Run, mobilenet: Path, own_store: Path) -> None:
    done = ctm("store", "import", mobilenet)
    assert (done.returncode, done.stdout) == (2, "")
    assert "it is no project file" in done.stderr
    assert not own_store.exists()
