"""The examples of the documentation are what the commands print."""

from __future__ import annotations

import json
from pathlib import Path

import make_examples
import pytest


@pytest.mark.parametrize("page", make_examples.PAGES, ids=lambda page: page.name)
def test_an_example_is_what_its_command_prints(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == make_examples.renewed(page), "run: python packaging/make_examples.py"


def test_the_example_of_checks_grew_over_its_limit(tmp_path: Path) -> None:
    text = make_examples.PAGES[1].read_text(encoding="utf-8")
    run = make_examples.example_run(tmp_path, text)
    printed, code = run("check ctm-budget.toml --base base.json --json")
    (row,) = json.loads(printed)["checks"]
    assert code == 1
    assert row["base_ms"] < row["latency_ms"]
    assert len(row["over"]) == 1


def test_output_is_replaced_and_what_has_none_stays() -> None:
    printed = {
        "predict a.onnx": ("one\ntwo\nthree\n", 1),
        "check b.toml --json": ('{"ms": 1.23456, "of": [2, "x", 0.00045678]}\n', 0),
    }

    before = (
        "```\n$ ctm predict a.onnx\nold\n$ echo $?\n0\n```\n"
        "```\n$ ctm predict a.onnx\nold\nolder\n...\n$ ctm devices\n```\n"
        "```\n$ ctm check b.toml --json\n{}\n```\n"
        "```\n$ ctm predict a.onnx   # a board's time\n$ ctm devices\n```\n"
        "```\n$ ctm report a.onnx\nkept\n```\n"
    )
    assert make_examples.with_output(before, printed.__getitem__) == (
        "```\n$ ctm predict a.onnx\none\ntwo\nthree\n$ echo $?\n1\n```\n"
        "```\n$ ctm predict a.onnx\none\ntwo\n...\n$ ctm devices\n```\n"
        '```\n$ ctm check b.toml --json\n{\n "ms": 1.23,\n "of": [\n  2,\n  "x",\n'
        "  0.000457\n ]\n}\n```\n"
        "```\n$ ctm predict a.onnx   # a board's time\n$ ctm devices\n```\n"
        "```\n$ ctm report a.onnx\nkept\n```\n"
    )
