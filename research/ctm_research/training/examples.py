"""Training examples: one for each graph on each target of each source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.corpus import Corpus, Rows
from ctm_research.sources import Share


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """P examples; measurements of one graph on one target by one source are averaged.

    Attributes:
        source: int64 [P], index into ``Corpus.sources``.
        graph: int64 [P].
        target: int64 [P].
        log_latency: float64 [P], mean of ln(latency in ms).
        variance: float64 [P], of that mean, as far as the source has it.
    """

    source: NDArray[np.int64]
    graph: NDArray[np.int64]
    target: NDArray[np.int64]
    log_latency: NDArray[np.float64]
    variance: NDArray[np.float64]

    @classmethod
    def of(cls, corpus: Corpus, rows: Rows) -> Examples:
        """Average the measurements ``rows``."""
        m = corpus.measurements
        keys = np.stack([m.source[rows], m.graph[rows], m.target[rows]], axis=1).astype(np.int64)
        distinct, place = np.unique(keys, axis=0, return_inverse=True)
        place = place.ravel()
        count = np.bincount(place)
        mean = np.bincount(place, np.log(m.latency_ms[rows])) / count
        variance = np.bincount(place, m.noise[rows].astype(np.float64) ** 2) / count**2
        return cls(distinct[:, 0], distinct[:, 1], distinct[:, 2], mean, variance)

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """G graphs on T targets of one source, as far as they were measured.

    Attributes:
        source: index of the source.
        graphs: int64 [G].
        targets: int64 [T].
        log_latency: float64 [G, T], NaN where a graph was not measured on a target.
        variance: float64 [G, T], 0 there.
    """

    source: int
    graphs: NDArray[np.int64]
    targets: NDArray[np.int64]
    log_latency: NDArray[np.float64]
    variance: NDArray[np.float64]


class BlockSampler:
    """Draws blocks: a source by its weight, targets spread over its silicon, graphs at random."""

    def __init__(
        self,
        examples: Examples,
        silicon: tuple[str, ...],
        plan: Mapping[int, Share],
        rng: np.random.Generator,
    ) -> None:
        """Prepare.

        Args:
            examples: to draw from.
            silicon: of each target.
            plan: share of each source by its number; others are left out.
            rng: of every draw.
        """
        self._examples, self._silicon, self._rng = examples, silicon, rng
        self._rows = {
            source: np.flatnonzero(examples.source == source)
            for source in plan
            if (examples.source == source).any()
        }
        self._plan = {source: plan[source] for source in self._rows}
        weights = np.array([share.weight for share in self._plan.values()])
        self._chances = weights / weights.sum()

    def draw(self) -> Block:
        """Return a block of one source."""
        source = int(self._rng.choice(np.array(list(self._plan)), p=self._chances))
        share = self._plan[source]
        e, rows = self._examples, self._rows[source]
        targets = self._spread(np.unique(e.target[rows]))[: share.targets]
        rows = rows[np.isin(e.target[rows], targets)]
        graphs = self._rng.permutation(np.unique(e.graph[rows]))[: share.graphs]
        # Some targets may have none of these graphs, so both axes are taken again below.
        rows = rows[np.isin(e.graph[rows], graphs)]
        graphs, targets = np.unique(e.graph[rows]), np.unique(e.target[rows])
        latency = np.full((len(graphs), len(targets)), np.nan)
        variance = np.zeros(latency.shape)
        place = np.searchsorted(graphs, e.graph[rows]), np.searchsorted(targets, e.target[rows])
        latency[place] = e.log_latency[rows]
        variance[place] = e.variance[rows]
        return Block(source, graphs, targets, latency, variance)

    def _spread(self, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return targets in random order, first one of each silicon, then a second, and so on."""
        shuffled = self._rng.permutation(targets)
        seen: dict[str, int] = {}
        turn = np.empty(len(shuffled))
        for place, target in enumerate(shuffled.tolist()):
            key = self._silicon[target]
            turn[place] = seen[key] = seen.get(key, -1) + 1
        # A random part below 1 mixes silicon within a turn and never moves a target to another.
        return shuffled[np.argsort(turn + self._rng.random(len(turn)), kind="stable")]
