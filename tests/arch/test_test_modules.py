"""Test modules stand alone: helpers are in tests/support, and tests look from outside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.sources import imported_modules

ROOT = Path(__file__).resolve().parents[2]
FILES = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "research" / "tests").rglob("*.py")]
# Public by their documentation: of ``os`` and of named tuples.
PUBLIC = {"_exit", "_replace"}
# What a module has that reads one; to parse all takes seconds.
PRIVATE = re.compile(r"(?<!self)(?<!cls)\.\s*_[a-zA-Z]")
# Reads of private attributes in all tests. It may fall and never grow.
PRIVATE_READS = 128


def test_no_test_module_is_imported() -> None:
    imports = {
        (path.relative_to(ROOT).as_posix(), module)
        for path in FILES
        for module in imported_modules(path)
        if names_a_test_module(module)
    }

    assert imports == set()


def names_a_test_module(module: str) -> bool:
    return module.startswith(("tests.", "research.tests.")) and any(
        part.startswith("test_") for part in module.split(".")
    )


def test_an_import_of_a_test_module_is_found(tmp_path: Path) -> None:
    path = tmp_path / "test_b.py"
    path.write_text("def f():\n    from tests.unit.test_a import helper\n", encoding="utf-8")

    assert [m for m in imported_modules(path) if names_a_test_module(m)] == [
        "tests.unit.test_a.helper"
    ]


def private_reads(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Yield each use of an attribute with one leading underscore of something but ``self``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            of_itself = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            if not of_itself and not node.attr.startswith("__") and node.attr not in PUBLIC:
                yield node


def test_private_attributes_are_read_no_more_often() -> None:
    sources = (path.read_text(encoding="utf-8") for path in FILES)
    trees = (ast.parse(source) for source in sources if PRIVATE.search(source))

    assert sum(1 for tree in trees for _ in private_reads(tree)) <= PRIVATE_READS


def test_a_private_attribute_is_found() -> None:
    tree = ast.parse("view._stack.message\nself._own\nnode.__doc__\nview.public\n")

    assert [node.attr for node in private_reads(tree)] == ["_stack"]
