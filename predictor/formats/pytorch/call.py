"""One call of an ATen operator, and the ONNX operators that stand for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from predictor.formats.builder import ModelBuilder
from predictor.formats.emitter import Emitter, RuleTable, Symbol, UnreadError, Values
from predictor.formats.pytorch.program import Reference, TensorMeta


class ProgramValues(Values):
    """The values of a program that are ONNX values by now.

    Attributes:
        symbols: integers of the graph by name.
        metas: type and size by the program's name.
    """

    def __init__(self, builder: ModelBuilder) -> None:
        super().__init__(builder)
        self.symbols: dict[str, Symbol] = {}
        self.metas: dict[str, TensorMeta] = {}

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Write a graph of a graph, whose names are its alone."""
        outer = self.names, self.symbols, self.metas
        self.names, self.symbols, self.metas = {}, {}, {}
        try:
            yield
        finally:
            self.names, self.symbols, self.metas = outer


class Call(Emitter):
    """A call of an operator in a program.

    Args:
        values: of the program.
        kind: name of the operator, without its namespace.
        name: of the call.
        arguments: by the names of the operator's schema.
        outputs: program's names of its results.
    """

    def __init__(
        self,
        values: ProgramValues,
        kind: str,
        name: str,
        arguments: Mapping[str, Any],
        outputs: Sequence[str],
    ) -> None:
        super().__init__(values, name)
        self.program = values
        self.kind = kind
        self.arguments = arguments
        self.outputs = outputs

    def get(self, key: str, default: Any = None) -> Any:
        """Return an argument that is no tensor; ``default`` if it is left out or None."""
        value = self.arguments.get(key)
        if value is None:
            return default
        if isinstance(value, Reference):
            raise UnreadError(key)
        return value

    def number(self, key: str, default: Any = None) -> Any:
        """Return a number.

        Raises:
            UnreadError: it is none, or is computed.
        """
        value = self.get(key, default)
        if not isinstance(value, int | float):
            raise UnreadError(key)
        return value

    def integers(self, key: str, length: int = 0, default: int = 0) -> list[int]:
        """Return integers; one stands for ``length`` equal ones.

        Raises:
            UnreadError: one is computed.
        """
        value = self.get(key, default)
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, int) for item in values):
            raise UnreadError(key)
        return list(values) * length if len(values) == 1 and length else list(values)

    def symbol(self, key: str, default: int | None = None) -> Symbol | None:
        """Return an integer that may be computed."""
        return self._symbol(self.arguments.get(key, default))

    def symbols(self, key: str) -> list[Symbol]:
        """Return integers that may be computed."""
        items = self.arguments[key]
        items = items if isinstance(items, list) else [items]
        result = [self._symbol(item) for item in items]
        return [item for item in result if item is not None]

    def _symbol(self, value: Any) -> Symbol | None:
        if isinstance(value, Reference):
            return self.program.symbols[value.name]
        if value is not None and not isinstance(value, int):
            raise UnreadError("a size")
        return value

    def has(self, key: str) -> bool:
        """Whether an argument is there and not None."""
        return self.arguments.get(key) is not None

    def is_reference(self, key: str) -> bool:
        """Whether an argument is a value of the graph."""
        return isinstance(self.arguments.get(key), Reference)

    def is_tensor(self, key: str) -> bool:
        """Whether an argument is a tensor."""
        value = self.arguments.get(key)
        return isinstance(value, Reference) and value.is_tensor

    def tensor(self, key: str) -> str:
        """Return the ONNX value of a tensor, "" if it is left out."""
        value = self.arguments.get(key)
        return "" if value is None else self.values.names[value.name]

    def tensors(self, key: str) -> list[str]:
        """Return the ONNX values of a list of tensors; absent ones are empty."""
        return [
            "" if item is None else self.values.names[item.name] for item in self.arguments[key]
        ]

    def metas(self, key: str) -> list[TensorMeta | None]:
        """Return type and size of the tensors of a list."""
        return [
            None if item is None else self.program.metas[item.name] for item in self.arguments[key]
        ]

    def meta(self, key: str) -> TensorMeta:
        """Return type and size of a tensor argument."""
        return self.program.metas[self.arguments[key].name]

    def rank(self, key: str) -> int:
        """Return the number of dimensions of a tensor argument."""
        return len(self.meta(key).dims)

    def axis(self, key: str, of: str = "self", default: int = 0, extra: int = 0) -> int:
        """Return an axis counted from the front, of a tensor with ``extra`` dimensions more."""
        rank = self.rank(of) + extra
        axis = int(self.number(key, default))
        if not -max(rank, 1) <= axis < max(rank, 1):
            raise UnreadError(key)
        return axis % rank if rank else 0

    def axes(self, key: str, of: str = "self") -> list[int]:
        """Return axes counted from the front; all if none are stated."""
        rank = self.rank(of)
        axes = self.integers(key) if self.arguments.get(key) not in (None, []) else range(rank)
        if not all(-max(rank, 1) <= axis < max(rank, 1) for axis in axes):
            raise UnreadError(key)
        return [axis % rank for axis in axes] if rank else []

    def result(self, position: int = 0) -> TensorMeta:
        """Return type and size of a result."""
        return self.program.metas[self.outputs[position]]


Rule = Callable[[Call], str | Sequence[str]]

RULES: Final[RuleTable[Rule]] = RuleTable()
"""By operator with its namespace; a rule returns its results."""


def rule(names: str) -> Callable[[Rule], Rule]:
    """Register the rule of operators of ``aten``, or of another namespace stated as ``name::``."""
    stated = (name if "::" in name else f"aten::{name}" for name in names.split())
    return RULES.of(" ".join(stated).replace("::", "."))
