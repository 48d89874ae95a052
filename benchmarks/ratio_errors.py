"""Errors of predicted ratios of two latencies of one network on one device.

``python -m benchmarks.ratio_errors --data DIR --output docs/results`` predicts the measurements of
the data folder by the estimate, trained without the silicon that is asked for. Then it compares
those of one network on one device under one runtime that differ in nothing but the batch, the
precision or the threads. The deviation is that of ln(ratio) which covers 80 % of the pairs, each
silicon weighing the same: ``predictor.services.prediction.sensitivity`` takes it for its intervals.
Nothing of the data is kept.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from benchmarks.common import Figure, add_arguments, report
from ctm_research.corpus import open_corpus
from ctm_research.evaluation.judge.estimate import EstimateEngine
from ctm_research.evaluation.judge.folds import silicon_folds
from ctm_research.evaluation.judge.judged import Judged, judged_of
from predictor.core.percentiles import Z80
from predictor.core.text import plural
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME

_FOLDS: Final = 5
_ROUNDING: Final = 0.05  # of a ratio of threads or batches


class _Run(NamedTuple):
    """A network as it was run, and ln(measured / predicted), the median of its measurements."""

    silicon: int
    fixed: tuple[object, ...]
    batch: int
    precision: str
    threads: int
    error: float


def main() -> int:
    """Work out the errors, print them and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=1)
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    options = parser.parse_args()
    runs = list(_runs(judged_of(open_corpus(options.data), load_catalogue().by_id)))
    figures = [
        figure
        for name, kept, is_pair in _COMPARED
        for figure in _figures(name, _pairs(runs, kept, is_pair))
    ]
    title = "Errors of ratios of two latencies"
    return report("ratio_errors", title, figures, options.output, engine=CLOSERTOME)


def _runs(judged: Judged) -> Iterator[_Run]:
    engine, error = EstimateEngine(judged), np.full(len(judged.log_latency), np.nan)
    for fold in silicon_folds(judged, 0, _FOLDS):
        predicted = engine.fit(judged, fold.train).predict(fold.rows, {})
        error[fold.rows] = judged.log_latency[fold.rows] - predicted.log_ms
    batch = np.asarray(judged.corpus.graphs.batch)[judged.graph]
    of_run: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for row in np.flatnonzero(np.isfinite(error)).tolist():
        key = int(judged.target[row]), int(judged.network[row]), int(batch[row])
        of_run[key].append(float(error[row]))
    for (place, network, size), errors in of_run.items():
        target = judged.targets[place]
        fixed = target.device.id, target.configuration.runtime, network
        precision = str(target.configuration.precision)
        silicon, middle = int(judged.silicon[place]), float(np.median(errors))
        yield _Run(silicon, fixed, size, precision, target.threads, middle)


_Test = Callable[[_Run, _Run], bool]


def _times(name: str, factor: float) -> _Test:
    def is_pair(one: _Run, other: _Run) -> bool:
        first, second = getattr(one, name), getattr(other, name)
        return bool(first) and abs(second / first - factor) < _ROUNDING * factor

    return is_pair


# What stays the same, and which two runs are compared.
_COMPARED: Final[tuple[tuple[str, tuple[str, ...], _Test], ...]] = (
    ("batch x 2", ("precision", "threads"), _times("batch", 2)),
    ("batch x 4", ("precision", "threads"), _times("batch", 4)),
    ("precision", ("batch", "threads"), lambda one, other: one.precision < other.precision),
    ("threads x 2", ("batch", "precision"), _times("threads", 2)),
)


def _pairs(runs: list[_Run], kept: tuple[str, ...], is_pair: _Test) -> dict[int, list[float]]:
    """Return the errors of ln(ratio) by silicon."""
    groups: dict[tuple[object, ...], list[_Run]] = defaultdict(list)
    for run in runs:
        groups[(*run.fixed, *(getattr(run, name) for name in kept))].append(run)
    errors: dict[int, list[float]] = defaultdict(list)
    for group in groups.values():
        for one, other in permutations(group, 2):
            if is_pair(one, other):
                errors[one.silicon].append(abs(other.error - one.error))
    return errors


def _figures(name: str, errors: Mapping[int, list[float]]) -> list[Figure]:
    values = np.concatenate([np.array(own) for own in errors.values()])
    weights = np.concatenate([np.full(len(own), 1 / len(own)) for own in errors.values()])
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    middle, wide = (values[order][np.searchsorted(reached, part)] for part in (0.5, 0.8))
    where = f"{name}, {plural(len(values), 'pair')} on {plural(len(errors), 'chip')}"
    return [
        Figure(f"{where}: median error", float(np.expm1(middle)) * 100, "%"),
        Figure(f"{where}: deviation of ln(ratio) that covers 80 %", float(wide / Z80), ""),
    ]


if __name__ == "__main__":
    sys.exit(main())
