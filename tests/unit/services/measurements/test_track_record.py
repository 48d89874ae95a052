"""The track record that ships, and its page."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.core.errors import InputError
from predictor.engine.checkpoint import checksum, read_checkpoint
from predictor.services.measurements import track_record as subject
from predictor.services.measurements.track_record import page, track_record
from predictor.services.prediction.engines import checkpoint_folder


def entry(group: str, chips: int, error: float, goal: float | None, factor: float | None) -> Any:
    return {
        "group": group,
        "is_class": " x " in group,
        "chips": chips,
        "devices": chips + 1,
        "error_percent": error,
        "goal": None if goal is None else {"goal": goal, "moonshot": 10},
        "deviations80": 1.25,
        "deviations95": 2.5,
        "factor80": factor,
        "factor95": factor,
    }


def test_every_group_that_ships_is_told() -> None:
    document: Any = track_record()

    folder = checkpoint_folder()
    estimate = read_checkpoint(folder).estimate
    assert estimate is not None
    assert document["sha256"] == checksum(folder / "estimate.npz")
    for setting, name in (("unseen", "unseen"), ("known", "near")):
        entries = document["settings"][setting]
        assert [each["group"] for each in entries] == list(estimate.tracks[name])
        assert all((each["factor80"] is None) == (setting == "known") for each in entries)


def test_a_factor_is_that_of_a_prediction_for_an_unseen_chip() -> None:
    document: Any = track_record()
    estimate = read_checkpoint(checkpoint_folder()).estimate
    assert estimate is not None
    scales = estimate.evidence.scales

    for each in document["settings"]["unseen"]:
        deviation = math.sqrt(scales.level**2 + scales.network**2)
        assert each["factor80"] == pytest.approx(math.exp(each["deviations80"] * deviation))
        assert each["factor80"] <= each["factor95"]


def test_classes_of_few_chips_have_no_goal() -> None:
    document: Any = track_record()

    entries = [each for of in document["settings"].values() for each in of]
    assert any(each["goal"] for each in entries)
    assert not any(each["goal"] for each in entries if each["chips"] < 8)


def test_the_page_marks_what_reaches_its_goal() -> None:
    unseen = [entry("arm x ncnn", 9, 31.25, 30, 2.5), entry("arm x tflite", 12, 29.96, 30, 3.0)]
    known = [entry("all", 20, 40.0, None, None), entry("x86 x ncnn", 4, 5.0, None, None)]

    text = page({"settings": {"unseen": unseen, "known": known}}, "Written today.")

    assert "Classes at their goal: 1 of 2; at the moonshot: 0." in text
    assert "Classes at their goal: 0 of 0" in text
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert lines.index(
        "| arm x tflite | 12 | 13 | **30.0** | 30 | 10 | 3.00 | 3.00 |"
    ) < lines.index("| arm x ncnn | 9 | 10 | 31.2 | 30 | 10 | 2.50 | 2.50 |")
    assert "| x86 x ncnn | 4 | 5 | 5.0 | - | - | 1.25 | 2.50 |" in lines
    assert "| all | 20 | 21 | 40.0 | - | - | 1.25 | 2.50 |" in lines


def test_a_checkpoint_without_an_estimate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = replace(read_checkpoint(checkpoint_folder()), estimate=None)

    def without_estimate(_: Path) -> object:
        return bare

    monkeypatch.setattr(subject, "read_checkpoint", without_estimate)

    with pytest.raises(InputError, match="it has no estimate"):
        track_record()
