"""Features of an operator: its code, and numbers that tell how much work it is.

No torch: the runtime of the shipped network uses this file too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPE_BITS, DTYPES, OPERATORS

OPERATOR_COUNT: Final = len(OPERATORS)

_FLAGS: Final = tuple(OperatorFlag)
_LOGS: Final = (
    "macs",
    "bytes_read",
    "weight_bytes",
    "bytes_written",
    "gemm_groups",
    "gemm_m",
    "gemm_n",
    "gemm_k",
    "window_height",
    "window_width",
    "stride_height",
    "stride_width",
    "repeats",
)
_FACTS: Final = (
    "log_macs_per_byte",
    "is_contraction",
    "is_depthwise",
    "is_grouped",
    "is_pointwise",
    "is_strided",
    "element_bits_log2",
    "is_float",
)
# Append only: checkpoints hold statistics and weights by position.
FEATURE_NAMES: Final = (
    *(f"log1p_{name}" for name in _LOGS),
    *_FACTS,
    *(f"flag_{flag.name}".lower() for flag in _FLAGS),
)

_BITS_LOG2 = np.log2(np.maximum(DTYPE_BITS, 1)).astype(np.float32)
_IS_FLOAT = np.array(["float" in name for name in DTYPES], np.float32)


def node_features(graph: OperatorGraph) -> NDArray[np.float32]:
    """Return the features of N operators, float32 [N, F], columns as ``FEATURE_NAMES``.

    See :func:`exact_features`.
    """
    return exact_features(graph).astype(np.float32)


def exact_features(graph: OperatorGraph) -> NDArray[np.float64]:
    """Return the features of N operators, float64 [N, F], columns as ``FEATURE_NAMES``.

    Sizes and counts as log(1 + x); facts and flags as 0 or 1; none depends on names or on the
    order of the operators.
    """
    sizes = np.column_stack(
        [
            graph.macs,
            graph.bytes_read,
            graph.weight_bytes,
            graph.bytes_written,
            graph.gemm,
            graph.window,
            graph.stride,
            graph.repeats,
        ]
    )  # [N, 13]
    flags = np.column_stack([graph.has_flag(flag) for flag in _FLAGS])  # [N, 8]
    columns = [np.log1p(sizes.astype(np.float64)), _facts(graph), flags]
    return np.concatenate(columns, axis=1, dtype=np.float64)


def _facts(graph: OperatorGraph) -> NDArray[np.float64]:
    """Return the columns of ``_FACTS``, [N, 8]."""
    groups, _, out_channels, _ = graph.gemm.T
    intensity = graph.macs / np.maximum(graph.bytes_moved, 1)
    contraction = graph.macs > 0
    grouped = contraction & (groups > 1) & (graph.window.max(axis=1, initial=0) > 0)
    depthwise = grouped & (out_channels == 1)
    return np.column_stack(
        [
            np.log1p(intensity),
            contraction,
            depthwise,
            grouped & ~depthwise,
            contraction & (graph.window == 1).all(axis=1),
            (graph.stride > 1).any(axis=1),
            _BITS_LOG2[graph.dtype],
            _IS_FLOAT[graph.dtype],
        ]
    )
