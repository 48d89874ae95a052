"""Source files as tests of the architecture read them."""

from __future__ import annotations

import ast
from pathlib import Path


def definitions(path: Path) -> set[str]:
    """Return the functions and classes of a file, methods as ``Class.method``."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (m for m in node.body if isinstance(m, ast.FunctionDef))
            names |= {f"{node.name}.{method.name}" for method in methods}
    return names


def imported_modules(path: Path) -> set[str]:
    """Return every module that a file imports, at any depth, with the names of from-imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found
