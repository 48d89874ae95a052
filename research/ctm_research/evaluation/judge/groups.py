"""Quantiles and means of groups of numbers, without a loop over the groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]
Numbers = NDArray[np.int64]


def numbered(*keys: Integers) -> tuple[Numbers, Numbers]:
    """Number the distinct combinations of keys.

    Args:
        keys: of N rows each, none negative.

    Returns:
        The first row of each combination [G], ascending by its keys, and the number of the
        combination of each row [N].
    """
    joint = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        # Numbered anew after each key: a product of several sizes could leave 64 bits.
        joint = joint * (int(key.max(initial=0)) + 1) + key
        _, first, joint = np.unique(joint, return_index=True, return_inverse=True)
    return first.astype(np.int64), joint


def members(group: Integers) -> Iterator[tuple[int, Numbers]]:
    """Yield each number of a group with the places where it stands, both ascending."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    for first, end in zip(starts, [*starts[1:], len(order)], strict=False):
        yield int(group[order[first]]), order[first:end]


def quantiles(group: Numbers, values: Floats, share: float, count: int) -> Floats:
    """Return a quantile of each group, interpolated, float64 [count]; NaN of an empty one.

    Args:
        group: [N], number of the group of each value.
        values: [N], finite; NaN ones are left out.
        share: of the values at or below the quantile, 0 to 1.
        count: number of the groups.
    """
    known = ~np.isnan(values)
    group, values = group[known], values[known]
    ordered = values[np.lexsort((values, group))]
    sizes = np.bincount(group, minlength=count)
    starts = np.cumsum(sizes) - sizes
    filled = np.flatnonzero(sizes)
    place = share * (sizes[filled] - 1)
    lower = starts[filled] + np.floor(place).astype(np.int64)
    upper = starts[filled] + np.ceil(place).astype(np.int64)
    part = place - np.floor(place)
    result = np.full(count, np.nan)
    result[filled] = (1 - part) * ordered[lower] + part * ordered[upper]
    return result


def medians(group: Numbers, values: Floats, count: int) -> Floats:
    """Return the median of each group, float64 [count]; NaN of an empty one."""
    return quantiles(group, values, 0.5, count)


def means(group: Numbers, values: Floats, count: int) -> Floats:
    """Return the mean of each group but for its NaN, float64 [count]; NaN of an empty one."""
    known = ~np.isnan(values)
    sums = np.bincount(group[known], values[known], count)
    sizes = np.bincount(group[known], minlength=count)
    result = np.full(count, np.nan)
    np.divide(sums, sizes, out=result, where=sizes > 0)
    return result
