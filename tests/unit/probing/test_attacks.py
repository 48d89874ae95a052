"""What ``python -m benchmarks.fuzz`` tries, a few of each kind, and its runs in pieces."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.fuzz import KINDS, Tally, file_of
from tests.fuzz import boards, kills, language, tables

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "benchmarks.fuzz", "--kind", "toml", "--kind", "imports"]


def rng(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - no secret


@pytest.mark.parametrize(
    ("mutate", "feed", "count"),
    [
        (tables.mutate, tables.feed, 150),
        (language.mutate_config, language.feed_config, 150),
        (language.mutate_gguf, language.feed_gguf, 100),
    ],
)
def test_damaged_files_are_read_or_refused_in_one_sentence(
    mutate: Callable[[random.Random], bytes], feed: Callable[[bytes], bool], count: int
) -> None:
    assert {feed(mutate(rng(seed))) for seed in range(count)} == {False, True}


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_killed_writer_loses_no_row() -> None:
    assert all(kills.feed(kills.mutate(rng(seed))) for seed in range(5))


def test_a_board_that_says_what_it_should_is_measured_on_and_others_are_refused() -> None:
    try:
        assert boards.feed("\n".join(boards.REPLIES).encode())
        assert not boards.feed(b"{}")
        assert {boards.feed(boards.mutate(rng(seed))) for seed in range(6)} <= {False, True}
    finally:
        boards.board().stop()
        boards.board.cache_clear()


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_and_a_number_give_the_same_try(kind: str) -> None:
    assert file_of(kind, 1, 7) == file_of(kind, 1, 7)


def test_a_run_goes_on_where_the_one_before_ended(tmp_path: Path) -> None:
    folder, kept = tmp_path / "page", tmp_path / "kept"
    kept.mkdir()
    # What fell in an earlier run is tried again.
    fallen = Tally("toml", 1, tried=5, read=1, refused=3, fallen={"2": "KeyError: 'x'"})
    (kept / "toml-1.json").write_text(json.dumps(vars(fallen)), encoding="utf-8")
    for tries in (8, 12):
        options = ["--tries", str(tries), "--kept", kept, "--output", folder]
        done = subprocess.run(
            [*COMMAND, *map(str, options)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        document = json.loads((folder / "fuzz.json").read_text(encoding="utf-8"))
        figures = {figure["kind"]: figure for figure in document["figures"]}
        assert {name: figure["tried"] for name, figure in figures.items()} == {
            "imports": tries,
            "toml": tries,
        }
        toml = figures["toml"]
        assert toml["fallen"] == {}
        assert toml["read"] + toml["refused"] == tries
    assert "Nothing fell." in (folder / "fuzz.md").read_text(encoding="utf-8")
