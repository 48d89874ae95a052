"""LAD: a multi-layer regressor on the one-hot code of an architecture.

The published predictor belongs to one device. Here its hidden layers are shared, each train device
has an output of its own, and a test device starts with their mean.

Reference:
    Y. Xu et al., "Latency-aware differentiable neural architecture search", arXiv 2001.06392.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import torch
from torch import Tensor, nn

from ctm_research.nas.additive import one_hot
from ctm_research.nas.baselines.transfer import (
    DeviceNetwork,
    Recipe,
    TrainedNetwork,
    train_transferable,
)
from ctm_research.nas.spaces.space import Architectures
from ctm_research.nas.spaces.view import TrainView

_WIDTHS: Final = (128, 64)
_RECIPE: Final = Recipe(steps=3000, architectures=1 << 30)


@dataclass(frozen=True, slots=True)
class Lad:
    """The method ``lad``."""

    name: str = "lad"

    def train(self, view: TrainView, seed: int) -> TrainedNetwork:
        """Train hidden layers and outputs."""
        return train_transferable(view, LadNetwork, _RECIPE, seed)


class LadNetwork(DeviceNetwork):
    """Two hidden layers, and an output for each device."""

    def __init__(self, architectures: Architectures, devices: int) -> None:
        super().__init__()
        self.codes: Tensor
        self.register_buffer("codes", torch.from_numpy(one_hot(architectures)).float())
        widths = (self.codes.shape[1], *_WIDTHS)
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.hidden = nn.Sequential(*layers)
        self.outputs = nn.Linear(_WIDTHS[-1], devices)

    def forward(self, architectures: Tensor, device: int) -> Tensor:
        """See :class:`DeviceNetwork`."""
        output: Tensor = self.outputs(self.hidden(self.codes[architectures]))[:, device]
        return output

    def start_device(self, device: int, weights: Tensor) -> None:
        """See :class:`DeviceNetwork`."""
        with torch.no_grad():
            self.outputs.weight[device] = weights @ self.outputs.weight[: len(weights)]
            self.outputs.bias[device] = weights @ self.outputs.bias[: len(weights)]
