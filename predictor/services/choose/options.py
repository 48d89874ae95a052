"""Budgets, and the options that are held against them: targets and batches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, Precision, Target
from predictor.core.runtimes import UNKNOWN
from predictor.services.prediction.predict import supports

POWER: Final = "tdp_w"  # the metric that a power budget is held against
BATCHES: Final = (1, 2, 4, 8, 16)  # multiples of a model's batch, where throughput is asked for


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits that each of several models has to keep on its own; None for no limit.

    Attributes:
        max_ms: of the latency of one run over its batch.
        min_fps: of the throughput: images of a batch over the time of its run.
        max_watts: of the power that the device is stated to draw.
        max_memory_mb: of weights and activations, in 1e6 bytes.
    """

    max_ms: float | None = None
    min_fps: float | None = None
    max_watts: float | None = None
    max_memory_mb: float | None = None

    def __post_init__(self) -> None:
        limits = {each.name: getattr(self, each.name) for each in fields(self)}
        if all(limit is None for limit in limits.values()):
            raise InputError("the budget", "it has no limit", "state a latency, or another limit")
        for name, limit in limits.items():
            if limit is not None and not 0 < limit < math.inf:
                raise InputError(name, f"{limit} is not a number over 0", "state one")

    def limit_ms(self, batch: int) -> float:
        """Return the longest time of a run over a batch, infinite without a limit."""
        of_rate = math.inf if self.min_fps is None else batch * 1e3 / self.min_fps
        return min(of_rate, math.inf if self.max_ms is None else self.max_ms)

    @property
    def words(self) -> str:
        """The limits, for people."""
        limits = (
            (self.max_ms, "{:g} ms"),
            (self.min_fps, "{:g} images/s"),
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
        threads: numbers of them, 0 for one a core; of processors only.
    """

    runtimes: tuple[str, ...] = ()
    precisions: tuple[Precision, ...] = ()
    families: tuple[Family, ...] = ()
    threads: tuple[int, ...] = (0,)


def options_of(devices: Iterable[Device], wanted: Wanted) -> tuple[Target, ...]:
    """Return the targets that the devices support and that are wanted, each once.

    Raises:
        InputError: there is none.
    """
    chosen = [each for each in devices if not wanted.families or each.family in wanted.families]
    targets = {target.id: target for device in chosen for target in _of_device(device, wanted)}
    if not targets:
        raise InputError(
            "the choice",
            f"none of {len(chosen)} devices supports the configurations that are wanted",
            "allow another runtime, precision, family or device",
        )
    return tuple(targets.values())


def _of_device(device: Device, wanted: Wanted) -> Iterator[Target]:
    configurations = [
        each
        for each in device.configurations
        if (not wanted.precisions or each.precision in wanted.precisions)
        and (each.runtime in wanted.runtimes if wanted.runtimes else each.runtime != UNKNOWN)
    ]
    # A runtime that every device of the family can install stands in no file.
    stated = {(each.runtime, each.precision) for each in configurations}
    more = [
        replace(usual, runtime=runtime, precision=precision)
        for usual in device.configurations[:1]
        for runtime in wanted.runtimes
        for precision in wanted.precisions
        or dict.fromkeys(c.precision for c in device.configurations)
        if (runtime, precision) not in stated
    ]
    configurations += [each for each in more if supports(device, each)]
    counts: Sequence[int] = wanted.threads if device.is_threaded else (0,)
    for configuration in configurations:
        for threads in counts:
            yield Target(device, replace(configuration, threads=threads))
