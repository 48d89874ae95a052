"""``ctm choose`` as a process: the contract that scripts depend on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_the_whole_catalogue_is_held_against_a_budget(ctm: Run, mobilenet: Path) -> None:
    done = ctm("choose", mobilenet, "--max-ms", "33", "--max-watts", "15", "--rows", "0", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)

    assert document["schema"] == "ctm-choice/1"
    assert document["budget"] == {
        "max_ms": 33.0, "min_fps": None, "max_watts": 15.0, "max_memory_mb": None,
        "percentile": 50, "min_throughput": None,
    }  # fmt: skip
    assert document["met"]
    assert document["considered"]["devices"] == len(document["options"]) > 400
    assert document["considered"]["options"] > 3000
    meeting = [each for each in document["options"] if each["chance"] >= 0.5]
    assert len(meeting) == document["meeting"] > 0
    assert all(each["watts"] <= 15 for each in meeting), "only where power is stated"
    assert document["options"][: len(meeting)] == meeting
    for each in document["front"]:
        assert each["on_front"]
        assert not each["broken"]


def test_a_power_mode_keeps_a_limit_that_the_usual_clocks_do_not(ctm: Run, mobilenet: Path) -> None:
    asked = ("choose", mobilenet, "--max-ms", "33", "--device", "jetson-agx-xavier-gpu")
    (option,) = json.loads(ctm(*asked, "--max-watts", "12", "--json").stdout)["options"]
    assert (option["mode"], option["watts"], option["broken"]) == ("10W", 10.0, [])
    done = ctm(*asked, "--mode", "15w")
    assert done.returncode == 0, done.stderr
    assert ", 15W, needs a quantised model) comes first" in done.stdout
    heads, row = done.stdout.splitlines()[2:4]
    assert row[heads.index("Mode") :].startswith("15W ")


def test_the_slow_runs_are_judged_where_published_logs_tell_them(ctm: Run, mobilenet: Path) -> None:
    asked = ("choose", mobilenet, "--max-ms", "33", "--percentile", "99", "--family", "mobile_cpu")
    document = json.loads(ctm(*asked, "--rows", "0", "--json").stdout)
    told = [each for each in document["options"] if each["judged_by"] == "p99"]
    assert 0 < len(told) < len(document["options"])
    assert all(
        (each["latencies"][0]["p99_ms"] is None) == (each not in told)
        for each in document["options"]
    )
    done = ctm(*asked)
    assert "P99 is not known of the best options of " in done.stdout
    assert "P99 ms" in done.stdout


def test_nothing_meets_it_ends_in_1_with_what_comes_nearest(
    ctm_process: Run, mobilenet: Path
) -> None:
    done = ctm_process(
        "choose", mobilenet, "--max-ms", "1e-6", "--device", "rpi5", "--device", "rpi4"
    )
    assert done.returncode == 1
    assert done.stdout.startswith("Nothing of ")
    assert "Raspberry Pi 5 (CPU) (" in done.stdout
    assert "no run there can be under" in done.stdout


def test_a_measurement_of_ones_own_settles_the_choice(ctm: Run, mobilenet: Path) -> None:
    asked = ("choose", mobilenet, "--max-ms", "9", "--device", "rpi5", "--runtime", "ncnn",
             "--precision", "fp16", "--json")  # fmt: skip
    before = json.loads(ctm(*asked).stdout)
    advice = before["measure"]
    assert (advice["model"], advice["device"]) == (mobilenet.name, "rpi5")
    assert 0.005 < advice["gain"] < 0.5
    assert 0 < advice["minutes"] < 5
    after = ctm(*asked, "--measured", "rpi5/ncnn/fp16=12.5")
    assert after.returncode == 1
    assert json.loads(after.stdout)["measure"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "the budget: it has no limit"),
        (("--max-ms", "0"), "'0' is not a number over 0"),
        (("--max-ms", "9", "--chance", "100"), "'100' is not a number between 0 and 100"),
        (("--max-ms", "9", "--device", "rpi5", "--family", "npu"), "none of 0 devices supports"),
        (("--max-ms", "9", "--device", "nothing-like-it"), "is no device of the catalogue"),
        (("--max-ms", "9", "--mode", "16W"), "none of the devices has a mode"),
    ],
)
def test_wrong_input_is_one_sentence(
    ctm: Run, mobilenet: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = ctm("choose", mobilenet, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_model_that_cannot_be_read_meets_nothing(ctm: Run, mobilenet: Path) -> None:
    done = ctm("choose", mobilenet, "missing.onnx", "--max-ms", "33")
    assert done.returncode == 2
    assert done.stdout == ""
