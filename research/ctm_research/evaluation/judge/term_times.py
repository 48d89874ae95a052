"""Terms of the physics of every measurement of a corpus, summed over operators of one kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus import Corpus
from ctm_research.evaluation.judge.groups import members
from ctm_research.evaluation.judge.judged import Judged, Rows
from predictor.core.arrays import Floats, Places
from predictor.core.records import Target
from predictor.cost.columns import OperatorColumns
from predictor.cost.operator_kinds import KINDS, is_convolution, operator_kinds
from predictor.cost.physics import TERMS, Work, term_times
from predictor.cost.rates.typical import FILLED, Rates, TypicalRates, likenesses
from predictor.graph.operator_graph import OperatorFlag
from predictor.network.features import FEATURE_NAMES


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """N operators of one graph on T targets, of which a form of the physics wants to know more.

    Attributes:
        operators: [N], their places among the distinct operators of the corpus.
        work: of them.
        products: [N, 4], groups, rows, columns and length of the sums.
        rates: of the targets.
        targets: [T], their numbers.
        weight_bytes: bytes of all weights of the graph, as in the file.
    """

    operators: Rows
    work: Work
    products: Floats
    rates: Rates
    targets: Rows
    weight_bytes: float


# From the times of N operators on T targets, [N, T, TERMS], to those of another form, [N, T, ...].
Change = Callable[[Floats, Asked], Floats]

_PLACE: Final = {name: number for number, name in enumerate(FEATURE_NAMES)}
_GEMM: Final = [_PLACE[f"log1p_gemm_{name}"] for name in ("groups", "m", "n", "k")]
_WINDOW: Final = [_PLACE[f"log1p_window_{name}"] for name in ("height", "width")]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DistinctOperators(OperatorColumns):
    """The U distinct operators of a corpus."""

    gemm: Floats
    op_code: NDArray[np.int16]
    window: Floats
    winograd: NDArray[np.bool_]
    volumes: NDArray[np.bool_]

    @classmethod
    def of(cls, corpus: Corpus) -> DistinctOperators:
        """Return those of a corpus."""
        packed, costs = corpus.graphs.packed, corpus.graphs.costs
        features = packed.features.astype(np.float64)
        return cls(
            width=costs.width,
            code=costs.code,
            macs=costs.macs,
            activation_bytes=costs.activation_bytes,
            weight_bytes=costs.weight_bytes,
            launches=costs.launches,
            gemm=np.rint(np.expm1(features[:, _GEMM])),
            op_code=packed.op_code,
            window=np.rint(np.expm1(features[:, _WINDOW])),
            winograd=features[:, _PLACE[f"flag_{OperatorFlag.WINOGRAD.name}".lower()]] > 0,
            volumes=costs.volumes,
        )

    def take(self, operators: Places) -> DistinctOperators:
        """Return some of the operators."""
        names = (field.name for field in fields(DistinctOperators))
        return DistinctOperators(**{name: getattr(self, name)[operators] for name in names})

    def work(self, weight_totals: Floats) -> Work:
        """Return the work of the operators, in a graph of these weights in bytes, [WIDTHS]."""
        return Work.rated(
            self,
            self.gemm[:, 3] * self.launches,
            weight_totals,
            is_convolution(self.op_code, self.window),
        )

    def kinds(self, batch: int | Floats) -> NDArray[np.int64]:
        """Return the kinds of the operators, where the graph has this batch, or that of each."""
        return operator_kinds(
            self.op_code,
            self.gemm,
            self.window,
            self.weight_bytes,
            self.winograd,
            self.volumes,
            batch,
        )


def sums_by_kind(
    judged: Judged,
    rates: Rates,
    rows: Rows,
    change: Change | None = None,
    terms: int = len(TERMS),
) -> NDArray[np.float32]:
    """Return the terms in ms of some measurements, float32 [R, len(KINDS), terms].

    Args:
        judged: the corpus.
        rates: of its T targets, without gaps.
        rows: [R] measurements.
        change: changes the times of operators before they are summed.
        terms: number of terms after the change.
    """
    corpus = judged.corpus
    packed, costs = corpus.graphs.packed, corpus.graphs.costs
    operators = DistinctOperators.of(corpus)
    sums = np.empty((len(rows), len(KINDS), terms), np.float32)
    for graph, places in members(judged.graph[rows]):
        targets, of_row = np.unique(judged.target[rows[places]], return_inverse=True)
        start, stop = packed.node_offsets[graph : graph + 2]
        # Equal operators are computed once: a network of equal blocks has few distinct ones.
        distinct, count = np.unique(packed.kind[start:stop], return_counts=True)
        mine = operators.take(distinct)
        work = mine.work(costs.weights_by_width[graph])
        of_targets = rates.take(targets)
        times = term_times(work, of_targets)
        if change is not None:
            held = float(costs.weights_by_width[graph].sum())
            times = change(
                times, Asked(distinct.astype(np.int64), work, mine.gemm, of_targets, targets, held)
            )
        of_kind = np.eye(len(KINDS))[mine.kinds(int(corpus.graphs.batch[graph]))]  # [U, K]
        summed = np.einsum("uk,u,utm->tkm", of_kind, count, times, optimize=True)
        sums[places] = summed[of_row]
    return sums


def kinds_in_corpus(corpus: Corpus, operators: DistinctOperators) -> NDArray[np.int64]:
    """Return the kinds of the U distinct operators, each as in one of its graphs, [U]."""
    packed = corpus.graphs.packed
    batch = np.ones(len(operators.code))
    batch[packed.kind] = np.repeat(corpus.graphs.batch, np.diff(packed.node_offsets))
    return operators.kinds(batch)


def completed(targets: Sequence[Target], rates: Rates) -> Rates:
    """Return rates without gaps: a missing one is typical among the targets."""
    groups = likenesses(targets)
    return typical_rates(rates, groups).complete(rates, groups)


def typical_rates(rates: Rates, groups: Sequence[Sequence[str]]) -> TypicalRates:
    """Return the medians of T targets that state rates, with the groups of each."""
    return TypicalRates(
        _medians(rates.matrix, groups),
        {name: _medians(getattr(rates, name) / rates.matrix, groups) for name in FILLED},
    )


def _medians(values: Floats, groups: Sequence[Sequence[str]]) -> dict[str, float]:
    stated: dict[str, list[float]] = {}
    for place in np.flatnonzero(np.isfinite(values)).tolist():
        for name in groups[place]:
            stated.setdefault(name, []).append(values[place])
    return {name: float(np.exp(np.median(np.log(rates)))) for name, rates in sorted(stated.items())}
