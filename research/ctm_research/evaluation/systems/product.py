"""The product's estimate as a system."""

from __future__ import annotations

from functools import lru_cache

from ctm_research.evaluation.judge.engines import FittedEngine
from ctm_research.evaluation.judge.estimate import EstimateEngine
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.evaluation.systems.field import Field


class Product:
    """The estimate, trained on all rows of a fold's training."""

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Train it anew; its seeds are its own."""
        del seed
        return _engine(field.judged).fit(field.judged, train)


@lru_cache(maxsize=1)
def _engine(judged: Judged) -> EstimateEngine:
    return EstimateEngine(judged)  # the times of all networks, once for all folds
