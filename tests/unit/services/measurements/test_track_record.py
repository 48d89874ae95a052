"""The track record that ships, and its page."""

from __future__ import annotations

import math
from typing import Any

import pytest

from predictor.engine.checkpoint import checksum, read_checkpoint
from predictor.services.measurements.track_record import page, track_record
from predictor.services.prediction.engines import checkpoint_folder


def entry(group: str, chips: int, error: float, others: float | None, factor: float) -> Any:
    return {
        "group": group,
        "is_class": " x " in group,
        "chips": chips,
        "devices": chips + 1,
        "error_percent": error,
        "other_sources_percent": others,
        "held80_percent": 81.25,
        "deviations80": 1.25,
        "deviations95": 2.5,
        "factor80": factor,
        "factor95": factor,
    }


SETTINGS = {
    "unseen": "unseen",
    "known": "near",
    **{f"k={count}": f"probed {count}" for count in (1, 3, 6, 12)},
    **{f"published {count}": f"measured {count}" for count in (1, 3, 6, 12)},
}


def test_every_group_that_ships_is_told() -> None:
    document: Any = track_record()

    folder = checkpoint_folder()
    estimate = read_checkpoint(folder).estimate
    assert document["estimate"] == checksum(folder / "estimate.npz")
    assert set(document["settings"]) == set(SETTINGS)
    for setting, name in SETTINGS.items():
        entries = document["settings"][setting]
        assert [each["group"] for each in entries] == list(estimate.tracks[name])


def test_a_factor_is_that_of_the_median_target() -> None:
    document: Any = track_record()
    tracks = read_checkpoint(checkpoint_folder()).estimate.tracks

    for setting, name in SETTINGS.items():
        for each in document["settings"][setting]:
            track = tracks[name][each["group"]]
            assert (each["deviations80"], each["deviations95"]) == (track.wide80, track.wide95)
            assert each["factor80"] == pytest.approx(math.exp(track.wide80 * track.spread))
            assert 1 < each["factor80"] <= each["factor95"]


def test_the_page_has_a_table_a_setting_with_most_chips_first() -> None:
    unseen = [entry("arm x ncnn", 9, 31.25, 36.25, 2.5), entry("arm x tflite", 12, 29.96, 35, 3.0)]
    known = [entry("all", 20, 40.0, None, 1.75), entry("x86 x ncnn", 4, 5.0, None, 1.5)]
    probed, measured = [entry("all", 20, 12.0, None, 1.4)], [entry("all", 20, 8.0, None, 1.2)]
    settings = {"unseen": unseen, "known": known, "k=3": probed, "published 12": measured}

    text = page({"settings": settings}, "Written today.")

    assert "goal" not in text
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert lines.index(
        "| arm x tflite | 12 | 13 | 30.0 | 35.0 | 81.2 | 3.00 | 3.00 |"
    ) < lines.index("| arm x ncnn | 9 | 10 | 31.2 | 36.2 | 81.2 | 2.50 | 2.50 |")
    assert "| x86 x ncnn | 4 | 5 | 5.0 | - | 81.2 | 1.50 | 1.50 |" in lines
    assert "| all | 20 | 21 | 40.0 | - | 81.2 | 1.75 | 1.75 |" in lines
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        "## Hardware not seen",
        "## Chip known from another device",
        "## Hardware not seen, 3 to 5 networks measured by the user",
        "## Hardware not seen, 12 networks or more published",
    ]
    assert text.index("| all | 20 | 21 | 12.0 |") < text.index("| all | 20 | 21 | 8.0 |")
