"""Four networks as torch modules, of which the files of ``tests/golden/formats`` are exports.

The weights of a layer are one number, so that the files compress to little, and another in each
layer, so that no exporter joins them; no test looks at results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn

_WEIGHT: Final = 0.01


def _convolution(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs))


class _InvertedResidual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers += [_convolution(inputs, hidden, 1), nn.ReLU6()]
        layers += [_convolution(hidden, hidden, 3, stride, hidden), nn.ReLU6()]
        layers += [_convolution(hidden, outputs, 1)]
        self.layers = nn.Sequential(*layers)
        self.joined = stride == 1 and inputs == outputs

    def forward(self, values: Tensor) -> Tensor:
        result: Tensor = self.layers(values)
        return values + result if self.joined else result


def mobilenet_v2() -> nn.Module:
    """MobileNetV2 at width 1, images of 224 x 224."""
    blocks = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)]
    blocks += [(6, 160, 3, 2), (6, 320, 1, 1)]
    layers: list[nn.Module] = [_convolution(3, 32, 3, 2), nn.ReLU6()]
    channels = 32
    for expansion, outputs, repeats, stride in blocks:
        for index in range(repeats):
            layers.append(
                _InvertedResidual(channels, outputs, stride if index == 0 else 1, expansion)
            )
            channels = outputs
    layers += [_convolution(320, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(1280, 1000))


class _Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        first = _convolution(inputs, outputs, 3, stride)
        self.layers = nn.Sequential(first, nn.ReLU(), _convolution(outputs, outputs, 3))
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else _convolution(inputs, outputs, 1, stride)

    def forward(self, values: Tensor) -> Tensor:
        return torch.relu(self.layers(values) + self.shortcut(values))


def resnet18() -> nn.Module:
    """ResNet-18, images of 224 x 224."""
    layers: list[nn.Module] = [_convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [_Residual(channels, outputs, stride), _Residual(outputs, outputs, 1)]
        channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class _TransformerBlock(nn.Module):
    def __init__(self, width: int = 256, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries = nn.Linear(width, width)
        self.keys = nn.Linear(width, width)
        self.values = nn.Linear(width, width)
        self.joined = nn.Linear(width, width)
        self.dense = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def _split(self, values: Tensor) -> Tensor:
        batch, length, width = values.shape
        return values.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        normal = self.before(tokens)
        queries, keys = self._split(self.queries(normal)), self._split(self.keys(normal))
        scores = torch.softmax(queries @ keys.transpose(-1, -2) / 8.0, dim=-1)
        mixed = (scores @ self._split(self.values(normal))).transpose(1, 2).reshape(tokens.shape)
        tokens = tokens + self.joined(mixed)
        result: Tensor = tokens + self.dense(self.between(tokens))
        return result


class _YoloHead(nn.Module):
    """Two scales: convolutions with SiLU, one upsampled and joined to the other, then boxes."""

    def __init__(self) -> None:
        super().__init__()
        self.coarse = nn.Sequential(_convolution(256, 128, 3), nn.SiLU())
        self.fine = nn.Sequential(_convolution(256, 128, 3), nn.SiLU())
        self.boxes = nn.ModuleList([nn.Conv2d(128, 84, 1), nn.Conv2d(128, 84, 1)])
        self.larger = nn.Upsample(scale_factor=2.0, mode="nearest")

    def forward(self, fine: Tensor, coarse: Tensor) -> Tensor:
        coarse = self.coarse(coarse)
        fine = self.fine(torch.cat([fine, self.larger(coarse)], 1))
        scales = [
            boxes(scale).flatten(2) for boxes, scale in zip(self.boxes, (fine, coarse), strict=True)
        ]
        joined = torch.cat(scales, 2)
        places, scores = joined.split([4, 80], 1)
        return torch.cat([places, scores.sigmoid()], 1)


NETWORKS: Final[dict[str, tuple[Callable[[], nn.Module], tuple[tuple[int, ...], ...]]]] = {
    "mobilenet_v2": (mobilenet_v2, ((1, 3, 224, 224),)),
    "resnet18": (resnet18, ((1, 3, 224, 224),)),
    "transformer_block": (_TransformerBlock, ((1, 128, 256),)),
    "yolo_head": (_YoloHead, ((1, 128, 40, 40), (1, 256, 20, 20))),
}
"""Function that makes a network, and the shapes of its inputs, by its name."""


def network(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return a network of :data:`NETWORKS` with weights of one number a tensor, and its inputs."""
    make, shapes = NETWORKS[name]
    module = make().eval()
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters(), 1):
            parameter.fill_(_WEIGHT * number)
    return module, tuple(torch.zeros(shape) for shape in shapes)
