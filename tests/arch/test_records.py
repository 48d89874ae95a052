"""Values of large records and calls are named, so that two floats cannot change places."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("predictor", "ctm_gui")
LARGE_RECORD = 6  # fields
LONG_CALL = 8  # positional arguments
# Rows of tables in their own files, read as tables: with names they are some 250 lines more.
ROWS = {
    "ctm_gui/report/marks.py: Box",
    "ctm_gui/report/marks.py: Line",
    "ctm_gui/report/marks.py: Text",
    "ctm_gui/settings.py: Setting",
    "ctm_gui/window/actions.py: ActionSpec",
    "predictor/core/instruction_sets.py: InstructionSet",
    "predictor/core/metrics.py: Metric",
    "predictor/language/products.py: Product",  # a named tuple, copied by ``_replace``
}
OLD_PYTHON = {"predictor/probing/runner/settings.py: Settings"}  # runs under 3.8: no kw_only
# Arrays that belong together, made in one place.
ARRAYS = {
    "predictor/network/reference_rates.py: _TargetRates",  # a named tuple, made by names
}
EXCEPTIONS = ROWS | OLD_PYTHON | ARRAYS
VARIADIC = {
    "hbox",
    "vbox",
    "fill",
    "_on",
    "_room",
    "table.grid",
}  # arguments are alike and as many as one likes


@cache
def findings() -> tuple[set[str], set[str]]:
    """Return the large records and the long calls of the product, each with its file."""
    records, calls = set(), set()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            tree = ast.parse(path.read_text(encoding="utf-8"))
            nodes = list(ast.walk(tree))
            records |= {f"{place}: {name}" for name in large_records(nodes)}
            calls |= {f"{place}: {name}" for name in long_calls(nodes)}
    return records, calls


def dataclass_call(node: ast.ClassDef) -> ast.expr | None:
    """Return the decorator that makes a class a dataclass."""
    for decorator in node.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(function).split(".")[-1] == "dataclass":
            return decorator
    return None


def positional_fields(node: ast.ClassDef) -> int:
    """Return how many values the constructor of a record takes by position; 0 for other classes."""
    decorator = dataclass_call(node)
    is_tuple = any(ast.unparse(base).split(".")[-1] == "NamedTuple" for base in node.bases)
    if decorator is None and not is_tuple:
        return 0
    if isinstance(decorator, ast.Call) and any(k.arg == "kw_only" for k in decorator.keywords):
        return 0
    return sum(1 for statement in node.body if is_positional_field(statement))


def is_positional_field(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.AnnAssign):
        return False
    value = statement.value
    not_set = isinstance(value, ast.Call) and any(
        keyword.arg in {"init", "kw_only"} for keyword in value.keywords
    )
    return not not_set and "ClassVar" not in ast.unparse(statement.annotation)


def large_records(nodes: Sequence[ast.AST]) -> list[str]:
    """Return the records of six fields and more that take them by position."""
    classes = (node for node in nodes if isinstance(node, ast.ClassDef))
    return [node.name for node in classes if positional_fields(node) >= LARGE_RECORD]


def long_calls(nodes: Sequence[ast.AST]) -> list[str]:
    """Return the calls with eight positional arguments and more."""
    calls = (node for node in nodes if isinstance(node, ast.Call))
    names = [ast.unparse(call.func) for call in calls if len(call.args) >= LONG_CALL]
    return [name for name in names if name not in VARIADIC]


def test_large_records_are_keyword_only() -> None:
    records, _ = findings()

    message = "name the fields, or say why not; what is named now leaves the list"
    assert records == EXCEPTIONS, message


def test_no_call_is_long_by_position() -> None:
    _, calls = findings()

    assert calls == set()


def test_a_large_record_and_a_long_call_are_found() -> None:
    fields = "\n".join(f"    field{n}: int" for n in range(LARGE_RECORD))
    source = f"""
@dataclass(frozen=True)
class Large:
{fields}

@dataclasses.dataclass(frozen=True, kw_only=True)
class Named:
{fields}

class Row(NamedTuple):
{fields}

class Plain:
{fields}

f(1, 2, 3, 4, 5, 6, 7, 8)
f(1, 2, 3, 4, 5, 6, 7, named=8)
"""
    nodes = list(ast.walk(ast.parse(source)))

    assert large_records(nodes) == ["Large", "Row"]
    assert long_calls(nodes) == ["f"]
