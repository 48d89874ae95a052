"""What measured targets tell about others: deviations from the efficiencies of the class.

A target's whole time deviates from the estimate of its class by exp(d). d is a sum of normal
effects of its silicon, of its device, of both under one runtime, and of itself. So measurements of
another configuration, another device with the chip or another runtime tell about a target, the more
the nearer. The posterior has a closed form; targets of different silicon tell nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Target
from predictor.devices.architectures import silicon

Floats = NDArray[np.float64]
Words = NDArray[np.str_]

# From far to near.
NEARNESS: Final = ("", "chip", "device", "target")

_SAME_RATE: Final = 0.1  # in ln


@dataclass(frozen=True, slots=True)
class Scales:
    """Standard deviations of the effects in ln, and of one network about its target's time."""

    silicon: float
    silicon_runtime: float
    device: float
    device_runtime: float
    target: float
    network: float

    @property
    def level(self) -> float:
        """Standard deviation of the deviation of a target of which nothing is known."""
        effects = [getattr(self, field.name) for field in fields(self) if field.name != "network"]
        return float(np.sqrt(np.square(effects).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """The names that targets share, str [T] each."""

    silicon: Words
    device: Words
    runtime: Words
    configuration: Words

    @classmethod
    def of(cls, targets: Sequence[Target]) -> Keys:
        """Return the keys of targets."""
        rows = [
            (
                silicon(target.device),
                target.device.id,
                target.configuration.runtime,
                f"{target.configuration.precision}/t{target.threads}",
            )
            for target in targets
        ]
        return cls(*np.array(rows, np.str_).reshape(-1, 4).T)

    def take(self, places: NDArray[np.integer]) -> Keys:
        """Return some of the targets."""
        return Keys(*(getattr(self, field.name)[places] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known of the deviations of T targets.

    Attributes:
        mean, variance: float64 [T], of d.
        nearness: int64 [T], index into ``NEARNESS`` of the nearest measured target.
        nearest: int64 [T], its place in the evidence; -1 for none.
    """

    mean: Floats
    variance: Floats
    nearness: NDArray[np.int64]
    nearest: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Deviations of M measured targets.

    Attributes:
        keys: of the targets.
        deviation: float64 [M], mean of ln(measured over estimated) over the networks of each.
        networks: int64 [M], their number.
        rate: float64 [M], multiply-accumulates a second of products.
        scales: of the effects.
    """

    keys: Keys
    deviation: Floats
    networks: NDArray[np.int64]
    rate: Floats
    scales: Scales

    def joined(self, other: Evidence) -> Evidence:
        """Return this evidence with that of further targets."""
        pairs = (
            (getattr(self.keys, each.name), getattr(other.keys, each.name))
            for each in fields(self.keys)
        )
        return Evidence(
            Keys(*map(np.concatenate, pairs)),
            np.concatenate([self.deviation, other.deviation]),
            np.concatenate([self.networks, other.networks]),
            np.concatenate([self.rate, other.rate]),
            self.scales,
        )

    def twins(self, asked: Keys, rate: Floats) -> NDArray[np.int64]:
        """Return places of measured targets that are as good as the same, int64 [T]; -1 for none.

        They have the chip, the runtime, the precision and the threads, and the rate.

        Args:
            asked: of T targets.
            rate: float64 [T], multiply-accumulates a second of products.
        """
        same = np.abs(np.log(rate[:, None] / self.rate)) < _SAME_RATE
        for name in ("silicon", "runtime", "configuration"):
            same &= getattr(asked, name)[:, None] == getattr(self.keys, name)
        best = (same * self.networks).argmax(axis=1) if len(self.networks) else np.zeros(len(rate))
        found = same.any(axis=1)
        return np.where(found, best, -1).astype(np.int64)

    def about(self, asked: Keys) -> Known:
        """Return the posterior of the deviations of other targets, or of these."""
        count = len(asked.silicon)
        mean, variance = np.zeros(count), np.full(count, self.scales.level**2)
        nearness, nearest = np.zeros(count, np.int64), np.full(count, -1, np.int64)
        shared = np.intersect1d(asked.silicon, self.keys.silicon)
        for name in shared.tolist():
            here = np.flatnonzero(asked.silicon == name)
            there = np.flatnonzero(self.keys.silicon == name)
            mine, theirs = asked.take(here), self.keys.take(there)
            crossed, near = _shared(mine, theirs, self.scales)
            own, _ = _shared(theirs, theirs, self.scales)
            own += np.diag(self.scales.network**2 / self.networks[there])
            gain = np.linalg.solve(own, crossed.T)  # [M', T']
            mean[here] = gain.T @ self.deviation[there]
            variance[here] -= (gain * crossed.T).sum(axis=0)
            best = (near * 1e6 + self.networks[there]).argmax(axis=1)
            nearness[here], nearest[here] = near.max(axis=1), there[best]
        return Known(mean, np.maximum(variance, 0.0), nearness, nearest)


def _shared(a: Keys, b: Keys, scales: Scales) -> tuple[Floats, NDArray[np.int64]]:
    """Return covariance and nearness of targets of one silicon, [A, B] each."""
    runtime, device, configuration = (
        getattr(a, name)[:, None] == getattr(b, name)
        for name in ("runtime", "device", "configuration")
    )
    same = device & runtime & configuration
    covariance = (
        scales.silicon**2
        + scales.silicon_runtime**2 * runtime
        + scales.device**2 * device
        + scales.device_runtime**2 * (device & runtime)
        + scales.target**2 * same
    )
    return covariance, 1 + device.astype(np.int64) + same
