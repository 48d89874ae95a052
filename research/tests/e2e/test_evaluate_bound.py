"""``ctm evaluate bound`` as a user runs it, over data folders in the sources' forms."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen

import pytest

from research.tests.data_folder import write_ncnn, write_timm

Run = Callable[..., CompletedProcess[str]]
Start = Callable[..., Popen[str]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    write_ncnn(folder, {"min_ms": 1e4}, {"device_id": "unheard_of"})
    write_timm(folder, {"step_time_ms": 1e4})
    return folder


def test_figures_and_page_stand_side_by_side(ctm: Run, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "bound.json"

    done = ctm("evaluate", "bound", "--data", data, "--output", output)

    assert (done.returncode, done.stdout) == (0, "")
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["total"]["bounded"] == 2
    assert found["not_in_catalogue"] == [{"source": "ncnn", "device": "unheard_of cpu", "rows": 1}]
    page = (tmp_path / "bound.md").read_text(encoding="utf-8")
    assert "0 of 2 measurements are under their bound" in page
    assert str(data) not in page + json.dumps(found)
    assert "0 of 2: resnet50" in done.stderr


def test_json_goes_to_stdout_and_nothing_else(ctm: Run, data: Path) -> None:
    done = ctm("evaluate", "bound", "--data", data, "--json", "--quiet")

    assert (done.returncode, done.stderr) == (0, "")
    assert [source["source"] for source in json.loads(done.stdout)["sources"]] == ["ncnn", "timm"]


def test_more_than_one_percent_under_the_bound_ends_with_1(ctm: Run, data: Path) -> None:
    write_timm(data, {"step_time_ms": 1e-6})

    done = ctm("evaluate", "bound", "--data", data)

    assert done.returncode == 1
    assert "**over** the limit" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "nowhere"], "nowhere: it holds no folder of a source"),
        (["--data", "DATA", "--output", "bound.txt"], "bound.txt: it does not end in .json"),
        ([], "the following arguments are required: --data"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    ctm: Run, data: Path, arguments: list[str], words: str
) -> None:
    done = ctm("evaluate", "bound", *(str(data) if a == "DATA" else a for a in arguments))

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_cell_names_file_and_line(ctm: Run, data: Path) -> None:
    write_timm(data, {}, {"step_time_ms": "-3"})

    done = ctm("evaluate", "bound", "--data", data)

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"ctm: {data / 'timm/latencies.csv'}, line 3: step_time_ms is '-3', not a number above 0; "
        "restore the file from its source."
    )


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")
def test_ctrl_c_ends_with_130_and_leaves_no_file(
    start_ctm: Start, data: Path, tmp_path: Path
) -> None:
    output = tmp_path / "bound.json"
    (data / "rknn").mkdir()
    os.mkfifo(data / "rknn/latencies.csv")  # its reader waits for a writer that never comes
    process = start_ctm("evaluate", "bound", "--data", data, "--output", output)
    assert process.stderr is not None
    while "tables of rknn" not in process.stderr.readline():
        assert process.poll() is None

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err.splitlines()[-1] == "ctm: cancelled."
    assert not output.exists()
