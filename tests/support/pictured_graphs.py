"""Operator tables of graphs with modules, for the pictures of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from predictor.services.prediction.explain import OperatorTable
from tests.support.explained import table_of

BLOCKS = 4


def network() -> OperatorTable:
    """Return a stem, four residual blocks of six operators in two modules each, and a head."""
    names, types = ["/stem/conv/Conv", "/stem/act/Relu"], ["Conv", "Relu"]
    edges = [(0, 1)]
    for block in range(BLOCKS):
        start = len(names)
        names += [f"/body/block{block}/a/{part}" for part in ("Conv", "Relu", "Pool")]
        names += [f"/body/block{block}/b/{part}" for part in ("Conv", "Add", "Relu")]
        types += ["Conv", "Relu", "MaxPool", "Conv", "Add", "Relu"]
        edges += [*pairwise(range(start - 1, start + 6)), (start - 1, start + 4)]
    names.append("/head/Gemm")
    types.append("Gemm")
    edges.append((len(names) - 2, len(names) - 1))
    return table_with(names, types, edges)


def chain_of(count: int) -> OperatorTable:
    """Return operators in a row, without modules in their names."""
    names = [f"product_{place}" for place in range(count)]
    return table_with(names, ["MatMul"] * count, list(pairwise(range(count))))


def table_with(names: list[str], types: list[str], edges: list[tuple[int, int]]) -> OperatorTable:
    """Return a table of operators with the times of :func:`table_of`."""
    return replace(
        table_of(len(names)),
        names=tuple(names),
        op_types=tuple(types),
        edges=np.array(edges, dtype=np.int32).reshape(-1, 2).T,
    )
