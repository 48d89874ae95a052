"""Projects: everything arrives, nothing is overwritten unasked, hostile files are refused."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from predictor.core.documents import ProbingFacts
from predictor.core.errors import CancelledError, InputError
from predictor.core.progress import CancelToken
from predictor.core.records import (
    MeasuredRate,
    OperatingPoint,
    Signature,
)
from predictor.devices.schema import DeviceFile
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.generation import records
from predictor.services.history.history import History, open_history
from predictor.services.history.store_files import store_info, store_problems
from predictor.services.project.conflicts import Choice, Chooser, Subject, always
from predictor.services.project.file import read_project
from predictor.services.project.imports import Plan
from predictor.services.project.records import Project
from predictor.store import measurements, signatures
from tests.support.decoder_architectures import TINY
from tests.support.filled_stores import BOARD, NET, OTHER, PI, SIGNED, fill, measurement
from tests.support.past_predictions import predictions_of, small_model

NO_CATALOGUE = Catalogue(())


@pytest.fixture(scope="module")
def project_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    with open_history(folder / "store.sqlite") as history:
        fill(history)
        history.projects.export(folder / "team.ctmproject")
    return folder / "team.ctmproject"


@pytest.fixture
def project(project_file: Path) -> Project:
    return read_project(project_file)


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[History]:
    with open_history(tmp_path / "mine.sqlite") as history:
        yield history


@pytest.fixture
def full(mine: History, project: Project) -> History:
    """A store that has the project already."""
    take(mine, project)
    return mine


def take(history: History, project: Project, choose: Chooser = lambda _: None) -> Plan:
    return history.projects.apply(project, NO_CATALOGUE, choose)


def test_the_facts_beside_the_metrics_go_with_a_project(mine: History, tmp_path: Path) -> None:
    device = dataclasses.replace(
        BOARD,
        chip="rk3588",
        architecture="cortex-a76",
        instruction_sets=("neon", "dotprod"),
        measured={"dram_bw_gbps": MeasuredRate(12.5, "STREAM")},
        operating_points=(OperatingPoint(name="slow", source="governor", cpu_mhz=408.0, cores=4),),
    )
    mine.devices.save(DeviceFile(device))
    mine.projects.export(tmp_path / "own.ctmproject")
    with open_history(tmp_path / "other.sqlite") as other:
        take(other, read_project(tmp_path / "own.ctmproject"))
        assert [entry.device for entry in other.devices.all()] == [device]


def counted(plan: Plan, what: str) -> dict[str, int]:
    return {kind: getattr(counts, what) for kind, counts in plan.counts.items()}


def test_an_empty_store_gets_everything(mine: History, project: Project, tmp_path: Path) -> None:
    plan = take(mine, project)
    assert counted(plan, "new") == {
        "devices": 1, "models": 2, "measurements": 2, "signatures": 1, "predictions": 4, "rates": 0,
    }  # fmt: skip
    assert plan.conflicts == ()
    assert store_problems(mine.database.path) == []
    content = mine.past.read(10)
    assert content.predictions[0].tags == ("release 2",)
    assert content.predictions[0].note == "for the customer"
    (pair,) = content.pairs
    assert (pair.measured_ms, pair.predicted.id) == (3.25, content.predictions[0].id)
    # What comes out again is what went in.
    again = mine.projects.export(tmp_path / "again.ctmproject").project
    assert again == project
    assert signatures.load_all(mine.database)[0].active


def test_a_model_at_two_batches_comes_through_as_two(mine: History, tmp_path: Path) -> None:
    models = [NET, small_model(batch=8)]
    made = predictions_of(*models)
    mine.record(models, made)
    mine.projects.export(tmp_path / "batches.ctmproject")
    with open_history(tmp_path / "other.sqlite") as other:
        take(other, read_project(tmp_path / "batches.ctmproject"))
        theirs = [each.prediction for each in other.past.read(10).predictions]
    by_batch = {(p.fingerprint, p.device_id, p.configuration.batch): p.latency_ms for p in made}
    assert len(by_batch) == 4
    assert {
        (p.fingerprint, p.device_id, p.configuration.batch): p.latency_ms for p in theirs
    } == by_batch


def test_importing_again_changes_nothing(full: History, project: Project, tmp_path: Path) -> None:
    before = full.projects.export(tmp_path / "before").project
    plan = take(full, project)
    assert counted(plan, "new") == dict.fromkeys(plan.counts, 0)
    assert counted(plan, "same") == {
        "devices": 1, "models": 2, "measurements": 2, "signatures": 1, "predictions": 4, "rates": 0,
    }  # fmt: skip
    assert full.projects.export(tmp_path / "after").project == before


def test_what_was_deleted_here_comes_back(full: History, project: Project) -> None:
    ids = [p.id for p in full.past.read(10).predictions]
    full.past.delete(ids[:2])
    (truth,) = [m for m in measurements.load_all(full.database) if m.measurement.value_ms == 3.25]
    full.past.withdraw_truth(truth.measurement.id)
    signatures.delete(full.database, SIGNED)
    plan = take(full, project)
    assert counted(plan, "back")["predictions"] == 2
    assert counted(plan, "back")["signatures"] == 1
    assert full.past.read(10).count == 4
    assert len(full.past.read(10).pairs) == 1
    assert [s.active for s in signatures.load_all(full.database)] == [True]


def test_only_what_has_a_tag_is_written_with_what_it_rests_on(
    mine: History, tmp_path: Path
) -> None:
    fill(mine)
    found = mine.projects.export(tmp_path / "tagged", tags=["RELEASE 2"]).project
    assert [p.tags for p in found.predictions] == [("release 2",)]
    assert list(found.graphs) == [OTHER.graph.fingerprint]
    assert [m.measurement.value_ms for m in found.measurements] == [3.25]
    assert (found.devices, found.signatures) == ((), ())
    with pytest.raises(InputError, match="no prediction has the tag unknown"):
        mine.projects.export(tmp_path / "none", tags=["unknown"])
    assert not (tmp_path / "none").exists()


def test_a_prediction_whose_graph_cannot_be_read_is_left_out(mine: History, tmp_path: Path) -> None:
    fill(mine)
    with mine.database.transaction() as connection:
        connection.execute(
            "UPDATE models SET graph = x'00' WHERE fingerprint = ?", (OTHER.graph.fingerprint,)
        )
    found = mine.projects.export(tmp_path / "file")
    assert (len(found.project.predictions), found.left_out) == (2, 2)
    assert list(read_project(tmp_path / "file").graphs) == [NET.graph.fingerprint]


def changed_device(project: Project) -> Project:
    device = dataclasses.replace(BOARD, metrics={"clock_mhz": 2400.0})
    return dataclasses.replace(project, devices=(DeviceFile(device),))


def devices(history: History) -> dict[str, float | None]:
    return {e.device.id: e.device.metric("clock_mhz") for e in history.devices.all()}


def test_without_an_answer_nothing_is_written(
    full: History, project: Project, tmp_path: Path
) -> None:
    before = full.projects.export(tmp_path / "before").project
    plan = full.projects.plan(changed_device(project), NO_CATALOGUE)
    (conflict,) = plan.open
    assert conflict.subject is Subject.DEVICE
    assert (conflict.local, conflict.incoming) == ("clock_mhz 1800", "clock_mhz 2400")
    assert conflict.choices == tuple(Choice)
    with pytest.raises(InputError, match="nothing was imported"):
        take(full, changed_device(project))
    assert full.projects.export(tmp_path / "after").project == before


@pytest.mark.parametrize(
    ("choice", "clocks"),
    [
        (Choice.KEEP, {"board": 1800.0}),
        (Choice.TAKE, {"board": 2400.0}),
        (Choice.BOTH, {"board": 1800.0, "board-2": 2400.0}),
    ],
)
def test_a_device_is_kept_taken_or_there_twice(
    mine: History, project: Project, choice: Choice, clocks: dict[str, float]
) -> None:
    mine.devices.save(DeviceFile(BOARD))
    for _ in range(2):
        take(mine, changed_device(project), always(choice))
        assert devices(mine) == clocks
    measured_on = {s.device_id for s in signatures.load_all(mine.database)}
    assert measured_on == {"board-2" if choice is Choice.BOTH else "board"}
    assert store_problems(mine.database.path) == []


def test_tokens_a_second_go_with_a_project_and_are_kept_or_taken(
    mine: History, project: Project, tmp_path: Path
) -> None:
    card = load_catalogue().by_id["rtx3060"]
    rate = records.MeasuredRate(
        card, 50.0, TINY, records.GenerationRequest(weights="q4_0", runtime="llama.cpp")
    )
    path = tmp_path / "rates.ctmproject"
    mine.token_rates.keep(rate)
    mine.projects.export(path)
    theirs = read_project(path)
    assert take(mine, theirs).counts["rates"].same == 1
    own = dataclasses.replace(rate, tokens_per_s=40.0)
    mine.token_rates.keep(own)
    for answer, kept in ((Choice.KEEP, own), (Choice.TAKE, rate)):
        plan = take(mine, theirs, always(answer))
        assert mine.token_rates.all({card.id: card}) == {card.id: kept}
    (conflict,) = plan.conflicts
    assert (conflict.subject, conflict.local) == (Subject.RATE, "40 tokens/s of tiny")
    with pytest.raises(InputError, match="no run of a language model"):
        read_project(rewritten(path, tmp_path / "bad", edited("rates", run="{}")))
    with pytest.raises(InputError, match="tokens_per_s is not over 0"):
        read_project(rewritten(path, tmp_path / "bad", edited("rates", tokens_per_s=0)))


def test_programs_before_tokens_a_second_read_a_project_without_them(project_file: Path) -> None:
    with zipfile.ZipFile(project_file) as archive:
        assert "rates.jsonl" not in archive.namelist()


def test_a_shipped_device_is_never_replaced(mine: History, project: Project) -> None:
    shipped = Catalogue((dataclasses.replace(BOARD, metrics={"clock_mhz": 1.5}),))
    plan = mine.projects.plan(project, shipped)
    assert plan.open[0].choices == (Choice.KEEP, Choice.BOTH)
    mine.projects.apply(project, shipped, always(Choice.TAKE))
    assert devices(mine) == {"board-2": 1800.0}


def changed_record(project: Project, kind: str) -> Project:
    """A project in which one record has my id and another content."""
    records: dict[str, Callable[[Any], Any]] = {
        "measurements": lambda r: dataclasses.replace(
            r, measurement=dataclasses.replace(r.measurement, value_ms=99.0)
        ),
        "signatures": lambda r: dataclasses.replace(r, facts=ProbingFacts({"b": 2})),
        "predictions": lambda r: dataclasses.replace(
            r, prediction=dataclasses.replace(r.prediction, latency_ms=99.0)
        ),
    }
    first, *rest = getattr(project, kind)
    return dataclasses.replace(project, **{kind: (records[kind](first), *rest)})


@pytest.mark.parametrize("kind", ["measurements", "signatures", "predictions"])
def test_my_records_stay_and_theirs_stand_beside_them(
    full: History, project: Project, kind: str, tmp_path: Path
) -> None:
    theirs = changed_record(project, kind)

    def records(name: str) -> dict[str, Any]:
        found = getattr(full.projects.export(tmp_path / name).project, kind)
        return {getattr(r, "id", "") or r.__class__.__name__ + repr(r)[:90]: r for r in found}

    before = records("before")
    take(full, theirs, always(Choice.KEEP))
    assert records("kept") == before
    for name in ("taken", "again"):
        take(full, theirs, always(Choice.TAKE))
        after = records(name)
        assert before.keys() < after.keys()
        assert len(after) == len(before) + 1
    assert store_problems(full.database.path) == []


@pytest.mark.parametrize(
    ("choice", "tags", "note"),
    [
        (Choice.KEEP, ("mine",), "my note"),
        (Choice.TAKE, ("release 2",), "for the customer"),
        (Choice.BOTH, ("mine", "release 2"), "my note / for the customer"),
    ],
)
def test_tags_and_notes_are_kept_taken_or_joined(
    full: History, project: Project, choice: Choice, tags: tuple[str, ...], note: str
) -> None:
    newest = full.past.read(1).predictions[0]
    full.past.mark(newest.id, ["mine"], "my note")
    assert [c.subject for c in full.projects.plan(project, NO_CATALOGUE).open] == [Subject.MARKS]
    take(full, project, always(choice))
    found = full.past.read(1).predictions[0]
    assert (found.tags, found.note) == (tags, note)


def test_marks_are_added_where_there_are_none(full: History, project: Project) -> None:
    newest = full.past.read(1).predictions[0]
    full.past.mark(newest.id, [], "")
    assert take(full, project).conflicts == ()
    assert full.past.read(1).predictions[0].tags == ("release 2",)


@pytest.mark.parametrize(("choice", "active"), [(Choice.KEEP, "3" * 32), (Choice.TAKE, SIGNED)])
def test_one_signature_of_a_target_is_in_use_afterwards(
    mine: History, project: Project, choice: Choice, active: str
) -> None:
    measurements.add(mine.database, measurement("4" * 32))
    own = Signature("3" * 32, "board", PI, ("4" * 32,), active=True)
    signatures.add(mine.database, own)
    plan = mine.projects.plan(project, NO_CATALOGUE)
    assert [c.subject for c in plan.open] == [Subject.ACTIVE]
    take(mine, project, always(choice))
    found = {s.id: s.active for s in signatures.load_all(mine.database)}
    assert found == {"3" * 32: active == "3" * 32, SIGNED: active == SIGNED}


def test_a_cancelled_export_leaves_no_file(mine: History, tmp_path: Path) -> None:
    fill(mine)
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        mine.projects.export(tmp_path / "file", token=token)
    assert {f.name for f in tmp_path.iterdir()} <= {
        "mine.sqlite",
        "mine.sqlite-wal",
        "mine.sqlite-shm",
    }


def test_a_file_that_is_there_is_replaced_only_when_asked(mine: History, tmp_path: Path) -> None:
    fill(mine)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="add --replace"):
        mine.projects.export(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    mine.projects.export(tmp_path / "file", replacing=True)
    assert len(read_project(tmp_path / "file").predictions) == 4


def test_no_path_and_no_weight_leaves_this_machine(project_file: Path) -> None:
    with zipfile.ZipFile(project_file) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert b"/models/" not in text
    assert b"net.onnx" in text


# What a stranger may send.

Parts = dict[str, bytes]


def rewritten(project_file: Path, target: Path, change: Callable[[Parts], None]) -> Path:
    """Write the project with its parts changed, and a manifest that vouches for them."""
    with zipfile.ZipFile(project_file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    manifest = json.loads(parts["manifest.json"])
    told = manifest.get("parts")
    for name, stated in told.items() if isinstance(told, dict) else ():
        data = parts.get(f"{name}.jsonl", b"")
        stated.update(
            bytes=len(data), lines=data.count(b"\n"), sha256=hashlib.sha256(data).hexdigest()
        )
    parts["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target


def edited(kind: str, **fields: object) -> Callable[[Parts], None]:
    """Change fields of the first record of a kind; ``...`` takes a field away."""

    def change(parts: Parts) -> None:
        first, *rest = parts[f"{kind}.jsonl"].splitlines(keepends=True)
        record = json.loads(first)
        for name, value in fields.items():
            if value is ...:
                del record[name]
            else:
                record[name] = value
        parts[f"{kind}.jsonl"] = b"".join([json.dumps(record).encode() + b"\n", *rest])

    return change


def raw(kind: str, old: bytes, new: bytes) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        assert old in parts[f"{kind}.jsonl"]
        parts[f"{kind}.jsonl"] = parts[f"{kind}.jsonl"].replace(old, new, 1)

    return change


def manifest(**fields: object) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        parts["manifest.json"] = json.dumps(
            {**json.loads(parts["manifest.json"]), **fields}
        ).encode()

    return change


def twice(kind: str) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        parts[f"{kind}.jsonl"] += parts[f"{kind}.jsonl"].splitlines(keepends=True)[0]

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda parts: parts.pop("models.jsonl"), "its parts are others"),
        (lambda parts: parts.update({"../../evil": b"x"}), "its parts are others"),
        (manifest(format="other"), "it is no project file"),
        (manifest(version=2), "its format has version 2"),
        (manifest(parts=[]), "manifest.json: parts is a list"),
        (manifest(extra=1), "extra is not a field that this version knows"),
        (edited("predictions", id="x"), "predictions.jsonl line 1: id is not 32 hex digits"),
        (edited("predictions", id="../../etc/passwd"), "id is not 32 hex digits"),
        (edited("predictions", latency_ms=-1), "latency_ms is not over 0"),
        (edited("predictions", latency_ms="fast"), "latency_ms is a text"),
        (edited("predictions", latency_ms=None), "basis does not fit to the latency"),
        (edited("predictions", low80_ms=2.0, high80_ms=1.0), "high80_ms does not fit to low80_ms"),
        (edited("predictions", basis="guessed"), "basis is none that this version knows"),
        (edited("predictions", created_ns=2**63), "created_ns is out of range"),
        (edited("predictions", settings="[1]"), "settings is not the text of a JSON object"),
        (edited("predictions", tags=["x" * 41]), "41 characters, more than 40"),
        (edited("predictions", device="Not A Slug"), "is not a slug"),
        (edited("predictions", fingerprint="f" * 64), f"refers to the model {'f' * 64}"),
        (edited("predictions", signature="f" * 32), f"refers to the signature {'f' * 32}"),
        (edited("predictions", note=...), "note is missing"),
        (edited("predictions", engine="closertome/1\ud8ff"), "holds \\ud8ff, half of a surrogate"),
        (edited("predictions", engine="closertome/1\udce9"), "holds \\udce9, half of a surrogate"),
        (edited("predictions", model="net\ud8ff.onnx"), "holds \\ud8ff, half of a surrogate"),
        (edited("predictions", note="\ud8ff"), "holds \\ud8ff, half of a surrogate"),
        (edited("predictions", tags=["\ud8ff"]), "holds \\ud8ff, half of a surrogate"),
        (edited("predictions", flagged_operators=["\ud8ff"]), "holds \\ud8ff, half of a"),
        (edited("predictions", settings='{"a": "\\ud8ff"}'), "holds \\ud8ff, half of a surrogate"),
        (edited("devices", notes="\ud8ff"), "hidden or direction characters (\\ud8ff)"),
        (edited("predictions", fine_tuned=1), "fine_tuned is a number where true or false"),
        (edited("predictions", configuration={"runtime": "x"}), "precision is missing"),
        (edited("measurements", value_ms=0), "value_ms is not over 0"),
        (edited("measurements", samples_ns=[1.5]), "samples_ns 1 is a number where a whole"),
        (edited("measurements", provenance="no json"), "provenance is not the text of a JSON"),
        (edited("measurements", prediction="f" * 32), f"refers to the prediction {'f' * 32}"),
        (edited("signatures", measurements=[]), "measurements is empty"),
        (edited("signatures", measurements=["f" * 32]), f"refers to the measurement {'f' * 32}"),
        (edited("signatures", deleted=True), "active is true for a deleted signature"),
        (edited("devices", metrics={"clock_mhz": -5}), "clock_mhz is -5, outside of"),
        (edited("models", graph="AAAA"), "graph is no operator graph"),
        (edited("models", graph="*"), "graph is no operator graph"),
        (edited("models", fingerprint="f" * 64), "graph is of another model"),
        (twice("predictions"), "has the prediction"),
        (twice("models"), "it has a model twice"),
        (raw("predictions", b'"latency_ms": ', b'"latency_ms": NaN, "x": '), "NaN"),
        (raw("predictions", b'"note": ', b'"note": "", "note": '), 'the field "note" twice'),
        (raw("predictions", b"{", b"[" * 100_000), "nested too deeply"),
        (raw("predictions", b"{", b"\xff{"), "not text in UTF-8"),
    ],
)
def test_a_hostile_project_is_refused_in_one_sentence(
    project_file: Path, tmp_path: Path, change: Callable[[Parts], None], sentence: str
) -> None:
    path = rewritten(project_file, tmp_path / "evil.ctmproject", change)
    with pytest.raises(InputError) as refusal:
        read_project(path)
    assert sentence in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_project_from_before_fine_tuning_is_read(project_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.ctmproject"
    found = read_project(rewritten(project_file, path, edited("predictions", fine_tuned=...)))
    assert not any(stored.prediction.fine_tuned for stored in found.predictions)
    assert any(stored.prediction.fine_tuned for stored in read_project(project_file).predictions)


def test_a_file_name_that_is_no_text_comes_through(project_file: Path, tmp_path: Path) -> None:
    """Python has half of a surrogate pair for each byte of it that is no UTF-8."""
    path = tmp_path / "bytes.ctmproject"
    change = edited("predictions", model="caf\udce9.onnx", settings='{"a": "\\ud83d\\ude00"}')
    project = read_project(rewritten(project_file, path, change))
    assert "caf\udce9.onnx" in {stored.prediction.model for stored in project.predictions}


def test_a_file_that_is_not_what_its_manifest_says_is_refused(
    project_file: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(project_file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["predictions.jsonl"] = parts["predictions.jsonl"].replace(b"roofline/1", b"roofline/2")
    path = tmp_path / "changed"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(InputError, match=r"predictions\.jsonl is not what its manifest says"):
        read_project(path)


@pytest.mark.parametrize("keep", [0, 10, 0.3, 0.9, 0.999])
def test_a_cut_file_is_refused(project_file: Path, tmp_path: Path, keep: float) -> None:
    data = project_file.read_bytes()
    path = tmp_path / "cut"
    path.write_bytes(data[: int(keep if keep > 1 else keep * len(data))])
    with pytest.raises(InputError, match="it is no project file, or it is damaged"):
        read_project(path)


def test_every_damaged_byte_is_harmless(project_file: Path, tmp_path: Path) -> None:
    """A flipped byte gives the same project, or one sentence."""
    data, path = project_file.read_bytes(), tmp_path / "flipped"
    sound = read_project(project_file)
    for place in range(0, len(data), max(len(data) // 80, 1)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        try:
            assert read_project(path) == sound
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_a_part_that_unpacks_to_more_than_there_may_be_is_refused(
    project_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("predictor.services.project.file.MAX_PART_BYTES", 1000)
    with pytest.raises(InputError, match="bytes, more than 1,000"):
        read_project(project_file)
    monkeypatch.undo()
    monkeypatch.setattr("predictor.services.project.file.MAX_LINE_BYTES", 100)
    with pytest.raises(InputError, match="has more than 100 bytes"):
        read_project(project_file)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "a folder"), (tmp_path / "none", "there is no such file")):
        with pytest.raises(InputError, match=reason):
            read_project(path)


# Imports, and kills itself at the n-th statement of its transaction.
KILLED = """
import os, signal, sys
from pathlib import Path
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.history.history import open_history
from predictor.services.project.file import read_project
left = int(sys.argv[3])
with open_history(Path(sys.argv[2])) as history:
    def watch(statement):
        global left
        if statement.startswith(("INSERT", "UPDATE", "COMMIT")):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    history.database.connection.set_trace_callback(watch)
    history.projects.apply(read_project(Path(sys.argv[1])), Catalogue(()), lambda _: None)
"""


@pytest.mark.slow
@pytest.mark.parametrize("statement", [1, 5, 10, 12])
def test_an_import_that_is_killed_leaves_the_store_as_it_was(
    project_file: Path, tmp_path: Path, statement: int
) -> None:
    path = tmp_path / "store.sqlite"
    open_history(path).close()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, project_file, path, str(statement)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    with open_history(path) as history:
        assert store_problems(history.database.path) == []
        records = store_info(history.database.path)["records"]
        assert isinstance(records, dict)
        assert set(records.values()) == {0}
