"""Expectations of a trained network as arrays, for validation and signatures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from ctm_research.corpus.corpus import Corpus, Rows
from ctm_research.network.term_network import TermNetwork
from ctm_research.training.inputs import CorpusInputs
from predictor.calibration.deviation import Expectation

_GRAPHS = 16  # at a time
_TARGETS = 48


def expectations(
    network: TermNetwork, corpus: Corpus, inputs: CorpusInputs, rows: Rows
) -> dict[tuple[int, int], Expectation]:
    """Return the expectation for every (graph, target) of the measurements ``rows``."""
    m = corpus.measurements
    pairs = np.unique(np.stack([m.graph[rows], m.target[rows]], axis=1).astype(np.int64), axis=0)
    network.eval()
    expected: dict[tuple[int, int], Expectation] = {}
    for graphs in _chunks(np.unique(pairs[:, 0]), _GRAPHS):
        wanted = pairs[np.isin(pairs[:, 0], graphs)]
        for targets in _chunks(np.unique(wanted[:, 1]), _TARGETS):
            chosen = wanted[np.isin(wanted[:, 1], targets)]
            expected.update(_expected(network, inputs, graphs, targets, chosen))
    return expected


def _expected(
    network: TermNetwork,
    inputs: CorpusInputs,
    graphs: NDArray[np.int64],
    targets: NDArray[np.int64],
    pairs: NDArray[np.int64],
) -> Iterator[tuple[tuple[int, int], Expectation]]:
    batch, running, operators = inputs.graphs(graphs)
    with torch.no_grad():
        encoded = network.encode(batch, running)
        terms = inputs.terms(operators, encoded.graph, graphs, targets)
        output = network(encoded, inputs.targets(targets), terms)
    parts, run_ms = output.parts_ms.double().numpy(), output.run_ms.double().numpy()
    responses = encoded.responses.double().numpy()
    first = np.searchsorted(encoded.graph.numpy(), np.arange(len(graphs) + 1))
    spans = [slice(*ends) for ends in pairwise(first.tolist())]
    # Copies: a view would keep the times on all targets; responses are those of the graph.
    own = [responses[span].copy() for span in spans]
    for graph, target in pairs.tolist():
        g, t = int(np.searchsorted(graphs, graph)), int(np.searchsorted(targets, target))
        yield (graph, target), Expectation(parts[spans[g], t].copy(), own[g], float(run_ms[t]))


def _chunks(values: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
