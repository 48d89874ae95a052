"""Small networks of layers that formats write in ways of their own.

Weights of a layer are one number, as in ``four_networks.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

_WEIGHT: Final = 0.01


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.deep = nn.LSTM(32, 48, 2, batch_first=True, bidirectional=True)
        self.plain = nn.RNN(96, 24, batch_first=True)

    def forward(self, tokens: Tensor) -> Tensor:
        result: Tensor = self.plain(self.deep(tokens)[0])[0]
        return result


class _Windows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wider = nn.ConvTranspose2d(8, 16, 3, 2, 1)
        self.grouped = nn.Conv2d(16, 16, 3, padding=2, dilation=2, groups=4)
        self.normal = nn.GroupNorm(4, 16)
        self.tall = nn.Conv2d(16, 8, (3, 1), (2, 1))

    def forward(self, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        values = functional.leaky_relu(self.wider(values))
        values = functional.hardswish(self.normal(self.grouped(values)))
        values = self.tall(functional.pad(values, (1, 2, 0, 1)))
        pooled = functional.max_pool2d(values, 3, 2, 1)
        return pooled, functional.avg_pool2d(values, 2), functional.adaptive_max_pool2d(values, 1)


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mixed = nn.Linear(64, 192)
        self.joined = nn.Linear(64, 64, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length, width = tokens.shape
        parts = self.mixed(tokens).reshape(batch, length, 3, 4, 16).permute(2, 0, 3, 1, 4)
        queries, keys, values = parts.unbind(0)
        mixed = functional.scaled_dot_product_attention(queries, keys, values)
        result: Tensor = self.joined(mixed.transpose(1, 2).reshape(batch, length, width))
        return result


class _Pieces(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(40, 16)
        self.dense = nn.Linear(16, 16)

    def forward(self, tokens: Tensor, values: Tensor) -> tuple[Tensor, ...]:
        rows = self.dense(self.table(tokens))  # [2, 6, 16]
        first, second = rows.split([2, 4], 1)
        picture = values[:, 1:, ::2].unsqueeze(1)  # [2, 1, 5, 4, 8] to [2, 5, 4, 8]
        picture = functional.interpolate(picture.squeeze(1)[:, :4], scale_factor=2.0)
        best, _ = torch.topk(second.mean(-1), 3)
        joined = torch.cat([first, torch.roll(second, 1, 1)], 1)
        return functional.pixel_shuffle(picture, 2), best, joined.var(1), joined.argmax(-1)


LAYERS: Final[dict[str, tuple[Callable[[], nn.Module], tuple[Tensor, ...]]]] = {
    "attention": (_Attention, (torch.zeros(2, 12, 64),)),
    "pieces": (_Pieces, (torch.zeros(2, 6, dtype=torch.int32), torch.zeros(2, 6, 8, 8))),
    "recurrent": (_Recurrent, (torch.zeros(2, 10, 32),)),
    "windows": (_Windows, (torch.zeros(1, 8, 12, 12),)),
}
"""Function that makes a network, and inputs for it, by its name."""


def layers(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return a network of :data:`LAYERS` with constant weights, and its inputs."""
    make, inputs = LAYERS[name]
    module = make().eval()
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters(), 1):
            parameter.fill_(_WEIGHT * number)
    return module, inputs
