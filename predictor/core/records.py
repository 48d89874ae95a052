"""The records that every room exchanges. All are frozen; units stand in the names.

Words: a *device* is hardware (one compute unit), an *execution configuration* is runtime,
precision, threads and batch, and a *target* is a device with a configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from predictor.core.documents import Provenance
from predictor.core.metrics import Family
from predictor.core.run_facts import MEDIAN, P90, P99, MemoryUse, Spread, Unsupported
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
        return self.value.removeprefix("amp_")

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


@dataclass(frozen=True, slots=True)
class SustainedRates:
    """Rates that a machine sustained while it was measured.

    Attributes:
        copy_gbps: bytes read plus bytes written a second, in 1e9, of the fastest copy.
        gemm_tflops: FP32 rate of one core at the fastest matrix product, a multiplication and an
            addition counting as two operations.
        day: of the measurement, ISO 8601.
    """

    copy_gbps: float
    gemm_tflops: float
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
    def of(cls, record: Prediction | Measurement | Signature) -> TargetId:
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
    values: dict[tuple[int, str, Precision], T] = {}
    results: list[T] = []
    for target in targets:
        c = target.configuration
        # Of equal devices each counts for itself: to compare all facts takes longer.
        key = id(target.device), c.runtime, c.precision
        if key not in values:
            values[key] = of(target)
        results.append(values[key])
    return results


@dataclass(frozen=True, slots=True)
class ScaledFrom:
    """A latency that the user measured of a model, which corrects its predictions elsewhere.

    Attributes:
        device_id: id of the device that was measured.
        configuration: as run, threads resolved to a count.
        latency_ms: measured.
    """

    device_id: str
    configuration: Configuration
    latency_ms: float


FEW_CHIPS: Final = 5
"""Checked on fewer, a runtime has no evidence of its own on a kind of device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The predicted latency of one model on one target.

    Attributes:
        model: name of the model's file, without its folder.
        fingerprint: of the operator graph.
        device_id: id of the device.
        configuration: as predicted, threads and batch resolved to counts.
        engine: name and version of the engine.
        basis: of the number; None where there is no number.
        latency_ms: P50 of one run over the batch; None where there is no number.
        low80_ms, high80_ms, low95_ms, high95_ms: intervals; None for engines that give none.
        bound_ms: no run can be faster; None where a needed fact is missing.
        fits_memory: whether weights and activations fit; None where the memory is not known.
        problem: why there is no number ("not supported ...", "missing metric ..."), else empty.
        out_of_distribution: reason in words, else empty.
        signature: id of the signature that was used, else None.
        flagged_operators: names of operators that the target cannot run or that are not counted.
        predicted_ms: the engine's own where ``latency_ms`` was measured, else None.
        provenance: source of ``latency_ms`` in words where it was measured, else empty.
        fine_tuned: whether the network itself was fine-tuned to the signature, its FiLM.
        by_operators: whether it was calibrated by measured times of operators.
        evidence: in words, which measurements the number comes from and how it was checked; empty
            for engines that do not say.
        unstable: why the probing that the number rests on failed its own checks, in words; empty
            where it did not.
        shared_error: float32 numbers as bytes, the part that errors of models on one target have in
            common: the dot product of two models' is the correlation of their errors of
            ln(latency). Empty where it is not known; not stored, so that a prediction equals its
            record.
        scale: ``latency_ms`` over the engine's own, where it was corrected by measurements of the
            model elsewhere; not stored either.
        scaled_from: these measurements.
        memory: at the peak of the run; None where it is not known. Not stored: it follows from the
            graph and the target.
        unsupported: operators that the runtime does not run there; None where there are none, or no
            list is known. Not stored either.
        spread: how far the slow runs lie over the P50; None where it is unknown. Not stored
            either.
        class_chips: kinds of silicon that this runtime was checked on, on devices of this kind that
            the engine had not seen; 0 for none. None for what was measured there or on the same
            chip, and for engines that do not say. Not stored either.
    """

    model: str
    fingerprint: str
    device_id: str
    configuration: Configuration
    engine: str
    basis: Basis | None
    latency_ms: float | None
    low80_ms: float | None = None
    high80_ms: float | None = None
    low95_ms: float | None = None
    high95_ms: float | None = None
    bound_ms: float | None = None
    fits_memory: bool | None = None
    problem: str = ""
    out_of_distribution: str = ""
    signature: str | None = None
    flagged_operators: tuple[str, ...] = ()
    predicted_ms: float | None = None
    provenance: str = ""
    fine_tuned: bool = False
    by_operators: bool = False
    evidence: str = ""
    unstable: str = ""
    shared_error: bytes = field(default=b"", compare=False)
    scale: float = field(default=1.0, compare=False)
    scaled_from: tuple[ScaledFrom, ...] = field(default=(), compare=False)
    memory: MemoryUse | None = field(default=None, compare=False)
    unsupported: Unsupported | None = field(default=None, compare=False)
    spread: Spread | None = field(default=None, compare=False)
    class_chips: int | None = field(default=None, compare=False)

    @property
    def few_chips(self) -> bool:
        """Whether its runtime was checked on few chips of this kind: it is not called fastest."""
        is_measured = self.basis is Basis.MEASURED or self.class_chips is None
        return not is_measured and (self.class_chips or 0) < FEW_CHIPS

    @property
    def p90_ms(self) -> float | None:
        """Latency that nine of ten runs keep; None where it is unknown."""
        return self.tail_ms(P90)

    @property
    def p99_ms(self) -> float | None:
        """Latency that 99 of 100 runs keep; None where it is unknown."""
        return self.tail_ms(P99)

    def tail_ms(self, percentile: int) -> float | None:
        """Return P50, P90 or P99; None where it is unknown."""
        if percentile == MEDIAN or self.latency_ms is None:
            return self.latency_ms
        return None if self.spread is None else self.latency_ms * self.spread.tail(percentile).ratio

    @property
    def adaptation(self) -> str | None:
        """Kind of adaptation to the target, as ``adaptation_by``; None without one."""
        if self.basis is not Basis.PROBED:
            return None
        return adaptation_by(fine_tuned=self.fine_tuned, by_operators=self.by_operators)

    @property
    def is_lower_limit(self) -> bool:
        """Whether operators of unknown cost are missing from a latency that was not measured."""
        return bool(self.flagged_operators) and self.basis is not Basis.MEASURED


def adaptation_by(*, fine_tuned: bool, by_operators: bool) -> str:
    """Return the kind of adaptation of predictions to a target that was measured.

    Returns:
        "posterior" over latencies of whole networks, "operators" over their operators' times too,
        "film" for fine-tuned FiLM with a posterior of the rest on top of it.
    """
    if fine_tuned:
        return "film"
    return "operators" if by_operators else "posterior"


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
