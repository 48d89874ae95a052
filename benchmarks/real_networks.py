"""Write real networks as ONNX files: what probes are to predict, none of them a probe.

    python -m benchmarks.real_networks FOLDER

Published architectures at batch 1 with random weights, from timm and, for BERT, as plain operators
of torch. Needs torch, and timm with torchvision beside it. Statistics of batch normalisation are
those of random images, so that activations are of a usual size: with numbers near zero a processor
is far slower. Files that are there stay.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import timm
import torch
from torch import Tensor, nn

from benchmarks.real_sets import FIRST, LATER

OPSET: Final = 17
TOKENS: Final = 128
_WIDTH, _HEADS, _LAYERS, _WORDS = 768, 12, 12, 30522  # of BERT-base


class _Attention(nn.Module):
    """Attention over tokens, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(_WIDTH, _WIDTH) for _ in range(4))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return what each token of [1, L, D] takes from the others."""

        def heads(layer: nn.Module) -> Tensor:
            return layer(tokens).view(1, -1, _HEADS, _WIDTH // _HEADS).transpose(1, 2)

        scores = heads(self.query) @ heads(self.key).transpose(2, 3)
        weights = (scores / math.sqrt(_WIDTH // _HEADS)).softmax(-1)
        mixed = (weights @ heads(self.value)).transpose(1, 2)
        return self.out(mixed.reshape(1, -1, _WIDTH))


class _Layer(nn.Module):
    """One layer of BERT: attention and two products, normalised after each."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = _Attention()
        self.inner = nn.Sequential(
            nn.Linear(_WIDTH, 4 * _WIDTH), nn.GELU(), nn.Linear(4 * _WIDTH, _WIDTH)
        )
        self.first, self.second = nn.LayerNorm(_WIDTH), nn.LayerNorm(_WIDTH)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens [1, L, D] of the next layer."""
        tokens = self.first(tokens + self.attention(tokens))
        return self.second(tokens + self.inner(tokens))


class BertBase(nn.Module):
    """BERT-base with its pooler (Devlin et al. 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(_WORDS, _WIDTH)
        self.places = nn.Parameter(torch.randn(1, TOKENS, _WIDTH) * 0.02)
        self.norm = nn.LayerNorm(_WIDTH)
        self.layers = nn.Sequential(*(_Layer() for _ in range(_LAYERS)))
        self.pooler = nn.Linear(_WIDTH, _WIDTH)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the pooled state [1, D] of tokens [1, L]."""
        tokens = self.layers(self.norm(self.words(ids) + self.places))
        return torch.tanh(self.pooler(tokens[:, 0]))


def main() -> int:
    """Write the networks that are not there yet."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    wanted: dict[str, Callable[[], tuple[nn.Module, Tensor]]] = {
        name: lambda name=name, size=size: _of_timm(name, size)
        for name, size in {**FIRST, **LATER}.items()
    }
    wanted[f"bert_base_{TOKENS}"] = _bert
    for name, make in wanted.items():
        path = folder / f"{name}.onnx"
        if not path.exists():
            torch.manual_seed(0)
            _write(path, *make())
            print(path, flush=True)
    return 0


def _of_timm(name: str, size: int) -> tuple[nn.Module, Tensor]:
    made = timm.create_model(name, pretrained=False, exportable=True)
    norms = [m for m in made.modules() if isinstance(m, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # the mean of what it sees
        if not norm.weight.any():  # which would leave a branch without effect
            nn.init.ones_(norm.weight)
    if norms:
        with torch.no_grad():
            made.train()(torch.randn(4, 3, size, size))
    return made.eval(), torch.randn(1, 3, size, size)


def _bert() -> tuple[nn.Module, Tensor]:
    return BertBase().eval(), torch.randint(0, _WORDS, (1, TOKENS))


def _write(path: Path, made: nn.Module, example: Tensor) -> None:
    """Write a network beside its place and move it there, so that no half a file stays."""
    beside = path.with_suffix(".part")
    torch.onnx.export(
        made, (example,), str(beside), opset_version=OPSET, dynamo=False, input_names=["input"]
    )
    beside.rename(path)


if __name__ == "__main__":
    sys.exit(main())
