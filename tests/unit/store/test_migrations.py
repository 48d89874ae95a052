"""Migrating: every schema that shipped opens, a failing step leaves the store as it was."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlite_utils

from predictor.core.documents import NO_FACTS, Document, PredictionSettings, Provenance
from predictor.core.errors import HostError, InputError
from predictor.core.metrics import Family
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Device, Measurement, Precision, Signature
from predictor.core.stored import ProbeState, SessionProbe, SessionState
from predictor.store import (
    devices,
    maintenance,
    measurements,
    migrations,
    models,
    predictions,
    probe_sessions,
    signatures,
    targets,
    token_rates,
)
from predictor.store.database import Database, backup_path, open_database
from predictor.store.migrations import Migration
from predictor.store.token_rates import TokenRate
from tests.support import store_settings as settings

GOLDEN = Path(__file__).parents[2] / "golden" / "store"
SAMPLES = sorted(GOLDEN.glob("*.sqlite"))

NEXT = Migration("9998_next", "ALTER TABLE reports ADD COLUMN note TEXT NOT NULL DEFAULT ''")
FAILING = Migration(
    "9999_failing", "CREATE TABLE half (id INTEGER PRIMARY KEY);\nINSERT INTO nowhere VALUES (1)"
)


def with_steps(monkeypatch: pytest.MonkeyPatch, *steps: Migration) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, *steps))


def schema(path: Path) -> tuple[list[str], int, int]:
    """The statements that made a store, its version, and how many settings it holds."""
    with closing(sqlite3.connect(path)) as connection:
        statements = [str(row) for row in connection.execute("SELECT sql FROM sqlite_master")]
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (count,) = connection.execute("SELECT count(*) FROM settings").fetchone()
    return statements, version, count


@pytest.fixture
def filled(store: Path) -> Path:
    opened = open_database(store)
    settings.put(opened, {"unit": "ms"})
    opened.close()
    return store


@pytest.fixture
def opened(tmp_path: Path, sample: Path) -> Iterator[Database]:
    """A copy of a shipped store, opened and so migrated."""
    path = tmp_path / sample.name
    shutil.copy(sample, path)
    database = open_database(path)
    yield database
    database.close()


def test_names_are_distinct_and_in_order() -> None:
    names = [migration.name for migration in migrations.MIGRATIONS]
    assert names == sorted(set(names))


def test_every_shipped_schema_has_a_sample() -> None:
    assert [s.stem for s in SAMPLES] == [m.name for m in migrations.MIGRATIONS]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.stem)
def test_a_store_of_every_shipped_schema_opens_with_all_its_records(opened: Database) -> None:
    pi = Configuration("onnxruntime", Precision.FP32, 4, 1)
    signature = "20000000000000000000000000000000"
    assert maintenance.problems(opened) == []
    assert maintenance.info(opened)["schema"] == migrations.MIGRATIONS[-1].name
    assert settings.load_all(opened) == {"unit": "ms", "budget_ms": 30.5}
    assert devices.load_all(opened) == [
        Device(
            id="my-board",
            name="My board",
            vendor="Maker",
            family=Family.MOBILE_CPU,
            metrics={"clock_mhz": 1800.0},
            sources={},
            configurations=(pi,),
        )
    ]
    assert [m.measurement for m in measurements.load_all(opened)][:1] == [
        Measurement(
            id="10000000000000000000000000000000",
            fingerprint="ab" * 32,
            device_id="rpi5",
            configuration=pi,
            samples_ns=(5_000_000, 5_100_000, 4_900_000),
            value_ms=5.0,
            statistic="median",
            protocol="ctm/1",
            provenance=Provenance({"tool": "ctm 0.1.0"}),
        )
    ]
    assert signatures.load_all(opened) == [
        Signature(signature, "rpi5", pi, ("10000000000000000000000000000000",), active=True)
    ]
    assert list(models.graphs(opened)) == [("ab" * 32, b"graph bytes")]
    (stored,) = predictions.recent(opened, 10)
    assert stored.path == "/models/resnet50.onnx"
    assert replace(stored.prediction, evidence="", unstable="") == Prediction(
        model="resnet50.onnx",
        fingerprint="ab" * 32,
        device_id="rpi5",
        configuration=pi,
        engine="closertome/1",
        basis=Basis.PROBED,
        latency_ms=5.25,
        low80_ms=5.0,
        high80_ms=5.5,
        low95_ms=4.5,
        high95_ms=6.0,
        bound_ms=2.0,
        fits_memory=True,
        signature=signature,
        flagged_operators=("Loop_3",),
    )


@pytest.mark.parametrize("sample", SAMPLES[1:], ids=lambda s: s.stem)
def test_probe_sessions_of_every_schema_that_has_them_open(opened: Database) -> None:
    old, session = probe_sessions.load_all(opened)
    assert (old.probes, old.facts) == ((), NO_FACTS)

    board = Configuration("onnxruntime", Precision.FP32, 4, 1)
    assert (session.id, session.device_id, session.configuration) == (
        "5" + "0" * 31,
        "my-board",
        board,
    )
    assert (session.state, session.facts.drift) == (SessionState.RUNNING, 0.01)
    first, second, third = session.probes
    assert (first.state, first.measurement_id) == (ProbeState.MEASURED, "6" + "0" * 31)
    assert (second.state, second.reason) == (
        ProbeState.FAILED,
        "out-of-memory: its process was killed",
    )
    assert third == SessionProbe(name="third", fingerprint="01" * 32)
    (measured,) = measurements.of_session(opened, session.id)
    assert measured.samples_ns == (2_000_000, 2_100_000)
    (signature,) = signatures.stored(opened)
    assert (signature.facts, signature.session_id, signature.deleted_ns) == (NO_FACTS, None, None)


@pytest.mark.parametrize("sample", SAMPLES[2:], ids=lambda s: s.stem)
def test_marks_and_truth_of_every_schema_that_has_them_open(opened: Database) -> None:
    (kept,) = predictions.recent(opened, 10)
    assert (kept.tags, kept.note) == (("release 2", "rpi"), "before the new cooler")
    (measured,) = [
        m for m in measurements.load_all(opened) if m.measurement.device_id == "tesla-t4"
    ]
    assert (measured.measurement.id, measured.measurement.value_ms) == ("7" + "0" * 31, 2.25)
    with opened.transaction() as connection:
        assert measured.prediction_id is not None
        predictions.restore(connection, [measured.prediction_id])
        measurements.reinstate(connection, "8" + "0" * 31)
    restored = predictions.recent(opened, 10)[0]
    assert restored.id == measured.prediction_id
    assert restored.prediction.predicted_ms == 1.25
    assert restored.settings == PredictionSettings({"program": "0.1.0", "dimensions": {"batch": 1}})
    assert [m.measurement.value_ms for m in measurements.of_predicted(opened)][-1] == 225.0


@pytest.mark.parametrize("sample", SAMPLES[3:], ids=lambda s: s.stem)
def test_who_measured_is_told_by_every_schema_that_knows(opened: Database) -> None:
    with opened.transaction() as connection:
        connection.execute("UPDATE predictions SET deleted_ns = NULL")
    told = {p.prediction.device_id: p.prediction.provenance for p in predictions.recent(opened, 9)}
    assert told == {"a100": "MLPerf: median", "tesla-t4": "", "rpi5": ""}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.stem)
def test_how_a_prediction_was_adapted_is_told_by_every_schema_that_knows(
    opened: Database, sample: Path
) -> None:
    if sample.stem >= "0003":
        with opened.transaction() as connection:
            connection.execute("UPDATE predictions SET deleted_ns = NULL")
    told = {p.prediction.latency_ms: p.prediction.adaptation for p in predictions.recent(opened, 9)}
    assert told[5.25] == "posterior"
    evidence = {
        p.prediction.latency_ms: p.prediction.evidence for p in predictions.recent(opened, 9)
    }
    asked = "from 12 networks that you measured" if sample.stem >= "0007" else ""
    assert evidence[5.25] == asked
    assert told.get(5.1) == ("film" if sample.stem >= "0006" else None)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.stem)
def test_whether_a_number_is_unstable_is_told_by_every_schema_that_knows(
    opened: Database, sample: Path
) -> None:
    told = {p.prediction.latency_ms: p.prediction.unstable for p in predictions.recent(opened, 9)}
    reason = "only 3 of 6 networks gave a number" if sample.stem >= "0009" else ""
    assert told[5.25] == reason


@pytest.mark.parametrize("sample", SAMPLES[7:], ids=lambda s: s.stem)
def test_tokens_a_second_of_every_schema_that_has_them_open(opened: Database) -> None:
    run = Document({"model": {"name": "small"}, "run": {"prompt": 512}})
    assert token_rates.load_all(opened) == [TokenRate("rpi5", 4.5, run)]


def test_what_was_measured_of_this_machine_under_its_former_id_is_found(tmp_path: Path) -> None:
    path = tmp_path / "0004_provenance.sqlite"
    shutil.copy(GOLDEN / path.name, path)
    once, both = (Configuration("onnxruntime", Precision.FP32, n, 1) for n in (1, 2))
    made = [("this", once), ("this", both), ("this-machine", both)]
    with closing(sqlite_utils.Database(path)) as db, db.conn:
        for number, (device_id, configuration) in enumerate(made, 1):
            target = targets.put(db, device_id, configuration)
            row = {"id": f"{number:032}", "target_id": target, "active": 1, "created_ns": number}
            db.table("signatures").insert(row)

    opened = open_database(path)

    found = {
        int(s.id): (s.device_id, s.configuration, s.active) for s in signatures.load_all(opened)
    }
    assert [found[number] for number in (1, 2, 3)] == [
        ("this-machine", once, True),
        ("this-machine", both, False),
        ("this-machine", both, True),
    ]
    assert opened.connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert not opened.connection.execute(
        "SELECT 1 FROM targets WHERE device_id = 'this'"
    ).fetchall()
    opened.close()


def test_a_store_of_a_newer_program_is_refused_as_it_is(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        with_steps(newer, NEXT)
        open_database(filled).close()
    before = {f: f.read_bytes() for f in filled.parent.iterdir()}
    with pytest.raises(InputError, match="a newer version of this program made the store"):
        open_database(filled)
    assert {f: f.read_bytes() for f in filled.parent.iterdir()} == before


def test_a_store_is_copied_before_it_is_migrated(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = schema(filled)
    with_steps(monkeypatch, NEXT)

    opened = open_database(filled)

    assert opened.connection.execute("SELECT note FROM reports").fetchall() == []
    assert settings.load_all(opened) == {"unit": "ms"}
    opened.close()
    assert schema(filled)[1] == len(migrations.MIGRATIONS)
    backup = backup_path(filled, "9998_next")
    assert schema(backup) == before
    assert {f.name for f in filled.parent.iterdir()} == {filled.name, backup.name}
    # The copy is a store itself: put in place, it opens and migrates.
    backup.replace(filled)
    open_database(filled).close()
    assert schema(filled)[1] == len(migrations.MIGRATIONS)


def test_a_new_store_needs_no_copy(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_steps(monkeypatch, NEXT)
    open_database(store).close()
    assert [f.name for f in store.parent.iterdir()] == [store.name]


def test_a_failing_step_rolls_back_every_step(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = schema(filled)
    with monkeypatch.context() as broken:
        with_steps(broken, NEXT, FAILING)
        with pytest.raises(sqlite3.OperationalError, match="no such table: nowhere"):
            open_database(filled)
    assert schema(filled) == before
    opened = open_database(filled)
    assert settings.load_all(opened) == {"unit": "ms"}
    opened.close()


def test_a_failing_first_step_leaves_an_empty_file(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        with_steps(broken, FAILING)
        with pytest.raises(sqlite3.OperationalError):
            open_database(store)
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    open_database(store).close()


def test_a_store_that_cannot_be_copied_is_not_migrated(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = schema(filled)
    # A folder where the copy would stand: it can't be replaced by a file.
    (backup_path(filled, "9998_next") / "in the way").mkdir(parents=True)
    with monkeypatch.context() as newer:
        with_steps(newer, NEXT)
        with pytest.raises(HostError, match="the backup before the upgrade"):
            open_database(filled)
    assert schema(filled) == before
