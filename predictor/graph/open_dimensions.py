"""Open dimensions by their names: default values, and arithmetic that exporters write as names."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Container, Mapping, Sequence

IMAGE_SIZE = 224
SEQUENCE_LENGTH = 128
_CHANNELS = frozenset({1, 3, 4})

# Names that an exporter made up: s0, s77, unk__12, dynamic_axes_3.
_ANONYMOUS = re.compile(r"^(s|d|u|unk|dim|dynamic_axes|o|v|\?)_*\d*$", re.IGNORECASE)
# Whole words of a dimension's name, as exporters write them.
_PAST = re.compile(r"past|cache|history|prev(?!iew)")
_BATCH = re.compile(r"^(n|b|bs|bsz|n_batch)$|batch")
_SEQUENCE = re.compile(r"seq|len|token|time|frame|audio|samples|text|context|^(t|s|l)$")
_CHANNEL = re.compile(r"^(c|ch|chan|channel|channels)$|channel")
_SIDE = re.compile(r"^(h|w)$|height|width|^(img|image)_?(size|h|w)$|spatial|rows|cols")
# The first that fits a name decides.
_NAMED: tuple[tuple[re.Pattern[str], int, str], ...] = (
    (re.compile("total"), SEQUENCE_LENGTH, "named like a whole length, past included"),
    (_PAST, 0, "named like a past: nothing is cached at the start"),
    (_BATCH, 1, "named like a batch"),
    (_SIDE, IMAGE_SIZE, "named like a side of an image"),
    (_CHANNEL, 3, "named like the channels of an image"),
    (_SEQUENCE, SEQUENCE_LENGTH, "named like a sequence length"),
)
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
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
        return 1, "first dimension, taken as batch"
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
    return 1, "nothing in the file tells"


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
