"""Sums, largest values and softmax over the segments of a flat axis.

A flat axis holds the rows of all segments; ``segment`` says to which one each row belongs. Rows
need no order. An empty segment has the sum and largest value 0. Cost O(rows).
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from predictor.network.config import Pooling

_LOG_SCALE: Final = 10.0  # a state of 1 in a tenth of the usual operators is where the log begins


def segment_sum(rows: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Sum rows by segment.

    Args:
        rows: [R, ...].
        segment: int64 [R], from 0 to segments - 1.
        segments: S.

    Returns:
        [S, ...].
    """
    if segments == 1:
        return rows.sum(dim=0, keepdim=True)
    sums = torch.zeros((segments, *rows.shape[1:]), dtype=rows.dtype, device=rows.device)
    return sums.index_add_(0, segment, rows)


def bounded(pooled: Tensor, pooling: Pooling) -> Tensor:
    """Take the logarithm of LOG_SUM; a plain sum stays as it is."""
    return torch.asinh(_LOG_SCALE * pooled) if pooling is Pooling.LOG_SUM else pooled


def segment_max(rows: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Return the largest of each column by segment, [S, ...] from [R, ...]."""
    shape = (segments, *rows.shape[1:])
    index = segment.reshape((-1,) + (1,) * (rows.dim() - 1)).expand_as(rows)
    largest = torch.zeros(shape, dtype=rows.dtype, device=rows.device)
    return largest.scatter_reduce(0, index, rows, "amax", include_self=False)


def segment_softmax(scores: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Return weights [R, ...] that sum to 1 over the rows of each segment, per column."""
    if segments == 1:
        return torch.softmax(scores, dim=0)
    # The largest score only keeps exp() in range: it cancels, so no gradient flows through it.
    largest = segment_max(scores.detach(), segment, segments)
    weights = torch.exp(scores - largest.index_select(0, segment))
    return weights / segment_sum(weights, segment, segments).index_select(0, segment)
