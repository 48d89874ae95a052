"""Dynamic dimensions: the open dimensions of a model's inputs, and the value of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import onnx

from predictor.core.errors import InputError
from predictor.core.tensors import DynamicDimension
from predictor.core.text import shortened
from predictor.graph.dimensions import (
    Relations,
    default_value,
    fitting_defaults,
    is_batch_name,
    relations_of,
)
from predictor.graph.expressions import evaluate, solve

Declared = tuple[int | str, ...]
_LARGEST_DIM = 2**40
_SIZE = re.compile("[1-9][0-9]{0,9}")
DEFAULT_SIZE = "default size of "
"""Before the name of an open dimension: key of a graph's metadata with its default."""


class InputBinding:
    """The inputs of one model with every dimension bound.

    Attributes:
        declared: dims as in the file by input name; an unnamed open one is ``input:axis``.
        shapes: dims as bound by input name.
        old_shapes: the same with the batch that the file fixes.
        dynamic: the open dimensions in the order of the inputs.
        old_batch: the batch that the file fixes where ``batch`` replaced it, else None.
    """

    def __init__(
        self,
        graph: onnx.GraphProto,
        bindings: Mapping[str, int],
        batch: int | None,
        shapes: Mapping[str, tuple[int, ...]],
    ) -> None:
        self._dim_values: dict[str, int] = {}
        self.old_batch: int | None = None
        self._replaced: set[str] = set()
        inputs = _model_inputs(graph)
        self.declared = {v.name: _declared(v, shapes.get(v.name)) for v in inputs}
        self._integer = {v.name: _is_integer(v) for v in inputs}
        self._stated = _stated_defaults(graph)
        _check_names("input", shapes, self.declared)
        if batch is not None:
            self._set_batch(batch)
        for name, shape in shapes.items():
            self._set_shape(name, shape)
        for name, value in bindings.items():
            self._give(
                name, _positive(f"dimension {shortened(name, 120)}", value, zero_is_fine=True)
            )
        self.dynamic = self._bind()
        _check_names("dimension", bindings, [d.name for d in self.dynamic])
        values = {d.name: d.value for d in self.dynamic}
        self.shapes = {
            name: tuple(values[d] if isinstance(d, str) else d for d in dims)
            for name, dims in self.declared.items()
        }
        self.old_shapes = {
            name: (self.old_batch, *dims[1:]) if name in self._replaced and self.old_batch else dims
            for name, dims in self.shapes.items()
        }

    def _give(self, name: str, value: int) -> None:
        if self._dim_values.setdefault(name, value) != value:
            raise InputError(
                f"dimension {shortened(name, 120)}",
                f"it is given twice, as {self._dim_values[name]} and {value}",
                "give it one value",
            )

    def _set_shape(self, name: str, shape: tuple[int, ...]) -> None:
        declared = self.declared[name]
        if len(shape) != len(declared):
            raise InputError(
                f"input {shortened(name, 120)}",
                f"the shape given has {len(shape)} dimensions, the model's has {len(declared)}",
                f"give {_shape_text(declared)}",
            )
        for axis, (dim, size) in enumerate(zip(declared, shape, strict=True)):
            value = _positive(
                f"input {shortened(name, 120)}, axis {axis}",
                size,
                zero_is_fine=isinstance(dim, str),
            )
            if isinstance(dim, str):
                self._give(dim, value)
            elif dim != value:
                raise InputError(
                    f"input {shortened(name, 120)}, axis {axis}",
                    f"the model fixes it at {dim}, {value} was given",
                    f"give {_shape_text(declared)}",
                )

    def _set_batch(self, batch: int) -> None:
        _positive("batch", batch, zero_is_fine=False)
        named = {d for dims in self.declared.values() for d in dims if isinstance(d, str)}
        named = {d for d in named if ":" not in d and is_batch_name(d)}
        # A vector may be a parameter; it counts only where the model has vectors alone.
        leading = [dims[0] for dims in self.declared.values() if len(dims) > 1] or [
            dims[0] for dims in self.declared.values() if dims
        ]
        if not leading:
            raise InputError("batch", "no input of the model has a dimension", "leave it out")
        first = leading[0]
        if named or isinstance(first, str):
            same = {d for d in leading if d == first or ":" in str(d)}
            for name in sorted(named or {d for d in same if isinstance(d, str)}):
                self._give(name, batch)
            return
        if first == batch:
            return
        self.old_batch = first
        for name, dims in self.declared.items():
            # A vector of length 1 is a parameter rather than a batch.
            if dims and dims[0] == first and (len(dims) > 1 or first != 1):
                self.declared[name] = (batch, *dims[1:])
                self._replaced.add(name)

    def _bind(self) -> tuple[DynamicDimension, ...]:
        """Bind the open dimensions: those with a name or none, and what follows from them."""
        places: dict[str, tuple[int, Declared, bool]] = {}
        for name, dims in self.declared.items():
            for axis, dim in enumerate(dims):
                if isinstance(dim, str):
                    places.setdefault(dim, (axis, dims, self._integer[name]))
        relations = relations_of([*places])
        for text, names in relations.items():
            for name in sorted(names):
                places.setdefault(name, places[text])
        defaults = {
            name: self._stated.get(name) or default_value(name, *place)
            for name, place in places.items()
            if name not in relations
        }
        self._solve(relations, {name: default for name, (default, _) in defaults.items()})
        defaults = fitting_defaults(defaults, relations, self._dim_values)
        bound = {
            name: self._bind_name(name, default, reason)
            for name, (default, reason) in defaults.items()
        }
        for text in relations:
            bound[text] = self._bind_relation(text, bound)
        return tuple(bound.values())

    def _solve(self, relations: Relations, values: Mapping[str, int]) -> None:
        """Give names the values with which relations have those that were given."""
        for text, names in relations.items():
            if text not in self._dim_values:
                continue
            wanted = self._dim_values[text]
            free = [name for name in names if name not in self._dim_values]
            terms = {**values, **self._dim_values}
            solution = solve(text, free[0], terms, wanted) if free else None
            if solution is not None:
                self._dim_values[free[0]] = solution
            elif evaluate(text, terms) != wanted:
                raise InputError(
                    f"dimension {shortened(text, 120)}",
                    f"it cannot be {wanted} with the other dimensions",
                    f"set {shortened(', '.join(sorted(names)), 120)} instead",
                )

    def _bind_name(self, name: str, default: int, reason: str) -> DynamicDimension:
        value = self._dim_values.get(name, default)
        # Only a past, whose default is 0, may be empty.
        if value == 0 != default:
            raise InputError(
                f"dimension {shortened(name, 120)}", "it must be above 0", "give 1 or more"
            )
        return DynamicDimension(name, value, default, reason)

    def _bind_relation(self, text: str, bound: Mapping[str, DynamicDimension]) -> DynamicDimension:
        """Bind a dimension that the file writes as arithmetic on others, like ``past + 1``."""
        value = evaluate(text, {d.name: d.value for d in bound.values()})
        default = evaluate(text, {d.name: d.default for d in bound.values()})
        if value is None or default is None or value <= 0:
            value, default, reason = 1, 1, "its terms are not known"
        else:
            reason = "follows from the other dimensions"
        return DynamicDimension(text, self._dim_values.get(text, value), default, reason)

    def apply(self, graph: onnx.GraphProto, *, old_batch: bool = False) -> None:
        """Write the bound shapes into ``graph`` and drop every other stated shape.

        Args:
            graph: of the model.
            old_batch: whether to write the batch that the file fixes.
        """
        shapes = self.old_shapes if old_batch else self.shapes
        for info in graph.input:
            shape = shapes.get(info.name)
            if shape is None or not info.type.HasField("tensor_type"):
                continue
            proto = info.type.tensor_type.shape
            del proto.dim[:]
            for size in shape:
                proto.dim.add().dim_value = size
        # Shapes stated for other sizes would contradict the bound inputs in onnx's inference.
        del graph.value_info[:]
        for info in graph.output:
            if info.type.HasField("tensor_type"):
                info.type.tensor_type.ClearField("shape")


def _model_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    # IR versions before 4 list initializers among the inputs too.
    initialized = {t.name for t in graph.initializer} | {
        s.values.name for s in graph.sparse_initializer
    }
    return [v for v in graph.input if v.name not in initialized]


def _stated_defaults(graph: onnx.GraphProto) -> dict[str, tuple[int, str]]:
    """Return the defaults that a file states, each with the reason in words."""
    return {
        entry.key.removeprefix(DEFAULT_SIZE): (int(entry.value), "the default of the file")
        for entry in graph.metadata_props
        if entry.key.startswith(DEFAULT_SIZE) and _SIZE.fullmatch(entry.value)
    }


def _is_integer(info: onnx.ValueInfoProto) -> bool:
    kind = info.type.tensor_type.elem_type
    return kind in {onnx.TensorProto.INT32, onnx.TensorProto.INT64}


def _declared(info: onnx.ValueInfoProto, shape: tuple[int, ...] | None) -> Declared:
    if not info.type.HasField("tensor_type"):
        return ()
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        if shape is not None:
            return tuple(f"{info.name}:{axis}" for axis in range(len(shape)))
        raise InputError(
            f"input {shortened(info.name, 120)}",
            "the file does not state how many dimensions it has",
            f"give its whole shape, for example {shortened(info.name, 120)}=1,3,224,224",
        )
    return tuple(_declared_dim(info.name, axis, d) for axis, d in enumerate(tensor.shape.dim))


def _declared_dim(name: str, axis: int, dim: onnx.TensorShapeProto.Dimension) -> int | str:
    if not dim.HasField("dim_value"):
        return dim.dim_param or f"{name}:{axis}"
    size = dim.dim_value
    if size < 0:  # as exporters of another framework's open dimensions write them
        return f"{name}:{axis}"
    if not 0 < size < _LARGEST_DIM:
        limit = "a dimension must be above 0" if size <= 0 else f"the limit is {_LARGEST_DIM}"
        raise InputError(
            f"input {shortened(name, 120)}, axis {axis}",
            f"the file states the size {size}, {limit}",
            "export the model again with a size above 0 or with a named dynamic dimension",
        )
    return size


def _positive(subject: str, value: int, *, zero_is_fine: bool) -> int:
    if (0 if zero_is_fine else 1) <= value < _LARGEST_DIM:
        return value
    raise InputError(
        subject, f"{value} is not between 1 and {_LARGEST_DIM}", "give a whole number above 0"
    )


def _check_names(kind: str, values: Mapping[str, object], expected: Iterable[str]) -> None:
    names = list(expected)
    for name in values:
        if name not in names:
            right = ", ".join(shortened(n, 60) for n in names[:20]) or "none"
            raise InputError(
                f"{kind} {shortened(name, 120)}",
                f"the model has no such {kind}",
                f"its {kind}s are: {right}",
            )


def _shape_text(declared: Declared) -> str:
    return shortened(",".join(str(d) for d in declared), 120) or "no dimension at all"
