"""Track records: how far off the estimate was in the case that a number is of.

A case is what was measured near a target, the group of targets that it is one of, and of a measured
target in how many networks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from predictor.calibration.efficiencies import LEVELS
from predictor.core.text import plural
from predictor.presentation.wording import percent

COUNTS: Final = (1, 3, 6, 12)
"""Networks from which on a measured target has the next record."""

UNSEEN: Final = "unseen"
"""The case in which nothing of the chip was measured."""

CHIP: Final = "near"
"""The case in which another target of the chip was measured."""

_PUBLISHED, _BY_USER = "measured", "probed"
MEASURED: Final = tuple(f"{_PUBLISHED} {count}" for count in COUNTS)
"""Cases of targets whose measurements came with the program."""
PROBED: Final = tuple(f"{_BY_USER} {count}" for count in COUNTS)
"""Cases of targets that the user measured."""
CASES: Final = (UNSEEN, CHIP, *MEASURED, *PROBED)

PRECISION: Final = "precision"
RECORD_LEVELS: Final = (*LEVELS, PRECISION)
"""Groups that have records, from coarse to fine."""

# What a record was checked on, by the level of its group.
_CHECKED: Final = {
    "precision": "of this kind in this precision",
    "class": "of this kind",
    "runtime": "under this runtime",
    "kind": "of this kind under any runtime",
    "all": "of any kind",
}
_NOTABLE: Final = 1.1  # over the record, so that an error without the sources is stated


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Errors of a group of targets on silicon, or devices, that the estimate had not seen.

    Attributes:
        silicon: kinds of silicon that it was checked on.
        devices: that it was checked on.
        error: median relative error.
        spread: median standard deviation of ln(latency), before factors.
        wide80, wide95: factors on the standard deviation of ln(latency) for intervals that cover
            80 and 95 %.
        covered: part of the measurements in 80 % intervals whose widths come from other silicon;
            None where that was not asked.
        other_sources: median relative error where whoever published the measurements was left out
            too; None where that was not asked.
    """

    silicon: int
    devices: int
    error: float
    spread: float
    wide80: float
    wide95: float
    covered: float | None = None
    other_sources: float | None = None


Tracks = Mapping[str, Mapping[str, Track]]
"""Records by case, then by group."""


def published_case(networks: int) -> str:
    """Return the case of a target of which so many networks were measured by others."""
    return MEASURED[_place(networks)]


def user_case(networks: int) -> str:
    """Return the case of a target of which the user measured so many networks."""
    return PROBED[_place(networks)]


def _place(networks: int) -> int:
    return max(bisect_right(COUNTS, networks) - 1, 0)


def tracks_of(tracks: Tracks, groups: Mapping[str, str]) -> dict[str, tuple[str, Track]]:
    """Return level and record of the finest of a target's groups that has one, by case."""
    return {
        case: next(
            (level, records[groups[level]])
            for level in reversed(RECORD_LEVELS)
            if groups[level] in records
        )
        for case, records in tracks.items()
    }


@lru_cache(maxsize=1 << 10)
def track_words(level: str, track: Track) -> str:
    """Return a record in words."""
    words = (
        f"checked on {plural(track.silicon, 'chip')} {_CHECKED[level]}: "
        f"median error {percent(track.error)}"
    )
    other = track.other_sources
    if other is None or other < _NOTABLE * track.error:
        return words
    return f"{words}, {percent(other)} on sources that it had not read"
