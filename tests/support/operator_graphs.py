"""Operator graphs whose operators differ in name, type, shape and attributes, made in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.operators import DTYPES
from tests.support.graphs import Op, make_graph


@dataclass(frozen=True)
class Named:
    """One operator in the words of the tests."""

    type: str = "Conv"
    shape: tuple[int, ...] = (1, 8, 8, 8)
    name: str = ""
    attributes: str = "{}"
    window: int = 0
    dtype: str = "float32"
    macs: int = 1000


def graph_of(operators: Sequence[Named], fingerprint: str | None = None) -> OperatorGraph:
    """Chain the operators; the fingerprint follows from them."""
    graph = make_graph([Op(macs=op.macs, read=10, written=10) for op in operators])
    dims = [size for op in operators for size in op.shape]
    return replace(
        graph,
        names=tuple(op.name for op in operators),
        op_types=tuple(op.type for op in operators),
        attributes=tuple(op.attributes for op in operators),
        dtype=np.array([DTYPES.index(op.dtype) for op in operators], np.int8),
        window=np.array([(op.window, op.window) for op in operators], np.int32).reshape(-1, 2),
        shape_offsets=np.cumsum([0, *(len(op.shape) for op in operators)]).astype(np.int32),
        shape_dims=np.array(dims, np.int64),
        fingerprint=fingerprint or f"{hash(tuple(operators)) & (2**256 - 1):064x}",
    )


OPERATORS = st.lists(
    st.builds(
        Named,
        type=st.sampled_from(["Conv", "Relu", "QLinearConv", "Add"]),
        shape=st.sampled_from([(1, 8, 8, 8), (1, 16, 4, 4), ()]),
        name=st.sampled_from(["", "Conv_1", "/block.0/conv", "/block.1/conv", "/block.1/relu"]),
        attributes=st.sampled_from(["{}", '{"kernel_shape":[3,3]}']),
    ),
    max_size=10,
)
