"""Facts and costs of a model's operators, without a target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph

_FLAG_WORDS: Final[tuple[tuple[OperatorFlag, str], ...]] = (
    (OperatorFlag.UNKNOWN, "unknown operator"),
    (OperatorFlag.VIEW, "view"),
    (OperatorFlag.UNKNOWN_TRIPS, "in a loop of unknown length, counted once"),
    (OperatorFlag.DATA_DEPENDENT, "output size depends on values, the largest is counted"),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OperatorFacts:
    """Facts and costs of a model's N operators, without a target.

    Attributes:
        names: node names as in the file (never trusted: show through ``printable``).
        op_types: ONNX types.
        output_shapes: dims of each first output.
        macs: int64 [N], multiply-accumulates.
        bytes_moved: int64 [N], bytes read and written, as wide as in the file.
        weight_bytes: int64 [N], the part of them that is constants.
        flags: peculiarities of each in words, else empty.
        edges: int32 [2, E], producer and consumer.
    """

    names: tuple[str, ...]
    op_types: tuple[str, ...]
    output_shapes: tuple[tuple[int, ...], ...]
    macs: NDArray[np.int64]
    bytes_moved: NDArray[np.int64]
    weight_bytes: NDArray[np.int64]
    flags: tuple[str, ...]
    edges: NDArray[np.int32]


def operator_facts(model: Model) -> OperatorFacts:
    """Return facts and costs of a model's operators."""
    graph = model.graph
    return OperatorFacts(
        names=graph.names,
        op_types=graph.op_types,
        output_shapes=_output_shapes(graph),
        macs=graph.macs,
        bytes_moved=graph.bytes_moved,
        weight_bytes=graph.weight_bytes,
        flags=_flag_words(graph),
        edges=graph.edges,
    )


def _output_shapes(graph: OperatorGraph) -> tuple[tuple[int, ...], ...]:
    # Plain lists: taking 10 000 slices of an array takes ten times as long.
    dims, offsets = graph.shape_dims.tolist(), graph.shape_offsets.tolist()
    shapes = (tuple(dims[start:stop]) for start, stop in pairwise(offsets))
    # Few are distinct: one tuple of each takes a tenth of the memory.
    distinct: dict[tuple[int, ...], tuple[int, ...]] = {}
    return tuple(distinct.setdefault(shape, shape) for shape in shapes)


def _flag_words(graph: OperatorGraph) -> tuple[str, ...]:
    words = [_words(flags) for flags in graph.flags.tolist()]
    for index in np.flatnonzero(graph.has_flag(OperatorFlag.FUSED)).tolist():
        host = graph.names[graph.fused_into[index]]
        words[index] = ", ".join(filter(None, [f"fused into {host}", words[index]]))
    return tuple(words)


@cache  # few combinations occur, and testing a bit of an enumeration takes a microsecond
def _words(flags: int) -> str:
    return ", ".join(word for flag, word in _FLAG_WORDS if flags & flag)
