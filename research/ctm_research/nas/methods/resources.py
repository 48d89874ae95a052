"""Additive resources: needs of a graph in M learned quantities, summed over its operators."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ctm_research.network.encoder import Encoding
from ctm_research.network.graph_layers import segment_sum

_LEAST = 1e-6


class AdditiveResources(nn.Module):
    """Learned resources of graphs, and graph features that are linear in their logarithms.

    Every operator needs a positive amount of each resource (time on one kind of unit, traffic,
    launches), a function of its state; a graph needs their sum. The logarithm of a device's
    latency is close to linear in the logarithms of these sums.

    Args:
        width: d, of node states.
        resources: M.
        features: F.
        typical_nodes: operators of a usual graph; the scale of sums over operators.
    """

    def __init__(self, width: int, resources: int, features: int, typical_nodes: float) -> None:
        super().__init__()
        self.typical_nodes = typical_nodes
        self.amounts = nn.Sequential(
            nn.Linear(width, width), nn.SiLU(), nn.Linear(width, resources)
        )
        self.mix = resource_mix(resources, features)

    def forward(self, encoding: Encoding) -> Tensor:
        """Return graph features [G, F] of an encoding without targets (T = 1).

        They are not centred: the inner product of two centred rows is a covariance.
        """
        amounts = functional.softplus(self.amounts(encoding.states[:, 0]))  # [N, M]
        sums = segment_sum(amounts, encoding.graph, encoding.node_counts.shape[0])
        return mixed(self.mix, sums / self.typical_nodes)


def resource_mix(resources: int, features: int) -> nn.Linear:
    """Return the linear layer from the logarithms of M resources to F features."""
    mix = nn.Linear(resources, features, bias=False)
    nn.init.normal_(mix.weight, std=0.3 / resources**0.5)
    return mix


def mixed(mix: nn.Linear, resources: Tensor) -> Tensor:
    """Return features [G, F] of graphs that need these resources, [G, M], from 0 on."""
    features: Tensor = mix(torch.log(resources + _LEAST))
    return features
