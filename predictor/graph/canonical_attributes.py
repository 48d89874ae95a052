"""Attributes of operators in one form for all exporters.

What is left out: numbers that only scale values (slopes, bounds, epsilons), defaults of the
operator's schema, and what the shapes say already. Axes count from the front, paddings are stated.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

import onnx

from predictor.graph.operators import by_operator

_AXES: Final = ("axis", "axes")
# The shapes of inputs and outputs, or the type of the output, say the same.
_SAID_BY_SHAPES: Final = by_operator(
    {
        "AveragePool MaxPool": ("ceil_mode", "count_include_pad", "storage_order"),
        "BatchNormalization": ("spatial", "training_mode"),
        "Cast CastLike": ("round_mode", "saturate", "to"),
        "Conv ConvTranspose": ("kernel_shape", "output_shape"),
        "Pad": ("axes", "pads", "paddings"),
        "Resize Upsample": (
            *("axes", "coordinate_transformation_mode", "exclude_outside"),
            *("keep_aspect_ratio_policy", "nearest_mode"),
        ),
        "Slice": ("axes", "ends", "starts", "steps"),
        "Split": ("num_outputs", "split"),
        "Tile Expand": ("axis", "tiles"),
        "TopK": ("k",),
    }
)
_NOTHING: Final = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}


@lru_cache(maxsize=4096)
def canonical_attributes(
    op: str, domain: str, version: int, text: str, rank: int, pads: tuple[int, ...] = ()
) -> str:
    """Return the canonical attributes of an operator as JSON, keys sorted.

    Args:
        op: name in ``OPERATORS``.
        domain: of the operator.
        version: of the domain's operators that the file uses.
        text: its attributes as JSON, as :class:`Attributes` writes them.
        rank: of its first input.
        pads: in place of those that are stated; () for none.
    """
    defaults = _defaults(op, domain, version)
    stated: dict[str, Any] = json.loads(text)
    if pads:
        stated.pop("auto_pad", None)
        stated["pads"] = list(pads)
    silent = _SAID_BY_SHAPES.get(op, ())
    values = {
        name: value
        for name, value in stated.items()
        if name not in silent and not _scales(value) and not _is_default(name, value, defaults)
    }
    for name in _AXES:
        value = stated.get(name, defaults.get(name))
        if value is not None and name not in silent:
            values[name] = axes_from_front(value, rank)
    if op == "Transpose":
        values.setdefault("perm", list(range(rank))[::-1])
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def axes_from_front(axes: Any, rank: int) -> list[int]:
    """Return axes counted from the front, sorted.

    Args:
        axes: one number or several; those below 0 count from the back.
        rank: of what they are axes of.
    """
    numbers = [axes] if isinstance(axes, int | float | str) else list(axes)
    return sorted(a + rank if a < 0 else a for a in numbers if isinstance(a, int))


def _scales(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, float)


def _is_default(name: str, value: Any, defaults: dict[str, Any]) -> bool:
    if name in _NOTHING:
        return isinstance(value, list) and all(number == _NOTHING[name] for number in value)
    return name in defaults and bool(value == defaults[name])


@lru_cache(maxsize=512)
def _defaults(op: str, domain: str, version: int) -> dict[str, Any]:
    """Return the defaults of a schema; none of an operator that onnx does not define."""
    try:
        schema = onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        return {}
    return {
        name: _plain(onnx.helper.get_attribute_value(attribute.default_value))
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type != onnx.AttributeProto.UNDEFINED
    }


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
