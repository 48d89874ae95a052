"""``ctm evaluate classes`` as a user runs it, over a data folder in the sources' forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from research.tests.corpus.small_corpus import write_data

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    write_data(folder)
    return folder


def test_figures_and_page_stand_side_by_side(ctm: Run, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "judge.json"
    where = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    done = ctm(
        *("evaluate", "classes", "--data", data, "--output", output),
        *("--analytic", "--draws", "2", "--quiet"),
        **where,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    told = json.loads(output.read_text(encoding="utf-8"))
    assert told["command"].startswith("ctm evaluate classes --data DIR --draws 2 --analytic")
    assert told["engines"] == ["roofline", "class estimate", "estimate by kinds alone", "estimate"]
    text = (tmp_path / "judge.md").read_text(encoding="utf-8")
    assert "| nvidia x pytorch |" in text
    assert str(data) not in text + json.dumps(told)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "nowhere"], "nowhere: it holds no folder of a source"),
        (["--data", "nowhere", "--draws", "0"], "--draws"),
        ([], "the following arguments are required: --data"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(ctm: Run, arguments: list[str], words: str) -> None:
    done = ctm("evaluate", "classes", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
