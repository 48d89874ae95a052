"""Dynamic dimensions: the open dimensions of a model's inputs, and the value of each."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

import onnx

from predictor.core.errors import InputError
from predictor.core.tensors import DynamicDimension
from predictor.core.text import shortened
from predictor.graph.model import LEADING_BATCH, NAMED_BATCH

IMAGE_SIZE = 224
SEQUENCE_LENGTH = 128
# Grey, RGB and RGBA.
_CHANNELS = frozenset({1, 3, 4})

# Names that an exporter made up: s0, s77, unk__12, dynamic_axes_3.
_ANONYMOUS = re.compile(r"^(s|d|u|unk|dim|dynamic_axes|o|v|\?)_*\d*$", re.IGNORECASE)
# Whole words of a dimension's name, as exporters write them.
# A "preview" is no past.
_PAST = re.compile(r"past|cache|history|prev(?!iew)")
_BATCH = re.compile(r"^(n|b|bs|bsz|n_batch)$|batch")
_SEQUENCE = re.compile(r"seq|len|token|time|frame|audio|samples|text|context|^(t|s|l)$")
_CHANNEL = re.compile(r"^(c|ch|chan|channel|channels)$|channel")
_SIDE = re.compile(r"^(h|w)$|height|width|^(img|image)_?(size|h|w)$|spatial|rows|cols")
# The first that fits a name decides: "past_sequence_length" is a past, not a sequence.
_NAMED: tuple[tuple[re.Pattern[str], int, str], ...] = (
    (re.compile("total"), SEQUENCE_LENGTH, "named like a whole length, past included"),
    (_PAST, 0, "named like a past: nothing is cached at the start"),
    (_BATCH, 1, NAMED_BATCH),
    (_SIDE, IMAGE_SIZE, "named like a side of an image"),
    (_CHANNEL, 3, "named like the channels of an image"),
    (_SEQUENCE, SEQUENCE_LENGTH, "named like a sequence length"),
)
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    # Sizes are whole: exporters mean a whole quotient by "/" too.
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
# Names are untrusted: deep nesting makes ast.parse raise MemoryError or RecursionError.
_LONGEST_EXPRESSION = 200


def default_value(
    name: str, axis: int, dims: Sequence[int | str], integer: bool
) -> tuple[int, str]:
    """Return the default of one open dimension and the reason in a few words.

    Args:
        name: the file's name for it, or ``input:axis`` where it has none.
        axis: where it stands in the input.
        dims: the input's dims, open ones by name.
        integer: whether the input holds integers, as token ids do.
    """
    by_name = None if ":" in name or _ANONYMOUS.match(name) else _by_name(name.lower())
    if by_name is not None:
        return by_name
    if axis == 0:
        return 1, LEADING_BATCH
    return _by_layout(axis, dims, integer)


def is_batch_name(name: str) -> bool:
    """Whether a dimension is named like a batch."""
    return _BATCH.search(name.lower()) is not None


def _by_name(name: str) -> tuple[int, str] | None:
    for pattern, default, reason in _NAMED:
        if pattern.search(name):
            return default, reason
    return None


def _by_layout(axis: int, dims: Sequence[int | str], integer: bool) -> tuple[int, str]:
    rank = len(dims)
    if rank == 4 and not integer and _is_image(dims):
        return _image_axis(axis, dims)
    if rank == 3:
        return SEQUENCE_LENGTH, "one of three dimensions, taken as a length"
    if rank == 2 and integer:
        return SEQUENCE_LENGTH, "second dimension of integers, taken as token ids"
    if rank == 2 and axis == 1 and isinstance(dims[0], int):
        return SEQUENCE_LENGTH, "second of two dimensions, taken as a length"
    if rank == 4 and axis > 1:
        return SEQUENCE_LENGTH, "one of four dimensions, taken as a length"
    return 1, "nothing in the file states it"


def _is_image(dims: Sequence[int | str]) -> bool:
    """Both sides are open, or the channels are those of an image: no heads x length x size."""
    channels_last = dims[3] in _CHANNELS
    sides = dims[1:3] if channels_last else dims[2:]
    channels = dims[3] if channels_last else dims[1]
    open_sides = all(isinstance(side, str) for side in sides)
    return channels == 3 or (open_sides and (channels in _CHANNELS or isinstance(channels, str)))


def _image_axis(axis: int, dims: Sequence[int | str]) -> tuple[int, str]:
    channels_last = dims[3] in _CHANNELS and dims[1] not in _CHANNELS
    if axis == (3 if channels_last else 1):
        return 3, "channels of an image"
    layout = "last" if channels_last else "first"
    return IMAGE_SIZE, f"side of an image with channels {layout}"


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
    if len(text) > _LONGEST_EXPRESSION or not text.isascii():
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


Declared = tuple[int | str, ...]
_LARGEST_DIM = 2**40


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
        bound: dict[str, DynamicDimension] = {}
        names = {d for dims in self.declared.values() for d in dims if isinstance(d, str)}
        expressions: list[str] = []
        for name, dims in self.declared.items():
            for axis, dim in enumerate(dims):
                if isinstance(dim, int) or dim in bound:
                    continue
                if is_expression(dim, names):
                    expressions.append(dim)
                    continue
                default, reason = default_value(dim, axis, dims, self._integer[name])
                value = self._dim_values.get(dim, default)
                # Only a past, whose default is 0, may be empty.
                if value == 0 != default:
                    raise InputError(
                        f"dimension {shortened(dim, 120)}", "it must be above 0", "give 1 or more"
                    )
                bound[dim] = DynamicDimension(dim, value, default, reason)
        # After the plain names, whose values the expressions need.
        for text in dict.fromkeys(expressions):
            bound[text] = self._bind_expression(text, bound)
        return tuple(bound.values())

    def _bind_expression(
        self, text: str, bound: Mapping[str, DynamicDimension]
    ) -> DynamicDimension:
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
