"""The one measurement that would change a choice most: its value of information.

A measured latency moves the other predictions of the same model by a Gaussian gain
(:mod:`predictor.calibration.graph_deviation`). Whoever chooses the option with the highest chance
gains by a measurement what that highest chance rises by on average over what it may turn out to be.
An option whose chance is under the least that the user asks for is not taken: that choice counts as
the least itself.

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

CONSIDERED: Final = 64  # the best ones, which a measurement may turn round
_OUTCOMES: Final = 64  # equally likely results of a measurement
_LEAST_GAIN: Final = 0.005  # under half a percent nothing is settled
_LEAST_DEVIATION: Final = 1e-3


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
        """Return the advice, for people; ``names`` are those of the models."""
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
    least: float,
) -> NextMeasurement | None:
    """Return the most valuable measurement; None where none changes the choice.

    Args:
        runs: N different targets with their operating points, the best option first.
        models: int [N], the model that decides about each; others count as they stand.
        z: float64 [N], its limit in standard deviations from its P50.
        deviation: float64 [N], of its ln(latency).
        chance: float64 [N], of all models and limits.
        latency_ms: float64 [N], its P50.
        least: chance under which an option is not taken.
    """
    alone = normal_cdf(z)
    # Chance that the other models keep their limits where this one does.
    others = np.divide(chance, alone, out=np.zeros_like(chance), where=alone > 0)
    targets = [target for target, _ in runs]
    after = others[:, None, None] * _chances_after(targets, models, z, deviation)
    # Of the outcomes' own mean, so that a measurement never seems to do harm.
    without = np.maximum(after.mean(axis=2).max(axis=0), least)
    gains = np.maximum(after.max(axis=0), least).mean(axis=1) - without
    best = int(gains.argmax())
    if gains[best] < _LEAST_GAIN:
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
    shared, tells = covariance(targets, deviation, np.arange(count))
    # Of another model on another target nothing is known to be shared.
    shared = np.where(tells & (models[:, None] == models), shared, 0.0)
    np.fill_diagonal(shared, deviation**2)
    # Change of ln(latency) with a result one standard deviation off.
    moved = shared / np.sqrt(deviation**2 + REPEAT_VARIANCE)
    left = np.sqrt(np.maximum(deviation[:, None] ** 2 - moved**2, _LEAST_DEVIATION**2))
    reach = np.where(np.isfinite(z), z * deviation, z)
    ahead = reach[:, None, None] - moved[:, :, None] * _outcomes()
    return normal_cdf(ahead / left[:, :, None])


@cache
def _outcomes() -> Floats:
    """Return standard normal numbers that are equally likely, float64 [outcomes]."""
    shares = (np.arange(_OUTCOMES) + 0.5) / _OUTCOMES
    return np.array([NormalDist().inv_cdf(share) for share in shares.tolist()])
