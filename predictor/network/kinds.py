"""Kinds of operators that a target may be good or bad at as a whole.

Learned responses say in what targets usually differ. A target of another sort, such as a runtime
with one slow kernel, differs by kinds of operators; so each kind is a response too.

No torch: tables only. The network reads them, and its exported form has them built in.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.graph.operators import OPERATORS
from predictor.network.scale_free import SCALE_FREE_NAMES

OPERATOR_KINDS: Final = (
    "convolution",
    "pointwise convolution",
    "depthwise convolution",
    "grouped convolution",
    "product",
    "normalisation",
    "pooling",
    "other",
)
# How far a target differs by kinds, against learned responses of size 1.
KIND_RESPONSE: Final = 0.35
CONVOLUTION, POINTWISE, DEPTHWISE, GROUPED = range(4)
WINDOW_FEATURE: Final = SCALE_FREE_NAMES.index("log1p_window_height")
DEPTHWISE_FEATURE: Final = SCALE_FREE_NAMES.index("is_depthwise")
GROUPED_FEATURE: Final = SCALE_FREE_NAMES.index("is_grouped")

POINT: Final = 0.9  # of log(1 + window height): a window of 1 has 0.69, one of 2 has 1.1

_PRODUCTS: Final = frozenset({"MatMul", "Gemm", "Einsum", "Attention"})
_NORMALISATIONS: Final = frozenset(
    {
        "Softmax",
        "LayerNormalization",
        "InstanceNormalization",
        "GroupNormalization",
        "ReduceMean",
    }
)


def kind_of_operators(operators: int) -> NDArray[np.int64]:
    """Return the kind of each of the first ``operators`` codes of the vocabulary, int64 [V].

    Convolutions are told apart by their features.
    """
    return np.array([OPERATOR_KINDS.index(_kind(name)) for name in OPERATORS[:operators]], np.int64)


def kinds_of(code: NDArray[np.int64], features: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the kinds of R operators, int64 [R].

    Args:
        code: [R], of the vocabulary.
        features: [R, S], scale-free.
    """
    kind = _KIND_OF_CODE[code]
    finer = np.where(features[:, WINDOW_FEATURE] > POINT, CONVOLUTION, POINTWISE)
    finer = np.where(features[:, GROUPED_FEATURE] > 0, GROUPED, finer)
    finer = np.where(features[:, DEPTHWISE_FEATURE] > 0, DEPTHWISE, finer)
    return np.where(kind == CONVOLUTION, finer, kind)


def _kind(name: str) -> str:
    if name in {"Conv", "ConvTranspose", "ConvInteger"}:
        return "convolution"
    if name in _PRODUCTS:
        return "product"
    if name in _NORMALISATIONS:
        return "normalisation"
    return "pooling" if "Pool" in name else "other"


_KIND_OF_CODE: Final = kind_of_operators(len(OPERATORS))
