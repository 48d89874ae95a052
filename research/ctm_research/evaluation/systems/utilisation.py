"""NeuSight: a small network for each class of operators predicts how well a card is used.

A kernel makes tiles; as many tiles as the card has SMs are a wave. Time is waves times the work of
a wave over utilisation times the roofline's rate; utilisation is ``gamma - alpha / waves``, so it
rises with the number of waves.

Reference:
    S. Lee et al., "Forecasting GPU Performance for Deep Learning Training and Inference"
    (NeuSight), ASPLOS 2025; its public code.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor, nn

from ctm_research.evaluation.judge.groups import Floats
from ctm_research.evaluation.systems.operator_data import (
    CLASSES,
    Card,
    Operators,
    block_bytes,
)
from ctm_research.network.repeatable import repeatable

_WIDTH: Final = 32
_STEPS: Final = (60, 200, 600, 1500)  # lengths of training to choose from
_BATCH: Final = 256
_RATE: Final = 2e-3
_LEAST: Final = 1e-3  # of a utilisation
_S_TO_MS: Final = 1e3

Samples = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """The fixed part of the prediction.

    Attributes:
        waves: float64 [N].
        wave_ms: float64 [N], of one wave at the roofline's rate.
        inputs: float64 [N, 4], of the network.
    """

    waves: Floats
    wave_ms: Floats
    inputs: Floats


def waves_of(operators: Operators, tile: Floats, card: Card) -> Waves:
    """Return waves, the time of one at full use, and the inputs of the network.

    Args:
        operators: N.
        tile: [N, 2], rows and columns of the result that a block makes.
        card: that they run on.
    """
    products, rows, columns, length = operators.size.T
    down, across = np.ceil(rows / tile[:, 0]), np.ceil(columns / tile[:, 1])
    blocks = np.where(operators.is_product, products * down * across, rows * columns / tile[:, 1])
    waves = np.ceil(np.maximum(blocks, 1) / card.units)
    per_element = operators.flops / (products * rows * columns)
    tile_flops = per_element * tile[:, 0] * tile[:, 1]
    tile_bytes = block_bytes(operators, tile[:, 0], tile[:, 1])
    # Intensity of the whole, its sides rounded up to tiles; a vector operator has no overhang.
    full_rows = np.where(operators.is_product, down * tile[:, 0], rows)
    full_columns = np.where(operators.is_product, across * tile[:, 1], columns)
    intensity = (
        per_element * full_rows * full_columns / block_bytes(operators, full_rows, full_columns)
    )
    rate = np.minimum(card.flops, intensity * card.bandwidth)
    inputs = np.log2(
        np.stack(
            [
                tile_flops / (card.flops / card.units),
                tile_bytes / (card.bandwidth / card.units),
                waves * tile_bytes / (card.memory / card.units),
                waves * tile_bytes / (card.cache / card.units),
            ],
            axis=1,
        )
    )
    del length
    return Waves(waves, _S_TO_MS * card.units * tile_flops / rate, inputs)


@dataclass(frozen=True, slots=True, eq=False)
class NeuSight:
    """Networks by class of operators, and the recorded tiles.

    Attributes:
        networks: by class.
        trees: nearest recorded sizes by class, with their tiles.
    """

    networks: Mapping[int, nn.Module]
    trees: Mapping[int, tuple[cKDTree, Floats]]

    @classmethod
    def fit(cls, timed: Mapping[str, Operators], cards: Mapping[str, Card], seed: int) -> NeuSight:
        """Train on operators timed on some cards.

        The length of training is chosen on the strongest of them, left out, as the printed form
        states none: networks that are trained for long know the cards and not their ratios.
        """
        strongest = max(timed, key=lambda name: cards[name].flops)
        networks, trees = {}, {}
        for klass in range(len(CLASSES)):
            parts = {
                name: operators.take((operators.klass == klass) & ~np.isnan(operators.tile[:, 0]))
                for name, operators in timed.items()
            }
            place = np.concatenate([_place(each, cards[name]) for name, each in parts.items()])
            trees[klass] = cKDTree(place), np.concatenate([each.tile for each in parts.values()])
            samples = {name: _samples(each, cards[name]) for name, each in parts.items()}
            others = [each for name, each in samples.items() if name != strongest]
            steps = _chosen_steps(_joined(others), samples[strongest], seed)
            networks[klass] = _trained(_joined(list(samples.values())), seed, (steps,))[-1]
        return cls(networks, trees)

    def predict(self, operators: Operators, card: Card) -> Floats:
        """Return ms of each operator on a card, float64 [N]."""
        result = np.empty(len(operators))
        for klass in np.unique(operators.klass).tolist():
            mine = operators.klass == klass
            part = operators.take(mine)
            tree, tiles = self.trees[klass]
            tile = tiles[tree.query(_place(part, card))[1]]
            waves = waves_of(part, tile, card)
            with torch.inference_mode():
                used = self.networks[klass](_inputs(waves)).double().numpy()
            result[mine] = waves.waves * waves.wave_ms / used
        return result


def _place(operators: Operators, card: Card) -> Floats:
    return np.column_stack([np.log2(operators.size), np.full(len(operators), np.log2(card.units))])


def _inputs(waves: Waves) -> Tensor:
    return torch.from_numpy(np.column_stack([waves.inputs, waves.waves])).float()


def _samples(operators: Operators, card: Card) -> Samples:
    """Return inputs [N, 5] and measured utilisations [N]."""
    waves = waves_of(operators, operators.tile, card)
    used = waves.waves * waves.wave_ms / operators.ms
    return _inputs(waves), torch.from_numpy(used).float()


def _joined(parts: list[Samples]) -> Samples:
    return torch.cat([each[0] for each in parts]), torch.cat([each[1] for each in parts])


def _chosen_steps(others: Samples, left_out: Samples, seed: int) -> int:
    """Return the length of training of least error on a card that it has not seen."""
    inputs, used = left_out
    networks = _trained(others, seed, _STEPS)
    with torch.inference_mode():
        errors = [float((each(inputs).log() - used.log()).abs().mean()) for each in networks]
    return _STEPS[int(np.argmin(errors))]


def _trained(samples: Samples, seed: int, lengths: tuple[int, ...]) -> list[nn.Module]:
    """Return the network after each of some lengths of training, ascending."""
    inputs, used = samples
    rng = np.random.default_rng(seed)
    kept: list[nn.Module] = []
    with repeatable(seed):
        network = Utilisation(inputs[:, :-1].mean(dim=0), inputs[:, :-1].std(dim=0))
        optimiser = torch.optim.AdamW(network.parameters(), _RATE)
        for step in range(lengths[-1]):
            batch = torch.from_numpy(rng.integers(len(used), size=_BATCH))
            # Times and utilisations are reciprocal: the symmetric error is the same of both.
            output, wanted = network(inputs[batch]), used[batch]
            loss = (2 * (output - wanted).abs() / (output + wanted)).mean()
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            if step + 1 in lengths:
                kept.append(copy.deepcopy(network).eval())
    return kept


class Utilisation(nn.Module):
    """``gamma - alpha / waves`` from four ratios; the last input is the number of waves."""

    def __init__(self, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.mean: Tensor
        self.deviation: Tensor
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation.clamp(min=1e-3))
        self.layers = nn.Sequential(
            nn.Linear(4, _WIDTH),
            nn.ReLU(),
            nn.Linear(_WIDTH, _WIDTH),
            nn.ReLU(),
            nn.Linear(_WIDTH, _WIDTH),
            nn.ReLU(),
            nn.Linear(_WIDTH, 2),
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Return utilisations [N] from [N, 5]."""
        alpha, gamma = torch.sigmoid(
            self.layers((inputs[:, :4] - self.mean) / self.deviation)
        ).unbind(dim=1)
        used: Tensor = (gamma - alpha / inputs[:, 4]).clamp(min=_LEAST)
        return used
