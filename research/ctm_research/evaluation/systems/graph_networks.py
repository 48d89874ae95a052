"""NNLP's graph network and TLP's sequence network, with a head for each platform.

References:
    L. Liu et al., "NNLQP", ICPP 2022; Y. Zhai et al., "TLP", ASPLOS 2023.
"""

from __future__ import annotations

import itertools
from typing import Final

import torch
from torch import Tensor, nn

from ctm_research.evaluation.judge.judged import Rows
from ctm_research.evaluation.systems.field import Field
from ctm_research.evaluation.systems.pairs import (
    WIDTH,
    Batch,
    Encoder,
    FactHead,
    Head,
    PairSystem,
    PlatformHeads,
    operator_features,
    standardised,
)

_HEADS: Final = 8  # of TLP's attention


class Nnlp(PairSystem):
    """Two SAGE layers, sum pooling and static features; a head for each platform."""

    def build(self, field: Field, rows: Rows) -> tuple[Encoder, Head, Tensor]:
        """See :class:`PairSystem`."""
        inputs = operator_features(field)
        encoder = SageEncoder(inputs.shape[1], field.statics.shape[1])
        return encoder, PlatformHeads(field, rows), inputs


class NnlpFacts(PairSystem):
    """The same with one head that reads the facts of the target."""

    def build(self, field: Field, rows: Rows) -> tuple[Encoder, Head, Tensor]:
        """See :class:`PairSystem`."""
        del rows
        inputs = operator_features(field)
        encoder = SageEncoder(inputs.shape[1], field.statics.shape[1])
        return encoder, FactHead(standardised(field.platforms)), inputs


class Tlp(PairSystem):
    """Linear layers, one self-attention over the operators, residual blocks, sum."""

    def build(self, field: Field, rows: Rows) -> tuple[Encoder, Head, Tensor]:
        """See :class:`PairSystem`."""
        inputs = operator_features(field)
        return SequenceEncoder(inputs.shape[1]), PlatformHeads(field, rows), inputs


class SageEncoder(Encoder):
    """GraphSAGE with the mean of the producers, summed over operators, beside static features."""

    def __init__(self, inputs: int, statics: int) -> None:
        super().__init__()
        sizes = (inputs, WIDTH, WIDTH)
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.near = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in itertools.pairwise(sizes))
        self.output = nn.Sequential(nn.Linear(WIDTH + statics, WIDTH), nn.ReLU())

    def forward(self, batch: Batch) -> Tensor:
        """See :class:`Encoder`."""
        nodes = batch.features
        mean = batch.links / batch.links.sum(dim=2, keepdim=True).clamp(min=1)
        for own, near in zip(self.own, self.near, strict=True):
            nodes = torch.relu(own(nodes) + mean @ near(nodes)) * batch.present[..., None]
        # Sums of up to a hundred operators, in tenths so that the head sees numbers near one.
        pooled = nodes.sum(dim=1) / 10
        output: Tensor = self.output(torch.cat([pooled, batch.statics / 10], dim=1))
        return output


class SequenceEncoder(Encoder):
    """TLP's network on operators in place of schedule primitives."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
        )
        self.attention = nn.MultiheadAttention(WIDTH, _HEADS, batch_first=True)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(2)
        )
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, batch: Batch) -> Tensor:
        """See :class:`Encoder`."""
        nodes = self.layers(batch.features)
        attended, _ = self.attention(
            nodes, nodes, nodes, key_padding_mask=~batch.present, need_weights=False
        )
        nodes = nodes + attended
        for block in self.blocks:
            nodes = nodes + block(nodes)
        summed: Tensor = (self.output(nodes) * batch.present[..., None]).sum(dim=1) / 10
        return summed
