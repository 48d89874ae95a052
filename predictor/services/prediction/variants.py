"""Several models on several targets against one of the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Prediction, Target
from predictor.services.prediction.comparison import Differences, differences


@dataclass(frozen=True, eq=False)
class Variants:
    """M models on T targets.

    Attributes:
        labels: names of the models, unique.
        targets: the targets.
        predictions: M * T of them, all targets of the first model first.
        baseline: index of the model that the others are compared with.
        differences: of every prediction from the baseline's on its target, M * T of them.
    """

    labels: tuple[str, ...]
    targets: tuple[Target, ...]
    predictions: tuple[Prediction, ...]
    baseline: int
    differences: Differences

    @cached_property
    def latency_ms(self) -> NDArray[np.float64]:
        """P50s, float64 [M, T]; NaN where there is no number."""
        flat = np.array([p.latency_ms for p in self.predictions], dtype=np.float64)
        return flat.reshape(len(self.labels), len(self.targets))

    @cached_property
    def has_intervals(self) -> bool:
        """Whether any difference has an interval."""
        return not np.isnan(self.differences.low80_ms).all()

    def cell(self, model: int, target: int) -> int:
        """Return the index of a pair among the predictions."""
        return model * len(self.targets) + target

    def prediction(self, model: int, target: int) -> Prediction:
        """Return the prediction of a pair."""
        return self.predictions[self.cell(model, target)]

    def on_target(self, target: int) -> tuple[Prediction, ...]:
        """Return the predictions of every model on one target."""
        return self.predictions[target :: len(self.targets)]


def compare_variants(
    labels: Sequence[str],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    baseline: int,
) -> Variants:
    """Compare every prediction with the baseline's on its target.

    Args:
        labels: names of M models.
        targets: T targets.
        predictions: M * T of them, all targets of the first model first.
        baseline: index of a model.
    """
    count = len(targets)
    first = list(predictions[baseline * count : (baseline + 1) * count])
    return Variants(
        labels=tuple(labels),
        targets=tuple(targets),
        predictions=tuple(predictions),
        baseline=baseline,
        differences=differences(first * len(labels), predictions),
    )
