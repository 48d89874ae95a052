"""Budgets, and the options that are judged by them: targets and batches."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.tails import spread_of
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, OperatingPoint, Precision, Target, by_run
from predictor.core.run_facts import MEDIAN
from predictor.core.runtimes import UNKNOWN
from predictor.core.text import printable
from predictor.devices.operating import is_clocked, power_modes
from predictor.services.prediction.targets import supports

POWER: Final = "tdp_w"  # the metric that a power budget limits
BATCHES: Final = (1, 2, 4, 8, 16)  # multiples of a model's batch, where throughput is limited


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits that each of several models has to meet by itself; None for no limit.

    Attributes:
        max_ms: of the latency of one run over its batch.
        min_fps: of the throughput: images of a batch over the time of its run.
        max_watts: of the power that the device is stated to draw.
        max_memory_mb: of weights and activations, in 1e6 bytes.
        percentile: of the runs that have to meet the latency: 50, 90 or 99.
        min_throughput: items a second with as many runs at once as the runtime would choose.
    """

    max_ms: float | None = None
    min_fps: float | None = None
    max_watts: float | None = None
    max_memory_mb: float | None = None
    percentile: int = MEDIAN
    min_throughput: float | None = None

    def __post_init__(self) -> None:
        limits = {item.name: getattr(self, item.name) for item in fields(self)}
        del limits["percentile"]
        if self.percentile != MEDIAN and self.max_ms is None:
            raise InputError(
                f"P{self.percentile}", "there is no latency that it has to keep", "state one"
            )
        if all(limit is None for limit in limits.values()):
            raise InputError("the budget", "it has no limit", "state a latency, or another limit")
        for name, limit in limits.items():
            if limit is not None and not 0 < limit < math.inf:
                raise InputError(name, f"{limit} is not a number over 0", "state one")

    def limits_ms(self, batch: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the longest time of runs over batches, [N]; infinite without a limit."""
        of_rate = np.inf if self.min_fps is None else 1e3 / self.min_fps
        limits: NDArray[np.float64] = np.minimum(batch * of_rate, self.latency_limits(batch))
        return limits

    def latency_limits(self, batch: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the limit of the latency of each run, whatever its batch, [N]."""
        return np.full(len(batch), np.inf if self.max_ms is None else self.max_ms)

    @property
    def words(self) -> str:
        """The limits as text."""
        at = "" if self.percentile == MEDIAN else f" at P{self.percentile}"
        limits = (
            (self.max_ms, "{:g} ms" + at),
            (self.min_fps, "{:g} items/s"),
            (self.min_throughput, "{:g} items/s of several runs at once"),
            (self.max_watts, "{:g} W"),
            (self.max_memory_mb, "{:g} MB"),
        )
        return ", ".join(form.format(limit) for limit, form in limits if limit is not None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Configurations to choose from; an empty part is every one.

    Attributes:
        runtimes: by name; empty for all but the unknown one.
        precisions: of the arithmetic.
        families: kinds of device.
        threads: numbers of them, 0 for one a core; of processors only. Empty for every number.
        modes: operating points by name; empty for the usual clocks and every named mode.
    """

    runtimes: tuple[str, ...] = ()
    precisions: tuple[Precision, ...] = ()
    families: tuple[Family, ...] = ()
    threads: tuple[int, ...] = (0,)
    modes: tuple[str, ...] = ()


class Mode(NamedTuple):
    """A target at an operating point: the target's place, and the point."""

    target: int
    point: OperatingPoint


@dataclass(frozen=True, eq=False)
class Options:
    """Hardware to choose from: each batch on T targets, then on M of them in a mode.

    Attributes:
        targets: T of them.
        modes: M of them.
        batches: multiples of the models' own batch, 1 the first.
        at_usual: whether usual clocks are among the options.
    """

    targets: Sequence[Target]
    modes: Sequence[Mode] = ()
    batches: Sequence[int] = (1,)
    at_usual: bool = True

    @property
    def block(self) -> int:
        """Number of options of one batch, T + M."""
        return len(self.targets) + len(self.modes)

    @cached_property
    def target_places(self) -> NDArray[np.intp]:
        """Place of the target of each option, int [N]."""
        modes = np.array([mode.target for mode in self.modes], np.intp)
        return np.tile(np.concatenate([np.arange(len(self.targets)), modes]), len(self.batches))

    @property
    def is_allowed(self) -> NDArray[np.bool_]:
        """Whether each option may be chosen, bool [N]."""
        of_block = np.arange(self.block) >= (0 if self.at_usual else len(self.targets))
        return np.tile(of_block, len(self.batches))

    def target(self, place: int) -> Target:
        """Return the target of an option."""
        return self.targets[int(self.target_places[place])]

    def point(self, place: int) -> OperatingPoint | None:
        """Return the operating point of an option; None for the usual clocks."""
        mode = place % self.block - len(self.targets)
        return None if mode < 0 else self.modes[mode].point


def options_of(devices: Iterable[Device], wanted: Wanted, batches: Sequence[int] = (1,)) -> Options:
    """Return what the devices support of what is wanted, each target once.

    Raises:
        InputError: there is none.
    """
    chosen = [
        candidate
        for candidate in devices
        if not wanted.families or candidate.family in wanted.families
    ]
    names = {name.strip().casefold() for name in wanted.modes}
    if names:
        chosen = [candidate for candidate in chosen if any(_points(candidate, names))]
        if not chosen:
            raise InputError(
                f"--mode {printable(', '.join(wanted.modes))}",
                "none of the devices has a mode of this name",
                "ctm devices show ID lists the modes of a device",
            )
    targets = [target for device in chosen for target in _of_device(device, wanted)]
    if not targets:
        raise InputError(
            "the choice",
            f"none of {len(chosen)} devices supports the configurations that are wanted",
            "allow another runtime, precision, family or device",
        )
    modes = [
        Mode(place, point)
        for place, target in enumerate(targets)
        if target.device.operating_points
        for point in _points(target.device, names)
    ]
    return Options(targets, modes, batches, at_usual=not names)


def tails_of(
    options: Options, percentile: int, batch: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a percentile of runs over their P50, and the deviation of its ln, float64 [N] each.

    NaN where it is unknown.

    Args:
        options: N of them.
        percentile: 90 or 99.
        batch: int [N], of their runs.
    """

    def tail(target: Target) -> tuple[float, float]:
        spread = spread_of(target, 1)
        if spread is None:
            return math.nan, math.nan
        of = spread.tail(percentile)
        return of.ratio, of.deviation

    of_targets = np.array(by_run(options.targets, tail), np.float64)
    of_options = np.where((batch == 1)[:, None], of_targets[options.target_places], np.nan)
    ratio, deviation = of_options.T
    return ratio, deviation


def _points(device: Device, names: Collection[str]) -> list[OperatingPoint]:
    """Return the operating points with one of the names, all named modes without any."""
    if not device.operating_points or not is_clocked(device):
        return []
    if not names:
        return power_modes(device)
    return [point for point in device.operating_points if point.name.casefold() in names]


def _of_device(device: Device, wanted: Wanted) -> Iterator[Target]:
    configurations = [
        configuration
        for configuration in device.configurations
        if (not wanted.precisions or configuration.precision in wanted.precisions)
        and (
            configuration.runtime in wanted.runtimes
            if wanted.runtimes
            else configuration.runtime != UNKNOWN
        )
    ]
    # A runtime that every device of the family can install stands in no file.
    stated = {(configuration.runtime, configuration.precision) for configuration in configurations}
    more = [
        replace(usual, runtime=runtime, precision=precision)
        for usual in device.configurations[:1]
        for runtime in wanted.runtimes
        for precision in wanted.precisions
        or dict.fromkeys(c.precision for c in device.configurations)
        if (runtime, precision) not in stated
    ]
    configurations += [configuration for configuration in more if supports(device, configuration)]
    runs = dict.fromkeys(
        (configuration.runtime, configuration.precision) for configuration in configurations
    )
    for runtime, precision in runs:
        for threads in _thread_counts(device, wanted):
            yield Target(device, Configuration(runtime, precision, threads))


def _thread_counts(device: Device, wanted: Wanted) -> Sequence[int]:
    """Return numbers of threads, 0 for one a core, each number of threads that compute once."""
    if not device.is_threaded:
        return (0,)
    # One a core is the usual; the others follow.
    counts = wanted.threads or (0, *range(1, device.core_count or 1))
    first: dict[int, int] = {}
    for threads in counts:
        first.setdefault(device.threads_in_use(threads), threads)
    return list(first.values())
