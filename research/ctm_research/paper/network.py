"""The network of the paper, whole: operator graphs and targets to log-latency.

The shipped engine has another network (``ctm_research.network.term_network``), of the same parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ctm_research.network.batch import GraphBatch, TargetBatch, check_shape
from ctm_research.network.config import NetworkConfig
from ctm_research.network.encoder import Encoding, GraphEncoder
from ctm_research.network.graph_layers import bounded, segment_sum
from ctm_research.network.hodm import Dialogue, FilmHodm
from ctm_research.network.repeatable import repeatable
from ctm_research.network.scaling import identity_scaling
from ctm_research.paper.checks import check_graphs
from ctm_research.paper.target_encoder import TargetEncoder
from predictor.core.errors import InputError
from predictor.network.features import FEATURE_NAMES
from predictor.network.scaling import Scaling


@dataclass(frozen=True, slots=True, eq=False)
class NetworkOutput:
    """The answer of the network for G graphs on T targets.

    Attributes:
        log_latency: ln of the latency in ms, [G, T].
        fused: input of the readout beside the target's description, [G, T, d].
        dialogue: attention in both directions, lambda and alpha_res; None without HODM.
    """

    log_latency: Tensor
    fused: Tensor
    dialogue: Dialogue | None


class PaperNetwork(nn.Module):
    """Predicts the log-latency of every graph of a batch on every target of a batch.

    Eq. (3) to (9) as written: the signature is joined to the node features, two graph layers,
    FiLM, HODM, and an MLP on its output joined with the HCV. Without a signature each graph is
    encoded once for all targets.

    Args:
        config: choices, and the seed of the initial weights.
        scaling: statistics of the node features, fitted on training graphs; identity where None.

    Reference:
        CloserToMe, Eq. (3) to (9).
    """

    def __init__(self, config: NetworkConfig, scaling: Scaling | None = None) -> None:
        super().__init__()
        names = FEATURE_NAMES[: config.features]
        self.config = config
        self.scaling = identity_scaling(names) if scaling is None else scaling
        if self.scaling.names != names:
            raise InputError(
                "scaling statistics",
                f"they are of {len(self.scaling.names)} columns, the network reads {len(names)}",
                "fit them on graphs of this version",
            )
        with repeatable(config.seed):
            self.encoder = GraphEncoder(config, self.scaling)
            self.head = Head(config)

    def encode(self, graphs: GraphBatch, targets: TargetBatch | None = None) -> Encoding:
        """Run the graph layers.

        Args:
            graphs: G graphs.
            targets: needed where the signature is joined to the node features.

        Raises:
            InputError: shapes or values do not fit.
        """
        check_graphs(graphs, self.config.features)
        joined = None
        if self.encoder.join is not None:
            if targets is None:
                raise InputError(
                    "signature",
                    "it is joined to the node features, and no targets are given",
                    "give the targets when graphs are encoded",
                )
            self.head.target.check(targets)
            joined = self.head.target.standardised_signature(targets)
        encoding: Encoding = self.encoder(graphs, joined)
        return encoding

    def predict(self, encoding: Encoding, targets: TargetBatch) -> NetworkOutput:
        """Run everything after the graph layers.

        Args:
            encoding: of G graphs; with a signature of these very targets.
            targets: T targets.

        Raises:
            InputError: shapes or values do not fit.
        """
        self.head.target.check(targets)
        columns = 1 if self.encoder.join is None else len(targets)
        shape = (encoding.graph.shape[0], columns, self.config.width)
        check_shape("encoded graphs", encoding.states, shape)
        output: NetworkOutput = self.head(encoding, targets)
        return output

    def forward(self, graphs: GraphBatch, targets: TargetBatch) -> NetworkOutput:
        """Encode and predict; see both."""
        return self.predict(self.encode(graphs, targets), targets)


class Head(nn.Module):
    """From node states and targets to log-latency: FiLM, HODM, readout.

    Args:
        config: of the network.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.target = TargetEncoder(config)
        self.film_hodm = None if config.devices else FilmHodm(config, self.target.width)
        self.readout = MlpReadout(config.width + self.target.width, config.width, config.dropout)

    def forward(self, encoding: Encoding, targets: TargetBatch) -> NetworkOutput:
        """Predict; arguments as of :meth:`PaperNetwork.predict`, which checks them."""
        description = self.target(targets)  # [T, target]
        dialogue = None
        if self.film_hodm is None:
            fused = self._pool(encoding).expand(-1, len(targets), -1)
        else:
            _, dialogue = self.film_hodm(encoding, encoding.states, description, targets)
            fused = dialogue.fused
        described = description.unsqueeze(0).expand(fused.shape[0], -1, -1)
        joined = torch.cat([fused, described], dim=-1)  # [G, T, d + target]
        log_latency = self.config.log_mean + self.config.log_std * self.readout(joined)
        return NetworkOutput(log_latency, fused, dialogue)

    def _pool(self, encoding: Encoding) -> Tensor:
        """Return [G, T, d] for networks without HODM."""
        total = segment_sum(encoding.states, encoding.graph, encoding.node_counts.shape[0])
        return bounded(total / self.config.typical_nodes, self.config.pooling)


class MlpReadout(nn.Module):
    """Reads the log-latency off the fused vector joined with the target's description.

    Args:
        inputs: width of both together.
        width: d.
        dropout: share of the inputs that are dropped in training.

    Reference:
        CloserToMe, "the fused representation from HODM and HCV is passed to an MLP".
    """

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(inputs, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, joined: Tensor) -> Tensor:
        """Return [G, T] of the joined vectors [G, T, inputs]."""
        raw: Tensor = self.layers(joined)
        return raw.squeeze(-1)
