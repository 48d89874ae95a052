"""The JSON of an exported program: its graph, arguments and the metadata of its values.

Reference:
    ``torch/_export/serde/schema.py``: the names of fields and the numbers of types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from onnx import TensorProto

from predictor.formats.emitter import Dim
from predictor.formats.pytorch.expressions import expression_text

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
    StopIteration,
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


def tensor_meta(meta: Json) -> TensorMeta:
    """Return type and size of an entry of ``tensor_values``.

    Raises:
        KeyError: its type is none of ONNX.
    """
    return TensorMeta(_DTYPES[meta["dtype"]], tuple(_size(size) for size in meta["sizes"]))


def _size(size: Json) -> Dim:
    if "as_int" in size:
        return _count(size["as_int"])
    return expression_text(_text(size["as_expr"]["expr_str"]))


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


def argument(arg: Json) -> Any:
    """Return an argument as a number, text, list, :class:`Reference`, :class:`Subgraph` or None.

    A device or a layout is None: nothing that is counted. So is a type that ONNX does not have.
    """
    (kind, value), *_ = arg.items()
    reader = _READERS.get(kind)
    return None if reader is None else reader(value)


def _same(value: Any) -> Any:
    return value


def _tensor(value: Json) -> Reference:
    return Reference(_text(value["name"]))


def _items(reader: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: [reader(value) for value in values]


def _symbol(value: Json) -> Any:
    if "as_name" in value:
        return Reference(_text(value["as_name"]), is_tensor=False)
    (number,) = value.values()
    return number


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a name is no text")
    return value


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("as_int", "as_ints", "as_bool", "as_bools", "as_string", "as_strings"), _same),
    **dict.fromkeys(("as_int_lists", "as_float_lists", "as_operator"), _same),
    **dict.fromkeys(("as_sym_int", "as_sym_float", "as_sym_bool"), _symbol),
    **dict.fromkeys(("as_sym_ints", "as_sym_floats", "as_sym_bools"), _items(_symbol)),
    "as_float": float,
    "as_floats": _items(float),
    "as_graph": lambda value: Subgraph(value["graph"]),
    "as_optional_tensor": argument,
    "as_optional_tensors": _items(argument),
    "as_scalar_type": _DTYPES.get,
    "as_tensor": _tensor,
    "as_tensors": _items(_tensor),
}


def results(node: Json) -> Iterator[str]:
    """Return the names of the values that a node makes; an absent one is empty."""
    for output in node["outputs"]:
        value = argument(output)
        for item in value if isinstance(value, list) else [value]:
            yield item.name if isinstance(item, Reference) else ""
