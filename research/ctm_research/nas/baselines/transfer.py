"""Networks that are trained on all train devices at once and fine-tuned on a few samples.

Common to LAD, BRP-NAS and FLAT: log-latency standardised by device, a device that the network
knows by a number, minibatches, fine-tuning, and settings chosen on train devices left out.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ctm_research.nas.baselines.held_out import best_setting
from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.spaces.space import Architectures, DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from ctm_research.network.repeatable import repeatable

_PRIOR_WEIGHT: Final = 3.0  # samples that the train devices' spread counts for
_CALIBRATION_RIDGE: Final = 1.0
_Z_LIMIT: Final = 8.0  # standard deviations; keeps a diverged fine-tuning finite
_CHUNK: Final = 512


class DeviceNetwork(nn.Module, ABC):
    """A network that knows devices by their number.

    The last number is that of the test device, unused while training.
    """

    @abstractmethod
    def forward(self, architectures: Tensor, device: int) -> Tensor:
        """Return standardised log-latencies [n] of architectures, int64 [n] into the space."""

    @abstractmethod
    def start_device(self, device: int, weights: Tensor) -> None:
        """Set the weights of a device to a mean of the others.

        Args:
            device: number of the device to start.
            weights: [D], of each train device, their sum 1.
        """


Tuning = tuple[int, float]
"""Steps and learning rate of fine-tuning."""

Build = Callable[[Architectures, int], DeviceNetwork]
"""Makes a fresh network for a space and a number of devices, the test device included."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of a network's training and fine-tuning.

    Attributes:
        steps: minibatches; each has one train device.
        batch: architectures in a minibatch.
        rate: learning rate at the start; it falls along a half cosine.
        weight_decay: of Adam.
        architectures: number of train architectures drawn for a training.
        nearest: whether the test device starts as the train device whose latencies of the samples
            are most correlated with its own, else as the mean of all.
        tunings: of fine-tuning, to choose from; every step takes all samples.
    """

    steps: int
    batch: int = 128
    rate: float = 1e-3
    weight_decay: float = 1e-5
    architectures: int = 3000
    nearest: bool = False
    tunings: tuple[Tuning, ...] = ((0, 1e-3), (20, 1e-3), (60, 1e-3), (60, 3e-3))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNetwork:
    """A network after training.

    Attributes:
        network: whose weights stay as they are.
        tuning: settings of the fine-tuning.
        nearest: start of a test device, see :class:`Recipe`.
        view: training data.
        spread: of log-latency on the mean train device.
    """

    network: DeviceNetwork
    tuning: Tuning
    nearest: bool
    view: TrainView
    spread: float

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedNetwork:
        """Start the device, fine-tune a copy on the samples, and fit scale and offset."""
        del device
        with repeatable(seed):
            network = copy.deepcopy(self.network)
            number = len(self.view.devices)
            network.start_device(number, self._weights(probes))
            target, centre, scale = self._standardised(probes)
            _tune(network, number, torch.from_numpy(probes.architectures), target, self.tuning)
        return AdaptedNetwork(network, number, centre, scale, probes)

    def _weights(self, probes: Probes) -> Tensor:
        count = len(self.view.devices)
        if not self.nearest or len(probes) < 2:
            return torch.full((count,), 1 / count)
        on_sources = np.log(
            np.column_stack(
                [self.view.latencies(d.name, probes.architectures) for d in self.view.devices]
            )
        )
        return nn.functional.one_hot(
            torch.tensor(_most_correlated(on_sources, probes)), count
        ).float()

    def _standardised(self, probes: Probes) -> tuple[Tensor, float, float]:
        """Return the samples in units of their spread, which few samples tell only in part."""
        measured = probes.log_latency()
        centre, count = float(measured.mean()), len(probes)
        variance = _PRIOR_WEIGHT * self.spread**2 + count * float(measured.var())
        scale = float(np.sqrt(variance / (_PRIOR_WEIGHT + count)))
        return torch.from_numpy((measured - centre) / scale).float(), centre, scale


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedNetwork:
    """A fine-tuned network, with the scale and offset that turn its output into a latency."""

    network: DeviceNetwork
    number: int
    centre: float
    scale: float
    probes: Probes

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Return latencies, with slope and offset fitted on the samples once more."""
        seen = self._output(self.probes.architectures)
        wanted = (self.probes.log_latency() - self.centre) / self.scale
        mean = seen.mean()
        # Ridge regression of the slope around 1, as one sample tells no slope.
        gain = float((seen - mean) @ (wanted - wanted.mean() - (seen - mean)))
        slope = 1 + gain / (float((seen - mean) @ (seen - mean)) + _CALIBRATION_RIDGE)
        predicted = wanted.mean() + slope * (self._output(architectures) - mean)
        return Predicted(np.exp(self.centre + self.scale * np.clip(predicted, -_Z_LIMIT, _Z_LIMIT)))

    def _output(self, architectures: NDArray[np.int64]) -> NDArray[np.float64]:
        self.network.eval()
        with torch.inference_mode():
            parts = [
                self.network(part, self.number)
                for part in torch.split(torch.from_numpy(architectures), _CHUNK)
            ]
        return torch.cat(parts).double().numpy()


def train_transferable(view: TrainView, build: Build, recipe: Recipe, seed: int) -> TrainedNetwork:
    """Train a network; its fine-tuning is chosen on train devices left out."""
    tuning = recipe.tunings[0]
    if len(recipe.tunings) > 1:
        short = replace(recipe, steps=recipe.steps // 3)
        tuning = best_setting(
            view,
            seed,
            recipe.tunings,
            lambda rest, each: _train(rest, build, short, tuning, each),
            lambda trained, each: replace(trained, tuning=each),
        )
    return _train(view, build, recipe, tuning, seed)


def _train(
    view: TrainView, build: Build, recipe: Recipe, tuning: Tuning, seed: int
) -> TrainedNetwork:
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(view.rows))[: recipe.architectures]
    log_latency = view.log_latency()
    target = torch.from_numpy(
        (log_latency - log_latency.mean(axis=0)) / log_latency.std(axis=0)
    ).float()  # [T, D]
    with repeatable(seed):
        network = build(view.architectures, len(view.devices) + 1)
        network.train()
        optimiser = torch.optim.Adam(
            network.parameters(), recipe.rate, weight_decay=recipe.weight_decay
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, recipe.steps)
        rows = torch.from_numpy(view.rows)
        for _ in range(recipe.steps):
            batch = torch.from_numpy(
                rng.choice(drawn, min(recipe.batch, len(drawn)), replace=False)
            )
            device = int(rng.integers(len(view.devices)))
            loss = nn.functional.mse_loss(network(rows[batch], device), target[batch, device])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            schedule.step()
    spread = float(log_latency.std(axis=0).mean())
    return TrainedNetwork(network, tuning, recipe.nearest, view, spread)


def _tune(
    network: DeviceNetwork, device: int, architectures: Tensor, target: Tensor, tuning: Tuning
) -> None:
    network.train()
    steps, rate = tuning
    optimiser = torch.optim.Adam(network.parameters(), rate)
    for _ in range(steps):
        loss = nn.functional.mse_loss(network(architectures, device), target)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()


def _most_correlated(log_latency: NDArray[np.float64], probes: Probes) -> int:
    """Return the column of [k, D] log-latencies that is most correlated with the samples."""
    centred = log_latency - log_latency.mean(axis=0)
    measured = probes.log_latency() - probes.log_latency().mean()
    length = np.linalg.norm(centred, axis=0)
    # A device that gives all samples one latency has no direction: its correlation is 0.
    return int(np.argmax(measured @ centred / np.where(length > 0, length, np.inf)))
