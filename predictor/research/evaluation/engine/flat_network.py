"""FLAT's network for operator graphs of any size.

Dense graph flow and graph attention run in concert on the operation embeddings, to which the
embedding of the target is joined; a target is a number, and nothing else is known of it. In the
search spaces of FLAT's paper a choice tells its size; here the features of operators do, with
their sizes, and beside the pooled states stand the graph's work, memory traffic and launches as
the supplementary encodings of the paper do.

Reference:
    Y. Akhauri and M. Abdelfattah, "On latency predictors for neural architecture search",
    MLSys 2024.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from predictor.network.batch import GraphBatch
from predictor.network.config import Attention, NetworkConfig, Pooling
from predictor.network.encoder import GraphEncoder
from predictor.network.features import FEATURE_NAMES
from predictor.network.graph_layers import bounded
from predictor.network.graph_table import ranges
from predictor.network.scaling import Scaling
from predictor.research.corpus import Corpus
from predictor.research.evaluation.engine.flat_measured import Floats, Rows

_WIDTH: Final = 32
_TARGET_WIDTH: Final = 16
_LAYERS: Final = 2
_AMOUNTS: Final = ("macs", "bytes", "launches")


class FlatGraphs:
    """Graphs of a corpus as the network reads them."""

    def __init__(self, corpus: Corpus, training: Rows) -> None:
        """Fit the scaling.

        Args:
            corpus: the graphs.
            training: int64 [G], graphs of training; nothing is fitted on others.
        """
        self._graphs = corpus.graphs
        packed = corpus.graphs.packed
        nodes, _ = ranges(packed.node_offsets, training)
        rows = packed.features[np.unique(packed.kind[nodes])]
        self.features = Scaling.fit(FEATURE_NAMES, np.where(rows > 0, rows, np.nan))
        self._amounts = Scaling.fit(_AMOUNTS, self._log_amounts(training))

    def batch(self, indices: Rows) -> tuple[GraphBatch, Tensor]:
        """Return G graphs, and the standardised logs of their amounts, float32 [G, 3]."""
        amounts = self._amounts.apply(self._log_amounts(indices))
        return GraphBatch.of(self._graphs.table(indices)), torch.from_numpy(amounts)

    def _log_amounts(self, indices: Rows) -> Floats:
        nodes, offsets = ranges(self._graphs.packed.node_offsets, indices)
        kind, costs = self._graphs.packed.kind[nodes], self._graphs.costs
        graph = np.repeat(np.arange(len(indices)), np.diff(offsets))
        columns = (costs.macs, costs.activation_bytes + costs.weight_bytes, costs.launches)
        sums = [np.bincount(graph, column[kind], len(indices)) for column in columns]
        return np.log1p(np.column_stack(sums))


class FlatNetwork(nn.Module):
    """Standardised log-latencies of graphs on targets that are known by their numbers.

    Args:
        features: statistics of the node features.
        targets: D, those of training; number D is a target that comes later.
    """

    def __init__(self, features: Scaling, targets: int) -> None:
        super().__init__()
        config = NetworkConfig(
            devices=targets + 1,
            signature_size=_TARGET_WIDTH,
            width=_WIDTH,
            layers=_LAYERS,
            attention=Attention.SOFTMAX,
            features=len(FEATURE_NAMES),
        )
        self.new = targets
        self.encoder = GraphEncoder(config, features)
        self.targets = nn.Embedding(targets + 1, _TARGET_WIDTH)
        self.readout = nn.Sequential(
            nn.Linear(2 * _WIDTH + len(_AMOUNTS), _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, 1)
        )

    def forward(self, graphs: GraphBatch, amounts: Tensor, targets: Tensor) -> Tensor:
        """Return [G, T].

        Args:
            graphs: G graphs.
            amounts: float32 [G, 3], of the same.
            targets: int64 [T], numbers.
        """
        encoded = self.encoder(graphs, self.targets(targets))
        total = bounded(encoded.total, Pooling.LOG_SUM)
        beside = amounts.unsqueeze(1).expand(-1, len(targets), -1)
        output: Tensor = self.readout(torch.cat([total, encoded.mean, beside], dim=-1))
        return output[..., 0]

    def start_new(self, target: int) -> None:
        """Let the new target start as one of training."""
        with torch.no_grad():
            self.targets.weight[self.new] = self.targets.weight[target]
