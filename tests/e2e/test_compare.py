"""``ctm compare`` as a process: the contract that scripts depend on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_document_tells_differences_and_where_they_come_from(
    ctm: Run, mobilenet: Path, distilbert: Path
) -> None:
    done = ctm("compare", mobilenet, distilbert, "--device", "rpi5", "--device", "rtx3090",
               "--baseline", distilbert.name, "--operators", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)

    assert document["schema"] == "ctm-comparison/1"
    assert document["baseline"] == distilbert.name
    assert len(document["differences"]) == 4
    by_pair = {(d["model"], d["device"]): d for d in document["differences"]}
    found = by_pair[mobilenet.name, "rpi5"]
    assert found["difference_ms"] == found["latency_ms"] - found["baseline_ms"]
    assert found["ratio"] == pytest.approx(found["latency_ms"] / found["baseline_ms"])
    assert found["low80_ms"] < found["difference_ms"] < found["high80_ms"]
    assert found["low80_ratio"] < found["ratio"] < found["high80_ratio"]
    assert by_pair[distilbert.name, "rpi5"]["difference_ms"] == 0.0
    for each in document["differences"]:
        assert each["adaptation"] == ("posterior" if each["basis"] == "probed" else None)
        assert each["signature"] is None, "nothing was measured here"
    for entry in document["fastest"]:
        both = [d for d in document["differences"] if d["device"] == entry["device"]]
        assert entry["model"] == min(both, key=lambda d: d["latency_ms"])["model"]
    assert document["fastest"][0]["model"] == mobilenet.name, "a twentieth of the work"
    (operators,) = document["operators"]
    assert sum(operators["counts"].values()) == len(operators["rows"])
    for device in ("rpi5", "rtx3090"):
        moved = sum(operators["moved_ms"][device].values())
        assert moved == pytest.approx(by_pair[mobilenet.name, device]["difference_ms"])
        assert moved == pytest.approx(sum(r["moved_ms"][device] for r in operators["rows"]))


def test_text_names_the_baseline_the_fastest_and_the_change(
    ctm_process: Run, mobilenet: Path, distilbert: Path
) -> None:
    done = ctm_process("compare", mobilenet, distilbert, "--device", "rpi5", "--budget-ms", "0.001",
               "--operators", "--engine", "roofline", "--runtime", "onnxruntime")  # fmt: skip

    assert done.returncode == 1, "no model meets the budget"
    assert "80 % interval" not in done.stdout, "the roofline engine gives none"
    assert "baseline" in done.stdout
    assert "none of 2 models meets 0.001 ms" in done.stdout
    assert f"From {mobilenet.name} to {distilbert.name}: " in done.stdout


def test_one_model_and_a_wrong_baseline_are_refused(
    ctm: Run, mobilenet: Path, distilbert: Path
) -> None:
    alone = ctm("compare", mobilenet, "--device", "rpi5")
    assert alone.returncode == 2
    assert "nothing to be compared with" in alone.stderr
    wrong = ctm("compare", mobilenet, distilbert, "--device", "rpi5", "--baseline", "other.onnx")
    assert wrong.returncode == 2
    assert "none of the models has this name" in wrong.stderr


def test_an_operator_of_unknown_cost_makes_a_lower_limit_that_never_leads(
    ctm: Run, mobilenet: Path, custom_model: Path
) -> None:
    arguments = (mobilenet, custom_model, "--device", "rtx3090", "--budget-ms", "1000")
    text = ctm("compare", *arguments)
    assert text.returncode == 0, text.stderr
    (limit,) = (
        line for line in text.stdout.splitlines() if line.startswith(f"{custom_model.name}  ")
    )
    assert "≥ " in limit
    assert "1 of 2 models meets 1000 ms; not ranked" in text.stdout

    document = json.loads(ctm("compare", *arguments, "--json").stdout)
    counted, limited = document["differences"]
    assert [counted["lower_limit"], limited["lower_limit"]] == [False, True]
    assert limited["latency_ms"] < counted["latency_ms"]
    assert limited["ratio"] is None
    assert document["fastest"][0]["model"] == mobilenet.name

    predicted = ctm("predict", custom_model, "--device", "rtx3090", "--device", "rpi5")
    rows = [
        line for line in predicted.stdout.splitlines() if "operator not counted in full" in line
    ]
    assert len(rows) == 2
    assert all("  ≥ " in row and "a lower limit: " in row for row in rows)


def test_choose_says_what_is_only_a_limit_and_what_needs_a_quantised_model(
    ctm: Run, mobilenet: Path, custom_model: Path
) -> None:
    unknown = ctm("choose", custom_model, "--max-ms", "1000", "--device", "rtx3090")
    assert unknown.returncode == 1, "whether it is met is not known"
    assert "P50 ≥ " in unknown.stdout
    assert "not known" in unknown.stdout

    done = ctm("choose", mobilenet, "--max-ms", "1000", "--device", "hailo-8", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (option,) = document["options"]
    assert option["needs_quantised_model"]
    assert not option["lower_limit"]
    assert "needs a quantised model" in document["sentence"]
