"""The one measurement that would change a choice most: its value of information.

A measured latency moves the other predictions of the same model by a Gaussian gain
(:mod:`predictor.calibration.graph_deviation`). The value of a measurement is the mean rise of the
highest chance over its possible results. An option under the chance that the user requires is not
chosen: the required chance counts in its place.

Reference:
    P. Frazier, W. Powell and S. Dayanik, "The Knowledge-Gradient Policy for Correlated Normal
    Beliefs", INFORMS Journal on Computing, 2009.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.graph_deviation import REPEAT_VARIANCE, covariance
from predictor.core.records import OperatingPoint, Target
from predictor.core.text import plural
from predictor.presentation.wording import number, run_text, shown
from predictor.probing.estimates import expected_seconds
from predictor.probing.runner.settings import Settings
from predictor.services.choose.chances import normal_cdf

Floats = NDArray[np.float64]

CONSIDERED: Final = 64  # the best ones, whose order a measurement may reverse
_OUTCOMES: Final = 64  # equally likely results of a measurement
_MIN_GAIN: Final = 0.005  # under half a percent nothing is settled
_MIN_DEVIATION: Final = 1e-3


@dataclass(frozen=True, slots=True)
class NextMeasurement:
    """A measurement that is worth making before one chooses.

    Attributes:
        target: to measure on.
        point: operating point that it is to be measured at; None for the usual clocks.
        model: index of the model to measure.
        gain: rise of the chance of what is chosen then, on average over the results.
        minutes: that the runs take, set-up apart.
    """

    target: Target
    point: OperatingPoint | None
    model: int
    gain: float
    minutes: float

    def words(self, names: Sequence[str]) -> str:
        """Return the advice in a sentence; ``names`` are those of the models."""
        run = run_text(self.target.configuration, self.point)
        where = f"{shown(self.target.device.name)} ({run})"
        minutes = plural(math.ceil(self.minutes), "minute")
        return (
            f"To settle it, measure {shown(names[self.model])} on {where}: {minutes} of runs, "
            f"worth {number(100 * self.gain, 2)} points of chance on average."
        )


def next_measurement(
    runs: Sequence[tuple[Target, OperatingPoint | None]],
    models: NDArray[np.intp],
    z: Floats,
    deviation: Floats,
    chance: Floats,
    latency_ms: Floats,
    min_chance: float,
) -> NextMeasurement | None:
    """Return the most valuable measurement; None where none changes the choice.

    Args:
        runs: N different targets with their operating points, the best option first.
        models: int [N], the model that decides about each; the chances of others stay.
        z: float64 [N], its limit in standard deviations from its P50.
        deviation: float64 [N], of its ln(latency).
        chance: float64 [N], of all models and limits.
        latency_ms: float64 [N], its P50.
        min_chance: chance under which an option is not chosen.
    """
    alone = normal_cdf(z)
    # Chance that the other models keep their limits where this one does.
    other_models = np.divide(chance, alone, out=np.zeros_like(chance), where=alone > 0)
    targets = [target for target, _ in runs]
    after = other_models[:, None, None] * _chances_after(targets, models, z, deviation)
    # Of the outcomes' own mean, so that a measurement never seems to do harm.
    without = np.maximum(after.mean(axis=2).max(axis=0), min_chance)
    gains = np.maximum(after.max(axis=0), min_chance).mean(axis=1) - without
    best = int(gains.argmax())
    if gains[best] < _MIN_GAIN:
        return None
    return NextMeasurement(
        *runs[best],
        int(models[best]),
        float(gains[best]),
        expected_seconds(float(latency_ms[best]), Settings()) / 60,
    )


def _chances_after(
    targets: Sequence[Target], models: NDArray[np.intp], z: Floats, deviation: Floats
) -> Floats:
    """Return chances after measurements by outcome, [options, measurements, outcomes]."""
    count = len(targets)
    shared, informs = covariance(targets, deviation, np.arange(count))
    # Of another model on another target nothing is known to be shared.
    shared = np.where(informs & (models[:, None] == models), shared, 0.0)
    np.fill_diagonal(shared, deviation**2)
    # Change of ln(latency) with a result one standard deviation off.
    shift = shared / np.sqrt(deviation**2 + REPEAT_VARIANCE)
    left = np.sqrt(np.maximum(deviation[:, None] ** 2 - shift**2, _MIN_DEVIATION**2))
    reach = np.where(np.isfinite(z), z * deviation, z)
    ahead = reach[:, None, None] - shift[:, :, None] * _outcomes()
    return normal_cdf(ahead / left[:, :, None])


@cache
def _outcomes() -> Floats:
    """Return standard normal numbers that are equally likely, float64 [outcomes]."""
    shares = (np.arange(_OUTCOMES) + 0.5) / _OUTCOMES
    return np.array([NormalDist().inv_cdf(share) for share in shares.tolist()])
