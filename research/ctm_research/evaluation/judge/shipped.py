"""The engine as it ships, on a sample of the measurements.

It was trained on some of the sources. Silicon of theirs it has seen, the other it has not: the two
are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

import numpy as np

from ctm_research.evaluation.judge.asked import (
    KS,
    Answers,
    by_target,
    few_measured,
)
from ctm_research.evaluation.judge.engines import Predicted
from ctm_research.evaluation.judge.folds import Fold
from ctm_research.evaluation.judge.groups import members, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows
from predictor.core.percentiles import Z80
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import TargetId
from predictor.cost.engine import Engine, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.measurements.track_record import UNSEEN

SEEN: Final = "seen"
_MOST_NETWORKS: Final = 20  # of a target: an engine takes milliseconds for each
_DRAWS: Final = 1


def shipped_answers(
    engine: Engine,
    judged: Judged,
    learned: Collection[str],
    seed: int,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> dict[str, Answers]:
    """Ask a finished engine about some networks of each target.

    Args:
        engine: the engine.
        judged: the measurements.
        learned: names of the sources that it was trained on.
        seed: of the draws.
        progress: told now and then.
        cancel: asks to stop.

    Returns:
        Its answers on silicon that it has seen, on other silicon, and there after 3 and 8 measured
        networks.

    Raises:
        CancelledError: a stop was asked for.
    """
    rows = sample(judged, _MOST_NETWORKS, seed)
    new = ~np.isin(judged.silicon_of(rows), _silicon(judged, learned))
    asker = _Asker(engine, judged, progress, cancel or CancelToken())
    answers = {
        name: Answers.joined([part], [asker.zero_shot(part, name)])
        for name, part in ((SEEN, rows[~new]), (UNSEEN, rows[new]))
    }
    for k in KS:
        draws = list(few_measured(judged, Fold(rows[:0], rows[new]), k, _DRAWS, seed))
        answers[f"k={k}"] = Answers.joined(
            [other for _, other in draws],
            [asker.measured(other, by_target(judged, read), k) for read, other in draws],
        )
    return answers


def sample(judged: Judged, most: int, seed: int) -> Rows:
    """Draw networks of each target, at most so many; return one measurement of each."""
    first, _ = numbered(judged.target[judged.rows], judged.network[judged.rows])
    rows = judged.rows[first]
    target = judged.target[rows]
    order = np.lexsort((np.random.default_rng(seed).random(len(rows)), target))
    starts = np.flatnonzero(np.diff(target, prepend=-1))
    rank = np.arange(len(rows)) - np.repeat(starts, np.diff([*starts, len(rows)]))
    drawn: Rows = np.sort(rows[order[rank < most]])
    return drawn


def _silicon(judged: Judged, sources: Collection[str]) -> Rows:
    corpus = judged.corpus
    of_sources = [place for place, name in enumerate(corpus.sources) if name in sources]
    rows = np.flatnonzero(np.isin(corpus.measurements.source, of_sources))
    return np.unique(judged.silicon_of(rows))


class _Asker:
    """Asks an engine for rows of a corpus, graph by graph or target by target."""

    def __init__(
        self, engine: Engine, judged: Judged, progress: ProgressCallback, cancel: CancelToken
    ) -> None:
        self._engine, self._judged = engine, judged
        self._progress, self._cancel = progress, cancel
        self._graphs: dict[int, OperatorGraph] = {}

    def zero_shot(self, rows: Rows, name: str) -> Predicted:
        """Predict rows without measurements; every graph is encoded once."""
        return self._in_groups(rows, self._judged.graph[rows], name, lambda _: {})

    def measured(self, rows: Rows, measured: Mapping[int, Rows], k: int) -> Predicted:
        """Predict rows after measurements of their targets."""

        def of_target(target: int) -> dict[TargetId, TargetMeasurements]:
            own = measured[target]
            m = self._judged.corpus.measurements
            graphs = [self._graph(number) for number in self._judged.graph[own].tolist()]
            noise = m.noise[own].astype(np.float64)
            read = TargetMeasurements(
                signature_id="", graphs=graphs, latency_ms=m.latency_ms[own], noise=noise
            )
            return {self._judged.targets[target].id: read}

        return self._in_groups(rows, self._judged.target[rows], f"k = {k}", of_target)

    def _in_groups(
        self,
        rows: Rows,
        group: Rows,
        name: str,
        measured: Callable[[int], Mapping[TargetId, TargetMeasurements]],
    ) -> Predicted:
        log_ms, deviation = np.full((2, len(rows)), np.nan)
        count = len(np.unique(group))
        for done, (number, part) in enumerate(members(group)):
            self._cancel.check()
            if done % 20 == 0:
                self._progress(Progress(done, count, f"{self._engine.name}, {name}"))
            log_ms[part], deviation[part] = self._table(rows[part], measured(number))
        return Predicted(log_ms, deviation)

    def _table(
        self, rows: Rows, measured: Mapping[TargetId, TargetMeasurements]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict rows of one graph or of one target."""
        graphs, row = np.unique(self._judged.graph[rows], return_inverse=True)
        targets, column = np.unique(self._judged.target[rows], return_inverse=True)
        table = self._engine.predict(
            [self._graph(number) for number in graphs.tolist()],
            [self._judged.targets[number] for number in targets.tolist()],
            measured,
        )
        latency, high = table.latency_ms[row, column], table.high80_ms[row, column]
        return np.log(latency), np.log(high / latency) / Z80

    def _graph(self, number: int) -> OperatorGraph:
        # Engines know a graph again by its identity.
        if number not in self._graphs:
            self._graphs[number] = self._judged.corpus.graphs.operator_graph(number)
        return self._graphs[number]
