"""docs/architecture.md and CONTRIBUTING.md name what there is, and words that are few."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sources import definitions

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STOPS = re.findall(r"^\d+\. `([\w/]+\.py): ([\w.]+)`", CONTRIBUTING, re.MULTILINE)
NAMED = r"`((?:predictor|ctm_gui)/[\w/]+(?:\.py)?)`"
ROOMS = re.findall(NAMED, PAGE)


@pytest.mark.parametrize(("file", "name"), STOPS)
def test_a_stop_of_a_flow_is_there(file: str, name: str) -> None:
    assert name in definitions(ROOT / file)


def test_there_are_five_flows_of_at_most_thirteen_stops() -> None:
    section = CONTRIBUTING.split("## Five flows")[1].split("\n## ")[0]
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", section, re.MULTILINE)]

    assert numbers.count(1) == 5
    assert max(numbers) <= 13
    assert len(numbers) == len(STOPS)


def test_every_place_that_is_named_is_there() -> None:
    places = [*ROOMS, *re.findall(NAMED, CONTRIBUTING)]

    assert [place for place in places if not (ROOT / place).exists()] == []
    assert "predictor/core/metrics.py" in places


def test_every_room_of_the_engine_has_its_row() -> None:
    folders = {path.parent.name for path in (ROOT / "predictor").glob("*/__init__.py")}

    assert folders == {room.split("/")[1] for room in ROOMS if room.count("/") == 1} & folders


def test_the_glossary_has_at_most_forty_words() -> None:
    rows = PAGE.split("## Words")[1].split("\n## ")[0].count("\n| ") - 2

    assert 20 <= rows <= 40
