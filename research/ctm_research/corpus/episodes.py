"""Few-shot episodes: some measured graphs of a target, and other graphs of it to be predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from ctm_research.corpus.corpus import Corpus, Rows
from predictor.core.errors import InputError

NO_ROW: Final = -1
LARGEST_SUPPORT: Final = 30
_LEAST_GRAPHS = 2  # one to measure, one to predict


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """B episodes; a row is the number of a measurement, :data:`NO_ROW` where there is none.

    Attributes:
        target: int64 [B], the target of each.
        source: int64 [B], the source that its measurements are of.
        support: int64 [B, K], measured graphs, each graph once; k of them in front.
        query: int64 [B, Q], measurements of other graphs; those that there are in front.
    """

    target: Rows
    source: Rows
    support: Rows
    query: Rows

    def __len__(self) -> int:
        return len(self.target)

    @property
    def support_counts(self) -> Rows:
        """Int64 [B], k of each episode."""
        counts: Rows = (self.support != NO_ROW).sum(axis=1)
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Measurements of one source on one target, those of a graph side by side.

    Attributes:
        target: index of the target.
        rows: [R], by graph.
        starts: [G + 1], graph g has the rows from start g to start g + 1.
    """

    target: int
    rows: Rows
    starts: Rows

    @property
    def graph_count(self) -> int:
        return len(self.starts) - 1


class EpisodeSampler:
    """Draws episodes from some measurements of a corpus, those of a training part usually.

    A source is drawn first, then one of its targets, so that a source with many rows or targets
    counts no more than another. Deterministic under a seed.
    """

    def __init__(
        self,
        corpus: Corpus,
        rows: Rows,
        seed: int,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        """Prepare.

        Args:
            corpus: the measurements.
            rows: those to draw from.
            seed: of every draw.
            weights: of the sources by name, 1 where a name is missing, 0 to leave one out.

        Raises:
            InputError: a weight is negative or of no source of the corpus, or no source with a
                weight has a target with two graphs.
        """
        self._generator = np.random.default_rng(seed)
        self._groups = _groups(corpus, rows)
        chances = np.array(
            [_weight(corpus, weights or {}, source) for source in self._groups], np.float64
        )
        if not chances.sum() > 0:
            raise InputError(
                "episodes", "no target has two measured graphs to draw", "give more measurements"
            )
        self._sources = np.array(list(self._groups), np.int64)
        self._chances = chances / chances.sum()

    def draw(
        self, count: int, queries: int, supports: Sequence[int] = range(LARGEST_SUPPORT + 1)
    ) -> Episodes:
        """Draw episodes.

        A target with few graphs keeps at least one to be predicted, so its k may be smaller than
        the one drawn.

        Args:
            count: B, number of episodes.
            queries: Q, largest number of rows to predict.
            supports: the values of k, each as likely.

        Raises:
            InputError: a count is wrong.
        """
        if count < 1 or queries < 1 or not supports or min(supports) < 0:
            raise InputError(
                "episodes",
                f"{count} with {queries} queries and k of {list(supports)} cannot be drawn",
                "give counts above 0 and values of k from 0",
            )
        support = np.full((count, max(supports)), NO_ROW, np.int64)
        query = np.full((count, queries), NO_ROW, np.int64)
        sources = self._generator.choice(self._sources, count, p=self._chances)
        targets = np.empty(count, np.int64)
        for episode, source in enumerate(sources.tolist()):
            groups = self._groups[source]
            group = groups[int(self._generator.integers(len(groups)))]
            targets[episode] = group.target
            wanted = int(self._generator.choice(np.asarray(supports)))
            measured, other = _parted(self._generator, group, wanted)
            support[episode, : len(measured)] = measured
            chosen = self._generator.permutation(other)[:queries]
            query[episode, : len(chosen)] = chosen
        return Episodes(targets, sources, support, query)


def few_shot(corpus: Corpus, rows: Rows, support: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Return, for each target and source of ``rows``, ``support`` measured rows and all the others.

    For validation at a given k, which predicts the rest of a target's graphs. Targets with no
    more than ``support`` graphs are left out.

    Raises:
        InputError: ``support`` is negative.
    """
    if support < 0:
        raise InputError("k", f"it is {support}", "give a number from 0")
    generator = np.random.default_rng(seed)
    return [
        _parted(generator, group, support)
        for groups in _groups(corpus, rows, least=1).values()
        for group in groups
        if group.graph_count > support
    ]


def _weight(corpus: Corpus, weights: Mapping[str, float], source: int) -> float:
    for name, weight in weights.items():
        if name not in corpus.sources or not weight >= 0:
            raise InputError(
                f"weight of {name}",
                f"it is {weight}, or the corpus has no such source",
                f"name one of {', '.join(corpus.sources)} with a number from 0",
            )
    return weights.get(corpus.sources[source], 1.0)


def _groups(corpus: Corpus, rows: Rows, least: int = _LEAST_GRAPHS) -> dict[int, list[_Group]]:
    """Return the groups of each source that have at least ``least`` graphs."""
    m = corpus.measurements
    keys = np.array([m.source, m.target, m.graph])[:, rows]
    # lexsort takes its last key first: by source, then target, then graph.
    by_key = np.lexsort(keys[::-1])
    order, keys = rows[by_key], keys[:, by_key]
    new_graph = np.ones(len(order), np.bool_)
    new_graph[1:] = (np.diff(keys) != 0).any(axis=0)
    new_group = np.ones(len(order), np.bool_)
    new_group[1:] = (np.diff(keys[:2]) != 0).any(axis=0)
    bounds = [*np.flatnonzero(new_group).tolist(), len(order)]
    by_source: dict[int, list[_Group]] = {}
    for first, last in pairwise(bounds):
        starts = np.append(np.flatnonzero(new_graph[first:last]), last - first)
        group = _Group(int(keys[1, first]), order[first:last], starts)
        if group.graph_count >= least:
            by_source.setdefault(int(keys[0, first]), []).append(group)
    return by_source


def _parted(generator: np.random.Generator, group: _Group, support: int) -> tuple[Rows, Rows]:
    """Return one row of each measured graph, and every row of the other graphs."""
    # One graph at least is left to be predicted.
    count = min(support, group.graph_count - 1)
    chosen = generator.choice(group.graph_count, count, replace=False)
    first, last = group.starts[chosen], group.starts[chosen + 1]
    # A graph may have been measured more than once: one of its rows, at random.
    measured = group.rows[generator.integers(first, last)]
    others = np.ones(group.graph_count, np.bool_)
    others[chosen] = False
    return measured, group.rows[np.repeat(others, np.diff(group.starts))]
