"""The JSON of an exported program: its graph, arguments and the metadata of its values.

Reference:
    ``torch/_export/serde/schema.py``: the names of fields and the numbers of types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from onnx import TensorProto

Dim = int | str
Json = Mapping[str, Any]

# torch's ScalarType.
_DTYPES: Final = {
    1: TensorProto.UINT8,
    2: TensorProto.INT8,
    3: TensorProto.INT16,
    4: TensorProto.INT32,
    5: TensorProto.INT64,
    6: TensorProto.FLOAT16,
    7: TensorProto.FLOAT,
    8: TensorProto.DOUBLE,
    10: TensorProto.COMPLEX64,
    11: TensorProto.COMPLEX128,
    12: TensorProto.BOOL,
    13: TensorProto.BFLOAT16,
    28: TensorProto.UINT16,
    29: TensorProto.FLOAT8E4M3FN,
    30: TensorProto.FLOAT8E5M2,
    31: TensorProto.FLOAT8E4M3FNUZ,
    32: TensorProto.FLOAT8E5M2FNUZ,
    33: TensorProto.FLOAT8E8M0,
    34: TensorProto.UINT32,
    35: TensorProto.UINT64,
}

DAMAGED: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors of reading JSON that does not have the form of a program."""


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """Type and size of a value.

    Attributes:
        dtype: of ``onnx.TensorProto``.
        dims: sizes; a text is the expression of an open dimension.
    """

    dtype: int
    dims: tuple[Dim, ...]


def onnx_dtype(scalar_type: int) -> int:
    """Return the type of ``onnx.TensorProto`` of torch's ScalarType.

    Raises:
        KeyError: ONNX does not have it.
    """
    return _DTYPES[scalar_type]


def tensor_meta(meta: Json) -> TensorMeta:
    """Return type and size of an entry of ``tensor_values``."""
    return TensorMeta(_DTYPES[meta["dtype"]], tuple(_size(size) for size in meta["sizes"]))


def _size(size: Json) -> Dim:
    if "as_int" in size:
        return _count(size["as_int"])
    expression = size["as_expr"]["expr_str"]
    if not isinstance(expression, str):
        raise TypeError("a size is no text")
    return expression


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError("a size is no count")
    return value


@dataclass(frozen=True, slots=True)
class Reference:
    """An argument that stands for a value of the graph.

    Attributes:
        name: of the value.
        is_tensor: whether it is a tensor; else an integer that is computed.
    """

    name: str
    is_tensor: bool = True


@dataclass(frozen=True, slots=True)
class Subgraph:
    """An argument that is a graph.

    Attributes:
        graph: its JSON.
    """

    graph: Json


_PLAIN: Final = frozenset(
    {
        *("as_int", "as_ints", "as_bool", "as_bools", "as_string", "as_strings"),
        *("as_operator", "as_int_lists", "as_float_lists"),
    }
)
_SYMBOLS: Final = frozenset({"as_sym_int", "as_sym_float", "as_sym_bool"})


def argument(arg: Json) -> Any:
    """Return an argument as a number, text, list, :class:`Reference`, :class:`Subgraph` or None."""
    kind, value = next(iter(arg.items()))
    match kind:
        case "as_none":
            return None
        case "as_tensor" | "as_custom_obj":
            return Reference(_text(value["name"]))
        case "as_tensors":
            return [Reference(_text(item["name"])) for item in value]
        case "as_optional_tensors":
            return [argument(item) for item in value]
        case "as_optional_tensor":
            return argument(value)
        case "as_graph":
            return Subgraph(value["graph"])
        case "as_scalar_type":
            return onnx_dtype(value)
        case "as_float":
            return float(value)
        case "as_floats":
            return [float(item) for item in value]
        case "as_sym_ints" | "as_sym_floats" | "as_sym_bools":
            return [_symbol(item) for item in value]
    if kind in _SYMBOLS:
        return _symbol(value)
    if kind in _PLAIN:
        return value
    return None  # a device, a layout: nothing that is counted


def _symbol(value: Json) -> Any:
    if "as_name" in value:
        return Reference(_text(value["as_name"]), is_tensor=False)
    return next(iter(value.values()))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a name is no text")
    return value


def results(node: Json) -> Iterator[str]:
    """Return the names of the values that a node makes; an absent one is empty."""
    for output in node["outputs"]:
        value = argument(output)
        for item in value if isinstance(value, list) else [value]:
            yield item.name if isinstance(item, Reference) else ""
