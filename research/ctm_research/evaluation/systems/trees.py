"""ALCOP's lesson: boosted trees that learn the analytic times first, then what measurements add.

ALCOP tunes pipelined kernels; its trees are pre-trained on an analytical model and refined on a few
trials. Here they learn latencies of networks from resources by kind of operator and facts of the
target. Analytic times cost nothing, so the pre-training has those of networks on any target.

Reference:
    G. Huang et al., "ALCOP", MLSys 2023.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from ctm_research.evaluation.judge.engines import FittedEngine
from ctm_research.evaluation.judge.groups import Floats
from ctm_research.evaluation.judge.judged import Rows
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.system import Levelled, in_rows

_ANALYTIC: Final = 20_000  # pairs of network and target, drawn by seed
_S_TO_MS: Final = 1e3


class Alcop:
    """Trees on analytic times, and trees on what these leave of the measurements."""

    analytic = _ANALYTIC

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Train both; no latency of an asked target is read, only its analytic times."""
        judged = field.judged
        read = field.train_rows(train)
        before = np.zeros(len(field.rows))
        rows_x = _inputs(field, judged.graph[field.rows], judged.target[field.rows])
        mine = np.isin(field.rows, read)
        if self.analytic:
            rng = np.random.default_rng(seed)
            graph = rng.choice(judged.graph[field.rows], self.analytic)
            target = rng.integers(len(judged.targets), size=self.analytic)
            learned = _trees(seed).fit(
                _inputs(field, graph, target), analytic(field, graph, target)
            )
            before = learned.predict(rows_x)
        measured = judged.log_latency[field.rows[mine]]
        refined = _trees(seed).fit(rows_x[mine], measured - before[mine])
        return Levelled(judged, in_rows(judged, field.rows, before + refined.predict(rows_x)))


class Trees(Alcop):
    """The same without pre-training."""

    analytic = 0


def analytic(field: Field, graph: Rows, target: Rows) -> Floats:
    """Return ln of the roofline in ms of networks on targets, by kind of operator, [n]."""
    launches, macs, moved, weights = np.moveaxis(field.resources[graph], -1, 0)
    rates = field.rates
    arithmetic = macs / rates.matrix[target, None]
    memory = (moved + weights) / rates.bandwidth[target, None]
    starts = launches * rates.launch_s[target, None]
    whole: Floats = np.log(_S_TO_MS * (np.maximum(arithmetic, memory) + starts).sum(axis=1))
    return whole


def _inputs(field: Field, graph: Rows, target: Rows) -> Floats:
    resources = np.log1p(field.resources[graph].reshape(len(graph), -1))
    return np.column_stack([resources, field.statics[graph], field.platforms[target]])


def _trees(seed: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(
        max_iter=200, learning_rate=0.1, max_leaf_nodes=31, l2_regularization=1.0, random_state=seed
    )
