"""Features of an operator: its code, its amount of work, its scale-free form, and its kind.

The amount of work enters the shipped network through its work terms only, each of which grows with
the batch. Its other inputs must not change with the batch, or a larger batch could be predicted
faster. So scale-free features are ratios of amounts that grow together, and
sizes that the batch has no part in.

Learned responses are the usual differences between targets. A target of another sort, such as a
runtime with one slow kernel, differs by kinds of operators; so each kind is a response too.

No torch: the runtime of the shipped network uses this file too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats, Integers
from predictor.cost.operator_kinds import NETWORK_KIND_OF_CODE
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPE_BITS, DTYPES

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


def exact_features(graph: OperatorGraph) -> Floats:
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
    ).astype(np.float64)  # [N, 13]
    flags = np.column_stack([graph.has_flag(flag) for flag in _FLAGS])  # [N, 8]
    columns = [np.log1p(sizes, out=sizes), _facts(graph), flags]
    return np.concatenate(columns, axis=1, dtype=np.float64)


def _facts(graph: OperatorGraph) -> Floats:
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


_PLACE: Final = {name: place for place, name in enumerate(FEATURE_NAMES)}
_SIZES: Final = (
    "log1p_weight_bytes",
    "log1p_gemm_n",
    "log1p_gemm_k",
    "log1p_window_height",
    "log1p_window_width",
    "log1p_stride_height",
    "log1p_stride_width",
    "log1p_repeats",
)
_BATCH_FREE: Final = tuple(name for name in FEATURE_NAMES if not name.startswith("log"))
_OF_GROUPS: Final = frozenset({"is_depthwise", "is_grouped"})
# Append only: checkpoints hold statistics and weights by position.
SCALE_FREE_NAMES: Final = (
    *_SIZES,
    "log1p_weight_groups",
    "log_read_per_written",
    "log_macs_per_byte_written",
    *_BATCH_FREE,
)


def scale_free(features: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the features of N operators that do not change with the batch, float32 [N, S].

    Groups of a product count only where it has weights: those of a product of two activations hold
    the batch.

    Args:
        features: [N, F], columns as ``FEATURE_NAMES``; float64 where batches are compared.
    """
    weights, written = _amount(features, "weight_bytes"), _amount(features, "bytes_written")
    columns = [
        *(features[:, _PLACE[name]] for name in _SIZES),
        features[:, _PLACE["log1p_gemm_groups"]] * (weights > 0),
        _log_ratio(_amount(features, "bytes_read"), written),
        _log_ratio(_amount(features, "macs"), written),
        *(
            features[:, _PLACE[name]] * ((weights > 0) | (name not in _OF_GROUPS))
            for name in _BATCH_FREE
        ),
    ]
    return np.stack(columns, axis=1, dtype=np.float32)


def _amount(features: NDArray[np.floating], name: str) -> Floats:
    """Return the amount x whose log(1 + x) is a feature, [N]."""
    return np.expm1(features[:, _PLACE[f"log1p_{name}"]].astype(np.float64))


def _log_ratio(above: Floats, below: Floats) -> Floats:
    """Return log(ratio), [N], 0 where either is 0; rounded to the accuracy of float32 amounts."""
    positive = (above > 0) & (below > 0)
    ratio = np.divide(above, below, out=np.ones_like(above), where=positive)
    rounded: Floats = np.log(ratio).round(3)
    return rounded


CONVOLUTION, POINTWISE, DEPTHWISE, GROUPED = range(4)
WINDOW_FEATURE: Final = SCALE_FREE_NAMES.index("log1p_window_height")
DEPTHWISE_FEATURE: Final = SCALE_FREE_NAMES.index("is_depthwise")
GROUPED_FEATURE: Final = SCALE_FREE_NAMES.index("is_grouped")

POINT: Final = 0.9  # of log(1 + window height): a window of 1 has 0.69, one of 2 has 1.1


def network_kinds(code: Integers, features: NDArray[np.float32]) -> Integers:
    """Return the kinds of R operators, int64 [R], index into ``NETWORK_KINDS``.

    Args:
        code: [R], of the vocabulary.
        features: [R, S], scale-free.
    """
    kind = NETWORK_KIND_OF_CODE[code]
    finer = np.where(features[:, WINDOW_FEATURE] > POINT, CONVOLUTION, POINTWISE)
    finer = np.where(features[:, GROUPED_FEATURE] > 0, GROUPED, finer)
    finer = np.where(features[:, DEPTHWISE_FEATURE] > 0, DEPTHWISE, finer)
    return np.where(kind == CONVOLUTION, finer, kind)
