"""Corpus graphs and targets as the network reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ctm_research.corpus.corpus import Corpus
from ctm_research.network.batch import GraphBatch
from ctm_research.network.choices import CHOICES
from ctm_research.network.graph_table import ranges
from ctm_research.network.scaling import fit_scaling
from ctm_research.network.term_network import TargetInput
from ctm_research.training.statistics import fit_facts, fit_typical
from predictor.core.records import Device, Target
from predictor.cost.columns import OperatorColumns
from predictor.network.features import SCALE_FREE_NAMES, scale_free
from predictor.network.reference_rates import ReferenceRates, Typical
from predictor.network.scaling import Scaling
from predictor.network.target_facts import TargetFacts, target_facts
from predictor.network.work_terms import off_chip_share, work_terms


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Statistics that are fitted on training data before the network is.

    Attributes:
        features: scaling of the scale-free node features.
        facts: scaling of the metrics of targets.
        typical: rates where a fact is missing.
    """

    features: Scaling
    facts: Scaling
    typical: Typical

    @classmethod
    def fit(
        cls,
        corpus: Corpus,
        targets: list[Target],
        graph: NDArray[np.int64],
        target: NDArray[np.int64],
    ) -> Statistics:
        """Fit on the graphs and targets of training examples, which may repeat."""
        packed = corpus.graphs.packed
        nodes, _ = ranges(packed.node_offsets, np.unique(graph))
        rows = scale_free(packed.features[np.unique(packed.kind[nodes])])
        # Zeros mean that a feature does not apply, and stay out of the statistics (decision 0009).
        features = fit_scaling(SCALE_FREE_NAMES, np.where(rows != 0, rows, np.nan))
        seen = [targets[index] for index in np.unique(target).tolist()]
        devices: Mapping[str, Device] = {t.device.id: t.device for t in seen}
        typical = fit_typical(list(devices.values()))
        return cls(features, fit_facts(seen, ReferenceRates.of(seen, typical)), typical)


class CorpusInputs:
    """Tensors of the graphs and targets of a corpus."""

    def __init__(self, corpus: Corpus, targets: list[Target], statistics: Statistics) -> None:
        """Prepare the arrays that all batches share.

        Args:
            corpus: graphs and costs.
            targets: T, those of the corpus with their devices.
            statistics: fitted on training data.
        """
        self._packed, self._costs = corpus.graphs.packed, corpus.graphs.costs
        self._features = scale_free(self._packed.features)
        self._code = self._packed.op_code.astype(np.int64)
        self._rates = ReferenceRates.of(targets, statistics.typical)
        self.facts = target_facts(targets, self._rates, statistics.facts, CHOICES)
        self._leaving = off_chip_share(
            self._costs.weights_by_width, self._costs.live_by_width, self._rates
        )

    def graphs(self, indices: NDArray[np.int64]) -> tuple[GraphBatch, Tensor, OperatorColumns]:
        """Return the graphs, the places of the operators that run, and their costs."""
        packed = self._packed
        nodes, offsets = ranges(packed.node_offsets, indices)
        edges, edge_offsets = ranges(packed.edge_offsets, indices)
        kind, counts = packed.kind[nodes], np.diff(offsets)
        graph = np.repeat(np.arange(len(indices)), counts)
        # Edges count from their graph's first operator: shifted to its place in the batch.
        flat = packed.edges[:, edges] + np.repeat(offsets[:-1], np.diff(edge_offsets))
        running = np.flatnonzero(self._costs.launches[kind] > 0)
        batch = GraphBatch(
            torch.from_numpy(self._code[kind]),
            torch.from_numpy(self._features[kind]),
            torch.from_numpy(flat.astype(np.int64)),
            torch.from_numpy(graph),
            torch.from_numpy(counts),
        )
        return batch, torch.from_numpy(running), self._costs.operators(kind[running])

    def terms(
        self,
        operators: OperatorColumns,
        graph: Tensor,
        graphs: NDArray[np.int64],
        targets: NDArray[np.int64],
    ) -> Tensor:
        """Return the work terms of operators on targets in ms, float32 [R, T, terms].

        Args:
            operators: R of them.
            graph: int64 [R], index of the graph of each in ``graphs``.
            graphs: numbers of graphs.
            targets: numbers of T targets.
        """
        leaving = self._leaving[np.ix_(graphs, targets)][graph.numpy()]
        return torch.from_numpy(work_terms(operators, leaving, self._rates.take(targets)))

    def targets(self, indices: NDArray[np.int64]) -> TargetInput:
        """Return the facts of targets."""
        return as_tensors(self.facts, indices)


def as_tensors(facts: TargetFacts, indices: NDArray[np.int64]) -> TargetInput:
    """Return rows of facts as tensors; values that are not available are 0."""
    available = facts.available[indices]
    values = np.where(available, facts.values[indices], 0).astype(np.float32)
    return TargetInput(
        torch.from_numpy(values),
        torch.from_numpy(available),
        torch.from_numpy(facts.choices[indices]),
    )
