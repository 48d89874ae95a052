"""The graph network: the paper's network without a signature, and its training.

Two things are learned at once, on shared graph layers. The head (FiLM, HODM, readout) learns the
log-latency of train devices from their HCV. The additive resources learn features on which a
Bayesian regression does well on a device that was never seen: in each step the posterior of some
samples is asked for other architectures of the same device, and the error of its answer, in closed
form, is the loss.

Reference:
    CloserToMe, Eq. (3) to (9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ctm_research.nas.methods.devices import DeviceEncoder
from ctm_research.nas.methods.episodes import EpisodeSource, episode_loss
from ctm_research.nas.methods.kernel_network import FEATURES, RESOURCES, centred
from ctm_research.nas.methods.resources import AdditiveResources
from ctm_research.nas.spaces.view import TrainView
from ctm_research.network.batch import GraphBatch
from ctm_research.network.config import NetworkConfig
from ctm_research.network.encoder import Encoding
from ctm_research.network.repeatable import repeatable
from ctm_research.packed import PackedGraphs
from ctm_research.paper.network import PaperNetwork

_WIDTH: Final = 32
_HEAD_GRAPHS: Final = 12  # of a batch; the head costs as many times more as there are devices
_HEAD_WEIGHT: Final = 0.3
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of the training.

    Attributes:
        steps: episodes.
        batch: architectures of an episode.
        rate: largest learning rate; it rises and falls once.
    """

    steps: int = 300
    batch: int = 64
    rate: float = 3e-3


class GraphNetwork(nn.Module):
    """The paper's network without a signature, with additive resources on its graph layers.

    Args:
        network: graph layers and head.
    """

    def __init__(self, network: PaperNetwork) -> None:
        super().__init__()
        self.network = network
        config = network.config
        with repeatable(config.seed):
            self.resources = AdditiveResources(
                config.width, RESOURCES, FEATURES, config.typical_nodes
            )

    def features(self, encoding: Encoding) -> Tensor:
        """Return graph features [G, F], not centred."""
        features: Tensor = self.resources(encoding)
        return features


@dataclass(frozen=True, slots=True, eq=False)
class TrainedGraphNetwork:
    """A network after training, and its features of every graph of the space.

    Attributes:
        network: whose weights stay as they are.
        targets: encoder of devices.
        view: training data.
        features: float64 [A, F], of every architecture, centred over the train architectures.
    """

    network: GraphNetwork
    targets: DeviceEncoder
    view: TrainView
    features: NDArray[np.float64]


def train_graph_network(view: TrainView, seed: int, recipe: Recipe) -> TrainedGraphNetwork:
    """Train on a view.

    Args:
        view: train devices on train architectures.
        seed: of weights, episodes and analytic devices.
        recipe: steps and rates.
    """
    rng = np.random.default_rng(seed)
    targets = DeviceEncoder.fit(view.devices)
    with repeatable(seed):
        network = _network(view, targets, seed)
        source = EpisodeSource(view, recipe.batch, rng)
        optimiser = torch.optim.Adam(network.parameters(), recipe.rate)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, recipe.rate, total_steps=recipe.steps
        )
        head = _HeadLoss(view, targets)
        for _ in range(recipe.steps):
            episode = source.draw()
            encoding = _encode(network, view.architectures.graphs, episode.architectures)
            loss = episode_loss(network.features(encoding), episode)
            loss = loss + _HEAD_WEIGHT * head(network, encoding, episode.architectures)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    network.eval()
    return TrainedGraphNetwork(network, targets, view, _all_features(network, view))


def _network(view: TrainView, targets: DeviceEncoder, seed: int) -> GraphNetwork:
    log_latency = view.log_latency()
    graphs = view.architectures.graphs
    config = NetworkConfig(
        metrics=targets.names,
        width=_WIDTH,
        log_mean=float(log_latency.mean()),
        log_std=float(log_latency.std()),
        typical_nodes=float(np.diff(graphs.node_offsets)[view.rows].mean()),
        seed=seed,
    )
    scaling = graphs.take(view.rows[:: max(1, len(view.rows) // _CHUNK)]).scaling()
    return GraphNetwork(PaperNetwork(config, scaling))


def _encode(
    network: GraphNetwork, graphs: PackedGraphs, architectures: NDArray[np.int64]
) -> Encoding:
    return network.network.encode(GraphBatch.of(graphs.take(architectures)))


class _HeadLoss:
    """Mean squared error of the head's standardised log-latencies on the train devices."""

    def __init__(self, view: TrainView, targets: DeviceEncoder) -> None:
        self._view = view
        self._targets = targets.encode(view.devices)
        self._log_latency = torch.from_numpy(view.log_latency()).float()  # [T, D]

    def __call__(
        self, network: GraphNetwork, encoding: Encoding, architectures: NDArray[np.int64]
    ) -> Tensor:
        count = min(_HEAD_GRAPHS, len(architectures))
        # Rows of a view ascend, so a search gives the place of each architecture.
        rows = np.searchsorted(self._view.rows, architectures[:count])
        predicted = network.network.predict(
            first_graphs(encoding, count), self._targets
        ).log_latency
        error = (predicted - self._log_latency[rows]) / network.network.config.log_std
        loss: Tensor = (error**2).mean()
        return loss


def first_graphs(encoding: Encoding, count: int) -> Encoding:
    """Return the encoding of the first graphs of a batch."""
    # Nodes lie graph after graph, so the first graphs are a prefix.
    nodes = int(encoding.node_counts[:count].sum())
    return replace(
        encoding,
        states=encoding.states[:nodes],
        graph=encoding.graph[:nodes],
        node_counts=encoding.node_counts[:count],
        total=encoding.total[:count],
        mean=encoding.mean[:count],
    )


def _all_features(network: GraphNetwork, view: TrainView) -> NDArray[np.float64]:
    everything = np.arange(len(view.architectures))
    with torch.inference_mode():
        parts = [
            network.features(_encode(network, view.architectures.graphs, part))
            for part in np.array_split(everything, max(1, len(everything) // _CHUNK))
        ]
    return centred(torch.cat(parts), view)
