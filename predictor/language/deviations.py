"""Deviations of measured times of a decoder from those of physics, as a Gaussian process.

A deviation is the logarithm of measured over physical time, one number by device and group of
formats. Devices of the same architecture, the same silicon, and the same silicon and format
correlate. The mean that follows from the measurements moves the time, the variance is the interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np

from predictor.core.records import Device
from predictor.core.text import plural
from predictor.language.passes import Floats
from predictor.language.rates import Group

Z80: Final = 1.2815515655446004  # quantile 0.9 of the normal distribution


class Origin(StrEnum):
    """Where a measured deviation comes from."""

    PUBLISHED = "published"
    PROBED = "probed by you"
    MEASURED = "measured by you"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A measured deviation from physics.

    Attributes:
        device: id.
        silicon: id of the die.
        architecture: id of the design, empty where it is not known.
        group: of the format of weights.
        deviation: logarithm of measured over physical time, the median of its rates.
        rates: number of measured rates.
        origin: whose it is.
    """

    device: str
    silicon: str
    architecture: str
    group: Group
    deviation: float
    rates: int = 1
    origin: Origin = Origin.PUBLISHED

    @property
    def is_of_user(self) -> bool:
        """Whether the user measured or probed it."""
        return self.origin is not Origin.PUBLISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """Standard deviations of the parts of a deviation.

    Attributes:
        architecture: of a design.
        silicon: of a die.
        format: of a group of formats on a die.
        noise: of one measurement, and of another version of the runtime.
        attention: of the time of attention, of which a run has a share that grows with its context.
        widen: factor of intervals, from devices left out.
        widen_of: the same of single groups of formats, where enough devices give it.
        blind: of what physics alone leaves open, where a group or a backend was never measured.
    """

    architecture: float
    silicon: float
    format: float
    noise: float
    attention: float = 0.0
    widen: float = 1.0
    blind: float = 0.0
    widen_of: Mapping[Group, float] = field(default_factory=dict)


_REPEAT_NOISE: Final = 0.02  # repeats of one rate by llama-bench
# Assumed: a probe runs under another runtime, to which no backend is fitted. Under two that are,
# the deviations of one GPU differ by 0.13 (root of the mean square of the 13 pairs in rates.json,
# without CDNA).
_PROBE_NOISE: Final = 0.2
_OTHER_GROUP: Final = 0.15  # of a group of formats that was measured on fewer kinds of silicon
_FEW_SILICON: Final = 6


@dataclass(frozen=True, slots=True)
class Deviations:
    """The posterior over the deviations of one backend and phase.

    Attributes:
        scales: of the prior.
        observed: measurements.
    """

    scales: Scales
    observed: tuple[Observed, ...] = ()
    _solved: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    def with_user(self, observations: Sequence[Observed]) -> Deviations:
        """Return the posterior after the user's measurements too."""
        return Deviations(self.scales, (*self.observed, *observations)) if observations else self

    def covariance(self, rows: Sequence[Observed], columns: Sequence[Observed]) -> Floats:
        """Return the prior covariance, without noise, float64 [R, C]."""
        s = self.scales
        same = {
            name: np.equal.outer(
                np.array([getattr(r, name) for r in rows], object),
                np.array([getattr(c, name) for c in columns], object),
            ).astype(np.float64)
            for name in ("architecture", "silicon", "group", "device")
        }
        named = np.array([bool(r.architecture) for r in rows], np.float64)[:, None]
        total: Floats = (
            s.architecture**2 * same["architecture"] * named
            + s.silicon**2 * same["silicon"]
            + s.format**2 * same["silicon"] * same["group"]
            # Between published rates it is noise: another board, another version of the runtime.
            + s.noise**2 * same["device"] * np.outer(_of_user(rows), _of_user(columns))
        )
        return total

    def noise(self) -> Floats:
        """Return the variance of each measurement, float64 [N]."""
        of = {Origin.MEASURED: _REPEAT_NOISE, Origin.PROBED: _PROBE_NOISE}
        return np.array([of.get(o.origin, self.scales.noise) ** 2 for o in self.observed])

    def of(
        self, targets: Sequence[Observed], shares: Sequence[float] = (0.0,)
    ) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each target's deviation, float64 [T] each.

        Args:
            targets: devices and groups of formats.
            shares: of attention in the time of each, or one for all.
        """
        s = self.scales
        of_attention = (s.attention * np.array(shares)) ** 2
        other = np.array([_OTHER_GROUP**2 * self._is_rare(t) for t in targets])
        prior = s.architecture**2 + s.silicon**2 + s.format**2 + s.blind**2 + other
        widen = np.array([s.widen_of.get(t.group, s.widen) for t in targets])
        if not self.observed:
            return np.zeros(len(targets)), widen * np.sqrt(prior + s.noise**2 + of_attention)
        measured_devices = {o.device for o in self.observed if o.is_of_user}
        again = np.array([_REPEAT_NOISE * (t.device in measured_devices) for t in targets])
        if not self._solved:
            covariance = self.covariance(self.observed, self.observed) + np.diag(self.noise())
            inverse = np.linalg.inv(covariance).astype(np.float64)
            self._solved["inverse"] = inverse
            deviations = np.array([o.deviation for o in self.observed])
            self._solved["weights"] = inverse @ deviations
        to = self.covariance(targets, self.observed)  # [T, N]
        explained = np.einsum("tn,nm,tm->t", to, self._solved["inverse"], to)
        spread = np.sqrt(np.maximum(prior + s.noise**2 - explained, 0.0) + again**2 + of_attention)
        return to @ self._solved["weights"], widen * spread

    def _is_rare(self, target: Observed) -> bool:
        """Whether a group of formats was measured on few kinds of silicon, and not on this one."""
        silicon = {o.silicon for o in self.observed if o.group is target.group}
        return len(silicon) < _FEW_SILICON and target.silicon not in silicon


def _of_user(rows: Sequence[Observed]) -> Floats:
    """Return 1 for what the user measured or asks for, 0 for what is published, float64 [N]."""
    return np.array([o.is_of_user or math.isnan(o.deviation) for o in rows], np.float64)


def silicon_of(device: Device) -> str:
    """Return the id of a device's die, of its own where the die is not known."""
    return device.chip or device.id


def target_of(device: Device, group: Group) -> Observed:
    """Return where a device and a group of formats stand among measurements."""
    return Observed(
        device=device.id,
        silicon=silicon_of(device),
        architecture=device.architecture,
        group=group,
        deviation=math.nan,
        rates=0,
    )


def evidence_text(target: Observed, observed: Sequence[Observed], title: str) -> str:
    """Return in words which measurements a time rests on, the nearest first."""
    silicon, architecture = target.silicon, target.architecture
    close = [o for o in observed if o.silicon == silicon or o.architecture == architecture]
    for what, names in (
        ("on this device with such weights", ("device", "group")),
        ("on this device with other weights", ("device",)),
        ("on this chip", ("silicon",)),
        ("on this architecture", ("architecture",)),
    ):
        rows = [o for o in close if _is(o, target, *names) and getattr(o, names[0])]
        for origin in (Origin.MEASURED, Origin.PROBED):
            if any(o.origin is origin for o in rows):
                return f"{origin} {what}"
        if rows:
            rates = plural(sum(o.rates for o in rows), "published rate")
            return f"{rates} of {title} {what}"
    devices = len({o.device for o in observed})
    if devices:
        return f"published rates of {title} on {plural(devices, 'other device')}"
    return f"physics alone: no published rate of {title}"


def _is(one: Observed, other: Observed, *names: str) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in names)
