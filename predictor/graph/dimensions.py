"""Defaults of open dimensions, from their names, their places and their relations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from predictor.graph.expressions import evaluate, symbols
from predictor.graph.model import LEADING_BATCH, NAMED_BATCH

IMAGE_SIZE = 224
SEQUENCE_LENGTH = 128
_LARGEST_DEFAULT = 1024
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


Relations = dict[str, frozenset[str]]
"""Names in each dimension that is arithmetic on others, by its text."""


def relations_of(dims: Sequence[str]) -> Relations:
    """Return the dimensions that are arithmetic on others (``batch-size`` is not).

    Args:
        dims: names of open dimensions. What stands in arithmetic is a dimension where one is named
            so, where an exporter numbered it or where other arithmetic has it too.
    """
    terms = {dim: symbols(dim) for dim in dims}
    plain = {dim for dim, names in terms.items() if not names}
    uses = [name for names in terms.values() for name in names]
    return {
        dim: names
        for dim, names in terms.items()
        if names and all(n in plain or _ANONYMOUS.match(n) or uses.count(n) > 1 for n in names)
    }


def fitting_defaults(
    defaults: Mapping[str, tuple[int, str]], relations: Relations, values: Mapping[str, int]
) -> dict[str, tuple[int, str]]:
    """Return defaults with which every relation is above 0, where one of them can be moved so.

    Args:
        defaults: value and reason by name.
        relations: of them.
        values: by name, as set by the user.
    """
    fitted = dict(defaults)

    def sizes() -> dict[str, int]:
        return {**{name: default for name, (default, _) in fitted.items()}, **values}

    def fits(name: str, size: int) -> bool:
        terms = {**sizes(), name: size}
        results = [evaluate(text, terms) for text, names in relations.items() if name in names]
        return all(result is not None and result > 0 for result in results)

    for name, (default, _) in defaults.items():
        if name in values or fits(name, default):
            continue
        nearest = [*range(default - 1, 0, -1), *range(default + 1, _LARGEST_DEFAULT + 1)]
        size = next((size for size in nearest if fits(name, size)), None)
        if size is not None:
            fitted[name] = size, "nearest that the dimensions which follow from it allow"
    return fitted
