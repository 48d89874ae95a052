"""Selectors of reference networks, judged on silicon that the estimate has not seen.

The measured networks of a target stand in for the pool: a selector chooses k of them, and the
estimate with these predicts the others. One target of each silicon in each class is asked, that
with the most networks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.corpus import open_corpus
from ctm_research.evaluation.judge.asked import KS, Answers
from ctm_research.evaluation.judge.engines import Predicted
from ctm_research.evaluation.judge.estimate import EstimateEngine
from ctm_research.evaluation.judge.figures import of_silicon
from ctm_research.evaluation.judge.folds import silicon_folds
from ctm_research.evaluation.judge.groups import Floats, members, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows, judged_of
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device, Target
from predictor.core.resources import resources_dir
from predictor.cost.roofline import RooflineEngine
from predictor.engine.closertome import CloserToMeEngine
from predictor.graph.operator_graph import OperatorGraph
from predictor.presentation.markdown import table
from predictor.probing.choice import DBSEL, INFORMATION, SELECTORS
from predictor.probing.networks.pool import PoolNetwork, cost_by_kind, graph_features
from predictor.probing.selection.interface import Pool
from predictor.probing.selection.operator_design import OperatorDesign
from predictor.services.prediction.engines import CLOSERTOME

BY_OPERATORS: Final = f"{INFORMATION}, by operators"
NAMES: Final = (*SELECTORS, BY_OPERATORS)
_MOST_NETWORKS: Final = 60  # that a selector chooses among
_LEAST_SILICON: Final = 8
_DRAWN: Final = ("random", DBSEL)  # begin with a random draw
_RESAMPLES: Final = 2000

Entry = dict[str, Any]
Key = tuple[str, int, int]  # selector, k, draw


@dataclass(frozen=True, eq=False)
class Chooser:
    """Selectors over the measured networks of targets.

    Attributes:
        judged: the corpus.
        engine: whose operators ``BY_OPERATORS`` looks at.
        known: targets that DBSel compares networks by.
    """

    judged: Judged
    engine: CloserToMeEngine
    known: Sequence[Target]
    _graphs: dict[int, OperatorGraph] = field(default_factory=dict)
    _known_ms: dict[int, Floats] = field(default_factory=dict)

    def choose(self, name: str, rows: Rows, k: int, seed: int) -> Rows:
        """Return the measurements of k networks.

        Args:
            name: one of ``NAMES``.
            rows: [N], a measurement of each network of one target; a selector reads the latencies
                of those that it chooses.
            k: number of networks, under N.
            seed: of random draws.
        """
        graphs = [self._graph(int(graph)) for graph in self.judged.graph[rows]]
        if name == BY_OPERATORS:
            target = self.judged.targets[int(self.judged.target[rows[0]])]
            works = self.engine.operator_work(graphs, target)
            return rows[list(OperatorDesign(works).choose(k))]
        latency_ms = np.exp(self.judged.log_latency[rows])
        chosen = SELECTORS[name].select(
            self._pool(rows, graphs), k, lambda place: float(latency_ms[place]), seed
        )
        return rows[list(chosen.indices)]

    def _graph(self, index: int) -> OperatorGraph:
        if index not in self._graphs:
            self._graphs[index] = self.judged.corpus.graphs.operator_graph(index)
        return self._graphs[index]

    def _pool(self, rows: Rows, graphs: Sequence[OperatorGraph]) -> Pool:
        for index, graph in zip(self.judged.graph[rows].tolist(), graphs, strict=True):
            if index not in self._known_ms:
                self._known_ms[index] = RooflineEngine().predict([graph], self.known, {}).latency_ms
        known_ms = np.concatenate([self._known_ms[n] for n in self.judged.graph[rows].tolist()])
        networks = [
            PoolNetwork(
                name="",
                space="",
                code=(),
                fingerprint="",
                cost=cost_by_kind(graph),
                parameters=graph.parameters,
            )
            for graph in graphs
        ]
        # DBSel compares whole columns: a target without some estimate cannot take part.
        return Pool(known_ms[:, np.isfinite(known_ms).all(axis=0)], graph_features(networks))


def compare_selectors(
    data: Path,
    devices: Mapping[str, Device],
    *,
    seed: int,
    draws: int,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Entry:
    """Return the errors of the estimate with networks of each selector.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        seed: of folds and draws.
        draws: of selectors that begin at random.
        progress: told at each target.
        cancel: asks to stop.

    Raises:
        InputError: the folder holds no source, or a file in it is damaged.
        HostError: the cache of the corpus cannot be written.
        CancelledError: a stop was asked for.
    """
    judged = judged_of(open_corpus(data, progress=progress, cancel=cancel), devices)
    known = [Target(d, d.configurations[0]) for d in devices.values()]
    engine = CloserToMeEngine(resources_dir() / "checkpoints" / CLOSERTOME)
    chooser = Chooser(judged, engine, known)

    def asked(done: int, count: int) -> None:
        if cancel is not None:
            cancel.check()
        progress(Progress(done, count, "choosing networks of each silicon"))

    answers = _answers(judged, chooser.choose, seed, draws, asked)
    return {"evaluation": "selectors", "seed": seed, "draws": draws, **_figures(judged, answers)}


def _answers(
    judged: Judged,
    choose: Callable[[str, Rows, int, int], Rows],
    seed: int,
    draws: int,
    asked: Callable[[int, int], None],
) -> dict[Key, Answers]:
    """Return the predictions with the networks of each selector."""
    engine, targets = EstimateEngine(judged), set(_asked_targets(judged).tolist())
    rows: dict[Key, list[Rows]] = {
        (name, k, draw): []
        for name in NAMES
        for k in KS
        for draw in range(draws if name in _DRAWN else 1)
    }
    predicted: dict[Key, list[Predicted]] = {key: [] for key in rows}
    done = 0
    for fold in silicon_folds(judged, seed):
        fitted = engine.fit(judged, fold.train)
        for target, places in members(judged.target[fold.rows]):
            if target not in targets:
                continue
            asked(done, len(targets))
            done += 1
            mine = fold.rows[places]
            first, _ = numbered(judged.network[mine])
            some = np.random.default_rng((seed, target)).permutation(mine[first])[:_MOST_NETWORKS]
            for (name, k, draw), of_key in rows.items():
                read = choose(name, some, k, seed + draw)
                other = mine[~np.isin(judged.network[mine], judged.network[read])]
                of_key.append(other)
                predicted[name, k, draw].append(fitted.predict(other, {target: read}))
    return {key: Answers.joined(rows[key], predicted[key]) for key in rows}


def _asked_targets(judged: Judged) -> Rows:
    """Return the target with the most networks of each silicon in each class."""
    first, _ = numbered(judged.target[judged.rows], judged.network[judged.rows])
    networks = np.bincount(judged.target[judged.rows[first]], minlength=len(judged.targets))
    # One more than is measured: something must be left to predict.
    enough = np.flatnonzero((networks > max(KS)) & (judged.klass >= 0))
    ordered = enough[np.argsort(-networks[enough], kind="stable")]
    first, _ = numbered(judged.klass[ordered], judged.silicon[ordered])
    return ordered[first]


def _figures(judged: Judged, answers: Mapping[Key, Answers]) -> Entry:
    tables = {key: of_silicon(judged, each) for key, each in answers.items()}
    one = tables[DBSEL, KS[0], 0]
    # The mean over draws of the error of each: a median over them would flatter what is drawn.
    error = {
        (name, k): np.mean([t.error for key, t in tables.items() if key[:2] == (name, k)], axis=0)
        for name in NAMES
        for k in KS
    }
    classes = [
        {
            "class": str(judged.classes[number]),
            "silicon": int((one.klass == number).sum()),
            "errors": {
                str(k): {
                    name: round(float(np.median(error[name, k][one.klass == number])), 4)
                    for name in NAMES
                }
                for k in KS
            },
        }
        for number in np.unique(one.klass).tolist()
        if (one.klass == number).sum() >= _LEAST_SILICON
    ]
    overall = [
        {
            "selector": name,
            "k": k,
            "pairs": len(one.klass),
            "error": round(float(np.median(error[name, k])), 4),
            **_against(error[name, k], error[DBSEL, k], one.silicon),
        }
        for name in NAMES
        for k in KS
    ]
    return {"classes": classes, "overall": overall}


def _against(error: Floats, usual: Floats, silicon: Rows) -> Entry:
    """Return the mean ratio of errors to DBSel's, with its 95 % interval over draws of silicon."""
    ratio = np.log(np.maximum(error, 1e-4) / np.maximum(usual, 1e-4))
    _, member = np.unique(silicon, return_inverse=True)
    count = int(member.max()) + 1
    sums, sizes = np.bincount(member, ratio, count), np.bincount(member, minlength=count)
    drawn = np.random.default_rng(0).integers(count, size=(_RESAMPLES, count))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.exp(np.quantile(means, (0.025, 0.975)))
    return {
        "ratio": round(float(np.exp(ratio.mean())), 3),
        "low": round(float(low), 3),
        "high": round(float(high), 3),
    }


_PAGE = """\
# Selectors of reference networks on published measurements

{origin}

Silicon is left out in ten folds, and the estimate is trained anew in each. Of the target with the
most networks of each silicon in each class, a selector chooses k among at most {most} of its
measured networks, and the estimate with these predicts the others. A figure is the median over
networks of the relative error, then over silicon. {dbsel} is live; it and random are drawn
{draws} times, and the mean of their errors counts. {operators} is what the product does: it goes
by the work of operators instead of counts of the graph. Published rows have no times of
operators, so what profiled probes add is not in here: see `benchmarks/probe_accuracy.py`. On
search spaces there are [more samples](nas-selectors.md).

## All classes

The ratio is the geometric mean over silicon and classes of a selector's error over that of
{dbsel}; its interval is over draws of silicon.

{overall}

## Median error in % of classes of at least {least} kinds of silicon

{classes}
"""


def selectors_page(figures: Entry, origin: str) -> str:
    """Return the Markdown page of ``compare_selectors``."""
    return _PAGE.format(
        origin=origin,
        most=_MOST_NETWORKS,
        least=_LEAST_SILICON,
        draws=figures["draws"],
        dbsel=DBSEL,
        operators=BY_OPERATORS,
        overall=table(
            ("selector", "k", "silicon and classes", "median error %", "ratio", "95 % interval"),
            (
                (
                    each["selector"],
                    each["k"],
                    each["pairs"],
                    100 * each["error"],
                    each["ratio"],
                    f"{each['low']:.3f} to {each['high']:.3f}",
                )
                for each in figures["overall"]
            ),
        ),
        classes=table(
            ("class", "silicon", *(f"{name}, k = {k}" for k in KS for name in NAMES)),
            (
                (
                    each["class"],
                    each["silicon"],
                    *(100 * each["errors"][str(k)][name] for k in KS for name in NAMES),
                )
                for each in figures["classes"]
            ),
        ),
    )
