"""Runs of a small network of work terms."""

from __future__ import annotations

import numpy as np
import torch

from ctm_research.network.batch import GraphBatch
from ctm_research.network.choices import CHOICES
from ctm_research.network.term_network import TargetInput, TermNetwork, TermOutput
from predictor.cost.columns import Columns
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import exact_features, scale_free
from predictor.network.reference_rates import ReferenceRates
from predictor.network.target_facts import TargetFacts, target_facts
from predictor.network.work_terms import off_chip_share, running_operators, work_terms
from tests.support.graphs import VIEW, Op, make_graph
from tests.support.tiny_engine import FACTS, TARGETS, TYPICAL

RATES = ReferenceRates.of(TARGETS, TYPICAL)

GRAPH = make_graph(
    [
        Op(macs=10**8, read=10**6, weights=10**5, written=10**6, window=(3, 3)),
        Op(flags=VIEW),
        Op(read=10**6, written=10**6),
        Op(macs=10**6, read=10**4, weights=10**6, written=4000, columns=1000),
    ]
)


def facts() -> TargetFacts:
    return target_facts(TARGETS, RATES, FACTS, CHOICES)


def inputs(graph: OperatorGraph) -> tuple[GraphBatch, torch.Tensor, torch.Tensor]:
    """Return the graph, the places of what runs, and the work terms."""
    costs = Columns.of(graph)
    operators, places = running_operators(costs)
    leaving = off_chip_share(costs.weights_by_width[None], costs.live_by_width[None], RATES)
    batch = GraphBatch(
        torch.from_numpy(graph.op_code.astype(np.int64)),
        torch.from_numpy(scale_free(exact_features(graph))),
        torch.from_numpy(graph.edges.astype(np.int64)),
        torch.zeros(len(graph), dtype=torch.int64),
        torch.tensor([len(graph)]),
    )
    return batch, torch.from_numpy(places), torch.from_numpy(work_terms(operators, leaving, RATES))


def as_input(found: TargetFacts) -> TargetInput:
    values = np.where(found.available, found.values, 0).astype(np.float32)
    return TargetInput(*map(torch.from_numpy, (values, found.available, found.choices)))


def run(
    network: TermNetwork, graph: OperatorGraph, targets: TargetInput | None = None
) -> TermOutput:
    batch, places, terms = inputs(graph)
    with torch.no_grad():
        return network(network.encode(batch, places), targets or as_input(facts()), terms)
