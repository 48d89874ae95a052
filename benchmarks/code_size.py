"""Lines of code of the product by room: without blank lines, comments and docstrings.

    python -m benchmarks.code_size

Research, tests, benchmarks and packaging are no part of the product.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

from benchmarks.common import Figure, parse_arguments, report

CHECKOUT = Path(__file__).resolve().parents[1]
PRODUCT = ("predictor", "ctm_gui")
LIMIT = 62_500
"""Goal for the product; the limit of ``tests/arch/test_size.py`` is what it has today."""


def code_lines(source: str) -> int:
    """Return the number of lines of a Python module that hold code.

    Args:
        source: text of the module.
    """
    texts = enumerate(source.split("\n"), 1)
    lines = {number for number, text in texts if (code := text.strip()) and code[0] != "#"}
    docstrings: list[ast.stmt] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant() | ast.JoinedStr() if node.lineno != node.end_lineno:
                # Of a string of several lines, blank ones and those that begin like comments too.
                lines.update(_lines_of(node))
            case ast.Expr(value=ast.Constant(value=str())):  # those of attributes too
                docstrings.append(node)
    for statement in docstrings:
        lines.difference_update(_lines_of(statement))
    return len(lines)


def _lines_of(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def product_lines(checkout: Path = CHECKOUT) -> Counter[str]:
    """Return the lines of code of the product's rooms, by their folder or file."""
    rooms: Counter[str] = Counter()
    for package in PRODUCT:
        for path in sorted((checkout / package).rglob("*.py")):
            room = "/".join(path.relative_to(checkout).parts[:2])
            rooms[room] += code_lines(path.read_text(encoding="utf-8"))
    return rooms


def main() -> int:
    """Print the lines of each room; exit 1 where the sum exceeds its limit."""
    arguments = parse_arguments(__doc__, repeats=1)
    rooms = product_lines()
    figures = [Figure(room, lines, "lines") for room, lines in rooms.most_common()]
    figures.append(Figure("the product", rooms.total(), "lines", LIMIT, "our limit"))
    return report("code_size", "Lines of code", figures, arguments.output)


if __name__ == "__main__":
    sys.exit(main())
