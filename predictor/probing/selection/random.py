"""Random probes: the selector to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predictor.probing.selection.interface import Measure, Pool, Selection, check_budget, measured


@dataclass(frozen=True, slots=True)
class RandomSelector:
    """Chooses every subset with the same probability."""

    def select(
        self, pool: Pool, k: int, measure: Measure | None = None, seed: int = 0
    ) -> Selection:
        """Choose and measure; see :class:`Selector`."""
        check_budget(pool, k)
        drawn = np.random.default_rng(seed).choice(len(pool), k, replace=False)
        indices = tuple(drawn.tolist())
        return Selection(indices, measured(measure, indices) if measure else ())

    def rest(
        self, pool: Pool, k: int, first: Sequence[int], latency_ms: Sequence[float], seed: int = 0
    ) -> Selection:
        """Choose what follows; see :class:`Selector`."""
        del latency_ms
        left = np.setdiff1d(np.arange(len(pool)), first)
        drawn = np.random.default_rng(seed).choice(left, k - len(first), replace=False)
        return Selection((*first, *drawn.tolist()))
