"""Kinds of products with weights, by their window, groups, columns and length.

Kernels of a runtime suit some products on a device better than others: windows of five, depthwise
ones, few channels. The composition of a network, how its products divide over these kinds, says by
how much a measured target is off on it. It reads neither batch, size of the input nor any rate.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats, Integers

_WINDOWS: Final = np.array([2, 4])  # the first sides of a window of the next kind
_SIZES: Final = 4  # kinds of columns, and of lengths
_COLUMNS_STEP: Final = 2.5  # in powers of two
_LENGTH_STEP: Final = 3.5
PRODUCT_KINDS: Final = (len(_WINDOWS) + 1) * 2 * _SIZES * _SIZES


def product_kinds(gemm: NDArray[np.number], window: NDArray[np.number]) -> Integers:
    """Return the kind of each of N products, int64 [N], below ``PRODUCT_KINDS``.

    Args:
        gemm: [N, 4], groups, rows, columns and length of the sums.
        window: [N, 2].
    """
    of_window = np.searchsorted(_WINDOWS, window.max(axis=1, initial=0), side="right")
    depthwise = (gemm[:, 0] > 1).astype(np.int64)
    columns, length = (
        np.minimum(np.log2(np.maximum(sizes, 1)) // step, _SIZES - 1).astype(np.int64)
        for sizes, step in ((gemm[:, 2], _COLUMNS_STEP), (gemm[:, 3], _LENGTH_STEP))
    )
    kinds: Integers = np.ravel_multi_index(
        (of_window, depthwise, columns, length), (len(_WINDOWS) + 1, 2, _SIZES, _SIZES)
    )
    return kinds


def main_directions(compositions: Floats, count: int) -> Floats:
    """Return the directions in which networks differ the most, float64 [PRODUCT_KINDS, R].

    They are the first right singular vectors; of few networks there are fewer than asked for.

    Args:
        compositions: float64 [N, PRODUCT_KINDS], of N networks.
        count: R directions.
    """
    _, _, rows = np.linalg.svd(compositions, full_matrices=False)
    return np.asarray(rows[:count].T, np.float64)
