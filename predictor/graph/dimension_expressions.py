"""Arithmetic in names of dimensions: exporters write ``past_sequence_length + 1``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Container, Mapping

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
_LONGEST = 200


def is_expression(text: str, names: Container[str]) -> bool:
    """Whether a dimension's name is arithmetic on other dimensions (``batch-size`` is not)."""
    tree = _parsed(text)
    if not isinstance(tree, ast.BinOp):
        return False
    return all(n.id in names for n in ast.walk(tree) if isinstance(n, ast.Name))


def evaluate(text: str, values: Mapping[str, int]) -> int | None:
    """Return the value of an expression, None where a term is not known.

    Args:
        text: sums, differences, products and whole quotients of names and whole numbers.
        values: by name.
    """
    tree = _parsed(text)
    return None if tree is None else _value(tree, values)


def _parsed(text: str) -> ast.expr | None:
    if len(text) > _LONGEST or not text.isascii():
        return None
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _value(tree: ast.expr, values: Mapping[str, int]) -> int | None:
    if isinstance(tree, ast.Name):
        return values.get(tree.id)
    if isinstance(tree, ast.Constant):
        return tree.value if isinstance(tree.value, int) else None
    if not isinstance(tree, ast.BinOp) or type(tree.op) not in _OPERATIONS:
        return None
    left, right = _value(tree.left, values), _value(tree.right, values)
    if left is None or right is None:
        return None
    if right == 0 and isinstance(tree.op, ast.Div | ast.FloorDiv | ast.Mod):
        return None
    return _OPERATIONS[type(tree.op)](left, right)
