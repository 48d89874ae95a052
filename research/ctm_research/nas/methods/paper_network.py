"""The paper's network on a search space: two graph layers, DBS in the nodes, FiLM, HODM, MLP.

A device's level is the mean of its log-latencies over the reference networks. The network learns
log-latencies relative to it, and reads the signature relative to it: the level of a device follows
from its own signature, on unseen devices too. Choices that the paper leaves open are written beside
the settings.

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

from ctm_research.nas.method import Probes
from ctm_research.nas.methods.devices import DeviceEncoder
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from ctm_research.network.batch import GraphBatch, TargetBatch
from ctm_research.network.config import NetworkConfig, Pooling
from ctm_research.network.encoder import Encoding
from ctm_research.paper.film_tuning import FilmTuning, TunedNetwork, tune_film
from ctm_research.paper.network import PaperNetwork
from predictor.core.errors import InputError

# A few train devices say little of how latency depends on their vectors: a device that is far
# from all of them is taken to be at the edge of what was seen, in standard deviations.
_FARTHEST: Final = 2.0
_TUNING: Final = FilmTuning(steps=30, rate=3e-3)
_ROBUST: Final = 0.3  # standard deviations; errors beyond count by their size, not its square
_SCALING_GRAPHS: Final = 500
_CHUNK: Final = 250

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PaperRecipe:
    """Settings of a network, its training and its fine-tuning.

    Rate, loss and steps are those that lower the training error fastest. The fine-tuning was chosen
    on train devices left out that are test devices of no partition of FBNet.

    Attributes:
        width: d.
        steps: minibatches.
        graphs: architectures of a minibatch.
        devices: train devices of a minibatch, all architectures on each.
        rate: largest learning rate; it rises and falls once.
        pooling: of the operators.
        tuning: of FiLM on the samples.
    """

    width: int = 32
    steps: int = 500
    graphs: int = 32
    devices: int = 3
    rate: float = 1e-2
    pooling: Pooling = Pooling.SUM
    tuning: FilmTuning = _TUNING


@dataclass(frozen=True, slots=True)
class Design:
    """Parts of the paper's network that are there.

    Attributes:
        hcv: HCV, FiLM and HODM; else an identifier for each device.
        signature: whether the DBS is joined to the nodes.
    """

    hcv: bool = True
    signature: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPaperNetwork:
    """A network after training.

    Attributes:
        network: whose weights stay as they are.
        targets: encoder of devices.
        view: training data.
        references: int64 [k], the networks whose latencies are the signature; empty without DBS.
        recipe: settings of the fine-tuning.
    """

    network: PaperNetwork
    targets: DeviceEncoder
    view: TrainView
    references: Integers
    recipe: PaperRecipe

    def adapt(self, device: DeviceFacts, probes: Probes) -> AdaptedPaperNetwork:
        """Fine-tune FiLM on the samples, which are the signature too where there is one.

        Raises:
            InputError: the samples are not those of the reference networks.
        """
        if len(self.references) and not np.array_equal(probes.architectures, self.references):
            raise InputError(
                f"probes of {device.name}",
                "they are not the reference networks that the signature is made of",
                "measure those that the method plans",
            )
        measured = probes.log_latency()
        level = float(measured.mean())
        relative = torch.from_numpy(measured - level).float()
        target = _near(self.targets.encode([device]))
        if len(self.references):
            target = replace(target, signature=relative[None])  # [1, k]
        if self.network.config.devices:
            last = self.network.config.devices - 1  # that of a device not seen in training
            target = replace(target, identifier=torch.tensor([last]))
        encoding = self.encode(probes.architectures, target)
        tuned = tune_film(self.network, encoding, target, relative, tuning=self.recipe.tuning)
        return AdaptedPaperNetwork(self, tuned, target, level)

    def encode(self, architectures: Integers, target: TargetBatch) -> Encoding:
        """Run the graph layers."""
        table = self.view.architectures.graphs.take(architectures)
        with torch.no_grad():
            return self.network.encode(GraphBatch.of(table), target)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedPaperNetwork:
    """A network for one device.

    Attributes:
        trained: the network of all devices.
        tuned: its fine-tuned copy.
        target: the device as the network reads it.
        level: mean of the measured log-latencies.
    """

    trained: TrainedPaperNetwork
    tuned: TunedNetwork
    target: TargetBatch
    level: float

    def log_latency(self, architectures: Integers) -> NDArray[np.float64]:
        """Return ln of the latencies in ms, float64 [n]."""
        parts = [
            self.tuned.log_latency(self.trained.encode(part, self.target), self.target)
            for part in _parts(architectures)
        ]
        predicted: NDArray[np.float64] = self.level + torch.cat(parts).double().numpy()
        return predicted

    def features(self, architectures: Integers) -> NDArray[np.float64]:
        """Return the pooled features that the readout reads, float64 [n, d]."""
        with torch.inference_mode():
            parts = [
                self.tuned.network.predict(
                    self.trained.encode(part, self.target), self.target
                ).fused[:, 0]
                for part in _parts(architectures)
            ]
        pooled: NDArray[np.float64] = torch.cat(parts).double().numpy()
        return pooled


def train_paper_network(
    view: TrainView, references: Integers, design: Design, recipe: PaperRecipe, seed: int
) -> TrainedPaperNetwork:
    """Train on a view.

    Args:
        view: train devices on train architectures.
        references: int64 [k], train architectures; read where the design has a signature.
        design: which parts the network has.
        recipe: sizes, steps and rates.
        seed: of weights and minibatches.
    """
    references = references if design.signature else references[:0]
    log_latency = view.log_latency()  # [T, D]
    # Rows of a view ascend, so a search gives the place of each reference.
    level_rows = np.searchsorted(view.rows, references) if len(references) else slice(None)
    relative = log_latency - log_latency[level_rows].mean(axis=0)
    targets = DeviceEncoder.fit(view.devices)
    network = _network(view, targets, relative, design, recipe, len(references), seed)
    train_targets = _near(targets.encode(view.devices))
    if design.signature:
        signature = torch.from_numpy(relative[level_rows].T.copy()).float()  # [D, k]
        train_targets = replace(train_targets, signature=signature)
    if not design.hcv:
        train_targets = replace(train_targets, identifier=torch.arange(len(view.devices)))
    _fit(network, view, train_targets, torch.from_numpy(relative).float(), recipe, seed)
    if (identifier := network.head.target.identifier) is not None:
        with torch.no_grad():
            # No train device has the last identifier: fine-tuning starts from the mean device.
            identifier.weight[-1] = identifier.weight[:-1].mean(dim=0)
    return TrainedPaperNetwork(network.eval(), targets, view, references, recipe)


def _network(
    view: TrainView,
    targets: DeviceEncoder,
    relative: NDArray[np.float64],
    design: Design,
    recipe: PaperRecipe,
    references: int,
    seed: int,
) -> PaperNetwork:
    graphs = view.architectures.graphs
    config = NetworkConfig(
        metrics=targets.names if design.hcv else (),
        devices=0 if design.hcv else len(view.devices) + 1,
        signature_size=references,
        width=recipe.width,
        pooling=recipe.pooling,
        log_mean=float(relative.mean()),
        log_std=float(relative.std()),
        typical_nodes=float(np.diff(graphs.node_offsets)[view.rows].mean()),
        seed=seed,
    )
    # Means and deviations of features need no more graphs than these.
    some = view.rows[:: max(1, len(view.rows) // _SCALING_GRAPHS)]
    return PaperNetwork(config, graphs.take(some).scaling())


def _fit(
    network: PaperNetwork,
    view: TrainView,
    targets: TargetBatch,
    relative: Tensor,
    recipe: PaperRecipe,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(network.parameters(), recipe.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.rate, total_steps=recipe.steps)
    batch = min(recipe.graphs, len(view.rows))
    devices = min(recipe.devices, len(view.devices))
    for _ in range(recipe.steps):
        place = rng.choice(len(view.rows), batch, replace=False)
        chosen = torch.from_numpy(rng.choice(len(view.devices), devices, replace=False))
        graphs = GraphBatch.of(view.architectures.graphs.take(view.rows[place]))
        predicted = network(graphs, _some(targets, chosen)).log_latency
        wanted = relative[torch.from_numpy(place)][:, chosen]
        error = (predicted - wanted) / network.config.log_std
        loss = nn.functional.huber_loss(error, torch.zeros_like(error), delta=_ROBUST)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()


def _some(targets: TargetBatch, chosen: Tensor) -> TargetBatch:
    """Return the targets of these indices."""
    identifier, signature = targets.identifier, targets.signature
    return TargetBatch(
        targets.values[chosen],
        targets.available[chosen],
        None if identifier is None else identifier[chosen],
        None if signature is None else signature[chosen],
    )


def _near(targets: TargetBatch) -> TargetBatch:
    return replace(targets, values=targets.values.clamp(-_FARTHEST, _FARTHEST))


def _parts(architectures: Integers) -> list[Integers]:
    return np.array_split(architectures, -(-len(architectures) // _CHUNK))
