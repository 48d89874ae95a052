"""The network of a TensorFlow Lite file: its inputs, operators in order, subgraphs, outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.builder import ModelBuilder
from predictor.formats.tflite import (
    control,
    elementwise,
    parts,
    pixels,
    products,
    recurrent,
    shaping,
)
from predictor.formats.tflite.control import writes_of
from predictor.formats.tflite.file import AGAIN, ModelFile, Operator
from predictor.formats.tflite.layouts import as_filed, channels_first
from predictor.formats.tflite.normalizations import add_normalization, normalization_at
from predictor.formats.tflite.translation import Translation
from predictor.formats.tflite.values import BATCH

Rule: TypeAlias = Callable[[Translation, Operator], None]

# Errors of a rule whose operator has inputs and options that do not fit together.
_MISFITS: Final = (
    ArithmeticError,
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
)
_MAX_DEPTH: Final = 16
_MAX_INLINED: Final = 200_000
# Custom operators that hold a network compiled for one processor.
_COMPILED: Final = {
    "DISPATCH_OP": "a processor of one vendor",
    "edgetpu-custom-op": "the Edge TPU",
    "ethos-u": "an Ethos-U",
}


class _Network:
    """Translates the subgraphs of one file."""

    def __init__(self, file: ModelFile, builder: ModelBuilder) -> None:
        self._file, self._builder = file, builder
        self._operators = 0
        self._depth = 0
        self._calls = 0
        self._rules: dict[str, Rule] = {
            **_RULES,
            "ASSIGN_VARIABLE": self._assign,
            "CALL": self._call,
            "CALL_ONCE": _nothing,
            "IF": self._control,
            "READ_VARIABLE": self._read,
            "STABLEHLO_COMPOSITE": self._call,
            "VAR_HANDLE": _nothing,
            "WHILE": self._control,
        }

    def add(self) -> None:
        """Add the whole network to the builder."""
        graph = self._file.subgraphs[0]
        translation = Translation(self._file, graph, self._builder)
        with _fitting(self._file.path):
            for index in dict.fromkeys(graph.inputs):
                self._add_input(translation, index)
        self.translate(translation)
        with _fitting(self._file.path):
            for index in dict.fromkeys(graph.outputs):
                self._add_output(translation, index)

    def _add_input(self, translation: Translation, index: int) -> None:
        tensor = translation.tensor(index)
        rank = len(tensor.dims)
        layout = channels_first(rank) if index in translation.images else as_filed(rank)
        names = _dimension_names(tensor.name, rank, is_image=index in translation.images)
        dims = [
            name if size < 0 else size for name, size in zip(names, tensor.signature, strict=True)
        ]
        name = translation.free_name(index)
        self._builder.input(
            name, tensor.dtype or TensorProto.FLOAT, [dims[axis] for axis in layout]
        )
        translation.define(index, name, layout)

    def _add_output(self, translation: Translation, index: int) -> None:
        name, value = translation.name(index), translation.value(index)
        if name != value:
            self._builder.node("Identity", [value], [name])
        dims = translation.stated_dims(index) if index in translation.unknowns else None
        self._builder.output(name, translation.tensor(index).dtype or TensorProto.FLOAT, dims)

    def translate(self, translation: Translation) -> None:
        """Add the operators of a subgraph.

        Raises:
            InputError: one cannot be read, or there are too many.
        """
        with _fitting(self._file.path):
            normalizations = {
                operator.index: match
                for operator in translation.graph.operators
                if (match := normalization_at(translation, operator)) is not None
            }
            writes = writes_of(translation)
        steps = frozenset[int]().union(
            *(match.steps for match in normalizations.values()),
            *(inner for _, _, inner in writes.values()),
        )
        for operator in translation.graph.operators:
            if operator.index in steps:
                continue
            self._operators += 1
            if self._operators > _MAX_INLINED:
                reason = f"it has more than {_MAX_INLINED} operators, the most that we read"
                raise InputError(self._file.path, reason, "give a smaller model")
            rule = self._rules.get(operator.type)
            refuse_compiled(self._file.path, operator)
            with _fitting(operator.subject):
                if operator.index in normalizations:
                    add_normalization(translation, operator, normalizations[operator.index])
                elif operator.index in writes:
                    parts.update(translation, operator, *writes[operator.index][:2])
                elif rule is None:
                    translation.unknown(operator)
                else:
                    rule(translation, operator)

    def _call(self, translation: Translation, operator: Operator) -> None:
        """Translate the operators of a subgraph in place of one that calls it."""
        name = "Subgraph" if operator.type == "CALL" else "DecompositionSubgraphIndex"
        graph = self._file.subgraphs[operator.option(name)]
        self._calls += 1
        prefix = f"{translation.prefix}call{self._calls}/"
        inner = Translation(self._file, graph, self._builder, prefix)
        for index, outer in zip(graph.inputs, operator.inputs, strict=True):
            layout = as_filed(translation.rank(outer))
            if index in inner.images and translation.rank(outer) == inner.rank(index):
                layout = channels_first(len(layout))
            inner.define(index, translation.value(outer, layout), layout)
        with self._nested(operator):
            self.translate(inner)
        for index, outer in zip(graph.outputs, operator.outputs, strict=True):
            translation.define(outer, inner.value(index), inner.layout(index))

    def _control(self, translation: Translation, operator: Operator) -> None:
        """Translate a loop or a branch, bodies included."""
        self._calls += 1
        add = control.loop if operator.type == "WHILE" else control.branch
        with self._nested(operator):
            add(translation, operator, f"{translation.prefix}body{self._calls}/", self.translate)

    @contextmanager
    def _nested(self, operator: Operator) -> Iterator[None]:
        """Enter the subgraphs of an operator."""
        if self._depth >= _MAX_DEPTH:
            reason = f"its subgraphs call one another deeper than {_MAX_DEPTH} levels"
            raise InputError(operator.subject, reason, AGAIN)
        self._depth += 1
        yield
        self._depth -= 1

    def _read(self, translation: Translation, operator: Operator) -> None:
        """Translate the reading of a state: it is an input of the network."""
        index = operator.outputs[0]
        tensor, name = translation.tensor(index), translation.free_name(index)
        self._builder.input(name, tensor.dtype or TensorProto.FLOAT, tensor.dims)
        translation.define(index, name, as_filed(len(tensor.dims)))

    def _assign(self, translation: Translation, operator: Operator) -> None:
        """Translate the writing of a state: it is an output of the network."""
        index = operator.inputs[1]
        value = translation.value(index)
        name = self._builder.node("Identity", [value], [self._builder.fresh("state")])
        self._builder.output(name, translation.tensor(index).dtype or TensorProto.FLOAT)


@contextmanager
def _fitting(subject: str) -> Iterator[None]:
    """Raise one error for inputs and options that do not fit together."""
    try:
        yield
    except _MISFITS as error:
        reason = "its inputs and options do not fit together"
        raise InputError(subject, reason, AGAIN) from error


def _nothing(_: Translation, __: Operator) -> None:
    """Translate an operator that does nothing in a run of the network."""


def refuse_compiled(path: str, operator: Operator) -> None:
    """Refuse a network of which a part was compiled.

    Raises:
        InputError: the operator is such a part.
    """
    if operator.type == "DELEGATE" or (operator.is_custom and operator.type in _COMPILED):
        place = _COMPILED.get(operator.type, "a delegate")
        reason = (
            f"it was compiled for {place}: its operators are inside "
            f"'{shortened(operator.type, 80)}' and cannot be read"
        )
        raise InputError(path, reason, "give the file that it was compiled from")


def _dimension_names(name: str, rank: int, *, is_image: bool) -> Sequence[str]:
    """Return names for open dimensions of an input."""
    if is_image and rank == 4:
        return (BATCH, "height", "width", "channels")
    return [BATCH, *(f"{name}_{axis}" for axis in range(1, rank))][:rank]


_RULES: Final[dict[str, Rule]] = {
    **elementwise.RULES,
    **parts.RULES,
    **pixels.RULES,
    **products.RULES,
    **recurrent.RULES,
    **shaping.RULES,
}


def add_network(file: ModelFile, builder: ModelBuilder) -> None:
    """Add the network of a file to a builder.

    Raises:
        InputError: an operator cannot be read, or the network is compiled.
    """
    _Network(file, builder).add()
