"""The page and the notebooks of the Python API run as they stand."""

from __future__ import annotations

import ast
import doctest
import json
import shutil
from pathlib import Path

import pytest

from predictor.core.resources import resources_dir

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder with the bundled models."""
    for sample in (resources_dir() / "samples").glob("*.onnx"):
        shutil.copy(sample, tmp_path)
    monkeypatch.chdir(tmp_path)


def test_the_examples_of_the_page_hold() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, attempted = doctest.testfile(
        str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=flags
    )

    assert attempted > 15
    assert failed == 0


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_the_first_cell_to_the_last(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names: dict[str, object] = {}

    displayed = [
        displayed_by("".join(cell["source"]), names)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]

    assert len(NOTEBOOKS) == 2
    assert all(value is not None for value in displayed)
    assert any("<table>" in html_of(value) for value in displayed)


def displayed_by(source: str, names: dict[str, object]) -> object:
    """Run a cell and return the value of its last expression, which a notebook displays."""
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102  # our notebook
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


def html_of(value: object) -> str:
    """Return what a notebook displays of a value as HTML; empty where it displays text."""
    return str(value._repr_html_()) if hasattr(value, "_repr_html_") else ""
