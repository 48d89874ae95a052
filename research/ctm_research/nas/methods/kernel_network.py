"""Kernel networks: additive resources of each kernel by itself, without its neighbours.

The few hundred distinct kernels of a search space make a training of seconds: resources are learned
for each kernel once, and a graph's are its counts of kernels times them. Such networks stand beside
the graph network: together their features say more than one of them alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ctm_research.nas.methods.episodes import EpisodeSource, episode_loss
from ctm_research.nas.methods.resources import mixed, resource_mix
from ctm_research.nas.spaces.kernels import KernelTable
from ctm_research.nas.spaces.view import TrainView
from ctm_research.network.repeatable import repeatable
from predictor.graph.operators import OPERATOR_CODE

RESOURCES: Final = 48
FEATURES: Final = 32
_WIDTH: Final = 32
_SIZES: Final = (
    "macs",
    "bytes_read",
    "weight_bytes",
    "bytes_written",
    "groups",
    "rows",
    "columns",
    "depth",
)


@dataclass(frozen=True, slots=True)
class KernelRecipe:
    """Settings of a kernel network's training.

    Attributes:
        steps: episodes.
        batch: architectures of an episode.
        rate: largest learning rate; it rises and falls once.
        launch_bound: share of the analytic devices that are bound by launches.
    """

    steps: int = 400
    batch: int = 128
    rate: float = 5e-3
    launch_bound: float = 0.0


class KernelNetwork(nn.Module):
    """Learns the amount of each resource that a kernel needs, from its kind and sizes.

    Args:
        table: the distinct kernels.
        typical_launches: of a usual graph; the scale of sums over kernels.
    """

    seen: Tensor

    def __init__(self, table: KernelTable, typical_launches: float) -> None:
        super().__init__()
        self.typical_launches = typical_launches
        self.register_buffer("seen", torch.from_numpy(kernel_inputs(table)).float())
        self.amounts = nn.Sequential(
            nn.Linear(self.seen.shape[1], _WIDTH),
            nn.SiLU(),
            nn.Linear(_WIDTH, _WIDTH),
            nn.SiLU(),
            nn.Linear(_WIDTH, RESOURCES),
        )
        self.mix = resource_mix(RESOURCES, FEATURES)

    def forward(self, counts: Tensor) -> Tensor:
        """Return features [G, F] of graphs that launch each kernel as often as counts [G, K]."""
        # Softplus: no kernel needs a negative amount of a resource.
        amounts = nn.functional.softplus(self.amounts(self.seen))  # [K, M]
        return mixed(self.mix, counts @ amounts / self.typical_launches)


def train_kernel_network(view: TrainView, seed: int, recipe: KernelRecipe) -> NDArray[np.float64]:
    """Train on a view.

    Args:
        view: train devices on train architectures.
        seed: of weights, episodes and analytic devices.
        recipe: steps and rates.

    Returns:
        Float64 [A, F], the features of every architecture, centred over the train architectures.
    """
    rng = np.random.default_rng(seed)
    table = view.architectures.kernels
    counts = torch.from_numpy(table.counts).float()
    with repeatable(seed):
        network = KernelNetwork(table, float(table.counts[view.rows].sum(axis=1).mean()))
        source = EpisodeSource(view, recipe.batch, rng, recipe.launch_bound)
        optimiser = torch.optim.Adam(network.parameters(), recipe.rate)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, recipe.rate, total_steps=recipe.steps
        )
        for _ in range(recipe.steps):
            episode = source.draw()
            loss = episode_loss(network(counts[torch.from_numpy(episode.architectures)]), episode)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    with torch.inference_mode():
        return centred(network(counts), view)


def centred(features: Tensor, view: TrainView) -> NDArray[np.float64]:
    """Return features [A, F] as float64, centred over the train architectures."""
    values: NDArray[np.float64] = features.double().numpy()
    around: NDArray[np.float64] = values - values[view.rows].mean(axis=0)
    return around


def kernel_inputs(table: KernelTable) -> NDArray[np.float64]:
    """Return kind and standardised sizes of each kernel, float64 [K, I]."""
    operator, window = table.column("op_code"), table.column("window")
    grouped = table.column("groups") > 1
    depthwise = (operator == OPERATOR_CODE["Conv"]) & (window > 1) & grouped
    fused, strided = table.column("fused") > 0, table.column("stride") > 1
    sizes = np.log1p(np.column_stack([table.column(name) for name in _SIZES]).astype(np.float64))
    spread = sizes.std(axis=0)
    return np.column_stack(
        [
            operator[:, None] == np.unique(operator),
            window[:, None] == np.unique(window),
            grouped,
            depthwise,
            fused,
            strided,
            (sizes - sizes.mean(axis=0)) / np.where(spread > 0, spread, 1),
        ]
    )
