"""Levels of too many members: equal blocks in a row are grouped, the rest is cut where narrow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

LARGEST_LEVEL = 60
"""Members of a group: a picture of more is unreadable."""

_SHORTEST_BLOCK, _LONGEST_BLOCK = 3, 400  # members of what repeats
_MIN_BLOCKS = 2
Indices = NDArray[np.intp]


@dataclass(eq=False)
class Member:
    """An operator, or a group where it has members.

    Attributes:
        label: its name in the group.
        first: its first operator.
        members: of a group, by their first operator.
    """

    label: str
    first: int
    members: list[Member] = field(default_factory=list)

    def operators(self) -> Iterator[int]:
        """Yield the operators in it."""
        if not self.members:
            yield self.first
        for member in self.members:
            yield from member.operators()


def folded(
    members: list[Member], op_types: Sequence[str], edges: NDArray[np.int32]
) -> list[Member]:
    """Return at most ``LARGEST_LEVEL`` members that contain the given ones, in their order.

    Args:
        members: M of them, by their first operator.
        op_types: types of all operators.
        edges: int32 [2, E], producer and consumer.
    """
    alive = _alive(members, len(op_types), edges)
    blocks = list(_blocks(_kinds(members, op_types), alive))
    if blocks:
        members, places = _with_blocks(members, blocks)
        alive = alive[places]
    if len(members) <= LARGEST_LEVEL:
        return members
    # As many groups on each level as the levels need, so that no group is left with a few.
    levels = math.ceil(math.log(len(members)) / math.log(LARGEST_LEVEL))
    parts = math.ceil(len(members) ** (1 / levels))
    cuts = [0, *_cuts(alive, parts), len(members)]
    return [_group(members[start:stop]) for start, stop in itertools.pairwise(cuts)]


def _group(members: list[Member]) -> Member:
    if len(members) == 1:
        return members[0]
    label = f"{members[0].label} … {members[-1].label}"
    return Member(label, members[0].first, members)


def _kinds(members: list[Member], op_types: Sequence[str]) -> Indices:
    """Return a number for each member, equal for those of equal operators, intp [M]."""
    numbers: dict[tuple[str, ...], int] = {}
    kinds = (tuple(op_types[operator] for operator in member.operators()) for member in members)
    return np.array([numbers.setdefault(kind, len(numbers)) for kind in kinds], dtype=np.intp)


def _alive(members: list[Member], operators: int, edges: NDArray[np.int32]) -> Indices:
    """Return the number of tensors that are alive before each member, intp [M]."""
    place = np.full(operators, -1, dtype=np.intp)
    for at, member in enumerate(members):
        place[list(member.operators())] = at
    last = np.full(operators, -1, dtype=np.intp)
    np.maximum.at(last, edges[0], place[edges[1]])
    used = (place >= 0) & (last > place)
    change = np.zeros(len(members) + 1, dtype=np.intp)
    np.add.at(change, place[used] + 1, 1)
    np.add.at(change, last[used] + 1, -1)
    alive: Indices = np.cumsum(change)[:-1]
    return alive


def _blocks(kinds: Indices, alive: Indices) -> Iterator[tuple[int, int, int]]:
    """Yield start, members of one and number of equal blocks in a row, from left to right."""
    waiting = [(0, kinds.size)]
    while waiting:
        start, stop = waiting.pop()
        run = _longest_run(kinds[start:stop])
        if run is None:
            continue
        begin, length, period = start + run[0], run[1], run[2]
        # Of the phases that a block may begin at, the one that cuts fewest tensors.
        phases = range(min(period, length - _MIN_BLOCKS * period + 1))
        cut = [int(alive[begin + phase : begin + length : period].sum()) for phase in phases]
        begin, length = begin + int(np.argmin(cut)), length - int(np.argmin(cut))
        count = length // period
        yield begin, period, count
        waiting += [(start, begin), (begin + period * count, stop)]


def _longest_run(kinds: Indices) -> tuple[int, int, int] | None:
    """Return start, length and period of what repeats over most members; None where little does.

    Members that are all alike are no blocks.
    """
    best = None
    for period in range(_SHORTEST_BLOCK, min(kinds.size // _MIN_BLOCKS, _LONGEST_BLOCK) + 1):
        equal = np.concatenate([[False], kinds[period:] == kinds[:-period], [False]])
        ends = np.flatnonzero(equal[1:] != equal[:-1])
        if not ends.size:
            continue
        lengths = ends[1::2] - ends[::2]
        at = int(np.argmax(lengths))
        start, length = int(ends[2 * at]), int(lengths[at]) + period
        is_longer = best is None or length > best[1]
        block = kinds[start : start + period]
        if is_longer and length >= _MIN_BLOCKS * period and (block != block[0]).any():
            best = start, length, period
    return best


def _with_blocks(
    members: list[Member], blocks: list[tuple[int, int, int]]
) -> tuple[list[Member], list[int]]:
    """Return the members with blocks for those in them, and the place of each among them."""
    result: list[Member] = []
    places: list[int] = []
    at = number = 0
    for start, period, count in sorted(blocks):
        result += members[at:start]
        places += range(at, start)
        for at in range(start, start + period * count, period):
            number += 1
            inner = members[at : at + period]
            result.append(Member(f"block {number}", inner[0].first, inner))
            places.append(at)
        at = start + period * count
    return result + members[at:], [*places, *range(at, len(members))]


def _cuts(alive: Indices, parts: int) -> list[int]:
    """Return where to cut into so many parts: near equal ones, at the narrowest places."""
    size = alive.size / parts
    cuts = []
    for part in range(1, parts):
        low, high = round((part - 0.4) * size), round((part + 0.4) * size)
        window = np.arange(max(low, 1), max(high, low + 1))
        # The nearest of equally narrow ones.
        order = np.lexsort((np.abs(window - part * size), alive[window]))
        cuts.append(int(window[order[0]]))
    return sorted(set(cuts))
