"""Growth of the time of a token with sequences and cards, on measured devices and others.

Software for one kind of card gets less of its products and caches at many sequences than for
another. So beside the level of a device its growth deviates: the seconds that further sequences
add.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Deviations of the seconds that further sequences add, and what they leave open.

    Attributes:
        of_silicon: logarithm of measured over physical seconds, by die.
        measured: standard deviation on dies that were measured, of seconds added.
        unmeasured: the same on others.
        cards: of the logarithm of a time on several cards, beside that on one.
        cards_unmeasured: the same on dies that were not measured.
    """

    of_silicon: Mapping[str, float] = field(default_factory=dict)
    measured: float = 0.5
    unmeasured: float = 0.7
    cards: float = 0.3
    cards_unmeasured: float = 0.4

    def of(self, silicon: str) -> float:
        """Return the deviation on a die; on one that was not measured the mean of the others."""
        values = self.of_silicon.values()
        return self.of_silicon.get(silicon, sum(values) / max(len(values), 1))

    def factor(self, silicon: str, share: float) -> float:
        """Return by which factor a time changes whose added part is ``share`` of it."""
        return 1 + share * math.expm1(self.of(silicon))

    def spread(self, silicon: str, share: float, cards: int) -> float:
        """Return the standard deviation of the logarithm of a time, beside that of its level."""
        is_measured = silicon in self.of_silicon
        added = self.measured if is_measured else self.unmeasured
        several = self.cards if is_measured else self.cards_unmeasured
        return math.hypot(added * self.grown(silicon, share), several * (cards > 1))

    def grown(self, silicon: str, share: float) -> float:
        """Return the share of a time that is added, where the time deviates."""
        return share * math.exp(self.of(silicon)) / self.factor(silicon, share)


def added_share(of_batch: float, of_one: float) -> float:
    """Return the share of a time that further sequences add, of its seconds and those of one."""
    return max(1 - of_one / of_batch, 0.0)
