"""Records that every format is read into; times in ms or ns, whatever the file's own unit is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from predictor.core.records import Precision
from predictor.probing.operator_times import OperatorTime


class Statistic(StrEnum):
    """Statistic of the runs behind a single time."""

    MEDIAN = "median"
    MINIMUM = "minimum"
    MEAN = "mean"
    MEAN_OF_FASTEST = "mean of the fastest"
    STATED = "as stated, statistic unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLatency:
    """One network as one file states it. A fact that the file does not state is None or empty.

    Attributes:
        network: its name in the file.
        place: where in the file, as ``line 12`` or ``results[3]``.
        value_ms: the headline value; None where the file holds times of operators alone.
        statistic: of ``value_ms``; None where there is no value.
        samples_ns: every run in order, where the file has them.
        runs: number of runs behind the value.
        runtime: one of ``core.runtimes.RUNTIMES``.
        precision: arithmetic of the run.
        threads: number of threads.
        batch: inputs of one run.
        device: name for the device.
        profiled: whether the tool's profiler ran; it slows small networks.
        facts: whatever else is worth keeping, by name.
        operators: times of operators, in the file's order.
    """

    network: str
    place: str
    value_ms: float | None
    statistic: Statistic | None
    samples_ns: tuple[int, ...] = ()
    runs: int | None = None
    runtime: str | None = None
    precision: Precision | None = None
    threads: int | None = None
    batch: int | None = None
    device: str = ""
    profiled: bool = False
    facts: Mapping[str, str] = field(default_factory=dict)
    operators: tuple[OperatorTime, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))


def facts_ms(times_ms: Mapping[str, float]) -> dict[str, str]:
    """Return times by their names as facts of a latency, with six digits."""
    return {f"{name}_ms": f"{time_ms:.6g}" for name, time_ms in times_ms.items()}


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file that was read whole.

    Attributes:
        name: of the file, without its folder.
        sha256: of its bytes, hex.
        format: name of the format.
        latencies: of its networks, at least one.
        notes: sentences for the user about omissions and doubts.
    """

    name: str
    sha256: str
    format: str
    latencies: tuple[ImportedLatency, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Latencies that a parser read, in the file's order, and sentences for the user."""

    latencies: tuple[ImportedLatency, ...]
    notes: tuple[str, ...] = ()
