"""Unit, theme and budget of the views are set in one place."""

from __future__ import annotations

import ast
from pathlib import Path

WINDOW = Path(__file__).resolve().parents[2] / "ctm_gui"
SETTERS = {"set_theme", "set_unit", "set_budget_ms"}


def setters(folder: Path) -> set[tuple[str, str]]:
    """Return file and name of each function that sets one of the three."""
    return {
        (path.relative_to(folder).as_posix(), node.name)
        for path in folder.rglob("*.py")
        if any(f"def {name}(" in path.read_text(encoding="utf-8") for name in SETTERS)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name in SETTERS
    }


def test_only_the_options_of_the_views_are_set() -> None:
    assert setters(WINDOW) == {("widgets/view_options.py", name) for name in SETTERS}


def test_a_view_with_a_setter_is_seen(tmp_path: Path) -> None:
    (tmp_path / "view.py").write_text("class View:\n    def set_theme(self, theme): ...\n")

    assert setters(tmp_path) == {("view.py", "set_theme")}
