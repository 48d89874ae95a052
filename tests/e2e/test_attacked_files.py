"""Files that a command line would lose, wait for, or believe: each is refused in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from predictor.core.files import locked

Run = Callable[..., subprocess.CompletedProcess[str]]
BUDGET = """\
[[check]]
models = "m.onnx"
targets = "rpi5"
max_growth_percent = 5
"""


@pytest.fixture
def model(working_folder: Path, mobilenet: Path) -> Path:
    """A model in the folder of the command."""
    path = working_folder / "m.onnx"
    shutil.copy(mobilenet, path)
    return path


def refused(ended: subprocess.CompletedProcess[str], reason: str) -> None:
    assert ended.returncode in {2, 3}
    assert reason in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("form", ["name", "link", "hard link"])
def test_no_output_replaces_the_model_that_is_read(ctm: Run, model: Path, form: str) -> None:
    content = model.read_bytes()
    output = model if form == "name" else model.with_name("trace.json")
    if form == "link":
        output.symlink_to(model)
    elif form == "hard link":
        output.hardlink_to(model)

    ended = ctm("explain", "m.onnx", "--device", "rpi5", "--trace", output.name)

    refused(ended, "it is a file that the command reads")
    assert model.read_bytes() == content


def test_no_output_replaces_the_store_the_budget_or_another_output(
    ctm: Run, model: Path, working_folder: Path
) -> None:
    budget, store = working_folder / "b.toml", working_folder / "s.db"
    budget.write_text(BUDGET, encoding="utf-8")
    (working_folder / "old.xml").touch()
    assert ctm("--store", "s.db", "predict", "m.onnx", "--device", "rpi5").returncode == 0
    content = store.read_bytes()

    predict = ("--store", "s.db", "explain", "m.onnx", "--device", "rpi5", "--trace", "s.db")
    refused(ctm(*predict), "it is the store")
    refused(ctm("--store", "s.db", "store", "export", "s.db", "--replace"), "the store itself")
    refused(ctm("check", "b.toml", "--save", "b.toml"), "a file that the command reads")
    refused(ctm("check", "b.toml", "--junit", "m.onnx"), "a file that the command reads")
    for name in ("old.xml", "new.xml"):
        same = ("--save", name, "--junit", f"./{name}")
        refused(ctm("check", "b.toml", *same), "--save writes the same file")

    assert store.read_bytes() == content
    assert budget.read_text(encoding="utf-8") == BUDGET


def test_rows_replace_rows_alone(ctm: Run, model: Path, working_folder: Path) -> None:
    notes = working_folder / "notes.csv"
    notes.write_text("name,price\n", encoding="utf-8")
    rows = ("predict", "m.onnx", "--device", "rpi5", "--rows")

    refused(ctm(*rows, "notes.csv"), "the file holds something else than rows")
    assert notes.read_text(encoding="utf-8") == "name,price\n"
    assert ctm(*rows, "new.csv").returncode == ctm(*rows, "new.csv").returncode == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_nothing_waits_for_a_pipe_or_reads_a_device(
    ctm: Run, model: Path, working_folder: Path
) -> None:
    os.mkfifo(working_folder / "f.jsonl")
    (working_folder / "z.jsonl").symlink_to("/dev/zero")
    (working_folder / "b.toml").write_text(BUDGET, encoding="utf-8")
    rows = ("predict", "m.onnx", "--device", "rpi5", "--rows")

    refused(ctm(*rows, "f.jsonl"), "a pipe, socket or device")
    refused(ctm(*rows, "z.jsonl", "--resume"), "a pipe, socket or device")
    ended = ctm("check", "b.toml", "--summary", "f.jsonl")
    assert ended.returncode == 3
    assert "the summary could not be written" in ended.stderr


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"model": ["a"]}\n', "\0", '{"model": 1e999, "engine": []}\n']
)
def test_damaged_rows_are_refused_by_resume(
    ctm: Run, model: Path, working_folder: Path, content: str
) -> None:
    path = working_folder / "rows.jsonl"
    path.write_text(content + "\n", encoding="utf-8")

    ended = ctm("predict", "m.onnx", "--device", "rpi5", "--rows", "rows.jsonl", "--resume")

    refused(ended, "rows of another form")


@pytest.mark.parametrize("latency", ["NaN", "0", "-5", "1e999", "1" + 400 * "0", "[1]", '"1"'])
def test_a_base_without_sound_latencies_is_refused(
    ctm: Run, model: Path, working_folder: Path, latency: str
) -> None:
    (working_folder / "b.toml").write_text(BUDGET, encoding="utf-8")
    assert ctm("check", "b.toml", "--save", "base.json").returncode == 0
    base = working_folder / "base.json"
    document = json.loads(base.read_text(encoding="utf-8"))
    stated = document["checks"][0]["latency_ms"]
    base.write_text(base.read_text(encoding="utf-8").replace(str(stated), latency), "utf-8")

    refused(ctm("check", "b.toml", "--base", "base.json"), "it is no document of ctm-check/1")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"max_ms = 1{400 * '0'}", "line 4, max_ms: it is not a number over 0"),
        (f"max_ms = 1{5000 * '0'}", "a number that is too long"),
    ],
)
def test_long_numbers_of_a_budget_are_refused(
    ctm: Run, working_folder: Path, line: str, reason: str
) -> None:
    text = BUDGET.replace("max_growth_percent = 5", line)
    (working_folder / "b.toml").write_text(text, encoding="utf-8")

    refused(ctm("check", "b.toml"), reason)


def test_many_tables_of_one_model_read_it_once(ctm: Run, working_folder: Path) -> None:
    table = '{models = "m", targets = "rpi5", max_ms = 1}'
    text = "check = [" + ",\n".join([table] * 2000) + "]\n"
    (working_folder / "b.toml").write_text(text, encoding="utf-8")

    ended = ctm("check", "b.toml")

    assert ended.returncode == 2
    assert ended.stderr.count("there is no such file") == 1


def test_addresses_and_keys_that_cannot_be_are_refused(ctm: Run, model: Path) -> None:
    probe = ("probe", "run", "--device", "rpi5", "--probes", "3", "--ssh")

    ended = ctm(*probe, f"root@127.0.0.1:1{5000 * '0'}")
    assert "it is no address of a board" in ended.stderr
    ended = ctm(*probe, "root@127.0.0.1:1", "--ssh-key", "~nosuchuser/k")
    assert "its user has no home folder" in ended.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_a_link_that_another_user_planted_is_not_followed(
    ctm: Run, model: Path, working_folder: Path
) -> None:
    shared = working_folder / "shared"
    shared.mkdir()
    shared.chmod(0o777 | stat.S_ISVTX)
    precious = working_folder / "precious"
    precious.write_text("mine", encoding="utf-8")
    link = shared / "trace.json"
    link.symlink_to(precious)
    os.lchown(link, 12345, 12345)

    ended = ctm("explain", "m.onnx", "--device", "rpi5", "--trace", str(link))

    refused(ended, "a link that another user put there")
    assert precious.read_text(encoding="utf-8") == "mine"


def test_a_second_run_does_not_write_the_rows_of_the_first(
    ctm: Run, model: Path, working_folder: Path
) -> None:
    rows = ("predict", "m.onnx", "--device", "rpi5", "--rows", "rows.jsonl")
    with (working_folder / "rows.jsonl").open("ab") as first:
        assert locked(first)
        refused(ctm(*rows), "another run writes this file")
    assert ctm(*rows).returncode == 0


def test_a_clock_before_1980_writes_a_project(
    ctm: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ("--store", "s.db")
    assert ctm(*store, "predict", "m.onnx", "--device", "rpi5").returncode == 0
    before = time.struct_time((1970, 1, 2, 0, 0, 0, 4, 2, 0))
    monkeypatch.setattr(time, "localtime", lambda *_: before)

    ended = ctm(*store, "store", "export", "p.ctmproject")

    assert ended.returncode == 0, ended.stderr
