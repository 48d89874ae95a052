"""Shares of a card's power: those that ship are those that the page's command fits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctm_research.generation.watts import watt_figures
from predictor.core.errors import InputError
from predictor.language.power import OF_MULTIPLYING, OF_READING, OF_WAITING

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "results" / "generation.json"


def test_the_shares_that_ship_are_those_of_the_page() -> None:
    document = json.loads(FIGURES.read_text(encoding="utf-8"))
    fitted, *left_out = document["watts"]

    shares = [fitted[f"{name}, %"] / 100 for name in ("reading", "multiplying", "waiting")]
    assert shares == [OF_READING, OF_MULTIPLYING, OF_WAITING]
    assert fitted["left out"] == "nothing"
    assert sum(row["rows"] for row in left_out) == fitted["rows"]


def test_a_folder_without_the_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"argonne_power\.csv"):
        watt_figures(tmp_path, {})
