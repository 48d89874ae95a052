"""Rows of Table 1 between the graph network as the paper has it and ``closertome``.

They measure the worth of each part: the head alone (zero-shot), the head fine-tuned, the posterior
of its residuals, the posterior on the graph network's own features, and the posterior on features
that belong to other architectures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from ctm_research.nas.method import Adapted, Predicted, Probes
from ctm_research.nas.methods.graph_network import (
    Recipe,
    TrainedGraphNetwork,
    train_graph_network,
)
from ctm_research.nas.methods.kernel_posterior import (
    AdaptedKernelPosterior,
    TrainedKernelPosterior,
    trained_once,
)
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from ctm_research.network.batch import GraphBatch, TargetBatch
from ctm_research.network.encoder import Encoding
from ctm_research.paper.film_tuning import FilmTuning, TunedNetwork, tune_film
from predictor.core.percentiles import Z80

RECIPE: Final = Recipe()
_TUNING: Final = FilmTuning()
_CHUNK: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Networks that all rows share: the graph network, and the kernels of ``closertome``."""

    graph: TrainedGraphNetwork
    kernels: TrainedKernelPosterior


Answer = Callable[[Networks, DeviceFacts, Probes], Adapted]
"""Adapts the trained networks to a device with its samples."""


@dataclass(frozen=True, slots=True)
class Row:
    """A method that answers with the graph network."""

    name: str
    answer: Answer

    def train(self, view: TrainView, seed: int) -> TrainedRow:
        """Train the networks, once for all rows."""
        return TrainedRow(Networks(_graph_once(view, seed), trained_once(view, seed)), self.answer)


@lru_cache(maxsize=2)
def _graph_once(view: TrainView, seed: int) -> TrainedGraphNetwork:
    return train_graph_network(view, seed, RECIPE)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedRow:
    """The networks after training."""

    networks: Networks
    answer: Answer

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> Adapted:
        """Answer for a device."""
        del seed
        return self.answer(self.networks, device, probes)


@dataclass(frozen=True, slots=True)
class Shuffled:
    """The posterior on features that belong to other architectures: the worth of none."""

    name: str = "closertome-shuffled"

    def train(self, view: TrainView, seed: int) -> TrainedKernelPosterior:
        """Train the networks and shuffle their features."""
        trained = trained_once(view, seed)
        order = np.random.default_rng(seed).permutation(len(trained.features))
        return TrainedKernelPosterior(trained.features[order], trained.regression)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedHead:
    """The head for one device.

    Attributes:
        trained: network and graphs.
        target: the device.
        tuned: the fine-tuned copy; None where nothing was tuned.
    """

    trained: TrainedGraphNetwork
    target: TargetBatch
    tuned: TunedNetwork | None

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Return medians; the head alone has no intervals."""
        return Predicted(np.exp(self.log_latency(architectures)))

    def log_latency(self, architectures: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return ln of the latencies in ms, float64 [n]."""
        chunks = np.array_split(architectures, max(1, len(architectures) // _CHUNK))
        with torch.no_grad():
            parts = [self._log_latency(_encode(self.trained, tuple(chunk))) for chunk in chunks]
        predicted: NDArray[np.float64] = torch.cat(parts).double().numpy()
        return predicted

    def _log_latency(self, encoding: Encoding) -> torch.Tensor:
        if self.tuned is not None:
            return self.tuned.log_latency(encoding, self.target)
        return self.trained.network.network.predict(encoding, self.target).log_latency[:, 0]


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedBoth:
    """The fine-tuned head, the regression of its residuals, and the samples."""

    head: AdaptedHead
    residual: TrainedKernelPosterior
    probes: Probes

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Return median and 80 % interval of head and posterior together."""
        seen, asked = self.probes.architectures, architectures
        missing = self.probes.log_latency() - self.head.log_latency(seen)
        regression = self.residual.regression.of(self.probes.latency_ms)
        features = self.residual.features
        posterior = regression.predict(features[seen], missing, features[asked])
        predicted = np.exp(self.head.log_latency(asked))
        return Predicted(
            predicted * posterior.quantile(0),
            predicted * posterior.quantile(-Z80),
            predicted * posterior.quantile(Z80),
        )


def zero_shot(networks: Networks, device: DeviceFacts, probes: Probes) -> AdaptedHead:
    """Answer from the HCV alone: no sample is used."""
    del probes
    return AdaptedHead(networks.graph, networks.graph.targets.encode([device]), None)


def tuned_head(networks: Networks, device: DeviceFacts, probes: Probes) -> AdaptedHead:
    """Fine-tune the head's FiLM on the samples."""
    trained = networks.graph
    target = trained.targets.encode([device])
    with torch.no_grad():
        encoding = _encode(trained, tuple(probes.architectures))
    measured = torch.from_numpy(probes.log_latency()).float()
    tuned = tune_film(trained.network.network, encoding, target, measured, tuning=_TUNING)
    return AdaptedHead(trained, target, tuned)


def both(networks: Networks, device: DeviceFacts, probes: Probes) -> AdaptedBoth:
    """Fine-tune the head; the posterior of its residuals follows when it is asked for."""
    return AdaptedBoth(tuned_head(networks, device, probes), networks.kernels, probes)


def of_graph(networks: Networks, device: DeviceFacts, probes: Probes) -> AdaptedKernelPosterior:
    """Take the graph network's features in place of those of ``closertome``."""
    del device
    return AdaptedKernelPosterior(networks.graph.features, networks.kernels.regression, probes)


ZERO_SHOT: Final = partial(Row, "closertome-zero-shot", zero_shot)
FILM: Final = partial(Row, "closertome-film", tuned_head)
BOTH: Final = partial(Row, "closertome-both", both)
GRAPH: Final = partial(Row, "closertome-graph", of_graph)


@lru_cache(maxsize=32)  # the test architectures, again and again for each draw of probes
def _encode(trained: TrainedGraphNetwork, architectures: tuple[int, ...]) -> Encoding:
    graphs = trained.view.architectures.graphs.take(architectures)
    return trained.network.network.encode(GraphBatch.of(graphs))
