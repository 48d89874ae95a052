"""The choice of networks for a session: all at once, or by the latencies so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from predictor.calibration.operator_fit import RatedOperators
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80
from predictor.core.records import Target
from predictor.core.units import format_bytes, format_count
from predictor.probing.measuring.interface import RunConfiguration
from predictor.probing.networks.pool import PoolNetwork, graph_features
from predictor.probing.selection.belief import Belief
from predictor.probing.selection.dbsel import DBSel
from predictor.probing.selection.information import D_OPTIMAL, I_OPTIMAL
from predictor.probing.selection.interface import Floats, Pool, Selector
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
"""Selectors that choose by the operators of the target that a network's profile covers."""
# Each round costs one prediction and one sentinel (docs/decisions/0004, Live choice).
ROUND: Final = 3
"""Networks that the adaptive selector has measured before it looks again."""

# Of few measurements it makes the most, on search spaces and on published networks alike
# (research/docs/results/nas-selectors.md and selectors.md).
DEFAULT_SELECTOR: Final = INFORMATION
DEFAULT_PROBES: Final = 12
DEFAULT_BUDGET_S: Final = 300.0
REASONS: Final = {
    "random": "chosen at random",
    "dopt": "least certain after those before it",
    INFORMATION: "most informative about all the others",
}
"""Reasons for a network by the selector that chose it."""
_KIND_WORDS: Final = {
    "dense": "full convolutions",
    "pointwise": "1×1 convolutions",
    "grouped": "grouped convolutions",
    "depthwise": "depthwise convolutions",
    "matmul": "matrix products",
    "other": "operators that move data",
}
_MACS_OF_A_BYTE: Final = 8  # arithmetic that takes about as long as moving a byte

Choice = tuple[int, str]
"""A network's place in the pool, and why it was chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A request for a plan.

    Attributes:
        target: threads and batch resolved to counts.
        probes: k, the number of networks.
        selector: one of :data:`SELECTOR_NAMES`.
        seed: of random draws.
        budget_s: longest time of the session, a third block of every network included.
        configuration: execution configuration of the networks.
        live: whether some networks are measured before the others are chosen, where the selector
            can make use of that. A kit is planned once.
        within: with the adaptive selector: measure no more once the 80 % interval of a typical
            network is no wider than this share to either side.
        sure: number of networks that fit into the time whatever happens; the others up to
            ``probes`` are chosen and measured while there is time left. None for all.
    """

    target: Target
    probes: int = DEFAULT_PROBES
    selector: str = DEFAULT_SELECTOR
    seed: int = 0
    budget_s: float = DEFAULT_BUDGET_S
    configuration: RunConfiguration = field(default_factory=RunConfiguration)
    live: bool = False
    within: float | None = None
    sure: int | None = None

    @property
    def planned(self) -> int:
        """Number of networks that the time is shared out to."""
        return self.probes if self.sure is None else self.sure


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Beliefs of an engine on a target, before or in the middle of a session.

    Attributes:
        works: of the operators of each network of the pool.
        requested: works of the networks to be predicted; empty for the pool itself.
        belief: about the networks to be predicted, given the measurements so far; None where no
            width of intervals ends the session.
    """

    works: Sequence[RatedOperators]
    requested: Sequence[RatedOperators] = ()
    belief: Belief | None = None


@dataclass(frozen=True, slots=True)
class Choosing:
    """A choice among networks.

    Attributes:
        request: the request for the plan.
        pool: the N networks that may be measured.
        training_ms: float64 [N, D], latencies of the networks on known targets: DBSel's training
            latencies, the predicted ones of an engine where none are published.
        beliefs: works of the N networks, which the adaptive selector needs; the
            information-optimal one goes by features where there are none.
    """

    request: PlanRequest
    pool: Sequence[PoolNetwork]
    training_ms: Floats | None = None
    beliefs: Beliefs | None = None

    def first(self) -> list[Choice]:
        """Choose the networks that are measured first: all, unless the choice is live.

        Raises:
            InputError: there is no such selector, or it lacks its data.
        """
        request = self.request
        count = request.planned
        if request.selector == ADAPTIVE:
            return self._by_design((), min(ROUND, count) if request.live else count)
        selector = SELECTORS.get(request.selector)
        if selector is None:
            reason = f"give one of {', '.join(SELECTOR_NAMES)}"
            raise InputError(f"selector {request.selector}", "there is none", reason)
        if request.live and isinstance(selector, DBSel):
            drawn = selector.first(len(self.pool), count, live=True, seed=request.seed)
            # None for a budget below 6: without them Eq. 1 has nothing to align devices by.
            if drawn:
                why = "random start, to find similar devices"
                return [(row, why) for row in drawn]
        if request.selector == INFORMATION and self.beliefs:
            return self._by_design((), count)
        rows = selector.select(self._candidates(), count, seed=request.seed).indices
        return [(row, self._why(place)) for place, row in enumerate(rows)]

    def more(self, latency_ms: Mapping[str, float], limit: int | None = None) -> list[Choice]:
        """Choose the networks that are measured next in a live session; none once it is enough.

        Args:
            latency_ms: of every network of the session so far in the order of choice; NaN for
                those that have none.
            limit: number of networks that there is time for; None for as many as are planned.
        """
        request, measured = self.request, len(latency_ms)
        left = request.probes - measured
        if limit is not None:
            left = min(left, max(limit, request.planned - measured))
        if left <= 0:
            return []
        places = {network.name: row for row, network in enumerate(self.pool)}
        chosen = [places[name] for name in latency_ms if name in places]
        left = min(left, len(self.pool) - len(chosen))
        if request.selector == ADAPTIVE:
            return [] if self._is_enough() else self._by_design(chosen, min(ROUND, left))
        if request.selector == INFORMATION and self.beliefs:
            return self._by_design(chosen, left)
        measured_ms = [latency_ms[self.pool[row].name] for row in chosen]
        # Algorithm 1 over all k: the measured networks stay its first, and the others are new.
        together = SELECTORS[request.selector].rest(
            self._candidates(), len(chosen) + left, chosen, measured_ms, seed=request.seed
        )
        rest = together.indices[len(chosen) :]
        return [(row, self._why(place)) for place, row in enumerate(rest, len(chosen))]

    def _by_design(self, chosen: Sequence[int], count: int) -> list[Choice]:
        if self.beliefs is None:
            raise InputError(
                f"selector {ADAPTIVE}", "the engine gives no intervals", "choose another selector"
            )
        design = OperatorDesign(self.beliefs.works, self.beliefs.requested)
        rows = design.choose(count, chosen)
        return [(row, main_operators(self.pool[row])) for row in rows]

    def _is_enough(self) -> bool:
        within, belief = self.request.within, self.beliefs.belief if self.beliefs else None
        return within is not None and belief is not None and half_width(belief) <= within

    def _candidates(self) -> Pool:
        return Pool(self.training_ms, graph_features(self.pool))

    def _why(self, place: int) -> str:
        if self.request.selector in REASONS:
            return REASONS[self.request.selector]
        if place == 0:
            return "typical, and known devices differ on it"
        # Algorithm 1 adds the coverage term in the second half of the signature.
        if place + 1 > self.request.probes / 2:
            return "unlike those before it, and widens the range that they cover"
        return "unlike those before it on known devices"


def main_operators(network: PoolNetwork) -> str:
    """Return in words the operators of a network with most work."""
    kind, cost = max(
        network.cost.items(), key=lambda item: item[1].macs + _MACS_OF_A_BYTE * item[1].bytes_moved
    )
    arithmetic = f"{format_count(cost.macs)} MACs over " if cost.macs else ""
    return f"covers {_KIND_WORDS[kind]}: {arithmetic}{format_bytes(cost.bytes_moved)}"


def half_width(belief: Belief) -> float:
    """Half width of the 80 % interval of a typical network above its P50, as a share."""
    # The spread is one of log-latency; Z80 of it reach from the median to the 90th percentile.
    return float(np.expm1(Z80 * np.median(belief.spread)))
