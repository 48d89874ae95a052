"""``ctm load`` as a process: the bundled loads, and the contract that scripts depend on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from predictor.core.resources import resources_dir

Run = Callable[..., subprocess.CompletedProcess[str]]
_LOADS = sorted((resources_dir() / "loads").glob("*.toml"))
_FAST = "[simulation]\nitems = 4000\ndraws = 10\n"
_LOAD = """\
[[stream]]
name = "camera"
rate = 5
deadline_ms = 200

[[stream.stage]]
name = "classify"
model = "mobilenetv2-1.0-224.onnx"
"""


@pytest.mark.parametrize("path", _LOADS, ids=lambda path: path.stem)
def test_a_bundled_load_runs(ctm: Run, tmp_path: Path, path: Path) -> None:
    load = tmp_path / "load.toml"
    load.write_text(path.read_text(encoding="utf-8") + _FAST, encoding="utf-8")
    done = ctm("load", load, "--json")
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "ctm-load/1"
    assert document["holds"] == (done.returncode == 0)
    for stream in document["streams"]:
        assert 0 < stream["p50_ms"] <= stream["p90_ms"] <= stream["p99_ms"]
        assert all(stage["latency_ms"] > 0 for stage in stream["stages"])
    assert any(unit["utilisation"] > 0 for unit in document["units"])
    settings = document["settings"]
    assert settings["chance"] == 0.95
    known = [mode for mode in settings["modes"] if mode["holds"] and mode["run_watts"]]
    assert [mode["run_watts"] for mode in known] == sorted(mode["run_watts"] for mode in known)
    assert bool(known) == path.stem.startswith(("drone", "four"))  # none of a notebook's chip


def test_three_loads_are_bundled() -> None:
    assert [path.stem for path in _LOADS] == ["drone", "four-cameras", "kiosk"]


def test_a_device_or_a_box_stands_before_the_table(ctm: Run, tmp_path: Path) -> None:
    load = tmp_path / "load.toml"
    load.write_text(_LOAD + _FAST, encoding="utf-8")
    refused = ctm("load", load)
    assert refused.returncode == 2
    assert "it names no box" in refused.stderr
    box = json.loads(ctm("load", load, "--box", "rpi5-hailo-8", "--json").stdout)
    assert set(box["box"]["units"]) == {"npu", "cpu", "gpu"}
    report = tmp_path / "load.md"
    text = ctm("load", load, "--device", "rpi5", "--report", report)
    assert text.returncode == 0, text.stderr
    assert report.read_text(encoding="utf-8").startswith("# What Raspberry Pi 5")
    wrong = ctm("load", load, "--device", "rpi5", "--report", tmp_path / "load.txt")
    assert wrong.returncode == 2
    assert "its ending is .txt" in wrong.stderr
    assert "cpu (ncnn, fp16)" in text.stdout
    assert "Joules of cpu are of the whole board" in text.stdout


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("rate = 5", "rate = 0", "line 3, rate: it is not a rate over 0"),
        ('name = "classify"', 'unit = "dla"', "line 7, unit: rk3588 has no unit dla"),
        ("deadline_ms = 200", "deadline_ms = 0.001", "line 4, deadline_ms: 0.001 ms is under"),
    ],
)
def test_bad_input_is_one_sentence_with_its_place(
    ctm: Run, tmp_path: Path, before: str, after: str, words: str
) -> None:
    load = tmp_path / "load.toml"
    load.write_text(_LOAD.replace(before, after) + _FAST, encoding="utf-8")
    done = ctm("load", load, "--box", "rk3588")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_clock_of_the_box_is_used_or_refused(ctm: Run, tmp_path: Path) -> None:
    load = tmp_path / "load.toml"
    load.write_text(_LOAD + _FAST, encoding="utf-8")
    device = ("--device", "jetson-orin-nano-gpu", "--json")
    usual, slow = (ctm("load", load, *device, *more) for more in ((), ("--clock", "gpu=313")))
    before, after = (json.loads(done.stdout) for done in (usual, slow))
    latency = [one["streams"][0]["stages"][0]["latency_ms"] for one in (before, after)]
    assert 1.2 < latency[1] / latency[0] < 2.0
    assert after["box"]["clock_mhz"] == {"gpu": 313}
    assert (before["watts"] is None, after["watts"]) == (False, None)
    wrong = ctm("load", load, *device, "--clock", "gpu=2000")
    assert wrong.returncode == 2
    assert "no unit of jetson-orin-nano-gpu runs at gpu=2000 MHz; there is" in wrong.stderr


def test_boxes_are_listed(ctm: Run) -> None:
    assert "jetson-orin-nx-16gb" in ctm("devices", "boxes").stdout
    entries = json.loads(ctm("devices", "boxes", "--json").stdout)["boxes"]
    orin = next(entry for entry in entries if entry["id"] == "jetson-orin-nx-16gb")
    assert orin["units"]["dla"] == {"device": "jetson-orin-nx-16gb-dla", "count": 2}
    assert orin["shared_memory_bytes"] == 16 * 2**30


def test_choose_ranks_boxes_by_a_load(ctm: Run, tmp_path: Path) -> None:
    load = tmp_path / "load.toml"
    load.write_text(_LOAD + _FAST, encoding="utf-8")
    devices = ("--device", "rpi5", "--device", "jetson-orin-nano-gpu")
    done = ctm("choose", "--load", load, *devices, "--json")
    assert done.returncode == 0, done.stderr
    boxes = json.loads(done.stdout)["boxes"]
    ranked = [(entry["box"]["id"], entry["box"]["mode"]) for entry in boxes]
    # Twice the clock at twice the watts is done sooner; a Pi takes what its board does at the wall.
    assert ranked[:2] == [("jetson-orin-nano-gpu", "15W"), ("jetson-orin-nano-gpu", "7W")]
    assert ranked[-1] == ("rpi5", None)
    assert all(entry["holds"] and entry["of_whole_board"] for entry in boxes)
    hours = [entry["joules_per_hour"] for entry in boxes]
    assert hours == sorted(hours)
    neither = ctm("choose", "--max-ms", "5")
    assert neither.returncode == 2
    assert "it needs models, or a load" in neither.stderr
