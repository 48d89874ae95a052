"""Sizes of open dimensions as an exported program writes them: SymPy's expressions."""

from __future__ import annotations

import ast
from typing import Final

_MAX_LETTERS: Final = 500
_OPERATORS: Final = {"Add": " + ", "Mul": "*"}


def expression_text(expression: str) -> str:
    """Return an expression as arithmetic on names: ``2*s0 + 1``.

    Torch writes ``s0`` as it is, or as SymPy's ``Symbol('s0', integer=True)``. What is none of
    these stays as it is.
    """
    if "(" not in expression or len(expression) > _MAX_LETTERS:
        return expression[:_MAX_LETTERS]
    try:
        return _text(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return expression


def _text(node: ast.expr) -> str:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
        raise ValueError("no expression of SymPy")
    kind, terms = node.func.id, node.args
    first = terms[0]
    if kind in {"Symbol", "Integer"}:
        if isinstance(first, ast.UnaryOp) and isinstance(first.operand, ast.Constant):
            return f"-{first.operand.value!r}"
        if isinstance(first, ast.Constant):
            return str(first.value)
    if kind not in _OPERATORS:
        raise ValueError(kind)
    parts = [_text(term) for term in terms]
    if kind == "Mul":
        parts = [f"({part})" if " " in part else part for part in parts]
    return _OPERATORS[kind].join(parts)
