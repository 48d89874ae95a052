"""Evidence of measured targets for others: deviations from the efficiencies of the class.

A target's whole time deviates from the estimate of its class by exp(level). A level is a sum of
normal effects of its silicon, of its device, of both under one runtime, and of itself. So
measurements of another configuration, another device with the chip or another runtime inform a
target, the more so the closer they are. On one device under one runtime, runs of the same precision
and of similar numbers of threads correlate more. The posterior has a closed form; targets of
different silicon are independent. The parts of the time deviate from that level by a shape, taken
from the closest target that was measured under the same runtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.target_fit import SHAPE
from predictor.core.arrays import ArrayRecord, Floats, Integers, Places
from predictor.core.records import Target, by_run
from predictor.devices.architectures import silicon

Words = NDArray[np.str_]

ALL_CORES: Final = "all"  # in place of a number of threads
# From far to near.
NEARNESS: Final = ("", "chip", "device", "target")
_CHIP: Final = NEARNESS.index("chip")
# Part of a neighbour's shape that a target shares, and the part of a shape's variance that remains.
_SHARED_SHAPE: Final = np.array([0.0, 0.7, 0.8, 1.0])
_SHAPE_VARIANCE: Final = np.array([1.0, 0.6, 0.5, 0.3])
_CHIP_SHAPE_LIMIT: Final = float(np.log(2))

# Of the effect of a target that another precision of its device shares under the same runtime.
OTHER_PRECISION: Final = 0.5
_USUAL_CORES: Final = "8"  # of a device that runs on all
_LIKE_THREADS: Final = 2.0  # ln of the ratio of threads at which 1/e of the effect is shared

_REMEMBERED: Final = 1 << 13  # targets
_ARRAYS: Final = ("level", "variance", "shape", "networks")  # of Evidence, by target


@dataclass(frozen=True, slots=True)
class Scales:
    """Standard deviations of the effects in ln."""

    silicon: float
    silicon_runtime: float
    device: float
    device_runtime: float
    target: float

    @property
    def level(self) -> float:
        """Standard deviation of the deviation of a target of which nothing is known."""
        return float(np.sqrt(sum(scale**2 for scale in astuple(self))))


@dataclass(frozen=True, slots=True, eq=False)
class Keys(ArrayRecord):
    """The names that targets share, str [T] each; of threads their number or `ALL_CORES`."""

    silicon: Words
    device: Words
    runtime: Words
    precision: Words
    threads: Words

    @classmethod
    def of(cls, targets: Sequence[Target]) -> Keys:
        """Return the keys of targets."""
        silicons = by_run(targets, lambda target: silicon(target.device))
        rows = [
            (
                silicon_name,
                target.device.id,
                target.configuration.runtime,
                target.configuration.precision,
                threads_key(target),
            )
            for silicon_name, target in zip(silicons, targets, strict=True)
        ]
        return cls(*np.array(rows, np.str_).reshape(-1, 5).T)

    def targets(self) -> list[tuple[str, ...]]:
        """Return the keys of each target but its silicon."""
        return [row[1:] for row in self.rows()]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the keys of each target, as in the order of the fields."""
        columns = (getattr(self, name).tolist() for name in self.__slots__)
        return list(zip(*columns, strict=True))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Deviations(ArrayRecord):
    """Posterior of the deviations of T targets.

    Attributes:
        mean, variance: float64 [T], of the level.
        shape: float64 [T, P + R], mean.
        shape_variance: float64 [T], as a part of the variance before any evidence.
        nearness: int64 [T], index into ``NEARNESS`` of the nearest measured target.
        nearest: int64 [T], its place in the evidence; -1 for none.
    """

    mean: Floats
    variance: Floats
    shape: Floats
    shape_variance: Floats
    nearness: Integers
    nearest: Integers


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evidence:
    """Deviations of M measured targets.

    Attributes:
        keys: of the targets.
        level: float64 [M], from the measurements of each alone.
        variance: float64 [M], of the level.
        shape: float64 [M, P + R].
        networks: int64 [M], number of measured ones.
        scales: of the effects.
        covariance: float64 [P + R, P + R], of the shape of a target of which nothing is known.
    """

    keys: Keys
    level: Floats
    variance: Floats
    shape: Floats
    networks: Integers
    scales: Scales
    covariance: Floats = field(default_factory=SHAPE.covariance)

    @classmethod
    def nothing(cls, scales: Scales, covariance: Floats | None = None) -> Evidence:
        """Return the evidence of no target.

        Args:
            scales: of the effects.
            covariance: of a shape; None for the usual one, without directions.
        """
        usual = SHAPE.covariance() if covariance is None else covariance
        return cls(
            keys=Keys.of([]),
            level=np.empty(0),
            variance=np.empty(0),
            shape=np.empty((0, len(usual))),
            networks=np.empty(0, np.int64),
            scales=scales,
            covariance=usual,
        )

    def take(self, places: Places) -> Evidence:
        """Return the evidence of some of the targets."""
        arrays = {name: getattr(self, name)[places] for name in _ARRAYS}
        return replace(self, keys=self.keys.take(places), **arrays)

    def joined(self, other: Evidence) -> Evidence:
        """Return this evidence joined with that of further targets."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in _ARRAYS}
        arrays: dict[str, Any] = {name: np.concatenate(pair) for name, pair in pairs.items()}
        return replace(self, keys=Keys.joined([self.keys, other.keys]), **arrays)

    def without(self, excluded: Keys) -> Evidence:
        """Return this evidence but for the target with the excluded keys."""
        names = ("device", "runtime", "precision", "threads")
        same = [getattr(self.keys, name) == getattr(excluded, name) for name in names]
        gone = np.logical_and.reduce(same)
        return self.take(~gone) if gone.any() else self

    def networks_of(self, keys: Keys) -> list[int]:
        """Return of how many networks each of T targets was measured; 0 where it was not."""
        networks = _networks_by_target(self)
        return [networks.get(target, 0) for target in keys.targets()]

    def have(self, keys: Keys) -> list[bool]:
        """Return whether each of T targets was measured."""
        return [networks > 0 for networks in self.networks_of(keys)]

    def twins(self, keys: Keys) -> Integers:
        """Return places of measured targets with the same silicon and run, int64 [T]; -1 for none.

        The run is runtime, precision and threads. A target that was measured itself has none.

        Args:
            keys: of T targets.
        """
        same = np.ones((len(keys.silicon), len(self.networks)), np.bool_)
        for name in ("silicon", "runtime", "precision", "threads"):
            same &= getattr(keys, name)[:, None] == getattr(self.keys, name)
        itself = same & (keys.device[:, None] == self.keys.device)
        is_twin = same.any(axis=1) & ~itself.any(axis=1)
        return np.where(is_twin, _nearest(same.astype(np.int64), self.networks), -1)

    def about(self, keys: Keys) -> Deviations:
        """Return the posterior of the deviations of T targets, measured ones or others."""
        count = len(keys.silicon)
        mean, variance = np.zeros(count), np.full(count, self.scales.level**2)
        shape, shape_variance = np.zeros((count, self.shape.shape[1])), np.ones(count)
        nearness, nearest = np.zeros(count, np.int64), np.full(count, -1, np.int64)
        # Not np.intersect1d, which imports numpy.ma: 20 ms of the first prediction.
        for name in set(keys.silicon.tolist()) & set(self.keys.silicon.tolist()):
            targets = np.flatnonzero(keys.silicon == name)  # [T']
            sources = np.flatnonzero(self.keys.silicon == name)  # [M']
            target_keys, source_keys = keys.take(targets), self.keys.take(sources)
            cross, closeness = _covariance(target_keys, source_keys, self.scales)
            covariance, _ = _covariance(source_keys, source_keys, self.scales)
            covariance += np.diag(self.variance[sources])
            # Sums along rows: to the last bit the same for a target beside whichever others.
            gain = (cross[:, None] * np.linalg.inv(covariance)).sum(axis=2)  # [T', M']
            mean[targets] = (gain * self.level[sources]).sum(axis=1)
            variance[targets] -= (gain * cross).sum(axis=1)
            networks = self.networks[sources]
            same_runtime = target_keys.runtime[:, None] == source_keys.runtime
            source = _nearest(closeness + 0.5 * same_runtime, networks)
            nearness[targets], nearest[targets] = closeness.max(axis=1), sources[source]
            # Kernels of another runtime differ: it is no evidence of a shape.
            shape_nearness = np.where(same_runtime, closeness, 0).max(axis=1)
            similarity = closeness + _likeness(target_keys, source_keys) / 2
            source = _nearest(np.where(same_runtime, similarity, 0), networks)
            means = _SHARED_SHAPE[shape_nearness][:, None] * self.shape[sources[source]]
            # The memory of another device differs: it moves a part by a factor of two at most.
            limit = np.where(shape_nearness == _CHIP, _CHIP_SHAPE_LIMIT, np.inf)[:, None]
            shape[targets] = np.clip(means, -limit, limit)
            shape_variance[targets] = _SHAPE_VARIANCE[shape_nearness]
        variance = np.maximum(variance, 0.0)
        return Deviations(
            mean=mean,
            variance=variance,
            shape=shape,
            shape_variance=shape_variance,
            nearness=nearness,
            nearest=nearest,
        )


class _Answers(NamedTuple):
    """Deviations and twins of targets, by their keys."""

    places: Mapping[tuple[str, ...], int]
    deviations: Deviations
    twins: Integers


class RememberedEvidence:
    """Evidence that is asked about equal keys once.

    What it says of a target depends on its keys alone, and of a device that was not measured on the
    others of them. So a device with another clock, or with another name, is not asked about anew.
    """

    def __init__(self, evidence: Evidence) -> None:
        """Remember nothing."""
        self._evidence = evidence
        self._measured = {row[:2] for row in evidence.keys.rows()}
        self._answers = self._none = self._answers_of(Keys.of([]), {})

    def about(self, keys: Keys) -> Deviations:
        """Return what :meth:`Evidence.about` does."""
        places, answers = self._of(keys)
        return answers.deviations.take(places)

    def twins(self, keys: Keys) -> Integers:
        """Return what :meth:`Evidence.twins` does."""
        places, answers = self._of(keys)
        return answers.twins[places]

    def _of(self, keys: Keys) -> tuple[Integers, _Answers]:
        """Return the answers, and the place of each target in them."""
        names = [
            row if row[:2] in self._measured else (row[0], "", *row[2:]) for row in keys.rows()
        ]
        answers = self._answers  # threads that ask at once replace the answers of each other
        if len(answers.places) + len(names) > _REMEMBERED:
            answers = self._none
        unknown = [name for name in dict.fromkeys(names) if name not in answers.places]
        if unknown:
            numbers = {name: place for place, name in enumerate(unknown, len(answers.places))}
            new = self._answers_of(
                Keys(*np.array(unknown, np.str_).T), {**answers.places, **numbers}
            )
            self._answers = answers = _Answers(
                new.places,
                Deviations.joined([answers.deviations, new.deviations]),
                np.concatenate([answers.twins, new.twins]),
            )
        return np.array([answers.places[name] for name in names], np.int64), answers

    def _answers_of(self, keys: Keys, places: Mapping[tuple[str, ...], int]) -> _Answers:
        return _Answers(places, self._evidence.about(keys), self._evidence.twins(keys))


def threads_key(target: Target) -> str:
    """Return the threads of a target, as :class:`Keys` has them.

    One thread a core is the same run on a device of more cores.
    """
    threads = target.threads
    return ALL_CORES if 0 < threads == target.device.core_count else str(threads)


def _nearest(nearness: NDArray[np.number], networks: Integers) -> Integers:
    """Return the place of the nearest of [A, B], with the most networks among equals, [A]."""
    if not len(networks):
        return np.full(len(nearness), -1, np.int64)
    nearest: Integers = (nearness * 1e6 + networks).argmax(axis=1)
    return nearest


def _likeness(a: Keys, b: Keys) -> Floats:
    """Return the similarity of runs by precision and threads, [A, B], 1 for equal runs."""
    # Not the number of cores of the device: a fact that grows would change the evidence.
    ours, theirs = (
        np.log(
            np.maximum(np.where(threads == ALL_CORES, _USUAL_CORES, threads).astype(np.float64), 1)
        )
        for threads in (a.threads, b.threads)
    )
    alike = np.exp(-np.abs(ours[:, None] - theirs) / _LIKE_THREADS)
    likeness: Floats = alike * np.where(a.precision[:, None] == b.precision, 1.0, OTHER_PRECISION)
    return likeness


@lru_cache(maxsize=2)  # asked of each device and configuration by itself
def _networks_by_target(evidence: Evidence) -> Mapping[tuple[str, ...], int]:
    return dict(zip(evidence.keys.targets(), evidence.networks.tolist(), strict=True))


def _covariance(a: Keys, b: Keys, scales: Scales) -> tuple[Floats, Integers]:
    """Return covariance and nearness of targets of one silicon, [A, B] each."""
    runtime, device, precision, threads = (
        getattr(a, name)[:, None] == getattr(b, name)
        for name in ("runtime", "device", "precision", "threads")
    )
    covariance = (
        scales.silicon**2
        + scales.silicon_runtime**2 * runtime
        + scales.device**2 * device
        + (scales.device_runtime**2 + scales.target**2 * _likeness(a, b)) * (device & runtime)
    )
    return covariance, 1 + device.astype(np.int64) + (device & runtime & precision & threads)
