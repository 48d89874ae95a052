"""Weights as after training."""

from __future__ import annotations

import torch


def randomise(module: torch.nn.Module, seed: int = 0) -> None:
    """Give every parameter random values: none keeps a special start."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator))
