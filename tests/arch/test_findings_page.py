"""docs/results/window-findings.md names tests that there are, one at least a finding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sources import definitions

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "results" / "window-findings.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("number", "proof"), ROWS)
def test_the_tests_of_a_finding_are_there(number: str, proof: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", proof)
    assert named, number
    for file, name in named:
        assert name in definitions(ROOT / file)


def test_no_finding_is_left_out() -> None:
    assert [int(number) for number, _ in ROWS] == [
        *range(1, 21),
        *range(1, 21),
        *range(1, 16),
    ]  # of three walks
