"""The goals of classes in the track record."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ctm_research.track_record import page, track_record

PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "track-record.md"


def entry(group: str, chips: int, error: float, goal: float | None) -> Any:
    return {
        "group": group,
        "is_class": " x " in group,
        "chips": chips,
        "devices": chips + 1,
        "error_percent": error,
        "goal": None if goal is None else {"goal": goal, "moonshot": 10},
        "other_sources_percent": None if goal is None else error + 5,
        "held80_percent": 81.25,
        "factor80": 2.5,
        "factor95": 3.0,
    }


def test_classes_of_few_chips_have_no_goal() -> None:
    document: Any = track_record()

    entries = [each for of in document["settings"].values() for each in of]
    assert any(each["goal"] for each in entries)
    assert not any(each["goal"] for each in entries if each["chips"] < 8)


def test_the_page_marks_what_reaches_its_goal() -> None:
    unseen = [entry("arm x ncnn", 9, 31.25, 30), entry("arm x tflite", 12, 29.96, 30)]
    known = [entry("all", 20, 40.0, None), entry("x86 x ncnn", 4, 5.0, None)]

    text = page({"settings": {"unseen": unseen, "known": known}}, "Written today.")

    assert "Classes at their goal: 1 of 2; at the moonshot: 0." in text
    assert "Classes at their goal: 0 of 0" in text
    assert "| arm x tflite | 12 | 13 | **30.0** | 30 | 10 | 35.0 | 81.2 | 2.50 | 3.00 |" in text
    assert "| arm x ncnn | 9 | 10 | 31.2 | 30 | 10 | 36.2 | 81.2 | 2.50 | 3.00 |" in text
    assert "| x86 x ncnn | 4 | 5 | 5.0 | - | - | - | 81.2 | 2.50 | 3.00 |" in text


def test_the_page_of_results_is_of_the_record_that_ships() -> None:
    text = PAGE.read_text(encoding="utf-8")
    written = re.search(r"^Written by .*?^Engine: .*?$", text, re.MULTILINE | re.DOTALL)
    assert written

    assert page(track_record(), written.group()) == text
    figures = json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))
    assert figures["settings"] == track_record()["settings"]
