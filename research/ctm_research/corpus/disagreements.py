"""Measurements that disagree: with another source by more than 3 x, or with physics.

Each is listed with what could be found out about it. The explanations are data to be reviewed
(``explanations.csv`` beside the sources); what no row of it explains is said to be unexplained.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.corpus import Corpus, CorpusTarget
from ctm_research.corpus.ledger import RowClass, class_of
from ctm_research.corpus.single_operators import OPERATOR_FAMILY
from ctm_research.sources import graphs as joins
from ctm_research.sources.tables import Row, read_rows
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.cost.roofline import RooflineEngine

FACTOR: Final = 3.0
"""Of two sources on the same graph, device and configuration, from which on both are listed."""
SLOWER: Final = 30.0
"""Of the median of a class, from which on a time over its bound is listed."""
UNDER: Final = "under the bound"
SLOW: Final = f"over {SLOWER:g} x the class's median"
APART: Final = f"over {FACTOR:g} x apart"
EXPLANATIONS: Final = joins.OWN.with_name("explanations.csv")
UNEXPLAINED: Final = "unexplained"
COLUMNS: Final = ("kind", "source", "device", "runtime", "precision", "explanation")
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Rows of one target that disagree in one way.

    Attributes:
        kind: :data:`UNDER`, :data:`SLOW` or :data:`APART`.
        source: repositories that published them.
        device: id in the catalogue.
        runtime: of the target.
        precision: of the target.
        count: number of rows, or of graphs for :data:`APART`.
        factor: the largest, of the latency over bound, or class's median, or the other source.
        network: of that row.
        explanation: what is known of it.
    """

    kind: str
    source: str
    device: str
    runtime: str
    precision: str
    count: int
    factor: float
    network: str
    explanation: str = UNEXPLAINED


def disagreements(
    corpus: Corpus,
    devices: Mapping[str, Device],
    progress: ProgressCallback = no_progress,
    explanations: Path = EXPLANATIONS,
) -> list[Disagreement]:
    """Return what disagrees, of devices that the catalogue has.

    Args:
        corpus: the measurements.
        devices: the catalogue by id.
        progress: told while bounds are computed.
        explanations: the table of them.

    Raises:
        InputError: the table is damaged.
    """
    repositories = np.array([_repository(text) for text in corpus.provenances], dtype=object)
    of_rows = repositories[corpus.measurements.provenance]
    bounds_ms = _bounds(corpus, devices, progress)
    entries = [
        *_with_physics(corpus, devices, of_rows, bounds_ms),
        *_between_sources(corpus, of_rows),
    ]
    rows = list(read_rows(explanations, COLUMNS, only=True))
    return [replace(entry, explanation=_explanation(entry, rows)) for entry in entries]


def _repository(provenance: str) -> str:
    match = _REPOSITORY.match(provenance)
    return match.group() if match else provenance.partition(",")[0]


def _explanation(entry: Disagreement, rows: Sequence[Row]) -> str:
    for row in rows:
        cells = (getattr(entry, name) for name in COLUMNS[:-1])
        patterns = (row[name] for name in COLUMNS[:-1])
        if all(fnmatchcase(cell, pattern) for cell, pattern in zip(cells, patterns, strict=True)):
            return row["explanation"]
    return UNEXPLAINED


def _bounds(
    corpus: Corpus, devices: Mapping[str, Device], progress: ProgressCallback
) -> NDArray[np.float64]:
    """Return the physical bound of each measurement, [M]; NaN where it is not known."""
    m = corpus.measurements
    bounds_ms = np.full(len(m), np.nan)
    listed = np.array([target.device_id in devices for target in corpus.targets])
    operators = np.array([family == OPERATOR_FAMILY for family in corpus.families])
    rows = np.flatnonzero(listed[m.target] & ~operators[corpus.graphs.family[m.graph]])
    order = rows[np.argsort(m.graph[rows], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(m.graph[order])) + 1) if len(order) else []
    engine = RooflineEngine()
    for done, part in enumerate(parts):
        index = int(m.graph[part[0]])
        progress(Progress(done, len(parts), f"bound of {corpus.graphs.names[index]}"))
        numbers, column = np.unique(m.target[part], return_inverse=True)
        targets = [corpus.targets[number].target(devices) for number in numbers.tolist()]
        table = engine.predict([corpus.graphs.operator_graph(index)], targets, {})
        bounds_ms[part] = table.bound_ms[0][column]
    return bounds_ms


Key = tuple[str, str, int]  # kind, repository, target


def _with_physics(
    corpus: Corpus,
    devices: Mapping[str, Device],
    repositories: NDArray[np.object_],
    bounds_ms: NDArray[np.float64],
) -> list[Disagreement]:
    m = corpus.measurements
    over_bound = m.latency_ms / np.where(bounds_ms > 0, bounds_ms, np.nan)
    typical = _typical(corpus, devices, over_bound)
    groups: dict[Key, list[tuple[float, int]]] = defaultdict(list)
    for row in np.flatnonzero(over_bound < 1).tolist():
        key = (UNDER, repositories[row], int(m.target[row]))
        groups[key].append((float(over_bound[row]), row))
    for row in np.flatnonzero(over_bound > SLOWER * typical[m.target]).tolist():
        key = (SLOW, repositories[row], int(m.target[row]))
        groups[key].append((float(over_bound[row] / typical[m.target[row]]), row))
    return [_entry(corpus, key, members) for key, members in groups.items()]


def _typical(
    corpus: Corpus, devices: Mapping[str, Device], over_bound: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the median of latency over bound in the class of each target, [T]."""
    classes = [class_of(target, devices) for target in corpus.targets]
    members: dict[RowClass, list[int]] = defaultdict(list)
    for row in np.flatnonzero(np.isfinite(over_bound)).tolist():
        members[classes[int(corpus.measurements.target[row])]].append(row)
    medians = {key: float(np.median(over_bound[rows])) for key, rows in members.items()}
    return np.array([medians.get(key, np.nan) for key in classes])


def _entry(corpus: Corpus, key: Key, members: Sequence[tuple[float, int]]) -> Disagreement:
    kind, repository, number = key
    factor, row = min(members) if kind == UNDER else max(members)
    target = corpus.targets[number]
    return Disagreement(
        *(kind, repository, *_names(target)),
        count=len(members),
        factor=factor,
        network=corpus.graphs.names[int(corpus.measurements.graph[row])],
    )


def _names(target: CorpusTarget) -> tuple[str, str, str]:
    return target.device_id, target.configuration.runtime, str(target.configuration.precision)


def _between_sources(corpus: Corpus, repositories: NDArray[np.object_]) -> list[Disagreement]:
    """Return pairs of repositories that are far apart on the same graph and target."""
    m = corpus.measurements
    things: dict[tuple[int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in _comparable(corpus):
        by_repository = things[int(m.graph[row]), int(m.target[row])]
        by_repository[repositories[row]].append(float(m.latency_ms[row]))
    groups: dict[tuple[str, int], list[tuple[float, int]]] = defaultdict(list)
    for (graph, target), by_repository in things.items():
        if len(by_repository) > 1:
            medians = {name: float(np.median(times)) for name, times in by_repository.items()}
            fast, slow = (
                min(medians, key=medians.__getitem__),
                max(medians, key=medians.__getitem__),
            )
            factor = medians[slow] / medians[fast]
            if factor > FACTOR:
                groups[f"{slow}, {fast}", target].append((factor, graph))
    return [
        Disagreement(
            *(APART, names, *_names(corpus.targets[target])),
            count=len(members),
            factor=max(members)[0],
            network=corpus.graphs.names[max(members)[1]],
        )
        for (names, target), members in groups.items()
    ]


def _comparable(corpus: Corpus) -> Iterable[int]:
    """Yield rows whose target is one configuration: listed, and with its threads stated."""
    whole = np.array([t.is_listed and t.threads_stated for t in corpus.targets], np.bool_)
    rows: list[int] = np.flatnonzero(whole[corpus.measurements.target]).tolist()
    return rows
