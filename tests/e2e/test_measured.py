"""``--measured``: a latency that the user measured corrects predictions of other targets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Run


def predictions(ctm: Run, *arguments: str | Path) -> list[dict[str, Any]]:
    done = ctm("predict", *arguments, "--json")
    assert (done.returncode, done.stdout[:1]) == (0, "{"), done.stderr
    entries: list[dict[str, Any]] = json.loads(done.stdout)["predictions"]
    return entries


def test_it_corrects_other_configurations_and_stands_for_its_own(
    ctm: Run, mobilenet: Path, board: Path
) -> None:
    asked = (mobilenet, "--device", board, "--device", "rtx3060", "--threads", "4")
    plain, gpu = predictions(ctm, *asked)
    assert plain["scaled"] is None
    there = predictions(ctm, mobilenet, "--device", board, "--threads", "1")[0]["latency_ms"]
    given = f"{board}/onnxruntime/fp32/t1={there * 2:.6f}"

    moved, same = predictions(ctm, *asked, "--measured", given)

    assert same == gpu
    assert plain["latency_ms"] < moved["latency_ms"] < 2 * plain["latency_ms"]
    assert moved["basis"] == "zero-shot"
    assert moved["scaled"] == {
        "factor": pytest.approx(moved["latency_ms"] / plain["latency_ms"]),
        "from": [
            {
                "device": "my-board",
                "configuration": {
                    "runtime": "onnxruntime", "precision": "fp32", "threads": 1, "batch": 0,
                },
                "latency_ms": pytest.approx(there * 2),
            }
        ],
    }  # fmt: skip
    assert moved["evidence"].startswith("scaled from ")
    assert "that you measured on this device (onnxruntime, fp32, 1 thread)" in moved["evidence"]
    width = [p["high80_ms"] / p["latency_ms"] for p in (moved, plain)]
    assert width[0] < width[1]

    # The target itself shows what was measured; a given value is of this command alone.
    (own, *_) = predictions(ctm, *asked, "--measured", f"{board}={there}")
    assert (own["basis"], own["latency_ms"]) == ("measured", there)
    assert own["predicted_ms"] == plain["latency_ms"]
    assert predictions(ctm, *asked) == [plain, gpu]


def test_operators_and_the_text_are_those_of_the_corrected_number(
    ctm: Run, mobilenet: Path, board: Path
) -> None:
    given = ("--measured", f"{board}/onnxruntime/fp32/t1=500")
    (entry,) = predictions(ctm, mobilenet, "--device", board, "--operators", *given)
    total = sum(each["latency_ms"] for each in entry["operators"])
    assert total == pytest.approx(entry["latency_ms"])

    done = ctm("predict", mobilenet, "--device", board, *given)
    assert done.returncode == 0
    assert "scaled from 500 ms that you measured on this device" in done.stdout


def test_a_report_tells_it_and_how_to_repeat_it(
    ctm: Run, mobilenet: Path, board: Path, tmp_path: Path
) -> None:
    given, file = f"{board}/onnxruntime/fp32/t1=500", tmp_path / "report.md"
    asked = ("--device", board, "--measured", given, "--with", "methods,versions")
    done = ctm("report", mobilenet, *asked, "-o", file)
    assert done.returncode == 0, done.stderr
    text = file.read_text(encoding="utf-8")
    assert "caled from 500 ms that you measured on this device" in text
    assert f"--measured {given}" in text
    assert "Where a number is scaled, the user measured this model" in text


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (["rpi5=-1"], "it is not over 0"),
        (["rpi5=0"], "it is not over 0"),
        (["rpi5=nan"], "it is not over 0"),
        (["rpi5=inf"], "it is over an hour or too small"),
        (["rpi5=soon"], "it is no number"),
        (["rpi5=1e-4"], "at its peak"),
        (["rpi5=2e6"], "more than 1000 times off the prediction"),
        (["rpi5"], "is not of the form"),
        (["=5"], "is not of the form"),
        (["nosuch=5"], "is no device of the catalogue"),
        (["rtx3060/coreml/fp16=5"], "there is no prediction to compare it with"),
        (["rpi5=14", "rpi5/ncnn=15"], "it is given twice"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_stored(
    ctm: Run, mobilenet: Path, tmp_path: Path, values: list[str], sentence: str
) -> None:
    store = tmp_path / "own.sqlite"
    options = [part for value in values for part in ("--measured", value)]
    done = ctm("predict", mobilenet, "--device", "rpi5", *options, CTM_STORE=str(store))
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(list(tmp_path.glob("own.sqlite"))) <= 1
    history = ctm("predict", mobilenet, "--device", "rpi5", "--json", CTM_STORE=str(store))
    assert json.loads(history.stdout)["predictions"][0]["scaled"] is None


def test_a_latency_is_of_one_model(ctm: Run, mobilenet: Path, distilbert: Path) -> None:
    done = ctm("predict", mobilenet, distilbert, "--device", "rpi5", "--measured", "rpi5=14")
    assert done.returncode == 2
    assert "a latency is of one model, and 2 were requested" in done.stderr
