"""``ctm evaluate measurements`` as a user runs it, on networks and devices in files."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen

import psutil
import pytest

from tests.support.networks.convolution import write_graph

Run = Callable[..., CompletedProcess[str]]
Start = Callable[..., Popen[str]]

HEADER = "target,model,latency_ms,batch"


@pytest.fixture
def folder(tmp_path: Path, board: Path, fixed_model: Path) -> Path:
    """Two networks, of which one pins its batch, a board, and a table on it and the catalogue."""
    write_graph(tmp_path / "graphs/conv.onnx")
    fixed_model.rename(tmp_path / "graphs/fixed.onnx")
    (tmp_path / "devices").mkdir()
    board.rename(tmp_path / "devices/board.json")
    write_table(
        tmp_path,
        "board,conv,0.3,",
        "board,conv,0.5,2",
        "board,fixed,0.01,",
        "board,fixed,0.02,8",
        "rpi5,conv,0.1,",
    )
    return tmp_path


def write_table(folder: Path, *rows: str) -> None:
    (folder / "t.csv").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")


def arguments(folder: Path, *more: str) -> list[str | Path]:
    places = ("--table", folder / "t.csv", "--graphs", folder / "graphs")
    output = ("--devices", folder / "devices", "--output", folder / "out.json")
    return ["evaluate", "measurements", *places, *output, *more]


def test_rows_summary_and_page(ctm: Run, folder: Path) -> None:
    done = ctm(*arguments(folder, "--page", str(folder / "out.md"), "--engine", "roofline"))

    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [(row["target"], row["model"], row["batch"], row["line"]) for row in found["rows"]] == [
        ("board", "conv", None, 2),
        ("board", "conv", 2, 3),
        ("board", "fixed", None, 4),
        ("board", "fixed", 8, 5),
        ("rpi5", "conv", None, 6),
    ]
    first = found["rows"][0]
    assert first["predicted_ms"] > 0
    assert (first["basis"], first["seed"], first["low80_ms"]) == ("analytic", 0, None)
    assert (first["runtime"], first["precision"], first["threads"]) == ("onnxruntime", "fp32", 0)
    error = abs(first["predicted_ms"] - 0.3) / 0.3
    targets = found["summary"]["targets"]
    assert [(t["target"], t["device"], t["rows"]) for t in targets] == [
        ("board", "my-board", 4),
        ("rpi5", "rpi5", 1),
    ]
    assert 0 < error * 25 < targets[0]["mape_percent"]
    assert str(folder) not in json.dumps(found) + (folder / "out.md").read_text(encoding="utf-8")
    assert done.stdout.splitlines()[-1].startswith("all")
    assert "0 of 4: conv" in done.stderr


def test_probes_and_json_alone_on_stdout(ctm_process: Run, folder: Path) -> None:
    done = ctm_process(*arguments(folder, "--probes", "1", "--seeds", "2", "--json", "--quiet"))

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert [row["seed"] for row in found["rows"]] == [0, 0, 0, 1, 1, 1]
    assert found["left_out"] == [
        {"target": "rpi5", "reason": "1 probes of 1 rows leave none to predict"}
    ]


def test_a_suffix_tells_targets_on_one_device_apart(ctm: Run, folder: Path) -> None:
    write_table(folder, "board@new driver,conv,0.3,", "board@old,conv,0.4,", "rpi5@x,conv,0.1,")

    done = ctm(*arguments(folder, "--json"))

    entries = json.loads(done.stdout)["summary"]["targets"]
    assert [(e["target"], e["device"]) for e in entries] == [
        ("board@new driver", "my-board"),
        ("board@old", "my-board"),
        ("rpi5@x", "rpi5"),
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["board,conv,1,", "board,none,1,"], "line 3: model none has no file none.onnx in "),
        (["nowhere,conv,1,"], "line 2: target nowhere: it has no file nowhere.json in "),
        (["board,conv,1,", "wrong,conv,1,"], "line 3: "),
        (["board,conv,1,", "board,damaged,1,"], "line 3, "),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    ctm: Run, folder: Path, rows: list[str], words: str
) -> None:
    write_table(folder, *rows)
    (folder / "devices/wrong.json").write_text('{"schema": "ctm-hcv/1"}', encoding="utf-8")
    (folder / "graphs/damaged.onnx").write_bytes(b"no model")

    done = ctm(*arguments(folder, "--quiet"))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ctm: {folder / 't.csv'}, {words}")
    assert done.stderr.count("\n") == 1
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--engine", "oracle"], "oracle: there is no engine of this name"),
        (["--page", "no/page.md"], "no/page.md: no file can be there"),
        (["--probes", "9"], "9 probes of 4 rows leave none to predict"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    ctm: Run, folder: Path, more: list[str], words: str
) -> None:
    done = ctm(*arguments(folder, *more))

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")
def test_ctrl_c_ends_with_130_and_leaves_no_file(start_ctm: Start, folder: Path) -> None:
    process = start_ctm(*arguments(folder, "--probes", "1", "--seeds", "1000000"))
    deadline = time.monotonic() + 60
    while not psutil.Process(process.pid).children():
        assert time.monotonic() < deadline, "no child reads the models"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err.splitlines()[-1] == "ctm: cancelled."
    assert not (folder / "out.json").exists()
