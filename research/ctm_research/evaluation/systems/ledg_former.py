"""LeDG-Former: operators and devices as short texts, and attention over the graph.

Each operator and each device is a text by template, embedded by a frozen sentence encoder. Three
attentions look at sons, fathers and grandfathers; their weights differ by operator and come from a
causal attention. What the authors leave open: which sizes an operator's text has. Here it has
window, stride, and the groups, rows, columns and length of its product, or its bytes, each rounded
to a power of two or half as much more.

Reference:
    LeDG-Former, 2025 (language embedding and dynamic graph attention for latency prediction).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
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
    sequences,
    standardised,
)
from ctm_research.evaluation.systems.sentences import WIDTH as TEXT_WIDTH
from ctm_research.evaluation.systems.sentences import embeddings
from predictor.core.records import Target
from predictor.cost.operator_kinds import KIND, KINDS
from predictor.devices.architectures import architecture_of, kind
from predictor.graph.operators import OPERATORS
from predictor.network.features import FEATURE_NAMES

_LAYERS: Final = 2
_VIEWS: Final = 3  # sons, fathers, grandfathers
_FEATURE: Final = {name: place for place, name in enumerate(FEATURE_NAMES)}
_GROUP: Final = {
    "element by element": "Act",
    "normalisation": "Norm",
    "pooling": "Pool",
    "movement": "Move",
    "other": "Other",
}
_MAKER: Final = {"nvidia": "Nv GPU", "amd-gpu": "AMD GPU", "intel-gpu": "Intel GPU"}


class LedgFormer(PairSystem):
    """The system as printed; the sentence encoder stays as it is."""

    is_mixed = True
    random_encoder = False

    def build(self, field: Field, rows: Rows) -> tuple[Encoder, Head, Tensor]:
        """See :class:`PairSystem`."""
        del rows
        operators, platforms = texts_embedded(field, self.random_encoder)
        return GraphFormer(is_mixed=self.is_mixed), FactHead(platforms), operators


class WithoutMix(LedgFormer):
    """Sons, fathers and grandfathers count the same for all operators."""

    is_mixed = False


class RandomEncoder(LedgFormer):
    """The sentence encoder has random weights."""

    random_encoder = True


@lru_cache(maxsize=2)
def texts_embedded(field: Field, random_encoder: bool) -> tuple[Tensor, Tensor]:
    """Return embeddings of operators [U, 384] and platforms [T, 384]; zeros of unused operators."""
    used = np.unique(np.concatenate(sequences(field).operators))
    seed = 0 if random_encoder else None
    operators = torch.zeros(len(field.operators.code), TEXT_WIDTH)
    texts = [operator_text(field, each) for each in used.tolist()]
    operators[torch.from_numpy(used)] = standardised(embeddings(texts, seed).astype(np.float64))
    platforms = embeddings([platform_text(each) for each in field.judged.targets], seed)
    return operators, standardised(platforms.astype(np.float64))


def operator_text(field: Field, operator: int) -> str:
    """Return the text of a distinct operator, such as ``ParamL Conv 3 stride 2 1 x 3136 x 64``."""
    features = field.judged.corpus.graphs.packed.features[operator]
    operators, number = field.operators, int(field.kinds[operator])
    group = _GROUP.get(KINDS[number], "ParamL")
    if number == KIND["product of activations"]:
        group = "Product"
    words = [group, OPERATORS[operators.op_code[operator]]]
    window = int(operators.window[operator, 0])
    if window:
        stride = round(float(np.expm1(features[_FEATURE["log1p_stride_height"]])))
        words += [f"{window}", f"stride {stride}"]
    gemm = operators.gemm[operator]
    if gemm[1] > 0:
        words.append(" x ".join(rounded(float(each)) for each in gemm))
    else:
        words.append(f"{rounded(float(operators.activation_bytes[operator]) / 1024)} KiB")
    return " ".join(words)


def platform_text(target: Target) -> str:
    """Return the text of a target, such as ``Nv GPU FP32 8.1 Turing 70W tensorrt``."""
    device, configuration = target.device, target.configuration
    of_kind = kind(device)
    precision = configuration.precision.value.removeprefix("amp_")
    words = [_MAKER.get(of_kind, of_kind), precision.upper()]
    rate = device.metric(f"{precision}_tflops") or device.metric("fp32_tflops")
    rate = rate or device.metric("int8_tops")
    if rate is not None:
        words.append(f"{rate:.2g}")
    part = device.clusters[0] if device.clusters else device
    architecture = architecture_of(part)
    words.append(architecture.title if architecture is not None else device.vendor)
    if (watts := device.metric("tdp_w")) is not None:
        words.append(f"{watts:g}W")
    words.append(configuration.runtime)
    if configuration.threads:
        words.append(f"{configuration.threads} threads")
    return " ".join(words)


def rounded(value: float) -> str:
    """Return a size as the nearest of 1, 1.5, 2, 3, 4, 6, 8, 12, ...: sizes of networks are."""
    if value <= 0:
        return "0"
    step = round(2 * math.log2(value))
    return f"{2 ** (step // 2) * (1.5 if step % 2 else 1):.10g}"


class GraphFormer(Encoder):
    """A transformer with dynamic graph attention, summed over the operators."""

    def __init__(self, *, is_mixed: bool) -> None:
        super().__init__()
        self.input = nn.Linear(TEXT_WIDTH, WIDTH)
        self.layers = nn.ModuleList(DynamicAttention(is_mixed=is_mixed) for _ in range(_LAYERS))
        self.forward_layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(),
                          nn.Linear(2 * WIDTH, WIDTH))
            for _ in range(_LAYERS)
        )  # fmt: skip

    def forward(self, batch: Batch) -> Tensor:
        """See :class:`Encoder`."""
        views = Views.of(batch)
        nodes = self.input(batch.features)
        for attention, forward in zip(self.layers, self.forward_layers, strict=True):
            nodes = nodes + attention(nodes, views)
            nodes = nodes + forward(nodes)
        pooled: Tensor = (nodes * batch.present[..., None]).sum(dim=1) / 10
        return pooled


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """The masks of a batch, alike in all layers.

    Attributes:
        linked: float32 [3, B, L, L], 1 from an operator to itself and its sons, fathers or
            grandfathers.
        absent: float32 [B, 1, L], minus infinity at padding.
        later: float32 [B, L, L], minus infinity at padding and at later operators.
    """

    linked: Tensor
    absent: Tensor
    later: Tensor

    @classmethod
    def of(cls, batch: Batch) -> Views:
        """Return those of a batch."""
        fathers = batch.links
        grandfathers = ((fathers @ fathers) > 0).float()
        length = fathers.shape[1]
        linked = torch.stack([fathers.transpose(1, 2), fathers, grandfathers]) + torch.eye(length)
        absent = torch.zeros(batch.present.shape).masked_fill(~batch.present, -torch.inf)
        later = torch.full((length, length), -torch.inf).triu(1)
        # Padding stands last: the first operator always sees itself.
        return cls(linked, absent[:, None, :], absent[:, None, :] + later)


class DynamicAttention(nn.Module):
    """Attention under three views of the graph, mixed by weights of each operator."""

    def __init__(self, *, is_mixed: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, _VIEWS))
        self.output = nn.Linear(WIDTH, WIDTH)
        self.is_mixed = is_mixed

    def forward(self, nodes: Tensor, views: Views) -> Tensor:
        """Return [B, L, WIDTH] from nodes of the same shape."""
        query, key, value = self.project(self.norm(nodes)).chunk(3, dim=-1)
        scores = (query / WIDTH**0.5) @ key.transpose(1, 2)  # [B, L, L]
        # The printed form multiplies scores by the view plus itself: what is not linked scores 0.
        shares = (scores * views.linked + views.absent).softmax(dim=-1)
        if self.is_mixed:
            causal = (scores + views.later).softmax(dim=-1) @ value
            weights = self.mix(causal).softmax(dim=-1).permute(2, 0, 1)
            attended = (shares * weights[..., None]).sum(dim=0) @ value
        else:
            attended = shares.mean(dim=0) @ value
        output: Tensor = self.output(attended)
        return output
