"""The cores that a configuration's threads use, and the FP32 rate that follows from them."""

from __future__ import annotations

from dataclasses import dataclass

from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.core.text import printable


class MissingMetricError(InputError):
    """A device lacks a metric that a number needs.

    Attributes:
        metric: name of the missing metric.
    """

    metric: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """Cores of one kind; an unknown value is None."""

    cores: float
    clock_mhz: float | None
    highest_clock_mhz: float | None
    lanes: float | None
    name: str

    def macs_per_s(self, clock_mhz: float | None) -> float | None:
        """Return the FP32 MACs a second of all its cores at ``clock_mhz``."""
        if clock_mhz is None or self.lanes is None:
            return None
        return self.cores * clock_mhz * 1e6 * self.lanes

    def limited(self, cores: float) -> _Kind:
        return _Kind(cores, self.clock_mhz, self.highest_clock_mhz, self.lanes, self.name)


@dataclass(frozen=True, slots=True)
class CoreUse:
    """FP32 vector arithmetic of the threads in use.

    Attributes:
        share: part of the whole device's rate that the threads have, 0 < share <= 1.
        macs_per_s: clock x cores x lanes of the threads in use at the sustained clock, or None
            where one of the three is not known.
        highest_macs_per_s: the same at the highest clock.
    """

    share: float
    macs_per_s: float | None
    highest_macs_per_s: float | None


def core_use(device: Device, threads: int) -> CoreUse:
    """Return the use of ``device`` by ``threads`` threads (0: one a core).

    Threads fill the fastest kind of cores first.

    Raises:
        InputError: the share of the threads does not follow from the known facts of the cores.
    """
    kinds = _kinds(device)
    # One a core is not counted out: of a derivative the cores may be a fraction.
    used = _used(kinds, device.threads_in_use(threads) if threads else 0)
    return CoreUse(
        share=_share(device, kinds, used, threads),
        macs_per_s=_total([kind.macs_per_s(kind.clock_mhz) for kind in used]),
        highest_macs_per_s=_total([kind.macs_per_s(kind.highest_clock_mhz) for kind in used]),
    )


def _kinds(device: Device) -> list[_Kind]:
    lanes = device.metric("fp32_au_per_core")
    if device.clusters and device.is_threaded:
        kinds = [
            _Kind(c.cores, c.clock_mhz, c.clock_mhz, c.fp32_au_per_core or lanes, c.name)
            for c in device.clusters
        ]
        # Stable, so that the order of the file stays where lanes are not known.
        return sorted(kinds, key=_rate_of_one_core, reverse=True)
    cores = device.metric("core_count")
    if cores is None:
        return []
    clock, boost = device.metric("clock_mhz"), device.metric("boost_clock_mhz")
    highest = max((value for value in (clock, boost) if value is not None), default=None)
    return [_Kind(cores, boost if clock is None else clock, highest, lanes, device.name)]


def _rate_of_one_core(kind: _Kind) -> float:
    return (kind.macs_per_s(kind.clock_mhz) or 0.0) / kind.cores


def _used(kinds: list[_Kind], threads: int) -> list[_Kind]:
    """Return the kinds with only the cores that ``threads`` threads (0: all) keep busy."""
    if not threads:
        return kinds
    used, left = [], float(threads)
    for kind in kinds:
        if left <= 0:
            break
        used.append(kind.limited(min(kind.cores, left)))
        left -= kind.cores
    return used


def _total(rates: list[float | None]) -> float | None:
    stated = [rate for rate in rates if rate is not None]
    return sum(stated) if stated and len(stated) == len(rates) else None


def _share(device: Device, kinds: list[_Kind], used: list[_Kind], threads: int) -> float:
    if not threads or not device.is_threaded:
        return 1.0
    if not kinds:
        raise missing(device, "core_count")
    cores, cores_used = sum(k.cores for k in kinds), sum(k.cores for k in used)
    # Before any lanes are asked for: all cores are the whole rate, whatever they are.
    if cores_used == cores:
        return 1.0
    if len(kinds) == 1:
        return cores_used / cores
    whole = _total([kind.macs_per_s(kind.clock_mhz) for kind in kinds])
    part = _total([kind.macs_per_s(kind.clock_mhz) for kind in used])
    if whole is None or part is None:
        raise missing(device, "fp32_au_per_core")
    return part / whole


def missing(device: Device, metric: str) -> MissingMetricError:
    """Return the error that names a metric without which ``device`` has no number."""
    error = MissingMetricError(
        device.id,
        f"metric {metric} is not known for {printable(device.name)}",
        "add it to the device, or choose another",
    )
    error.metric = metric
    return error
