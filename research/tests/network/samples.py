"""Small graphs, targets and networks for the tests of the network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from ctm_research.network.batch import GraphBatch, TargetBatch
from ctm_research.network.config import NetworkConfig
from ctm_research.network.graph_table import GraphTable
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import FEATURE_NAMES
from tests.support.graphs import Op, make_graph

METRICS = ("clock_mhz", "core_count", "dram_bw_gbps")


def chain(*macs: float) -> OperatorGraph:
    """Return a chain of operators with these MACs."""
    return make_graph(
        [Op(macs=round(count), read=4 * round(count), written=8, weights=16) for count in macs]
    )


def random_table(sizes: Sequence[int], seed: int = 0, edges_per_node: int = 2) -> GraphTable:
    """Return acyclic random graphs of these sizes; features as logs of counts are: from 0 on."""
    rng = np.random.default_rng(seed)
    nodes = int(np.sum(sizes))
    edges = [_random_edges(rng, size, edges_per_node) for size in sizes]
    return GraphTable(
        op_code=rng.integers(0, 200, nodes).astype(np.int16),
        features=rng.random((nodes, len(FEATURE_NAMES)), np.float32) * 3,
        edges=np.concatenate(edges, axis=1),
        node_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        edge_offsets=np.concatenate([[0], np.cumsum([e.shape[1] for e in edges])]).astype(np.int64),
    )


def _random_edges(rng: np.random.Generator, size: int, each: int) -> np.ndarray:
    pairs = {
        (int(rng.integers(0, consumer)), consumer)
        for consumer in range(1, size)
        for _ in range(each)
    }
    return np.array(sorted(pairs), np.int32).reshape(-1, 2).T


def random_graphs(sizes: Sequence[int], seed: int = 0) -> GraphBatch:
    return GraphBatch.of(random_table(sizes, seed))


def random_targets(config: NetworkConfig, count: int, seed: int = 0) -> TargetBatch:
    """Return targets with everything that ``config`` reads; the first metric is always known."""
    generator = torch.Generator().manual_seed(seed)
    metrics = len(config.metrics)
    available = torch.rand(count, metrics, generator=generator) > 0.4
    available[:, :1] = True
    return TargetBatch(
        values=torch.randn(count, metrics, generator=generator),
        available=available,
        identifier=torch.arange(count) if config.devices else None,
        signature=torch.randn(count, config.signature_size, generator=generator)
        if config.signature_size
        else None,
    )


def paper_config(**choices: object) -> NetworkConfig:
    """Return a small network with a signature, but for ``choices``."""
    defaults: dict[str, object] = {"metrics": METRICS, "width": 8, "signature_size": 4, "seed": 3}
    return NetworkConfig(**{**defaults, **choices})


def set_weights(module: torch.nn.Module, **weights: object) -> None:
    """Overwrite parameters by name, dots written as double underscores."""
    parameters = dict(module.named_parameters())
    for name, value in weights.items():
        parameter = parameters[name.replace("__", ".")]
        with torch.no_grad():
            parameter.copy_(torch.tensor(value, dtype=parameter.dtype).reshape(parameter.shape))
