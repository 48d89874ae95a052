"""Sizes written as arithmetic on the names of dimensions, like ``past + 1`` or ``2*s0``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    # Sizes are whole: exporters mean a whole quotient by "/" too.
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
# As torch.export writes them; floor stands around a quotient, which is whole already.
_FUNCTIONS: dict[str, Callable[..., int]] = {
    "floor": int,
    "floordiv": operator.floordiv,
    "max": max,
    "min": min,
    "mod": operator.mod,
}
# Names are untrusted: deep nesting makes ast.parse raise MemoryError or RecursionError.
_LONGEST_EXPRESSION = 200
_LARGEST_POWER = 8
_LARGEST_SIZE = 2**40
_SOLUTIONS = 4096


def symbols(text: str) -> frozenset[str]:
    """Return the names in an expression; none where the text is a name itself or no arithmetic."""
    tree = _parsed(text)
    if tree is None or isinstance(tree, ast.Name):
        return frozenset()
    return _names(tree) or frozenset()


def evaluate(text: str, values: Mapping[str, int]) -> int | None:
    """Return the value of an expression, None where a term is not known.

    Args:
        text: sums, differences, products, powers, whole quotients and remainders of names and
            whole numbers, and the smaller or larger of two.
        values: by name.
    """
    tree = _parsed(text)
    try:
        return None if tree is None else _value(tree, values)
    except (ArithmeticError, TypeError, ValueError):
        return None


def solve(text: str, name: str, values: Mapping[str, int], wanted: int) -> int | None:
    """Return the value of one name with which an expression has a wanted value, None without one.

    Args:
        text: the expression.
        name: of the value in question.
        values: of the other names.
        wanted: value of the expression.
    """
    first, second = (evaluate(text, {**values, name: value}) for value in (1, 2))
    candidates: Iterable[int] = range(1, _SOLUTIONS + 1)
    if first is not None and second is not None and first != second:
        # Most are linear.
        candidates = (1 + (wanted - first) // (second - first), *candidates)
    return next((v for v in candidates if evaluate(text, {**values, name: v}) == wanted), None)


def _names(tree: ast.expr) -> frozenset[str] | None:
    """Return the names in a tree, None where it is no arithmetic that is understood."""
    match tree:
        case ast.Name():
            return frozenset({tree.id})
        case ast.Constant(value=int()):
            return frozenset()
        case ast.UnaryOp(op=ast.USub()):
            terms = [tree.operand]
        case ast.BinOp() if type(tree.op) in _OPERATIONS:
            terms = [tree.left, tree.right]
        case ast.Call(func=ast.Name() as called, keywords=[]) if called.id.lower() in _FUNCTIONS:
            terms = tree.args
        case _:
            return None
    names = [_names(term) for term in terms]
    return None if None in names else frozenset().union(*filter(None, names))


def _parsed(text: str) -> ast.expr | None:
    if len(text) > _LONGEST_EXPRESSION or not text.isascii():
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _value(tree: ast.expr, values: Mapping[str, int]) -> int | None:
    match tree:
        case ast.Name():
            return values.get(tree.id)
        case ast.Constant(value=int() as constant):
            return constant
        case ast.UnaryOp(op=ast.USub()):
            operand = _value(tree.operand, values)
            return None if operand is None else -operand
        case ast.BinOp() if type(tree.op) in _OPERATIONS:
            return _combined(_OPERATIONS[type(tree.op)], [tree.left, tree.right], values)
        case ast.Call(func=ast.Name() as called, keywords=[]) if called.id.lower() in _FUNCTIONS:
            return _combined(_FUNCTIONS[called.id.lower()], tree.args, values)
    return None


def _combined(
    function: Callable[..., int], terms: list[ast.expr], values: Mapping[str, int]
) -> int | None:
    numbers = [number for term in terms if (number := _value(term, values)) is not None]
    if len(numbers) < len(terms):
        return None
    if function is operator.pow and not 0 <= numbers[1] <= _LARGEST_POWER:
        return None
    result = function(*numbers)
    return result if abs(result) <= _LARGEST_SIZE else None
