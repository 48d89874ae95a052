"""The longest common subsequence of two sequences, exact also where both have 10 000 entries.

The table of lengths is kept in differences, a row a number of as many bits as the first sequence is
long, so that one addition fills a row.

Reference:
    H. Hyyrö, "Bit-Parallel LCS-length Computation Revisited", AWOCA 2004.
    D. S. Hirschberg, "A linear space algorithm for computing maximal common subsequences", 1975.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Pairs = list[tuple[int, int]]

MAX_BITS = 1 << 31
"""Largest table of rows in bits; larger problems are halved."""


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> Pairs:
    """Return the index pairs of a longest common subsequence, both indices ascending."""
    shorter = min(len(first), len(second))
    head = _equal_run(zip(first, second, strict=False))
    tail = _equal_run(zip(reversed(first), reversed(second), strict=False))
    tail = min(tail, shorter - head)
    middle = _aligned(first[head : len(first) - tail], second[head : len(second) - tail])
    return [
        *((i, i) for i in range(head)),
        *((head + i, head + j) for i, j in middle),
        *((len(first) - i, len(second) - i) for i in range(tail, 0, -1)),
    ]


def _equal_run(pairs: zip[tuple[Hashable, Hashable]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _aligned(first: Sequence[Hashable], second: Sequence[Hashable]) -> Pairs:
    if not first or not second:
        return []
    if len(first) * len(second) > MAX_BITS and len(second) > 1:
        return _halved(first, second)
    return _traced(list(_rows(first, second)), len(first))


def _rows(first: Sequence[Hashable], second: Sequence[Hashable]) -> Iterator[int]:
    """Give the table by rows; a bit that is 0 says that the length grows at this column."""
    places: dict[Hashable, int] = {}
    for column, entry in enumerate(first):
        places[entry] = places.get(entry, 0) | 1 << column
    row = every = (1 << len(first)) - 1
    for entry in second:
        matched = row & places.get(entry, 0)
        row = (row + matched | row - matched) & every
        yield row


def _traced(rows: Sequence[int], columns: int) -> Pairs:
    """Walk through the table from its end and collect the pairs."""
    pairs: Pairs = []
    column, row = columns, len(rows)
    while column and row:
        bit = 1 << column - 1
        if rows[row - 1] & bit:
            column -= 1
            continue
        row -= 1
        if row == 0 or rows[row - 1] & bit:
            column -= 1
            pairs.append((column, row))
    return pairs[::-1]


def _halved(first: Sequence[Hashable], second: Sequence[Hashable]) -> Pairs:
    """Split the second sequence in half, and the first where most is common on both sides."""
    middle = len(second) // 2
    before = _lengths(first, second[:middle])
    after = _lengths(first[::-1], second[middle:][::-1])[::-1]
    cut = int(np.argmax(before + after))
    return [
        *_aligned(first[:cut], second[:middle]),
        *((cut + i, middle + j) for i, j in _aligned(first[cut:], second[middle:])),
    ]


def _lengths(first: Sequence[Hashable], second: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return the length that each beginning of ``first`` has in common with ``second``, [N + 1]."""
    last = deque(_rows(first, second), maxlen=1)[0]
    packed = np.frombuffer(last.to_bytes(-(-len(first) // 8), "little"), np.uint8)
    grows = 1 - np.unpackbits(packed, count=len(first), bitorder="little").astype(np.int64)
    return np.concatenate(([0], np.cumsum(grows)))
