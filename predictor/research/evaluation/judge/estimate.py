"""The estimate of hardware of which little or nothing was measured, as the judge asks it.

Efficiencies by kind of operator, the level of the class over them, and what measured targets tell
about the deviation of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from predictor.calibration.efficiencies import LEVELS, Efficiencies, groups_of
from predictor.calibration.evidence import Evidence, Keys, Scales
from predictor.core.records import Target
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TypicalRates, kinds_of_devices, rates_of
from predictor.research.evaluation.judge.efficiencies import PRIOR_MEANS, KindEfficiencies
from predictor.research.evaluation.judge.engines import Predicted
from predictor.research.evaluation.judge.groups import Floats, medians, numbered
from predictor.research.evaluation.judge.judged import Judged, Rows
from predictor.research.evaluation.judge.term_times import sums_by_kind

_MOST_DEVIATIONS: Final = 2.0  # of a target: what is further off is of another kind
_LEAST_SILICON: Final = 3  # of fewer, a median is that of one device
# The likeliest on silicon left out in inner folds.
SCALES: Final = Scales(0.35, 0.3, 0.2, 0.1, 0.3, 0.6)


class EstimateEngine:
    """The estimate, trained anew in each fold."""

    folds = 10

    def __init__(self, judged: Judged, scales: Scales = SCALES, name: str = "estimate") -> None:
        """Find the times of the terms of all networks."""
        self.name = name
        targets = with_likely_threads(judged)
        rates, kinds = rates_of(targets), kinds_of_devices(targets)
        self._typical = TypicalRates.of(rates, kinds)
        whole = self._typical.complete(rates, kinds)
        times = sums_by_kind(judged, whole, judged.rows)
        self._rate = whole.matrix
        self._efficiencies = KindEfficiencies(times, judged.rows)
        self._keys = Keys.of(targets)
        self._scales = scales

    def fit(self, judged: Judged, train: Rows) -> FittedEstimate:
        """Find efficiencies, levels and deviations."""
        logs, effects = self._efficiencies.estimates(judged, train)
        train = train[np.isin(train, judged.rows)]
        over = judged.log_latency - logs
        level = _levels(judged, train, over)
        mean = np.tile(np.log(PRIOR_MEANS), len(KINDS))
        efficiencies = Efficiencies(mean, effects, level, self._typical)
        logs += _level_of(judged, level)[judged.target]
        return FittedEstimate(
            judged,
            logs,
            efficiencies,
            _evidence(
                judged, train, judged.log_latency - logs, self._keys, self._rate, self._scales
            ),
            self._keys,
            self._rate,
        )


@dataclass(frozen=True, slots=True, eq=False)
class FittedEstimate:
    """The estimate after training.

    Attributes:
        judged: the corpus.
        logs: float64 [M], ln of the estimates, deviations apart.
        efficiencies: of groups of targets.
        evidence: of the targets in training.
        keys: of all targets.
        rate: float64 [T], of products.
    """

    judged: Judged
    logs: Floats
    efficiencies: Efficiencies
    evidence: Evidence
    keys: Keys
    rate: Floats

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """Return the estimates, moved by what measured targets tell."""
        judged, evidence = self.judged, self.evidence
        read = np.concatenate([np.empty(0, np.int64), *measured.values()])
        if len(read):
            over = judged.log_latency - self.logs
            evidence = evidence.joined(
                _evidence(judged, read, over, self.keys, self.rate, evidence.scales)
            )
        targets, of_row = np.unique(judged.target[rows], return_inverse=True)
        known = evidence.about(self.keys.take(targets))
        deviation = np.sqrt(known.variance + evidence.scales.network**2)
        return Predicted(self.logs[rows] + known.mean[of_row], deviation[of_row])


def with_likely_threads(judged: Judged) -> list[Target]:
    """Return the targets, with the deduced number of threads where the source states none."""
    return [
        replace(target, configuration=replace(target.configuration, threads=listed.threads_likely))
        if listed.threads_likely and not listed.threads_stated
        else target
        for target, listed in zip(judged.targets, judged.corpus.targets, strict=True)
    ]


def _levels(judged: Judged, train: Rows, over: Floats) -> dict[str, dict[str, float]]:
    """Return the median over silicon of ln(measured over estimated), by level and group."""
    first, cell = numbered(judged.target[train], judged.network[train])
    rows = train[first]  # one of each network on each target
    each = medians(cell, over[train], len(first))
    groups = [groups_of(target) for target in judged.targets]
    result: dict[str, dict[str, float]] = {}
    for name in LEVELS:
        names, group = np.unique([of[name] for of in groups], return_inverse=True)
        of_row = group[judged.target[rows]]
        pair, member = numbered(of_row, judged.silicon_of(rows))
        of_silicon = medians(member, each, len(pair))
        enough = np.bincount(of_row[pair], minlength=len(names)) >= _LEAST_SILICON
        level = medians(of_row[pair], of_silicon, len(names))
        result[name] = {
            names[number]: float(level[number])
            for number in np.flatnonzero(enough | (name == "all")).tolist()
        }
    return result


def _level_of(judged: Judged, level: Mapping[str, Mapping[str, float]]) -> Floats:
    """Return the level of each target, that of its finest known group, [T]."""
    found = np.zeros(len(judged.targets))
    for place, target in enumerate(judged.targets):
        groups = groups_of(target)
        for name in LEVELS:
            found[place] = level[name].get(groups[name], found[place])
    return found


def _evidence(
    judged: Judged, rows: Rows, over: Floats, keys: Keys, rate: Floats, scales: Scales
) -> Evidence:
    """Return the deviations of the targets of some measurements, each network counted once."""
    first, cell = numbered(judged.target[rows], judged.network[rows])
    target = judged.target[rows[first]]
    count = len(judged.targets)
    deviation = medians(target, medians(cell, over[rows], len(first)), count)
    # A run on an unknown number of threads says little about one on a known number.
    told = [
        each.threads_stated or each.threads_likely > 0 or target.threads == 0
        for each, target in zip(judged.corpus.targets, judged.targets, strict=True)
    ]
    seen = np.flatnonzero(~np.isnan(deviation) & told)
    limit = _MOST_DEVIATIONS * scales.level
    return Evidence(
        keys.take(seen),
        np.clip(deviation[seen], -limit, limit),
        np.bincount(target, minlength=count)[seen],
        rate[seen],
        scales,
    )
