"""Which engine answers, and what is said where the usual one cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predictor.cli.program import main
from predictor.core.errors import InputError
from predictor.core.resources import resources_dir
from predictor.services.prediction.engines import open_engine, usual_engine_problem

SAMPLE = resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx"


def test_the_usual_engine_is_the_learned_one() -> None:
    assert open_engine("").name.startswith("closertome/")
    assert open_engine("") is open_engine("closertome")
    assert usual_engine_problem() == ""


def test_the_roofline_stands_in_for_a_damaged_checkpoint_and_says_why(
    damaged_engine: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert open_engine("").name.startswith("roofline/")
    (said,) = {record.message for record in caplog.records}
    assert "The learned engine is not used" in said
    assert str(damaged_engine) in said
    assert "head.onnx is not the file that belongs to it" in said


def test_a_damaged_checkpoint_that_is_asked_for_by_name_is_refused(damaged_engine: Path) -> None:
    with pytest.raises(InputError, match="--engine roofline"):
        open_engine("closertome")


def test_ctm_predict_answers_without_the_checkpoint(
    damaged_engine: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    command = ["--store", str(tmp_path / "s.db"), "predict", str(SAMPLE), "--device", "rtx3090"]

    code = main([*command, "--json"])

    assert code == 0
    (entry,) = json.loads(capfd.readouterr().out)["predictions"]
    assert entry["latency_ms"] > 0
    assert entry["engine"].startswith("roofline/")
    assert f"The learned engine is not used: {damaged_engine}" in caplog.text
