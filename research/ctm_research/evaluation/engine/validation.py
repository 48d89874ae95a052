"""Zero-shot and few-shot validation on held-out parts of the corpus, for any engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus import Corpus, Split, few_shot, noise_floors
from predictor.calibration.scores import Answers, Scores, bootstrap
from predictor.core.errors import InputError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_ANSWERED: Final = ("predicted_ms", "low80_ms", "high80_ms", "low95_ms", "high95_ms")
EnginePredict = Callable[[Rows, int, Rows], tuple[Floats, Floats, Floats, Floats, Floats]]
"""Predicts Q graphs of a corpus on one of its targets.

Args: numbers of the graphs [Q]; number of the target; the k measurements of it that were read.
Returns: P50, low and high of the 80 % interval, low and high of the 95 % interval, each float64 [Q]
in ms, NaN where there is none.
"""

ALL_SOURCES: Final = "all"
PARTS: Final = ("unseen_device", "unseen_network", "unseen_both")


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """N answers on one part of the corpus with one k.

    Attributes:
        part: name of the part.
        k: measurements of the target that were read.
        source: int64 [N], index into the corpus's sources.
        target: int64 [N], index into its targets.
        row: int64 [N], number of the measurement; once a seed.
        answers: of the engine.
    """

    part: str
    k: int
    source: Rows
    target: Rows
    row: Rows
    answers: Answers


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one source, part and k.

    Attributes:
        part: name of the part.
        source: its name, or ``all``.
        k: measurements of a target that were read.
        targets: their number.
        rows: distinct measurements that were predicted.
        scores: errors and intervals, over all seeds.
        spread: 95 % intervals of the scores over draws of targets; empty with one target.
        noise_floor_percent: median difference of two measurements of the same thing in the source;
            None where it has no repeats.
    """

    part: str
    source: str
    k: int
    targets: int
    rows: int
    scores: Scores
    spread: Mapping[str, tuple[float, float]]
    noise_floor_percent: float | None


@dataclass(frozen=True, eq=False)
class Validation:
    """All answers of a validation.

    Attributes:
        sources: names of the corpus's sources.
        floors: noise floor of each in percent, None where it has no repeats.
        answered: by part and k.
        seeds: number of draws of probes where there are any.
    """

    sources: tuple[str, ...]
    floors: tuple[float | None, ...]
    answered: Sequence[Answered]
    seeds: int

    @cached_property
    def figures(self) -> list[Figures]:
        """The figures by part, source and k, and those of all sources together."""
        rows = []
        for answered in self.answered:
            for source in np.unique(answered.source).tolist():
                mine = np.flatnonzero(answered.source == source)
                rows.append(_figures(answered, mine, self.sources[source], self.floors[source]))
            every = np.arange(len(answered.row))
            rows.append(_figures(answered, every, ALL_SOURCES, None))
        return rows

    def document(self) -> list[dict[str, object]]:
        """Return the figures as JSON-able entries, for a model card."""
        return [asdict(figures) for figures in self.figures]


def joined(validations: Sequence[Validation]) -> Validation:
    """Return the answers of several validations of one corpus as one."""
    first = validations[0]
    answered = [each for validation in validations for each in validation.answered]
    return Validation(first.sources, first.floors, answered, first.seeds)


def validate(
    predict: EnginePredict,
    corpus: Corpus,
    parts: Split | Mapping[str, Rows],
    ks: Sequence[int] | Mapping[str, Sequence[int]] = (0, 3, 8),
    seeds: int = 3,
    queries: int | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Validation:
    """Predict held-out measurements of a corpus.

    Of each target k rows are read, drawn by seed, and the others are predicted; all those of a
    target in one call. With k = 0 nothing is random and there is one seed.

    Args:
        predict: the engine.
        corpus: the measurements.
        parts: held-out rows by name; of a split its three unseen parts.
        ks: values of k, the same for all sources or by name; sources that a mapping does not name
            have 0, 3 and 8. Targets with no more than k graphs are left out.
        seeds: draws of probes for each k above 0.
        queries: most rows of a target that are predicted, drawn by seed; None for all.
        progress: told before each target.
        cancel: asks to stop.

    Raises:
        InputError: a k is negative, or there is nothing to predict.
        CancelledError: a stop was asked for.
    """
    if isinstance(parts, Split):
        parts = {name: getattr(parts, name) for name in PARTS}
    tasks = [
        _Task(name, k, seed, support, _drawn(query, queries, seed))
        for name, rows in parts.items()
        for k, of_k in _rows_by_k(corpus, rows, ks).items()
        for seed in range(seeds if k else 1)
        for support, query in few_shot(corpus, of_k, k, seed)
    ]
    if not tasks:
        raise InputError("validation", "no held-out target has rows enough", "hold out more")
    answered: dict[tuple[str, int], list[Answered]] = {}
    for done, task in enumerate(tasks):
        if cancel is not None:
            cancel.check()
        progress(Progress(done, len(tasks), f"{task.part}, k = {task.k}"))
        answered.setdefault((task.part, task.k), []).append(_answered(predict, corpus, task))
    floors = [floor.median_percent for floor in noise_floors(corpus)]
    return Validation(
        corpus.sources,
        tuple(None if np.isnan(floor) else floor for floor in floors),
        [_joined(parts) for parts in answered.values()],
        seeds,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    part: str
    k: int
    seed: int
    support: Rows
    query: Rows


def _rows_by_k(
    corpus: Corpus, rows: Rows, ks: Sequence[int] | Mapping[str, Sequence[int]]
) -> dict[int, Rows]:
    """Return the rows of the sources that have each k."""
    usual = (0, 3, 8) if isinstance(ks, Mapping) else tuple(ks)
    of_source = [
        tuple(ks.get(name, usual)) if isinstance(ks, Mapping) else usual for name in corpus.sources
    ]
    source = corpus.measurements.source[rows]
    return {
        k: rows[np.isin(source, [i for i, listed in enumerate(of_source) if k in listed])]
        for k in sorted({k for listed in of_source for k in listed})
    }


def _drawn(query: Rows, most: int | None, seed: int) -> Rows:
    if most is None or len(query) <= most:
        return query
    # A generator of its own, so that a limit on the queries leaves the draw of probes as it is.
    return np.sort(np.random.default_rng(seed).choice(query, most, replace=False))


def _answered(predict: EnginePredict, corpus: Corpus, task: _Task) -> Answered:
    """Predict one target; a graph that was measured several times is predicted once."""
    m = corpus.measurements
    graphs, place = np.unique(m.graph[task.query].astype(np.int64), return_inverse=True)
    columns = predict(graphs, int(m.target[task.query[0]]), task.support)
    return Answered(
        part=task.part,
        k=task.k,
        source=m.source[task.query].astype(np.int64),
        target=m.target[task.query].astype(np.int64),
        row=task.query,
        answers=Answers(
            measured_ms=m.latency_ms[task.query],
            **{name: column[place] for name, column in zip(_ANSWERED, columns, strict=True)},
        ),
    )


def _joined(parts: Sequence[Answered]) -> Answered:
    return Answered(
        parts[0].part,
        parts[0].k,
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.row for part in parts]),
        Answers.joined([part.answers for part in parts]),
    )


def _figures(answered: Answered, rows: Rows, source: str, floor: float | None) -> Figures:
    answers, targets = answered.answers.take(rows), answered.target[rows]
    return Figures(
        part=answered.part,
        source=source,
        k=answered.k,
        targets=len(np.unique(targets)),
        rows=len(np.unique(answered.row[rows])),
        scores=Scores.of(answers),
        spread=bootstrap(answers, targets),
        noise_floor_percent=floor,
    )
