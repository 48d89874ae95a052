"""The choices that the weights of a network depend on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from predictor.core.errors import InputError
from predictor.graph.operators import OPERATORS
from predictor.network.features import FEATURE_NAMES


class Attention(StrEnum):
    """Weights from graph attention scores: the paper's sigmoid, or normalised (decision 0009)."""

    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"


class Pooling(StrEnum):
    """Pooling of a graph's operator states to one vector.

    Latency is a sum over operators, and a mean would lose their number. But an MLP in the
    log domain that reads a sum goes wild on graphs far larger than those of training; the inverse
    hyperbolic sine, a logarithm far from 0, keeps it in bounds.
    """

    SUM = "sum"  # divided by typical_nodes
    LOG_SUM = "log_sum"  # asinh of ten times that


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Choices of a network.

    Attributes:
        metrics: columns of the HCV matrix, in order.
        devices: where not 0, devices are known by a learned vector each and not by their HCV (the
            ablation's Baseline), and this is how many there are.
        signature_size: k, where a vector of k latencies is joined to the node features before the
            graph layers, as the paper says; 0 where one encoding of a graph serves every target.
        width: d, of node states and of every hidden layer.
        layers: graph layers.
        attention: weights of graph attention.
        negative_slope: of its LeakyReLU.
        initial_residual: GCNII's alpha, share of the first states in each attention layer.
        identity_mapping: GCNII's lambda: layer l mixes log(lambda / l + 1) of a learned map with
            the identity. 0 leaves the map out.
        pooling: of the operators, before the readout.
        dropout: share of hidden values that are dropped in training, before each readout.
        log_mean: mean of ln(latency in ms) over the training data.
        log_std: standard deviation of the same.
        typical_nodes: operators of a usual graph; the scale of sums over operators.
        operators: rows of the operator vocabulary; a later code counts as unknown.
        features: columns of the node features that are used, from the first.
        seed: of the initial weights.
    """

    metrics: tuple[str, ...] = ()
    devices: int = 0
    signature_size: int = 0
    width: int = 64
    layers: int = 2
    attention: Attention = Attention.SIGMOID
    negative_slope: float = 0.2
    initial_residual: float = 0.1
    identity_mapping: float = 0.5
    pooling: Pooling = Pooling.LOG_SUM
    dropout: float = 0.0
    log_mean: float = 0.0
    log_std: float = 1.0
    typical_nodes: float = 100.0
    operators: int = len(OPERATORS)
    features: int = len(FEATURE_NAMES)
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low, high in _RANGES:
            _check_range(name, getattr(self, name), low, high)
        if not self.devices and not self.metrics:
            raise InputError(
                "network configuration",
                "HCV needs at least one metric, and there is none",
                "name the metrics, or use identifiers",
            )


_LARGEST: Final = 1 << 16
_RANGES: Final[tuple[tuple[str, float, float], ...]] = (
    ("devices", 0, _LARGEST),
    ("signature_size", 0, _LARGEST),
    ("width", 1, 4096),
    ("layers", 1, 64),
    ("negative_slope", 0, 1),
    ("initial_residual", 0, 1),
    ("identity_mapping", 0, 1),
    ("dropout", 0, 0.95),
    ("log_mean", -100, 100),
    ("log_std", 1e-6, 100),
    ("typical_nodes", 1, 1e9),
    ("operators", 1, len(OPERATORS)),
    ("features", 1, len(FEATURE_NAMES)),
    ("seed", 0, (1 << 63) - 1),
)


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise InputError(
            "network configuration",
            f"{name} is {value}, outside {low} to {high}",
            f"give {name} in that range",
        )
