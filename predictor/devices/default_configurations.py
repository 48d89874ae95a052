"""What owners of a device deploy with: the table of default configurations.

What a device runs where a request leaves it open follows from ``resources/deployments.json``: the
order in which its configurations are listed and offered, the runtime of a precision that is named
alone, and the precision of a runtime that is named alone. The shipped files are written in this
order by ``packaging/order_configurations.py``, so that no start works it out. docs/defaults.md
shows the table with its reasons.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from predictor.core.caching import IdentityCache
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.core.resources import resources_dir
from predictor.core.runtimes import RUNTIMES, runtime_of
from predictor.devices.architectures import architecture_of, kind


@dataclass(frozen=True, slots=True)
class Deployment:
    """A row of the table: how owners of one kind of device run a network.

    Attributes:
        title: of the devices.
        runtimes: the best deployable first. Empty where the maker's, or the first one that the
            device lists, is.
        precision: of ``runtimes[0]``; None for the first one that the device lists for it.
        threads: of a network, in words; empty for all cores, or where threads mean nothing.
        reason: why.
    """

    title: str
    runtimes: tuple[str, ...]
    precision: Precision | None
    reason: str
    threads: str = ""


_PHONE_MAKERS: Final = frozenset(
    {"apple", "google", "hisilicon", "mediatek", "qualcomm", "samsung", "unisoc"}
)
# Chips of these makers that are sold for boards and cameras.
_NO_PHONES: Final = ("qrb", "qcs", "qcm", "hi3")
_FAST_HALVES: Final = 1.5  # over FP32; less does not pay for the conversions
# Of chips in phones whose file names the maker of the phone.
_PHONE_CHIPS: Final = ("snapdragon-", "exynos-", "dimensity-", "helio-", "kirin-", "tensor-g")
_MAX_PHONE_THREADS: Final = 4
_FAST_CLOCK: Final = 2 / 3  # of the fastest cores
# Their arithmetic is made for it, and a model comes to them quantised.
_INTEGER: Final = frozenset({Family.NPU, Family.MCU, Family.FPGA, Family.ASIC})
_GPUS: Final = frozenset({Family.GPU, Family.MOBILE_GPU})
_USUAL_ORDER: Final = (
    Precision.FP32,
    Precision.FP16,
    Precision.AMP_FP16,
    Precision.BF16,
    Precision.AMP_BF16,
    Precision.INT8,
)


@cache
def deployments() -> Mapping[str, Deployment]:
    """Return the rows of the table, by the kind of device; that of ``""`` is for all others."""
    return MappingProxyType(
        {name: _deployment(**row) for name, row in _table()["deployments"].items()}
    )


def _deployment(
    runtimes: Sequence[str] = (), precision: str | None = None, **words: str
) -> Deployment:
    usual = None if precision is None else Precision(precision)
    return Deployment(runtimes=tuple(runtimes), precision=usual, **words)


@cache
def _table() -> Mapping[str, Any]:
    """Return the table by its parts.

    They are ``deployments``, ``makers`` (runtimes of makers of NPUs, by the name in lower case) and
    ``follow`` (runtimes behind what the table names, or the device itself where it names nothing).
    """
    content: Mapping[str, Any] = json.loads((resources_dir() / "deployments.json").read_bytes())
    return content


def deployment(device: Device) -> Deployment:
    """Return the row of a device."""
    return deployments()[_row(device)]


def best_first(
    device: Device,
    configurations: Sequence[Configuration],
    measured: Collection[Configuration] = (),
) -> tuple[Configuration, ...]:
    """Return configurations in the order of the table.

    Args:
        device: that runs them.
        configurations: without repeats; those without threads get the usual ones of the device.
        measured: those with published measurements on the device; they follow the first one.
    """
    threads = {
        configuration: _with_threads(device, configuration) for configuration in configurations
    }
    distinct = tuple(dict.fromkeys(threads.values()))
    first, *followers = sorted(distinct, key=Ranking(replace(device, configurations=distinct)))
    follow = {threads.get(configuration, configuration) for configuration in measured}
    return (first, *sorted(followers, key=lambda configuration: configuration not in follow))


def usual_configuration(
    device: Device, runtime: str | None = None, precision: Precision | None = None
) -> Configuration:
    """Return the configuration that a device runs, of one runtime or precision where it is named.

    That is the first one that the device lists. A precision alone is that of its runtime, of the
    best deployable of the others where that has none; a runtime alone has its usual precision.
    Where the device lists nothing that agrees, it may not be able to run the configuration.
    """
    usual = device.configurations[0] if device.configurations else Configuration()
    if runtime in {None, usual.runtime} and precision in {None, usual.precision}:
        return usual
    fitting = [
        configuration
        for configuration in device.configurations
        if (runtime is None or configuration.runtime == runtime)
        and (precision is None or configuration.precision is precision)
    ]
    fitting = [
        configuration for configuration in fitting if configuration.runtime == usual.runtime
    ] or fitting
    if fitting:
        return fitting[0] if len(fitting) == 1 else min(fitting, key=ranking(device))
    name = usual.runtime if runtime is None else runtime
    if precision is None:
        precision = ranking(device).usual_precision(name)
    threads = usual.threads if name == usual.runtime else usual_threads(device, name)
    return replace(usual, runtime=name, precision=precision, threads=threads)


def ranking(device: Device) -> Ranking:
    """Return the ranking of a device, made once for each."""
    return _RANKINGS.get((device,), lambda: Ranking(device))


class Ranking:
    """Places of configurations among those of a device, the best deployable least.

    What needs a quantised model goes after all that do not, but on units that are made for it.

    Args:
        device: that runs them.
    """

    def __init__(self, device: Device) -> None:
        self._device, self._row = device, deployment(device)
        names = _runtimes(device, self._row)
        self._runtimes = dict(zip(names, range(len(names)), strict=True))
        self._precisions: dict[str, list[Precision]] = {}

    def __call__(self, configuration: Configuration) -> tuple[int, int, int]:
        """Return the place of a configuration."""
        precision, runtime = configuration.precision, configuration.runtime
        is_quantised = precision is Precision.INT8 and self._device.family not in _INTEGER
        return (
            int(is_quantised),
            self._runtimes.get(runtime, len(self._runtimes)),
            self._of(runtime).index(precision),
        )

    def usual_precision(self, runtime: str) -> Precision:
        """Return the precision of a runtime that is named alone: one that the device multiplies."""
        can = {configuration.precision for configuration in self._device.configurations}
        fitting = [precision for precision in self._of(runtime) if precision in can]
        precisions = runtime_of(runtime).precisions
        return next((precision for precision in fitting if precision in precisions), fitting[0])

    def _of(self, runtime: str) -> list[Precision]:
        if runtime not in self._precisions:
            self._precisions[runtime] = list(_precisions(self._device, self._row, runtime))
        return self._precisions[runtime]


_RANKINGS: Final[IdentityCache[Ranking]] = IdentityCache(1024)


def usual_threads(device: Device, runtime: str) -> int:
    """Return the threads that owners run on, 0 for all cores."""
    row = _row(device)
    if row == "phone" and runtime == "tflite":
        return _fast_cores(device)
    return 1 if row == "mcu" and (device.core_count or 1) > 1 else 0


def runtimes_of_makers(device: Device) -> tuple[str, ...]:
    """Return runtimes that a device has from its maker, where its file names none."""
    row = _row(device)
    if row == "npu":
        return tuple(_table()["makers"].get(device.vendor.casefold(), ()))
    # Of the first alone: the others are portable, or for other devices of the row.
    return deployments()[row].runtimes[:1]


def _row(device: Device) -> str:
    if device.family in {Family.NPU, Family.FPGA, Family.ASIC}:
        return "npu"
    if device.family is Family.MOBILE_CPU:
        return "phone" if _is_phone(device) else ""
    of_device = kind(device)
    if of_device == "mobile-gpu" and device.vendor == "Apple":
        return "apple-gpu"
    return of_device if of_device in deployments() else ""


def _is_phone(device: Device) -> bool:
    is_maker = device.vendor.casefold() in _PHONE_MAKERS or device.chip.startswith(_PHONE_CHIPS)
    return is_maker and not device.chip.startswith(_NO_PHONES)


def _runtimes(device: Device, row: Deployment) -> dict[str, None]:
    """Return all runtimes in the order of the table, then those that follow on all devices."""
    by_table = row.runtimes or runtimes_of_makers(device)
    first = (configuration.runtime for configuration in device.configurations[:1])
    return dict.fromkeys((*by_table, *first, *_table()["follow"], *RUNTIMES))


def _precisions(device: Device, row: Deployment, runtime: str) -> dict[Precision, None]:
    """Return all precisions, the usual one of a runtime on a device first."""
    name = runtime_of(runtime)
    usual: list[Precision] = []
    if runtime in row.runtimes[:1] and row.precision is not None:
        is_slow = runtime == "tensorrt" and not has_fast_halves(device)
        usual.append(Precision.FP32 if is_slow else row.precision)
    elif device.family in _INTEGER:
        usual += (configuration.precision for configuration in device.configurations[:1])
    elif name.hides_halves or (name.may_halve and device.family in _GPUS):
        usual.append(Precision.FP16)
    return dict.fromkeys((*usual, *_USUAL_ORDER))


def has_fast_halves(device: Device) -> bool:
    """Whether a GPU multiplies halves much faster than floats, by vectors or matrix units."""
    design = architecture_of(device)
    if device.metric("matrix_units") or (design is not None and "fp16" in design.matrix_lanes):
        return True
    halves, floats = device.metric("fp16_tflops"), device.metric("fp32_tflops")
    if halves is not None and floats is not None:
        return halves >= _FAST_HALVES * floats
    return design is not None and design.numbers.get("fp16_factor", 0.0) >= _FAST_HALVES


def _with_threads(device: Device, configuration: Configuration) -> Configuration:
    if configuration.threads:
        return configuration
    return replace(configuration, threads=usual_threads(device, configuration.runtime))


def _fast_cores(device: Device) -> int:
    """Return the number of fast cores of a phone, four at most; 0 where that is all cores."""
    cores = sum(
        cluster.cores for cluster in device.clusters if _is_fast(cluster, device.clusters[0])
    )
    threads = min(cores or device.core_count or 0, _MAX_PHONE_THREADS)
    return 0 if threads == device.core_count else threads


def _is_fast(cluster: Cluster, fastest: Cluster) -> bool:
    """Whether cores do not hold up the fastest ones: as wide an order, and a clock near theirs."""
    design, first = architecture_of(cluster), architecture_of(fastest)
    is_small = design is not None and first is not None and design.in_order and not first.in_order
    return not is_small and cluster.clock_mhz >= _FAST_CLOCK * fastest.clock_mhz
