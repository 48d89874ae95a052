"""Errors of predictions of a graph that a latency measured on another device corrected.

``python -m benchmarks.scaling --data DIR --output docs/results`` predicts the measurements of the
data folder by the estimate, trained without the silicon (*unseen*) or without the device, whose
silicon stays (*near*). Then it takes each pair of targets with a graph in common: one is measured,
the other is corrected by ``predictor.calibration.graph_deviation``. Each pair of silicon weighs the
same. The first tables are the moments that the constants of that module are from, the last ones the
errors of the corrected targets. *Level known* leaves the median error of each target away, as after
some networks were measured there. Nothing of the data is kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Table, add_arguments, publish
from ctm_research.corpus import open_corpus
from ctm_research.evaluation.judge.estimate import EstimateEngine, with_likely_threads
from ctm_research.evaluation.judge.folds import Fold, device_folds, silicon_folds
from ctm_research.evaluation.judge.groups import medians, numbered
from ctm_research.evaluation.judge.judged import Judged, judged_of
from predictor.calibration import graph_deviation
from predictor.calibration.graph_deviation import REPEAT_VARIANCE, covariance
from predictor.core.percentiles import Z80
from predictor.core.records import Target
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_MOST_PAIRS: Final = 4000  # of targets, drawn of those with a graph in common
_MOST_GRAPHS: Final = 60  # of a pair
_LEAST_GRAPHS: Final = 8  # for the level of a target
_LEAST_SILICON: Final = 3
_OWN_LIMIT: Final = 1.0  # in ln: moments would else be those of a few outliers
_LIMIT: Final = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """ln(measured / predicted) of G graphs on T targets.

    Attributes:
        values: float64 [G, T]; NaN where it was not measured.
        deviation: float64 [T], of ln(latency), as intervals of the class have it.
        targets: T.
        silicon, device: int64 [T].
        kind, runtime, precision: str [T].
    """

    values: Floats
    deviation: Floats
    targets: list[Target]
    silicon: NDArray[np.int64]
    device: NDArray[np.int64]
    kind: NDArray[np.str_]
    runtime: NDArray[np.str_]
    precision: NDArray[np.str_]

    def level_known(self) -> Errors:
        """Return the errors about the median of each target that has enough graphs."""
        enough = np.isfinite(self.values).sum(axis=0) >= _LEAST_GRAPHS
        values = np.where(enough, self.values, np.nan)
        with np.errstate(all="ignore"):
            values = values - np.nanmedian(np.where(enough, values, 0.0), axis=0)
        deviation = np.full_like(self.deviation, np.sqrt(graph_deviation.GRAPH_VARIANCE))
        return Errors(
            values,
            deviation,
            self.targets,
            self.silicon,
            self.device,
            self.kind,
            self.runtime,
            self.precision,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """N errors of one graph on a measured and on a predicted target, and their weights.

    Attributes:
        measured, predicted: int64 [N], the targets.
        seen, error: float64 [N], errors on them.
        weight: float64 [N], the same in all for each pair of silicon.
        silicon: int64 [N], of the predicted target.
        chips: number of pairs of silicon.
    """

    measured: NDArray[np.int64]
    predicted: NDArray[np.int64]
    seen: Floats
    error: Floats
    weight: Floats
    silicon: NDArray[np.int64]
    chips: int

    def moments(self, limit: float) -> tuple[float, float, float]:
        """Return both variances and the covariance, of errors within a limit."""
        seen, error = np.clip(self.seen, -limit, limit), np.clip(self.error, -limit, limit)
        products = seen * seen, error * error, seen * error
        first, second, both = (float(np.average(each, weights=self.weight)) for each in products)
        return first, second, both

    def take(self, mask: Mask) -> Pairs:
        """Return some of them."""
        names = ("measured", "predicted", "seen", "error", "weight", "silicon")
        return Pairs(*(getattr(self, name)[mask] for name in names), self.chips)


def main() -> int:
    """Work out the errors, print them and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=1)
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    options = parser.parse_args()
    judged = judged_of(open_corpus(options.data), load_catalogue().by_id)
    engine = EstimateEngine(judged)
    settings = {
        "unseen": _errors(judged, engine, silicon_folds(judged, 0)),
        "near": _errors(judged, engine, device_folds(judged, 0)),
    }
    known = settings["unseen"].level_known()
    classes = list(_classes(known))
    rows = [
        *_moments(settings | {"level known": known}),
        *classes,
        *_corrected(settings | {"level known": known}),
    ]
    header = ("setting", "pairs", "of silicon", *_COLUMNS)
    cells = [[str(row.get(name, "")) for name in header] for row in rows]
    publish(
        "scaling",
        "A latency measured on one device, and the same graph on others",
        Table(header, cells),
        rows,
        options.output,
        _NOTES,
        CLOSERTOME,
    )
    return 0


_NOTES: Final = (
    (
        "*unseen*: the silicon of both targets was left out. *near*: the device was, its silicon "
        "stayed. *level known*: the median error of each target is taken away, as after some "
        "measured networks."
    ),
    (
        "Correlations of *moments* are of errors within 2 (*level known*: 1) in ln. Each row is of "
        "targets that share no more than it says."
    ),
    (
        "*class*: errors on other silicon of a class, corrected by the correlation of pairs that "
        "have nothing to do with that silicon. A class is moved where that lowers the error by "
        "2 %, at least four kinds of silicon were measured, and *unseen* is not worse by more "
        "than 2 %."
    ),
    "*corrected*: by the constants that ship. Relations of which nothing is moved are left out.",
    "*width*: mean factor on the interval in ln.",
)
_COLUMNS: Final = (
    "variance",
    "covariance",
    "correlation",
    "error %",
    "corrected %",
    "in 80 % before",
    "in 80 % after",
    "width",
)


def _errors(judged: Judged, engine: EstimateEngine, folds: list[Fold]) -> Errors:
    """Predict what each fold leaves out."""
    error = np.full(len(judged.log_latency), np.nan)
    for fold in folds:
        predicted = engine.fit(judged, fold.train).predict(fold.rows, {})
        error[fold.rows] = judged.log_latency[fold.rows] - predicted.log_ms
    rows = np.flatnonzero(np.isfinite(error))
    batch = np.asarray(judged.corpus.graphs.batch)[judged.graph[rows]]
    _, graph = numbered(judged.network[rows], batch)
    first, cell = numbered(judged.target[rows], graph)
    places, target = np.unique(judged.target[rows[first]], return_inverse=True)
    values = np.full((int(graph.max()) + 1, len(places)), np.nan)
    values[graph[first], target] = medians(cell, error[rows], len(first))
    targets = with_likely_threads(judged)
    classes = [judged.classes[number] for number in judged.klass[places].tolist()]
    kind = np.array([each.kind for each in classes])
    silicon = judged.silicon[places]
    return Errors(
        values,
        _deviations(values, silicon, judged.klass[places]),
        [targets[place] for place in places.tolist()],
        silicon,
        judged.device[places],
        kind,
        np.array([each.runtime for each in classes]),
        np.array([str(targets[place].configuration.precision) for place in places.tolist()]),
    )


def _deviations(values: Floats, silicon: NDArray[np.int64], klass: NDArray[np.int64]) -> Floats:
    """Return for each target the deviation whose 80 % interval holds 80 % of its class."""
    deviation = np.empty(len(silicon))
    for number in np.unique(klass).tolist():
        mine = klass == number
        if len(np.unique(silicon[mine])) < _LEAST_GRAPHS:
            mine = np.ones_like(mine)
        errors = [np.abs(each[np.isfinite(each)]) for each in values[:, mine].T]
        weight = np.concatenate([np.full(len(each), 1 / len(each)) for each in errors])
        wide = _quantile(np.concatenate(errors), weight, 0.8)
        deviation[klass == number] = wide / Z80
    return deviation


def _quantile(values: Floats, weight: Floats, share: float) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    return float(values[order][min(np.searchsorted(reached, share * reached[-1]), len(order) - 1)])


def _pairs(errors: Errors, mask: Mask) -> Pairs | None:
    """Draw pairs of targets of a mask [T, T], measured by predicted; None where there are none."""
    there = np.isfinite(errors.values)
    common = there.astype(np.float32).T @ there.astype(np.float32)
    np.fill_diagonal(common, 0)
    one, other = np.nonzero(mask & (common > 0))
    rng = np.random.default_rng(0)
    if len(one) > _MOST_PAIRS:
        drawn = rng.choice(len(one), _MOST_PAIRS, replace=False)
        one, other = one[drawn], other[drawn]
    if not len(one):
        return None
    first, chips = numbered(errors.silicon[one], errors.silicon[other])
    size = np.bincount(chips)
    parts = []
    for place, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        graphs = np.flatnonzero(there[:, a] & there[:, b])
        if len(graphs) > _MOST_GRAPHS:
            graphs = rng.choice(graphs, _MOST_GRAPHS, replace=False)
        weight = 1 / (len(graphs) * size[chips[place]])
        both = errors.values[graphs, a], errors.values[graphs, b]
        numbers = (np.full(len(graphs), each) for each in (a, b))
        parts.append((*numbers, *both, np.full(len(graphs), weight)))
    a, b, seen, error, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Pairs(a, b, seen, error, weight, errors.silicon[b], len(first))


def _relations(errors: Errors) -> Iterator[tuple[str, Mask]]:
    """Yield what two targets have in common, with the pairs of which that is all."""
    device, silicon, kind = _same(errors.device), _same(errors.silicon), _same(errors.kind)
    runtime, precision = _same(errors.runtime), _same(errors.precision)
    places = {
        "same device": device,
        "same silicon": silicon & ~device,
        "same kind": kind & ~silicon,
        "other kind": ~kind & ~silicon,
    }
    for place, mask in places.items():
        yield f"{place}, runtime and precision", mask & runtime & precision
        yield f"{place}, runtime", mask & runtime & ~precision
        yield f"{place}, precision", mask & ~runtime & precision
        yield place, mask & ~runtime & ~precision


def _same(keys: NDArray[np.generic]) -> Mask:
    equal: Mask = keys[:, None] == keys
    return equal


def _moments(settings: Mapping[str, Errors]) -> Iterator[dict[str, object]]:
    for setting, errors in settings.items():
        limit = _OWN_LIMIT if setting == "level known" else _LIMIT
        for name, mask in _relations(errors):
            pairs = _pairs(errors, mask)
            if pairs is not None:
                first, second, both = pairs.moments(limit)
                yield {
                    "setting": f"moments, {setting}",
                    "pairs": name,
                    "of silicon": pairs.chips,
                    "variance": round((first + second) / 2, 3),
                    "covariance": round(both, 3),
                    "correlation": round(both / float(np.sqrt(first * second)), 2),
                }


def _classes(errors: Errors) -> Iterator[dict[str, object]]:
    """Yield the correlation of graphs in each class, of different silicon, and whether it helps."""
    alike = _same(errors.runtime) & _same(errors.kind) & _same(errors.precision)
    alike &= ~_same(errors.silicon)
    for kind in np.unique(errors.kind).tolist():
        for runtime in np.unique(errors.runtime[errors.kind == kind]).tolist():
            mine = (errors.kind == kind) & (errors.runtime == runtime)
            pairs = _pairs(errors, alike & mine[:, None] & mine)
            if pairs is None or len(np.unique(pairs.silicon)) < _LEAST_SILICON:
                continue
            first, second, both = pairs.moments(_OWN_LIMIT)
            left_out = np.concatenate(
                [
                    np.full(int((pairs.silicon == each).sum()), _without(pairs, each))
                    for each in np.unique(pairs.silicon)
                ]
            )
            order = np.argsort(pairs.silicon, kind="stable")
            corrected = pairs.error[order] - left_out * pairs.seen[order]
            yield {
                "setting": "class, level known",
                "pairs": f"{kind} x {runtime}",
                "of silicon": pairs.chips,
                "variance": round((first + second) / 2, 3),
                "covariance": round(both, 3),
                "correlation": round(max(0.0, both / float(np.sqrt(first * second))), 2),
                "error %": _median(pairs.error, pairs.weight),
                "corrected %": _median(corrected, pairs.weight[order]),
            }


def _without(pairs: Pairs, silicon: int) -> float:
    """Return the slope of pairs that have nothing to do with one silicon."""
    targets = np.unique(pairs.predicted[pairs.silicon == silicon])
    rest = pairs.take(~np.isin(pairs.measured, targets) & (pairs.silicon != silicon))
    if not len(rest.seen):
        return 0.0
    first, second, both = rest.moments(_OWN_LIMIT)
    return max(0.0, both / float(np.sqrt(first * second)))


_KINDS: Final[tuple[tuple[str, str], ...]] = (
    ("nvidia", "nvidia"),
    ("x86", "x86"),
    ("arm", "arm"),
    ("x86", "arm"),
    ("arm", "x86"),
    ("npu", "npu"),
)


def _corrected(settings: Mapping[str, Errors]) -> Iterator[dict[str, object]]:
    """Yield errors and coverage before and after, by what targets share and by kind of device."""
    for setting, errors in settings.items():
        shared, tells = covariance(errors.targets, errors.deviation, np.arange(len(errors.targets)))
        shared *= tells
        variance = errors.deviation**2
        gain = shared / (variance + REPEAT_VARIANCE)  # [predicted, measured]
        width = np.sqrt(np.clip(1 - gain * shared / variance[:, None], 0, 1))
        for name, mask in (*_relations(errors), *_of_kinds(errors)):
            pairs = _pairs(errors, mask)
            if pairs is not None and (" to " in name or (mask & (shared > 0)).any()):
                yield {
                    "setting": f"corrected, {setting}",
                    "pairs": name,
                    "of silicon": pairs.chips,
                    **_figures(pairs, errors.deviation, gain, width),
                }


def _of_kinds(errors: Errors) -> Iterator[tuple[str, Mask]]:
    silicon = _same(errors.silicon)
    for one, other in _KINDS:
        mask = (errors.kind == one)[:, None] & (errors.kind == other)
        yield f"{one} to {other}, the same silicon", mask & silicon
        yield f"{one} to {other}, other silicon", mask & ~silicon
    for kind, runtime in graph_deviation.OF_CLASS:
        mine = (errors.kind == kind) & (errors.runtime == runtime)
        alike = mine[:, None] & mine & _same(errors.precision)
        yield f"{kind} x {runtime}, other silicon", alike & ~silicon


def _figures(pairs: Pairs, deviation: Floats, gain: Floats, width: Floats) -> dict[str, float]:
    places = pairs.predicted, pairs.measured
    after = pairs.error - gain[places] * pairs.seen
    wide = Z80 * deviation[pairs.predicted]
    return {
        "error %": _median(pairs.error, pairs.weight),
        "corrected %": _median(after, pairs.weight),
        "in 80 % before": _inside(np.abs(pairs.error) <= wide, pairs.weight),
        "in 80 % after": _inside(np.abs(after) <= wide * width[places], pairs.weight),
        "width": round(float(np.average(width[places], weights=pairs.weight)), 3),
    }


def _median(error: Floats, weight: Floats) -> float:
    """Return the median size of errors in percent."""
    return round(float(np.expm1(_quantile(np.abs(error), weight, 0.5))) * 100, 1)


def _inside(held: Mask, weight: Floats) -> float:
    return round(float(np.average(held, weights=weight)) * 100, 1)


if __name__ == "__main__":
    sys.exit(main())
