"""Which networks come next in a session, and why: all at once, or by what the last ones showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operators import Work
from predictor.calibration.posterior import Z80
from predictor.core.errors import InputError
from predictor.probing.networks.pool import PoolNetwork, graph_features
from predictor.probing.selection.belief import Belief
from predictor.probing.selection.dbsel import DBSel
from predictor.probing.selection.information import D_OPTIMAL, I_OPTIMAL
from predictor.probing.selection.interface import Pool, Selector
from predictor.probing.selection.operator_design import OperatorDesign
from predictor.probing.selection.random import RandomSelector

ADAPTIVE: Final = "adaptive"
INFORMATION: Final = "iopt"
DBSEL: Final = "dbsel"
SELECTORS: Final[dict[str, Selector]] = {
    DBSEL: DBSel(),
    "dopt": D_OPTIMAL,
    INFORMATION: I_OPTIMAL,
    "random": RandomSelector(),
}
SELECTOR_NAMES: Final = (*SELECTORS, ADAPTIVE)
BY_OPERATORS: Final = (INFORMATION, ADAPTIVE)
"""Selectors that choose by what operators of the target a network's profile would tell."""
ROUND: Final = 3
"""Networks that the adaptive selector has measured before it looks again."""

Choice = tuple[int, str]
"""A network's place in the pool, and why it was chosen."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """What a choice is made from.

    Attributes:
        selector: one of :data:`SELECTOR_NAMES`.
        probes: k, how many networks are measured altogether.
        seed: of what is random.
        pool: the N networks that may be measured.
        known_ms: float64 [N, D], what the networks take on known targets: DBSel's training
            latencies, the predicted ones of an engine where none are published.
        live: whether some are measured before the others are chosen.
        works: of the operators of each network, on the target: what its profile would tell. The
            adaptive selector needs them, the information-optimal one goes by features without.
        asked: works of what is to be predicted; none for the pool.
        belief: of what is to be predicted, what was measured so far taken into account.
        within: the adaptive selector ends when the 80 % interval of a typical network is no wider
            than this share to either side; None for never.
    """

    selector: str
    probes: int
    seed: int
    pool: Sequence[PoolNetwork]
    known_ms: NDArray[np.float64] | None = None
    live: bool = False
    works: Sequence[Work] = ()
    asked: Sequence[Work] = ()
    belief: Belief | None = None
    within: float | None = None

    def first(self) -> list[Choice]:
        """Return what is measured first: all of it, unless the choice is live.

        Raises:
            InputError: there is no such selector, or it lacks what it needs.
        """
        if self.selector == ADAPTIVE:
            return self._telling((), min(ROUND, self.probes) if self.live else self.probes)
        selector = SELECTORS.get(self.selector)
        if selector is None:
            reason = f"give one of {', '.join(SELECTOR_NAMES)}"
            raise InputError(f"selector {self.selector}", "there is none", reason)
        if self.live and isinstance(selector, DBSel):
            drawn = selector.first(len(self.pool), self.probes, live=True, seed=self.seed)
            if drawn:
                why = "drawn at random, to see which known devices this one is like"
                return [(row, why) for row in drawn]
        if self.selector == INFORMATION and self.works:
            return self._telling((), self.probes)
        rows = selector.select(self._candidates(), self.probes, seed=self.seed).indices
        return [(row, self._why(place)) for place, row in enumerate(rows)]

    def more(self, told: Mapping[str, float]) -> list[Choice]:
        """Return what is measured next in a live session; nothing once it is enough.

        Args:
            told: latency in ms of every network of the session so far in the order of choice; NaN
                for those that have none.
        """
        if len(told) >= self.probes:
            return []
        places = {network.name: row for row, network in enumerate(self.pool)}
        chosen = [places[name] for name in told if name in places]
        if self.selector == ADAPTIVE:
            if self._is_enough():
                return []
            return self._telling(chosen, min(ROUND, self.probes - len(told)))
        selector = SELECTORS[self.selector]
        if not isinstance(selector, DBSel):
            return []
        latency_ms = [told[self.pool[row].name] for row in chosen]
        missing = self.probes - len(told)
        found = selector.rest(self._candidates(), len(chosen) + missing, chosen, latency_ms)
        rest = found.indices[len(chosen) :]
        return [(row, self._why(place)) for place, row in enumerate(rest, len(chosen))]

    def _telling(self, chosen: Sequence[int], count: int) -> list[Choice]:
        if not self.works:
            raise InputError(
                f"selector {ADAPTIVE}", "the engine gives no intervals", "choose another selector"
            )
        rows = OperatorDesign(self.works, self.asked).most_telling(count, chosen)
        return [(row, "its operators tell most about what is left") for row in rows]

    def _is_enough(self) -> bool:
        if self.within is None or self.belief is None:
            return False
        return half_width(self.belief) <= self.within

    def _candidates(self) -> Pool:
        return Pool(self.known_ms, graph_features(self.pool))

    def _why(self, place: int) -> str:
        if self.selector == "random":
            return "drawn at random"
        if self.selector == "dopt":
            return "what is known least about after those before it"
        if self.selector == "iopt":
            return "tells most about all the others"
        if place == 0:
            return "typical, and known devices differ on it"
        if place + 1 > self.probes / 2:
            return "unlike those before it, and widens the range that they cover"
        return "unlike those before it on known devices"


def half_width(asked: Belief) -> float:
    """Return how far the 80 % interval of a typical network reaches above it, as a share."""
    return float(np.expm1(Z80 * np.median(asked.spread)))
