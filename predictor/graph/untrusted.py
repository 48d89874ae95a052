"""Operator graphs from an untrusted file: every array is checked before it is used."""

from __future__ import annotations

import json
from typing import get_args, get_type_hints

import numpy as np

from predictor.graph.operator_graph import ARRAYS, OperatorGraph
from predictor.graph.operators import DTYPES, OPERATORS

MAX_OPERATORS = 1_000_000
_WIDTHS = {"gemm": 4, "window": 2, "stride": 2}
_INDEXES = {"op_code": len(OPERATORS), "dtype": len(DTYPES)}
_TYPES = get_type_hints(OperatorGraph)
# NDArray[np.int16] is ndarray[shape, dtype[np.int16]]; files are little-endian.
_KINDS = {name: np.dtype(get_args(get_args(_TYPES[name])[1])[0]) for name in ARRAYS}
_COUNTS = tuple(name for name, kind in _TYPES.items() if kind is int)


def checked_graph(data: bytes) -> OperatorGraph:
    """Rebuild a graph from ``OperatorGraph.to_bytes``, trusting nothing in it.

    Raises:
        ValueError: the bytes are no operator graph that ingestion could have made.
    """
    try:
        graph = OperatorGraph.from_bytes(data)
    except (KeyError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise ValueError("not an operator graph") from error
    _check_texts(graph)
    _check_arrays(graph)
    _check_indexes(graph)
    return graph


def _require(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(what)


def _check_texts(graph: OperatorGraph) -> None:
    columns = (graph.names, graph.op_types, graph.attributes)
    count = len(graph.names)
    _require(count <= MAX_OPERATORS, "too many operators")
    for column in columns:
        _require(isinstance(column, tuple) and len(column) == count, "texts do not match")
        _require(all(isinstance(text, str) for text in column), "a name is no text")
    _require(all(_is_object(text) for text in graph.attributes), "attributes are no JSON object")
    for text in (graph.fingerprint, graph.former_fingerprint):
        _require(isinstance(text, str), "the fingerprint is no text")
    for name in _COUNTS:
        value = getattr(graph, name)
        _require(isinstance(value, int) and 0 <= value < 2**63, f"{name} is no count")


def _is_object(text: str) -> bool:
    return isinstance(json.loads(text), dict)


def _check_arrays(graph: OperatorGraph) -> None:
    count = len(graph)
    free = {
        "edges": (2, graph.edges.size // 2),
        "shape_offsets": (count + 1,),
        "shape_dims": (graph.shape_dims.size,),
    }
    for name in ARRAYS:
        array = getattr(graph, name)
        width = (_WIDTHS[name],) if name in _WIDTHS else ()
        _require(array.dtype == _KINDS[name].newbyteorder("<"), f"{name} has another type")
        _require(array.shape == free.get(name, (count, *width)), f"{name} has another shape")
        # Its -1 stands for "not fused"; the range is checked below.
        if name != "fused_into":
            _require(not array.size or array.min() >= 0, f"{name} has a negative number")


def _check_indexes(graph: OperatorGraph) -> None:
    count = len(graph)
    for name, limit in _INDEXES.items():
        _require(np.all(getattr(graph, name) < limit), f"{name} is out of range")
    _require(np.all(graph.edges < count), "an edge leads nowhere")
    # This excludes cycles too.
    _require(np.all(graph.edges[0] < graph.edges[1]), "operators are not in order")
    _require(np.all((graph.fused_into >= -1) & (graph.fused_into < count)), "fused into nothing")
    offsets = graph.shape_offsets
    _require(offsets[0] == 0 and offsets[-1] == graph.shape_dims.size, "shapes do not match")
    _require(np.all(np.diff(offsets) >= 0), "shapes are not in order")
