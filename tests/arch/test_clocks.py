"""Durations are of a clock that never goes back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Notes of when something began, which nothing is subtracted from.
NOTES = {
    "predictor/probing/runner/block.py",
    "predictor/probing/runner/results.py",
    "research/ctm_research/bridge/measure.py",
}


def calls_of_time(source: str) -> Iterator[int]:
    """Yield the lines that ask ``time.time()`` or subtract a date or a time since 1970."""
    if not re.search(r"\btime\(|\btime_ns\(|\bnow\(", source):
        return  # few modules need the time that parsing takes
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"time.time", "time"}:
            yield node.lineno
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            for side in (node.left, node.right):
                if ast.unparse(side).startswith(("time.time_ns()", "datetime.now(")):
                    yield node.lineno


def test_the_check_sees_a_duration_by_the_wall_clock() -> None:
    assert list(calls_of_time("import time\nbegan = time.time()\n")) == [2]
    assert list(calls_of_time("x = time.time_ns() - began")) == [1]
    assert list(calls_of_time("x = datetime.now(UTC) - began")) == [1]
    assert not list(calls_of_time("x = time.monotonic() - began"))


def test_no_duration_is_of_the_wall_clock() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for room in ("predictor", "ctm_gui", "research/ctm_research")
        for path in (ROOT / room).rglob("*.py")
        for line in calls_of_time(path.read_text(encoding="utf-8"))
        if path.relative_to(ROOT).as_posix() not in NOTES
    }
    # A month is counted back from the present for what was deleted.
    assert {place.partition(":")[0] for place in found} <= {
        "predictor/services/history/past_predictions.py"
    }
