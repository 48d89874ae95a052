"""Attributes of nodes: parsed once per distinct set, with one canonical JSON form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import onnx

Value: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]

_A = onnx.AttributeProto
# Some exporters write these defaults out, others leave them out: the text, and with it the
# fingerprint, must not differ by that.
_SILENT_AT_DEFAULT: dict[str, Value] = {
    "group": 1,
    "auto_pad": "NOTSET",
    "transA": 0,
    "transB": 0,
    "ceil_mode": 0,
    "storage_order": 0,
    "count_include_pad": 0,
    "allowzero": 0,
}


class Attributes(dict[str, Value]):
    """Plain attributes by name; ``text`` is their canonical JSON."""

    __slots__ = ("text",)

    def __init__(self, values: dict[str, Value]) -> None:
        super().__init__(values)
        stated = {key: value for key, value in values.items() if not _is_default(key, value)}
        self.text = json.dumps(stated, sort_keys=True, separators=(",", ":")) if stated else "{}"

    def integer(self, name: str, default: int = 0) -> int:
        """Return an int attribute, ``default`` where it is absent or of another kind."""
        value = self.get(name)
        return value if isinstance(value, int) else default

    def integers(self, name: str) -> tuple[int, ...]:
        """Return an ints attribute, () where it is absent or of another kind."""
        value = self.get(name)
        if not isinstance(value, tuple):
            return ()
        return tuple(v for v in value if isinstance(v, int))

    def string(self, name: str, default: str = "") -> str:
        """Return a string attribute, ``default`` where it is absent or of another kind."""
        value = self.get(name)
        return value if isinstance(value, str) else default


def _is_default(name: str, value: Value) -> bool:
    if name in _SILENT_AT_DEFAULT:
        return value == _SILENT_AT_DEFAULT[name]
    if name in {"strides", "dilations"}:
        return isinstance(value, tuple) and all(v == 1 for v in value)
    if name == "pads":
        return isinstance(value, tuple) and not any(value)
    return False


NO_ATTRIBUTES = Attributes({})


def parse_attributes(protos: Sequence[onnx.AttributeProto]) -> Attributes:
    """Parse the attributes of one node; equal sets share one object."""
    if not protos:
        return NO_ATTRIBUTES
    # Protos have no hash, which lru_cache needs; their bytes have one.
    return _parse(tuple(p.SerializeToString() for p in protos if p.type not in _OPAQUE))


# Tensors, graphs and types: no part of the canonical form.
_OPAQUE = frozenset(
    {
        *(_A.TENSOR, _A.TENSORS, _A.SPARSE_TENSOR, _A.SPARSE_TENSORS),
        *(_A.GRAPH, _A.GRAPHS, _A.TYPE_PROTO, _A.TYPE_PROTOS),
    }
)


# Deep networks repeat the same few sets of attributes over and over.
@lru_cache(maxsize=4096)
def _parse(serialized: tuple[bytes, ...]) -> Attributes:
    protos = [onnx.AttributeProto.FromString(data) for data in serialized]
    return Attributes({p.name: _value(p) for p in protos})


def _text(data: bytes) -> str:
    # ONNX strings are bytes that need not be UTF-8; JSON takes text only.
    return data.decode("utf-8", "backslashreplace")


def _value(proto: onnx.AttributeProto) -> Value:
    kind = proto.type
    if kind == _A.INT:
        return proto.i
    if kind == _A.FLOAT:
        return proto.f
    if kind == _A.STRING:
        return _text(proto.s)
    if kind == _A.INTS:
        return tuple(proto.ints)
    if kind == _A.FLOATS:
        return tuple(proto.floats)
    return tuple(_text(s) for s in proto.strings)
