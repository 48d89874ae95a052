"""Measurements, folds and tables that the systems share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.single_operators import OPERATOR_FAMILY
from ctm_research.evaluation.judge.estimate import with_likely_threads
from ctm_research.evaluation.judge.folds import Fold, silicon_folds
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.evaluation.judge.shipped import sample
from ctm_research.evaluation.judge.term_times import (
    DistinctOperators,
    completed,
    kinds_in_corpus,
    sums_by_kind,
)
from predictor.core.records import Precision
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import rates_of
from predictor.cost.rates.typical import Rates
from predictor.devices.architectures import KINDS as DEVICE_KINDS
from predictor.devices.architectures import kind

Floats = NDArray[np.float64]

FOLDS: Final = 5
MOST_NETWORKS: Final = 30  # of a target: a few image classifiers' tables would fill training
RESOURCES: Final = ("launches", "macs", "activation_bytes", "weight_bytes")


@dataclass(frozen=True, eq=False)
class Field:
    """Some measurements of a corpus with folds over silicon.

    Attributes:
        judged: the corpus of M measurements on T targets.
        rows: [R], one measurement of each drawn network of each target, ascending.
        folds: with training rows of all networks, and asked rows among ``rows``.
    """

    judged: Judged
    rows: Rows
    folds: tuple[Fold, ...]

    @classmethod
    def of(cls, judged: Judged, seed: int, folds: int = FOLDS) -> Field:
        """Draw the networks of each target and deal its silicon to folds."""
        rows = sample(judged, MOST_NETWORKS, seed)
        return cls(
            judged,
            rows,
            tuple(
                replace(fold, rows=fold.rows[np.isin(fold.rows, rows)])
                for fold in silicon_folds(judged, seed, folds)
            ),
        )

    def train_rows(self, train: Rows) -> Rows:
        """Return the drawn measurements among training rows."""
        return train[np.isin(train, self.rows)]

    def operator_rows(self, train: Rows) -> Rows:
        """Return the measurements of single operators among training rows."""
        families = self.judged.corpus.families
        if OPERATOR_FAMILY not in families:
            return train[:0]
        chosen: Rows = train[self.judged.family[train] == families.index(OPERATOR_FAMILY)]
        return chosen

    def graph_of(self, rows: Rows) -> Rows:
        """Return the graphs of some measurements."""
        graphs: Rows = self.judged.graph[rows]
        return graphs

    @cached_property
    def operators(self) -> DistinctOperators:
        """The distinct operators of the corpus."""
        return DistinctOperators.of(self.judged.corpus)

    @cached_property
    def kinds(self) -> Rows:
        """Kind of each distinct operator, index into ``KINDS``."""
        return kinds_in_corpus(self.judged.corpus, self.operators)

    @cached_property
    def rates(self) -> Rates:
        """Rates of the T targets at their peaks; a missing one is typical of its kind."""
        targets = with_likely_threads(self.judged)
        return completed(targets, rates_of(targets))

    @cached_property
    def resources(self) -> Floats:
        """Resources of each graph by kind of operator, float64 [G, len(KINDS), 4]."""
        packed = self.judged.corpus.graphs.packed
        graphs = len(packed)
        cell = np.repeat(np.arange(graphs), np.diff(packed.node_offsets)) * len(KINDS)
        cell += self.kinds[packed.kind]
        sums = [
            np.bincount(cell, getattr(self.operators, name)[packed.kind], graphs * len(KINDS))
            for name in RESOURCES
        ]
        whole: Floats = np.stack(sums, axis=-1).astype(np.float64)
        return whole.reshape(graphs, len(KINDS), len(RESOURCES))

    @cached_property
    def _terms(self) -> NDArray[np.float32]:
        return sums_by_kind(self.judged, self.rates, self.rows)

    def terms(self, rows: Rows) -> Floats:
        """Return the terms of the physics in ms of drawn rows, [n, len(KINDS), len(TERMS)]."""
        return self._terms[np.searchsorted(self.rows, rows)].astype(np.float64)

    @cached_property
    def statics(self) -> Floats:
        """Batch, operators and whole resources of each graph in logs, float64 [G, 5]."""
        whole = self.resources.sum(axis=1)
        batch = self.judged.corpus.graphs.batch.astype(np.float64)
        logs: Floats = np.log1p(np.column_stack([batch, whole]))
        return logs

    @cached_property
    def platforms(self) -> Floats:
        """Facts of each target in numbers, float64 [T, D]: rates in logs, kind, runtime, precision.

        The rates are those at the peaks in the precision of the run.
        """
        rates, targets = self.rates, self.judged.targets
        speeds = (rates.matrix, rates.vector, rates.unit, rates.bandwidth, rates.launch_s)
        runtimes = sorted({each.configuration.runtime for each in targets})
        columns = [np.log(each) for each in speeds]
        columns.append(np.log1p([float(max(each.threads, 0)) for each in targets]))
        kinds = [kind(each.device) for each in targets]
        for names, own in (
            (list(DEVICE_KINDS), kinds),
            (runtimes, [each.configuration.runtime for each in targets]),
            (
                [each.value for each in Precision],
                [e.configuration.precision.value for e in targets],
            ),
        ):
            columns += [np.array([each == name for each in own], float) for name in names]
        return np.column_stack(columns)
