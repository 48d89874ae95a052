"""Sharing out a width between things of different natural width."""

from __future__ import annotations

from collections.abc import Sequence


def shared_widths(natural: Sequence[float], room: float, least: float) -> list[float]:
    """Return widths that fit in ``room``: the widest give way first, none under ``least``.

    Args:
        natural: the widths that each would like, in pixels.
        room: the pixels there are.
        least: the width under which none is pressed, unless it is naturally narrower.

    Returns:
        One width each, none wider than it would like; their sum is over ``room`` only where
        ``least`` leaves no choice.
    """
    left, widths = room, list(natural)
    # From the narrowest on, each takes what it would like or an equal part of what is left.
    by_width = sorted(range(len(natural)), key=lambda index: natural[index])
    for place, index in enumerate(by_width):
        fair = max(left / (len(by_width) - place), least)
        widths[index] = min(natural[index], fair)
        left -= widths[index]
    return widths


def past_mark(start: float, width: float, mark: float, end: float, gap: float) -> float:
    """Return where words start that shall not cover a mark; all in the same unit.

    They go right of the mark where they would cover it and have room there, else they stay.

    Args:
        start: where they would start.
        width: of the words.
        mark: where the mark is.
        end: of the room.
        gap: between the mark and words after it.
    """
    covered = start - gap / 2 < mark < start + width + gap / 2
    return mark + gap if covered and mark + gap + width <= end else start
