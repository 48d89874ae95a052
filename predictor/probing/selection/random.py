"""Random probes: the selector to compare with."""

from __future__ import annotations

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
