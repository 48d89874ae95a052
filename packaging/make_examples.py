"""Prints the examples of the documentation anew, by running the commands that they show.

    python packaging/make_examples.py

An example is a command with output under it, in a block that begins with ``$ ctm predict``,
``$ ctm check`` or ``$ ctm load``. It runs in a folder with the bundled models and loads. Of an
output that ends in ``...`` as many lines stand as before.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("checks", "loads", "throughput")),
)
SAMPLES = ROOT / "resources" / "samples"

Run = Callable[[str], tuple[str, int]]
"""Runs a command line of ``ctm``, without its name; returns what it printed and its exit code."""

_BLOCK = re.compile(
    r"^```\n(?P<body>\$ ctm (?:predict|check|load) .*?)^```$", re.MULTILINE | re.DOTALL
)
_BUDGET = re.compile(r"^```toml\n(?P<body>\[\[check\]\].*?)^```$", re.MULTILINE | re.DOTALL)
_CUT = "..."
_TOKENS, _TOKENS_OF_BASE = "sequence = 128", "sequence = 120"
_SECONDS = 120


def with_output(text: str, run: Run) -> str:
    """Return a page with the output of each of its examples as it is now.

    Args:
        text: of the page.
        run: runs a command line.
    """
    return _BLOCK.sub(lambda block: f"```\n{_example(block['body'], run)}```", text)


def _example(body: str, run: Run) -> str:
    """Return commands and output of one block; a command without output is not run."""
    printed: list[str] = []
    code = 0
    for command, before in _commands(body.splitlines()):
        if not before:
            output = []
        elif command == "$ echo $?":
            output = [str(code)]
        else:
            text, code = run(command.removeprefix("$ ctm "))
            output = _readable(text).splitlines()
        if before[-1:] == [_CUT]:
            output = [*output[: len(before) - 1], _CUT]
        printed += [command, *output]
    return "\n".join(printed) + "\n"


def _commands(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return each command with the lines of its output."""
    commands: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            commands.append((line, []))
        else:
            commands[-1][1].append(line)
    return commands


def _readable(text: str) -> str:
    """Return a JSON document a line a value, its numbers to three digits; other text as it is."""
    if not text.startswith("{"):
        return text
    return json.dumps(_rounded(json.loads(text)), indent=1)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def example_run(folder: Path, text: str) -> Run:
    """Fill a folder with what the examples of a page need, and return what runs them there.

    Args:
        folder: empty.
        text: of the page: its last budget file becomes ``ctm-budget.toml``, and its base is of
            fewer tokens.
    """
    models = folder / "models"
    models.mkdir()
    for sample in SAMPLES.glob("*.onnx"):
        shutil.copy(sample, folder)
    shutil.copy(SAMPLES / "distilbert-base.onnx", models)
    for load in (ROOT / "resources" / "loads").glob("*.toml"):
        shutil.copy(load, folder)

    def run(arguments: str) -> tuple[str, int]:
        done = subprocess.run(
            [sys.executable, "-m", "predictor.cli", *shlex.split(arguments)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "CTM_STORE": str(folder / "store.db")},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return done.stdout, done.returncode

    if budgets := _BUDGET.findall(text):
        base = folder / "base.toml"
        base.write_text(budgets[-1].replace(_TOKENS, _TOKENS_OF_BASE), encoding="utf-8")
        (folder / "ctm-budget.toml").write_text(budgets[-1], encoding="utf-8")
        run("check base.toml --save base.json")
    return run


def renewed(page: Path) -> str:
    """Return the text of a page with its examples printed anew."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="ctm-examples-") as folder:
        return with_output(text, example_run(Path(folder), text))


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(renewed(each), encoding="utf-8")
