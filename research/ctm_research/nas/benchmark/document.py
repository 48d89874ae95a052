"""The results of a suite as a JSON document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.benchmark.protocol import Outcome
from ctm_research.nas.benchmark.published import OURS, TABLE1
from ctm_research.nas.benchmark.registry import METHODS
from ctm_research.nas.benchmark.runner import Order
from ctm_research.nas.benchmark.significance import holm, signed_rank_test
from ctm_research.nas.benchmark.suites import HAND_FEATURES, Suite
from ctm_research.nas.benchmark.work import Finished
from ctm_research.nas.scores import Scores

Entry = dict[str, object]
Key = tuple[str, str, str, int]  # method, partition, device, k

SCORES = tuple(field.name for field in fields(Scores))
TEST = (
    "Wilcoxon's signed-rank test, two-sided and exact, on the RAE of equal trainings and draws, "
    "corrected by Holm over the cells of one comparator and one budget"
)


@dataclass(frozen=True, slots=True)
class Table:
    """All outcomes, in the order of trainings and draws.

    Attributes:
        outcomes: by method, partition, device and budget.
    """

    outcomes: Mapping[Key, tuple[Outcome, ...]]

    @classmethod
    def of(cls, finished: Iterable[Finished]) -> Table:
        """Sort the outcomes of finished units."""
        by_key: dict[Key, list[Outcome]] = {}
        for done in finished:
            for outcome in done.outcomes:
                trial = outcome.trial
                key = (done.unit.method, done.unit.partition, trial.device, trial.k)
                by_key.setdefault(key, []).append(outcome)
        return cls({key: tuple(outcomes) for key, outcomes in by_key.items()})

    def values(self, key: Key, score: str) -> list[float] | None:
        """Return one score of every training and draw; None where a method has none."""
        values = [getattr(outcome.scores, score) for outcome in self.outcomes[key]]
        return None if None in values else values

    def difference(self, one: Key, other: Key) -> NDArray[np.float64]:
        """Return RAE of one less that of the other, float64 [n], where both have a repetition.

        A method with fewer trainings has the first ones.
        """
        pairs = zip(self.outcomes[one], self.outcomes[other], strict=False)
        return np.array([left.scores.rae - right.scores.rae for left, right in pairs])


def document(suite: Suite, order: Order, finished: Sequence[Finished]) -> Entry:
    """Return the results of a suite; a score that a method does not give is None."""
    table = Table.of(finished)
    reference = reference_of(order.methods)
    return {
        "evaluation": "nas",
        "suite": suite.name,
        "title": suite.title,
        "plan": {**asdict(order.plan), "ks": list(order.plan.ks)},
        "chooser": "each method" if order.own_probes else order.chooser,
        "reference": reference,
        "significance_test": TEST,
        "clock": "processor",
        "methods": [
            {
                "name": name,
                "label": METHODS[name].label,
                "own_probes": METHODS[name].own_probes,
                "trainings": order.trainings_of(name),
            }
            for name in order.methods
        ],
        "cells": [_cell(table, key) for key in table.outcomes],
        "means": [_mean(table, method, k) for method in order.methods for k in order.plan.ks],
        "comparisons": [
            entry
            for method in order.methods
            if method != reference
            for k in order.plan.ks
            for entry in _comparisons(table, reference, method, k)
        ],
        "curves": [_curve(table, key) for key in table.outcomes if key[3] == max(order.plan.ks)],
        "seconds": [_seconds(finished, method) for method in order.methods],
    }


def reference_of(methods: Sequence[str]) -> str:
    """Return the method that the others are compared with: ours, else the hand features."""
    for name in (OURS, HAND_FEATURES):
        if name in methods:
            return name
    return methods[-1]


def _cell(table: Table, key: Key) -> Entry:
    method, partition, device, k = key
    return {
        "method": method,
        "partition": partition,
        "device": device,
        "k": k,
        "repetitions": len(table.outcomes[key]),
        **{score: _mean_of(table.values(key, score)) for score in SCORES},
        "rae_std": _std_of(table.values(key, "rae")),
        "paper_rae": TABLE1.get(method, {}).get((partition, device)),
    }


def _mean(table: Table, method: str, k: int) -> Entry:
    """Return means over cells of means over repetitions, and the least of the coverages."""
    keys = [key for key in table.outcomes if key[0] == method and key[3] == k]
    means: dict[str, float | None] = {}
    for score in SCORES:
        of_cells = [_mean_of(table.values(key, score)) for key in keys]
        scored = [value for value in of_cells if value is not None]
        means[score] = _mean_of(scored) if scored else None
    coverages = [table.values(key, "coverage") for key in keys]
    printed = [TABLE1.get(method, {}).get((key[1], key[2])) for key in keys]
    paper = [value for value in printed if value is not None]
    return {
        "method": method,
        "k": k,
        "cells": len(keys),
        **means,
        "rae_std": _mean_of([_std_of(table.values(key, "rae")) or 0.0 for key in keys]),
        "least_coverage": min((float(np.mean(c)) for c in coverages if c), default=None),
        "paper_rae": _mean_of(paper) if len(paper) == len(keys) else None,
    }


def _comparisons(table: Table, reference: str, method: str, k: int) -> list[Entry]:
    """Compare with the reference cell by cell; a negative difference is in its favour."""
    cells = [key[1:] for key in table.outcomes if key[0] == method and key[3] == k]
    pairs = [table.difference((reference, *cell), (method, *cell)) for cell in cells]
    p_values = [signed_rank_test(difference) for difference in pairs]
    return [
        {
            "method": method,
            "partition": cell[0],
            "device": cell[1],
            "k": k,
            "difference": float(difference.mean()),
            "p": p,
            "p_holm": corrected,
        }
        for cell, difference, p, corrected in zip(
            cells, pairs, p_values, holm(p_values), strict=True
        )
    ]


def _curve(table: Table, key: Key) -> Entry:
    """Return the mean quantiles of the relative error over repetitions."""
    curves = np.array([outcome.curve for outcome in table.outcomes[key]])
    return {
        "method": key[0],
        "partition": key[1],
        "device": key[2],
        "k": key[3],
        "percent": np.round(curves.mean(axis=0), 4).tolist(),
    }


def _seconds(finished: Sequence[Finished], method: str) -> Entry:
    def mean(what: Callable[[Finished], float]) -> float:
        return float(np.mean([what(done) for done in finished if done.unit.method == method]))

    return {
        "method": method,
        "training": mean(lambda done: done.train_seconds),
        "trial": mean(lambda done: done.trial_seconds),
    }


def _mean_of(values: Sequence[float] | None) -> float | None:
    return float(np.mean(values)) if values else None


def _std_of(values: Sequence[float] | None) -> float | None:
    return float(np.std(values, ddof=1)) if values and len(values) > 1 else None
