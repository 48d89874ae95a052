"""The records that every room exchanges. All are frozen; units stand in the names.

Words: a *device* is hardware (one compute unit), an *execution configuration* is runtime,
precision, threads and batch, and a *target* is a device with a configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeVar

from predictor.core.documents import Provenance
from predictor.core.metrics import Family
from predictor.core.units import GIB

T = TypeVar("T")


class Precision(StrEnum):
    """Arithmetic that a run uses; ``amp_*`` keeps FP32 weights and multiplies in half precision."""

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"
    INT8 = "int8"
    AMP_FP16 = "amp_fp16"
    AMP_BF16 = "amp_bf16"

    @property
    def words(self) -> str:
        """Its name for people: ``AMP FP16``."""
        return self.value.replace("_", " ").upper()

    @property
    def number_format(self) -> str:
        """Format of the numbers that it multiplies; mixed precision multiplies the half format."""
        return self.removeprefix("amp_")

    @property
    def explanation(self) -> str:
        """One sentence on a name that does not explain itself, empty for the others."""
        *mixed, half = self.words.split()
        meaning = "(automatic mixed precision) keeps FP32 weights and multiplies in"
        return f"{self.words} {meaning} {half}." if mixed else ""


class Basis(StrEnum):
    """Basis of a latency; the values are those of stores and documents."""

    MEASURED = "measured"
    PROBED = "probed"
    ZERO_SHOT = "zero-shot"
    ANALYTIC = "analytic"

    @property
    def words(self) -> str:
        """Its name for people."""
        return {"probed": "calibrated", "zero-shot": "from specs"}.get(self.value, self.value)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Execution configuration; threads 0 means all cores, batch 0 the model's own."""

    runtime: str = "unknown"
    precision: Precision = Precision.FP32
    threads: int = 0
    batch: int = 0

    def __hash__(self) -> int:
        # Without the precision: to hash a member of an enumeration takes longer than all the rest.
        return hash((self.runtime, self.threads, self.batch))


@dataclass(frozen=True, slots=True)
class SustainedRates:
    """Rates that a machine sustained while it was measured.

    Attributes:
        copy_gbps: bytes read plus bytes written a second, in 1e9, of the fastest copy.
        product_tflops: FP32 rate of one core at ONNX Runtime's fastest matrix product, a
            multiplication and an addition counting as two operations.
        all_cores_tflops: the same of all cores together.
        day: of the measurement, ISO 8601.
    """

    copy_gbps: float
    product_tflops: float
    all_cores_tflops: float
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Cores of one kind on a CPU with several kinds.

    Attributes:
        name: name of the core, for example ``Cortex-A76``.
        cores: their number.
        clock_mhz: their highest clock.
        fp32_au_per_core: FP32 FMA lanes x units per core, or None where it is not known.
        architecture: id of their design in the table of architectures; empty where not known.
        instruction_sets: that they have; empty for those of the architecture.
    """

    name: str
    cores: int
    clock_mhz: float
    fp32_au_per_core: float | None = None
    architecture: str = ""
    instruction_sets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """A rate that was reached, and where that is reported."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Inference:
    """A field of a device that follows from its name, or contradicts it.

    Attributes:
        field: the field: ``architecture``, ``chip``, ``instruction_sets``, ``clusters``, that of a
            cluster (``clusters.0.architecture``), or a metric.
        value: that the name means, for people.
        reason: the name and what it means, for people.
        is_used: whether the device has the value; else it keeps another that the user stated.
    """

    field: str
    value: str
    reason: str
    is_used: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """A power mode or a fixed clock of a device; None for what it leaves as it is.

    Attributes:
        name: as its maker calls it, for example ``15W``.
        source: of the values.
        power_w: power limit.
        cpu_mhz, gpu_mhz, memory_mhz: highest clocks.
        cores: CPU cores that are on.
        gpu_cores: GPU cores (SMs) that are on.
    """

    name: str
    source: str
    power_w: float | None = None
    cpu_mhz: float | None = None
    gpu_mhz: float | None = None
    memory_mhz: float | None = None
    cores: int | None = None
    gpu_cores: int | None = None


def _frozen(mapping: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(mapping))


_THREADED: Final = frozenset({Family.CPU, Family.MOBILE_CPU, Family.MCU})


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One compute unit, described by its Hardware Capability Vector.

    Attributes:
        id: short lower-case slug.
        name: name for people.
        vendor: maker of the chip.
        family: kind of compute unit.
        metrics: HCV metrics by name; one that is not known is absent.
        sources: of each metric, by metric name.
        configurations: that the device can run, the usual one first.
        clusters: kinds of cores, the fastest first; empty where all are alike.
        system: name that joins the units of one chip or board, empty where there is one.
        notes: free text.
        chip: id of the die or system on chip; devices of one chip share silicon.
        architecture: id of its design in the table of architectures; of a processor with
            ``clusters`` each of them has its own.
        instruction_sets: that it has; empty for those of the architecture.
        measured: rates that were reached, by the name of the metric or ``launch_us``.
        operating_points: its power modes and fixed clocks.
        inferences: fields that its names imply or contradict.
        host_architecture: id of the design of the cores that start its work; empty for those of a
            current desktop, and of a processor.
    """

    id: str
    name: str
    vendor: str
    family: Family
    metrics: Mapping[str, float]
    sources: Mapping[str, str] = field(default_factory=dict)
    configurations: tuple[Configuration, ...] = (Configuration(),)
    clusters: tuple[Cluster, ...] = ()
    system: str = ""
    notes: str = ""
    chip: str = ""
    architecture: str = ""
    instruction_sets: tuple[str, ...] = ()
    measured: Mapping[str, MeasuredRate] = field(default_factory=dict)
    operating_points: tuple[OperatingPoint, ...] = ()
    inferences: tuple[Inference, ...] = ()
    host_architecture: str = ""

    def __post_init__(self) -> None:
        # Copies, since a caller's dictionary could change; a frozen class forbids plain assignment.
        object.__setattr__(self, "metrics", _frozen(self.metrics))
        object.__setattr__(self, "sources", _frozen(self.sources))
        object.__setattr__(self, "measured", _frozen(self.measured))

    def metric(self, name: str) -> float | None:
        """Return the metric's value, or None where it is not known."""
        return self.metrics.get(name)

    @property
    def memory_bytes(self) -> float | None:
        """Memory that the device can use in bytes; None where it is not known."""
        stated = self.metric("dram_gb")
        return None if stated is None else stated * GIB

    @property
    def is_threaded(self) -> bool:
        """Whether work is spread over threads; elsewhere a thread count means nothing."""
        return self.family in _THREADED

    @property
    def core_count(self) -> int | None:
        """Number of cores of a device that runs threads; None where it is not known."""
        if not self.is_threaded:
            return None
        if self.clusters:
            return sum(cluster.cores for cluster in self.clusters)
        count = self.metric("core_count")
        return None if count is None else round(count)

    def threads_in_use(self, threads: int) -> int:
        """Return the number of threads that compute: at most one a core; 0 without threads."""
        if not self.is_threaded:
            return 0
        count = self.core_count
        if count is None:
            return threads
        return min(threads, count) if threads else count


class OnTarget(Protocol):
    """A record of one target: a prediction, a measurement or a signature."""

    @property
    def device_id(self) -> str:
        """Id of the device."""

    @property
    def configuration(self) -> Configuration:
        """The configuration, with its threads resolved to a count."""


class TargetId(NamedTuple):
    """Identity of a target for its measurements, which count for all its batches.

    Attributes:
        device_id: id of the device.
        runtime: name of the runtime.
        precision: a :class:`Precision`, as text.
        threads: resolved to a count; 0 where threads mean nothing.
    """

    device_id: str
    runtime: str
    precision: str
    threads: int

    @classmethod
    def of(cls, record: OnTarget) -> TargetId:
        """Return the target that a record is of: its threads are resolved already."""
        c = record.configuration
        return cls(record.device_id, c.runtime, str(c.precision), c.threads)

    @property
    def configuration(self) -> Configuration:
        """The configuration of the target, at no batch of its own."""
        return Configuration(self.runtime, Precision(self.precision), self.threads)

    @classmethod
    def parse(cls, text: str) -> TargetId:
        """Rebuild from the text form.

        Raises:
            ValueError: the text is no target's.
        """
        device_id, runtime, precision, threads = text.rsplit("/", 3)
        return cls(device_id, runtime, precision, int(threads.removeprefix("t")))

    def __str__(self) -> str:
        return f"{self.device_id}/{self.runtime}/{self.precision}/t{self.threads}"


class RunId(NamedTuple):
    """Identity of a target among those that are compared: the same one may run several batches.

    Attributes:
        target: the target.
        batch: that every model is read at there; 0 for each model's own.
    """

    target: TargetId
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """A device with an execution configuration: the subject of every latency."""

    device: Device
    configuration: Configuration

    @property
    def threads(self) -> int:
        """Number of threads that compute; 0 where threads mean nothing."""
        return self.device.threads_in_use(self.configuration.threads)

    @property
    def id(self) -> TargetId:
        """The target's identity, its threads resolved."""
        c = self.configuration
        return TargetId(self.device.id, c.runtime, str(c.precision), self.threads)

    @property
    def run_id(self) -> RunId:
        """The target's identity with the batch that is asked of it."""
        return RunId(self.id, self.configuration.batch)


def by_run(targets: Iterable[Target], of: Callable[[Target], T]) -> list[T]:
    """Return ``of`` each target, computed once for targets that differ in threads alone."""
    values: dict[tuple[int, str, int], T] = {}
    results: list[T] = []
    for target in targets:
        c = target.configuration
        # Of equal devices each counts for itself: to compare all facts takes longer. Members of an
        # enumeration are single objects.
        key = id(target.device), c.runtime, id(c.precision)
        if key not in values:
            values[key] = of(target)
        results.append(values[key])
    return results


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measured latency of one graph on one target.

    Attributes:
        id: UUID hex.
        fingerprint: of the operator graph.
        device_id: id of the device.
        configuration: as run, threads and batch resolved to counts.
        samples_ns: every sample in order, or empty where only one value was published.
        value_ms: the headline value by ``statistic``.
        statistic: median, minimum, mean, mean of the fastest.
        protocol: of measuring, by name and version.
        provenance: author, time and tool of the measurement.
    """

    id: str
    fingerprint: str
    device_id: str
    configuration: Configuration
    samples_ns: tuple[int, ...]
    value_ms: float
    statistic: str
    protocol: str
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Signature:
    """A target's Device Behavior Signature: the measurements of its reference networks.

    Attributes:
        id: UUID hex.
        device_id: id of the device.
        configuration: threads resolved to a count.
        measurement_ids: ids of the measurements.
        active: whether predictions for the target use it.
    """

    id: str
    device_id: str
    configuration: Configuration
    measurement_ids: tuple[str, ...]
    active: bool
