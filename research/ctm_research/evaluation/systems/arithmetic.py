"""Systems that are arithmetic on facts of the hardware: roofline, PM2Lat's form, Habitat's scaling.

References:
    S. Williams et al., "Roofline", CACM 2009; PM2Lat, arXiv 2603.00549, 2026; G. Yu et al.,
    "Habitat", USENIX ATC 2021.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import nnls

from ctm_research.evaluation.judge.engines import (
    FittedEngine,
    Roofline,
    over_median_efficiency,
)
from ctm_research.evaluation.judge.groups import Floats, members
from ctm_research.evaluation.judge.judged import Rows
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.system import Levelled, in_rows
from predictor.cost.operator_kinds import KIND
from predictor.cost.physics import TERMS

_LEAST_MS: Final = 1e-9
_ARITHMETIC, _BLOCK, _MEMORY, _LAUNCH = range(len(TERMS))
# Kinds whose kernels compute; the others move memory.
_PRODUCTS: Final = slice(0, KIND["product of activations"] + 1)
_LEAST_SILICON: Final = 3


class Peaks:
    """The roofline at the peaks, where the facts state all rates."""

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Return the estimates; there is nothing to train."""
        del seed
        fitted = Roofline().fit(field.judged, train)
        return Levelled(
            field.judged,
            in_rows(field.judged, field.rows, fitted.predict(field.rows, {}).log_ms),
        )


class ClassRoofline:
    """The roofline over the median efficiency of the class."""

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Find the efficiencies; typical rates take the place of missing facts."""
        del seed
        judged = field.judged
        return over_median_efficiency(
            judged, field.train_rows(train), np.log(judged.parts.estimate_ms)
        )


class Pm2Lat:
    """A throughput for each kind of computing kernel that grows with its waves, lines for the rest.

    Of an unseen device no kernel was timed: shares of the peak, in place of throughputs, are those
    of the class. A computing kind takes ``a`` times its arithmetic and ``b`` times the block of one
    unit, so its throughput saturates with the number of blocks; what moves memory takes ``c`` times
    its bytes and ``d`` times its starts.
    """

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Fit the shares of each class by least squares of relative errors, none negative."""
        del seed
        judged, rows = field.judged, field.rows
        parts = pm2lat_parts(field.terms(rows))
        mine = np.isin(rows, train)
        group, groups = class_or_all(field, train)
        log_ms = np.empty(len(rows))
        for number in range(groups):
            own = group[judged.target[rows]] == number
            # The last group is of all: classes of too few kinds of silicon.
            read = mine & own if number < groups - 1 else mine
            relative = parts[read] / np.exp(judged.log_latency[rows[read]])[:, None]
            size = np.maximum(relative.mean(axis=0), _LEAST_MS)
            shares, _ = nnls(relative / size, np.ones(int(read.sum())))
            log_ms[own] = np.log(np.maximum(parts[own] @ (shares / size), _LEAST_MS))
        return over_median_efficiency(
            judged, field.train_rows(train), in_rows(judged, rows, log_ms)
        )


def pm2lat_parts(terms: Floats) -> Floats:
    """Return the parts whose shares are fitted, [n, P], from terms [n, len(KINDS), len(TERMS)]."""
    products = terms[:, _PRODUCTS]
    return np.column_stack(
        [
            products[:, :, _ARITHMETIC],
            products[:, :, _BLOCK],
            terms[:, _PRODUCTS.stop :, _MEMORY].sum(axis=1),
            terms[:, :, _LAUNCH].sum(axis=1),
        ]
    )


def class_or_all(field: Field, train: Rows) -> tuple[Rows, int]:
    """Number the classes with enough silicon in training; the last number is of the others.

    Returns:
        The number of each target, int64 [T], and how many numbers there are.
    """
    judged = field.judged
    read = field.train_rows(train)
    pairs = np.unique(np.stack([judged.class_of(read), judged.silicon_of(read)]), axis=1)
    known = np.flatnonzero(np.bincount(pairs[0], minlength=len(judged.classes)) >= _LEAST_SILICON)
    number = np.full(len(judged.classes) + 1, len(known))
    number[known] = np.arange(len(known))
    return number[judged.klass], len(known) + 1


class Habitat:
    """The time of the same network on a device that was measured, scaled by rates of the hardware.

    Every other target of the class with its precision is the device at hand in turn; the median of
    their predictions counts.
    """

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Scale every training row of a graph to the targets that share runtime and kind."""
        del seed
        judged, rows = field.judged, field.rows
        read = train[np.isin(train, judged.rows)]
        log_ms = np.full(len(rows), np.nan)
        by_graph = dict(members(judged.graph[read]))
        for graph, mine in members(judged.graph[rows]):
            if graph in by_graph:
                log_ms[mine] = self._scaled(field, rows[mine], read[by_graph[graph]], graph)
        return Levelled(judged, in_rows(judged, rows, log_ms))

    def _scaled(self, field: Field, asked: Rows, origins: Rows, graph: int) -> Floats:
        judged, rates = field.judged, field.rates
        resources = field.resources[graph]
        to, start = judged.target[asked], judged.target[origins]
        like = _setting(field)
        scaled = np.log(
            wave_scale(
                resources,
                np.column_stack([rates.matrix[start], rates.bandwidth[start]]),
                np.column_stack([rates.matrix[to], rates.bandwidth[to]]),
            )
        )
        predicted = judged.log_latency[origins][:, None] + scaled  # [origins, asked]
        usable = (like[start][:, None] == like[to]) & (start[:, None] != to)
        predicted = np.where(usable, predicted, np.nan)
        log_ms = np.full(len(asked), np.nan)
        known = usable.any(axis=0)
        log_ms[known] = np.nanmedian(predicted[:, known], axis=0)
        return log_ms


def _setting(field: Field) -> Rows:
    """Number the pairs of class and precision of the targets, int64 [T]."""
    judged = field.judged
    names = [
        f"{klass} {target.configuration.precision.value}"
        for klass, target in zip(judged.klass.tolist(), judged.targets, strict=True)
    ]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def wave_scale(resources: Floats, origin: Floats, target: Floats) -> Floats:
    """Return the time on each target over that on each origin, [O, A].

    Every kind of operator counts by its share of the origin's roofline. The SMs' clock and number
    stand as the peak, their product.

    Args:
        resources: [K, 4], launches, MACs, activation and weight bytes by kind.
        origin: [O, 2], peak in MACs a second and bandwidth in bytes a second.
        target: [A, 2], the same.
    """
    macs, moved = resources[:, 1], np.maximum(resources[:, 2] + resources[:, 3], 1.0)
    own = np.maximum(macs / origin[:, :1], moved / origin[:, 1:])  # [O, K]
    share = own / np.maximum(own.sum(axis=1, keepdims=True), 1e-30)
    ridge = target[:, :1] / target[:, 1:]  # [A, 1], MACs a byte
    reach = (macs / moved) / ridge  # [A, K]
    gamma = np.where(reach <= 1, 1 - 0.5 * reach, 0.5 / np.maximum(reach, 1e-30))
    peak, bandwidth = (origin[:, None, place] / target[None, :, place] for place in (0, 1))
    scale = bandwidth[..., None] ** gamma * peak[..., None] ** (1 - gamma)  # [O, A, K]
    result: Floats = (scale * share[:, None, :]).sum(axis=2)
    return result
