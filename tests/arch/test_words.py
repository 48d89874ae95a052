"""Names are nouns of the field: this counts the words that docs/words.md lists."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS: Final = re.compile(r"^\| ([a-z]+) \| .+ \|$", re.MULTILINE)
WORDS: Final = frozenset(ROWS.findall((ROOT / "docs/words.md").read_text(encoding="utf-8"))) - {
    "word"
}
LIMIT: Final = 1.0
"""Names that are one of the words, of 10 000 names in both packages."""
PART_LIMIT: Final = 2.5
"""Names that have one of the words as a part, those that are one among them, of 10 000."""
TELL_LIMIT: Final = 0.1
"""Uses of tell, tells and told, of 10 000 words in docstrings."""
TELL: Final = re.compile(r"\b(tell|tells|told)\b", re.IGNORECASE)
# Of a file format, of a library, or a term of the field.
FIXED: Final = frozenset(
    {
        "bytes_moved",  # of the roofline model
        "known_hosts",  # of SSH
        "least_ms",
        "least_runs",  # of the measuring protocol, as the next two
        "least_s",
        "others_cores",  # of its results, as the next one
        "own_cores",
        "parse_known_args",  # of argparse
        "profile_most_runs",
    }
)


def names_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the name and line of each assigned name and attribute, argument and function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno


def is_odd(name: str) -> bool:
    """Whether a name is one of the words."""
    return name.strip("_").lower() in WORDS


def has_odd_part(name: str) -> bool:
    """Whether a name has one of the words as a part."""
    return name not in FIXED and not WORDS.isdisjoint(name.lower().split("_"))


def docstrings_of(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and functions, and those of attributes."""
    for node in ast.walk(tree):
        body = getattr(node, "body", ())
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield str(statement.value.value)


@cache
def modules() -> list[tuple[str, list[tuple[str, int]], list[str]]]:
    """Return path, names and docstrings of each module of both packages.

    Not their trees: a million objects stay to be searched for garbage in all tests that follow.
    """
    paths = [p for room in ("predictor", "ctm_gui") for p in sorted((ROOT / room).rglob("*.py"))]
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in paths)
    return [
        (path.relative_to(ROOT).as_posix(), list(names_of(tree)), list(docstrings_of(tree)))
        for path, tree in zip(paths, trees, strict=True)
    ]


def test_the_count_sees_words_alone_and_as_parts() -> None:
    source = "def own(given, _kept=1):\n    self._most = MAX_SEEN = given\n    downed = 2"
    names = [name for name, _ in names_of(ast.parse(source))]
    assert sorted(filter(is_odd, names)) == ["_kept", "_most", "given", "own"]
    assert sorted(filter(has_odd_part, names)) == ["MAX_SEEN", "_kept", "_most", "given", "own"]
    assert not has_odd_part("known_hosts")
    assert len(WORDS) > 25


@pytest.mark.parametrize(("counts", "limit"), [(is_odd, LIMIT), (has_odd_part, PART_LIMIT)])
def test_names_are_nouns_of_the_field(counts: Callable[[str], bool], limit: float) -> None:
    names: Counter[str] = Counter()
    odd: Counter[str] = Counter()
    places: list[str] = []
    for path, of_module, _ in modules():
        room = "/".join(path.split("/")[:2])
        for name, line in of_module:
            names[room] += 1
            if counts(name):
                odd[room] += 1
                places.append(f"{path}:{line}: {name}")
    rooms = [f"{room}: {1e4 * odd[room] / names[room]:.0f} of 10 000" for room in sorted(odd)]
    share = 1e4 * odd.total() / names.total()
    assert share <= limit, "\n".join([f"{share:.1f} of 10 000 names", *rooms, *places])


def test_docstrings_do_not_tell() -> None:
    words, uses = 0, []
    for path, _, texts in modules():
        for text in texts:
            words += len(text.split())
            uses += [f"{path}: {text[:60]}" for _ in TELL.finditer(text)]
    share = 1e4 * len(uses) / words
    assert share <= TELL_LIMIT, "\n".join([f"{share:.1f} of 10 000 words", *uses])
