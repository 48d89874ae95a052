"""Matching of the operators of two operator graphs.

Operators are matched by name where names are distinctive, as exporters write them from the modules
of a network (``/features/conv/Conv``). Running numbers (``Conv_12``) shift with the first operator
that is added, so they say nothing. The others are matched between these by the longest common
subsequence in topological order: those with equal type, shape, attributes and work first, then with
equal type and shape, then with equal type. Names of modules may hold numbers that shift too
(``/blocks.3/Conv``), so the same is tried without names; the better match is taken.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.graph.operator_graph import OperatorGraph

Pairs = list[tuple[int, int]]

MAX_BITS = 1 << 31
"""Largest table of rows in bits; larger problems are halved."""


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> Pairs:
    """Return the index pairs of a longest common subsequence, both indices ascending."""
    # Versions of a network differ in few places: equal ends keep the table small.
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
    """Give the table by rows; a bit of 0 marks a column where the length grows."""
    places: dict[Hashable, int] = {}
    for column, entry in enumerate(first):
        places[entry] = places.get(entry, 0) | 1 << column
    row = all_bits = (1 << len(first)) - 1
    for entry in second:
        # Bit-vector LCS in the form of Hyyro (2004): a whole row in one addition.
        matched = row & places.get(entry, 0)
        row = (row + matched | row - matched) & all_bits
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
    # Hirschberg (1975): two rows of the table in memory instead of all.
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
    # Only the last row counts; maxlen=1 lets the others go.
    last = deque(_rows(first, second), maxlen=1)[0]
    packed = np.frombuffer(last.to_bytes(-(-len(first) // 8), "little"), np.uint8)
    grows = 1 - np.unpackbits(packed, count=len(first), bitorder="little").astype(np.int64)
    return np.concatenate(([0], np.cumsum(grows)))


_MATRIX_PRODUCTS: Final = frozenset(
    {"DynamicQuantizeMatMul", "MatMulInteger16", "MatMulIntegerToFloat", "TransposeMatMul"}
    | {"FusedMatMulActivation", "MatMulNBits", "MatMulBnb4", "MatMulFpQ4"}
)
_PREFIXES: Final = ("Nhwc", "Fused", "QLinear", "Q")
_SUFFIX: Final = "Integer"
_QUANTISED_NAME: Final = "_quant"  # suffix of ONNX Runtime's quantiser


def match_operators(first: OperatorGraph, second: OperatorGraph) -> Pairs:
    """Return index pairs of matching operators, by the index in ``second``.

    Exchanging the graphs exchanges the indices and changes nothing else.
    """
    # Ties are broken by order of the arguments, so both calls use one order.
    if _rank(first) > _rank(second):
        swapped = _matched(_Side.of(second), _Side.of(first))
        pairs = [(i, j) for j, i in swapped]
    else:
        pairs = _matched(_Side.of(first), _Side.of(second))
    return sorted(pairs, key=lambda pair: pair[1])


def _rank(graph: OperatorGraph) -> tuple[int, str, tuple[str, ...], tuple[str, ...]]:
    return len(graph), graph.fingerprint, graph.names, graph.attributes


@cache
def kind(op_type: str) -> str:
    """Return the kind of an operator, whatever it computes with: ``Conv`` for ``QLinearConv``."""
    name = op_type.rpartition("::")[2]
    if name in _MATRIX_PRODUCTS:
        return "MatMul"
    for prefix in _PREFIXES:
        rest = name.removeprefix(prefix)
        if rest != name and rest[:1].isupper():
            name = rest
    return name.removesuffix(_SUFFIX)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One graph as the matching sees it: its names, and keys from strict to loose."""

    names: tuple[str, ...]
    keys: tuple[Sequence[Hashable], ...]

    @classmethod
    def of(cls, graph: OperatorGraph) -> _Side:
        kinds = [kind(op_type) for op_type in graph.op_types]
        shapes = [graph.output_shape(index) for index in range(len(graph))]
        exact = list(zip(kinds, shapes, graph.attributes, graph.macs.tolist(), strict=True))
        return cls(
            tuple(name.removesuffix(_QUANTISED_NAME) for name in graph.names),
            (exact, list(zip(kinds, shapes, strict=True)), kinds),
        )

    def __len__(self) -> int:
        return len(self.names)

    def distinctive_names(self) -> dict[tuple[str, Hashable], int]:
        """Return operators by name and kind, as far as one operator alone has this name."""
        counts = Counter(self.names)
        return {
            (name, self.keys[-1][index]): index
            for index, name in enumerate(self.names)
            if counts[name] == 1 and _is_distinctive(name)
        }


def _is_distinctive(name: str) -> bool:
    return any(separator in name.strip("/.") for separator in "/.")


def _matched(first: _Side, second: _Side) -> Pairs:
    by_name = _by_name(first, second)
    starts = [by_name, []] if by_name else [[]]
    candidates = [
        _filled(first, second, start, level) for start in starts for level in range(len(first.keys))
    ]
    return max(candidates, key=lambda pairs: _score(first, second, pairs))


def _by_name(first: _Side, second: _Side) -> Pairs:
    second_names = second.distinctive_names()
    return sorted(
        (index, second_names[key])
        for key, index in first.distinctive_names().items()
        if key in second_names
    )


def _score(first: _Side, second: _Side, pairs: Pairs) -> int:
    """Return the score of pairs: two points for each level of keys, one for a distinctive name."""
    levels = sum(
        one[i] == other[j]
        for one, other in zip(first.keys, second.keys, strict=True)
        for i, j in pairs
    )
    named = sum(
        first.names[i] == second.names[j] and _is_distinctive(first.names[i]) for i, j in pairs
    )
    return 2 * levels + named


def _filled(first: _Side, second: _Side, pairs: Pairs, level: int) -> Pairs:
    """Match the rest between the pairs by the keys from ``level`` on."""
    for strictness in range(level, len(first.keys)):
        used = {i for i, _ in pairs}, {j for _, j in pairs}
        matched: Pairs = []
        for first_gap, second_gap in _gaps(pairs, len(first), len(second)):
            left = [i for i in first_gap if i not in used[0]]
            right = [j for j in second_gap if j not in used[1]]
            if left and right:
                first_keys, second_keys = first.keys[strictness], second.keys[strictness]
                common = common_subsequence(
                    [first_keys[i] for i in left], [second_keys[j] for j in right]
                )
                matched += [(left[i], right[j]) for i, j in common]
        pairs = sorted([*pairs, *matched])
    return pairs


def _gaps(pairs: Pairs, first: int, second: int) -> list[tuple[range, range]]:
    """Return the ranges between pairs that keep their order on both sides."""
    edges = [(-1, -1), *_ascending(pairs), (first, second)]
    return [
        (range(i + 1, next_i), range(j + 1, next_j))
        for (i, j), (next_i, next_j) in pairwise(edges)
        if next_i > i + 1 and next_j > j + 1
    ]


def _ascending(pairs: Pairs) -> Pairs:
    """Return a longest run of pairs whose second indices ascend; the first ones do already."""
    ends: list[int] = []
    best: list[int] = []
    before: list[int] = []
    for place, (_, j) in enumerate(pairs):
        # Patience sorting: ends[n] is the smallest last index of a run of n + 1 pairs.
        length = bisect_left(ends, j)
        before.append(best[length - 1] if length else -1)
        if length == len(ends):
            ends.append(j)
            best.append(place)
        else:
            ends[length], best[length] = j, place
    chain: Pairs = []
    place = best[-1] if best else -1
    while place >= 0:
        chain.append(pairs[place])
        place = before[place]
    return chain[::-1]
