"""``ctm predict --clock``, ``--mode`` and ``--measured-at`` as processes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
TX2 = ("--device", "jetson-tx2-gpu")


def test_a_mode_in_text_and_json(ctm: Run, mobilenet: Path) -> None:
    usual = json.loads(ctm("predict", mobilenet, *TX2, "--json").stdout)["predictions"][0]
    text = ctm("predict", mobilenet, *TX2, "--mode", "max-q").stdout
    entry = json.loads(ctm("predict", mobilenet, *TX2, "--mode", "max-q", "--json").stdout)
    (prediction,) = entry["predictions"]
    point = prediction["operating_point"]

    assert "at Max-Q (CPU 1200 MHz, GPU 850 MHz, memory 1866 MHz)" in text
    assert "mJ a run" in text
    assert "operating_point" not in usual
    assert point["mhz"] == {"cpu": 1200, "gpu": 850, "mem": 1866}
    assert prediction["latency_ms"] == pytest.approx(usual["latency_ms"] * point["factor"])
    assert point["energy"]["limit_w"] == 7.5


def test_the_default_clocks_are_the_prediction(ctm: Run, mobilenet: Path) -> None:
    usual = json.loads(ctm("predict", mobilenet, *TX2, "--json").stdout)["predictions"][0]
    same = ctm("predict", mobilenet, *TX2, "--clock", "gpu=1300,cpu=2000,mem=1866", "--json")
    (prediction,) = json.loads(same.stdout)["predictions"]

    assert prediction["latency_ms"] == usual["latency_ms"]
    assert prediction["operating_point"]["energy"] is None


def test_a_measured_point_calibrates_another(ctm: Run, mobilenet: Path) -> None:
    at = ("--clock", "gpu=612", "--measured-at", "gpu=612=20")
    done = ctm("predict", mobilenet, *TX2, *at, "--json")
    (prediction,) = json.loads(done.stdout)["predictions"]

    assert prediction["latency_ms"] == pytest.approx(20)


def test_predictions_at_other_clocks_are_not_stored(ctm: Run, mobilenet: Path) -> None:
    ctm("predict", mobilenet, *TX2)
    before = json.loads(ctm("store", "info", "--json").stdout)["records"]
    ctm("predict", mobilenet, *TX2, "--mode", "Max-Q")

    assert before["predictions"] == 1
    assert json.loads(ctm("store", "info", "--json").stdout)["records"] == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mode", "15W"), "there is Max-N; Max-Q; Max-P Core-All"),
        (("--clock", "gpu=5000"), "gpu=114.75 to 1300"),
        (("--clock", "612"), "write gpu=612,cpu=1190,mem=1600"),
        (("--measured-at", "20"), "it is not of the form CLOCKS=MS or MODE=MS"),
        (("--mode", "Max-Q", "--operators"), "it is of the device's usual clocks"),
        (("--measured-at", "Max-Q=9", "--device", "rtx3060"), "one model and one --device"),
    ],
)
def test_what_there_is_is_said_in_one_sentence(
    ctm: Run, mobilenet: Path, options: tuple[str, ...], words: str
) -> None:
    done = ctm("predict", mobilenet, *TX2, *options)

    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
