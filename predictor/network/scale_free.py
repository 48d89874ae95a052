"""Node features of the shipped network: facts of an operator that do not change with the batch.

How much work an operator has enters the shipped network through its work terms only, each of which
grows with the batch. What it reads beside them must not change with the batch, or a larger batch
could be predicted faster. So these are ratios of amounts that grow together, and sizes that the
batch has no part in.

No torch: the runtime of the shipped network uses this file too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.network.features import FEATURE_NAMES

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
_FACTS: Final = tuple(name for name in FEATURE_NAMES if not name.startswith("log"))
_OF_GROUPS: Final = frozenset({"is_depthwise", "is_grouped"})
# Append only: checkpoints hold statistics and weights by position.
SCALE_FREE_NAMES: Final = (
    *_SIZES,
    "log1p_weight_groups",
    "log_read_per_written",
    "log_macs_per_byte_written",
    *_FACTS,
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
            for name in _FACTS
        ),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _amount(features: NDArray[np.floating], name: str) -> NDArray[np.float64]:
    """Return the amount x whose log(1 + x) is a feature, [N]."""
    return np.expm1(features[:, _PLACE[f"log1p_{name}"]].astype(np.float64))


def _log_ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(ratio), [N], 0 where either is 0; to what float32 amounts can tell."""
    both = (above > 0) & (below > 0)
    ratio = np.divide(above, below, out=np.ones_like(above), where=both)
    rounded: NDArray[np.float64] = np.log(ratio).round(3)
    return rounded
