"""Facts of one device that contradict each other: a sentence each, never a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from predictor.core.metrics import METRIC_BY_NAME, Family
from predictor.core.records import Cluster, Device
from predictor.core.text import shortened
from predictor.core.units import significant
from predictor.devices.architectures import CPU_KINDS, architecture_of, architectures
from predictor.devices.inference import name_contradictions
from predictor.devices.peaks import derived_fp32_tflops, highest_clock_mhz, stated_lanes

# Datasheets differ in which clock the peak is stated at; a slip of unit is at least a factor of 2.
FP32_FACTOR = 1.6
# From a compute-heavy GPU (0.01) to a small processor with fast memory (8), with room.
_BYTES_A_FLOP = (1e-3, 50.0)
# A rate, and one that the same hardware always reaches too.
_NEVER_BELOW = (
    ("tf32_tflops", "fp32_tflops"),
    ("fp32_matrix_tflops", "fp32_tflops"),
    ("int4_tops", "int8_tops"),
    ("l2_bw_gbps", "dram_bw_gbps"),
)
CLUSTERS, MEASURED, OPERATING_POINTS = "clusters", "measured", "operating_points"
# A rate is measured to some percent, and a clock may be above the stated one for a while.
_MEASURED_FACTOR = 1.05


class Finding(NamedTuple):
    """A contradiction between facts of one device.

    Attributes:
        fields: the fields that it is about: metrics by name, or ``clusters``, ``architecture``,
            ``measured``, ``operating_points``.
        sentence: the contradiction, with names and values.
    """

    fields: tuple[str, ...]
    sentence: str


def consistency_warnings(
    device: Device, unknown_metrics: Mapping[str, float] | None = None
) -> tuple[str, ...]:
    """Return a sentence for each contradiction between the facts of a device."""
    source_warnings = _source_warnings(device, unknown_metrics or {})
    return tuple(finding.sentence for finding in (*contradictions(device), *source_warnings))


def contradictions(device: Device) -> tuple[Finding, ...]:
    """Return each contradiction between the values of a device, sources aside."""
    return (
        *_clock_warnings(device),
        *_rate_warnings(device),
        *_cluster_warnings(device),
        *_name_warnings(device),
        *_architecture_warnings(device),
        *_measured_warnings(device),
        *_operating_point_warnings(device),
    )


def _clock_warnings(device: Device) -> Iterator[Finding]:
    base, boost = device.metric("clock_mhz"), device.metric("boost_clock_mhz")
    if base is not None and boost is not None and boost < base:
        yield Finding(
            ("boost_clock_mhz", "clock_mhz"),
            f"boost_clock_mhz ({significant(boost, 5)} MHz) is under clock_mhz "
            f"({significant(base, 5)} MHz)",
        )


def _rate_warnings(device: Device) -> Iterator[Finding]:
    stated, derived = device.metric("fp32_tflops"), derived_fp32_tflops(device)
    if stated is not None and derived is not None:
        factor = max(stated / derived, derived / stated)
        if factor > FP32_FACTOR:
            yield Finding(
                ("fp32_tflops",),
                f"fp32_tflops ({significant(stated, 4)} TFLOP/s) and clock x cores x lanes x 2 "
                f"({significant(derived, 4)} TFLOP/s) differ by a factor of {significant(factor)}",
            )
    for upper, lower in _NEVER_BELOW:
        yield from _below(device, upper, lower)
    bandwidth = device.metric("dram_bw_gbps")
    if stated is not None and bandwidth is not None:
        ratio = bandwidth / (stated * 1e3)
        if not _BYTES_A_FLOP[0] <= ratio <= _BYTES_A_FLOP[1]:
            yield Finding(
                ("dram_bw_gbps", "fp32_tflops"),
                f"dram_bw_gbps ({significant(bandwidth, 4)} GB/s) is {significant(ratio)} bytes "
                f"a FLOP of fp32_tflops ({significant(stated, 4)} TFLOP/s): check the units",
            )
    if device.metric("dsp_count") is not None and device.family is not Family.FPGA:
        yield Finding(
            ("dsp_count",), f"dsp_count is given, but the family is {device.family.value}, not fpga"
        )


def _below(device: Device, upper: str, lower: str) -> Iterator[Finding]:
    """Warn where a rate is under one that the same hardware always reaches too."""
    high, low = device.metric(upper), device.metric(lower)
    # 1 % for rounding in datasheets.
    if high is not None and low is not None and high < 0.99 * low:
        unit = METRIC_BY_NAME[upper].unit
        yield Finding(
            (upper, lower),
            f"{upper} ({significant(high, 4)} {unit}) is under {lower} ({significant(low, 4)})",
        )


def _cluster_warnings(device: Device) -> Iterator[Finding]:
    if not device.clusters:
        return
    cores = sum(cluster.cores for cluster in device.clusters)
    stated = device.metric("core_count")
    if stated is not None and cores != stated:
        yield Finding(
            ("core_count", CLUSTERS),
            f"core_count is {significant(stated, 6)}, but the clusters have {cores} cores",
        )
    fastest = max(cluster.clock_mhz for cluster in device.clusters)
    boost = highest_clock_mhz(device)
    # Room for rounding of stated clocks.
    if boost is not None and fastest > boost * 1.001:
        yield Finding(
            (CLUSTERS,),
            f"a cluster runs at {significant(fastest, 5)} MHz, above the device's clock of "
            f"{significant(boost, 5)} MHz",
        )
    rates = [cluster.clock_mhz * (cluster.fp32_au_per_core or 0) for cluster in device.clusters]
    if all(rates) and rates != sorted(rates, reverse=True):
        yield Finding((CLUSTERS,), "the clusters are not listed fastest first")


def _name_warnings(device: Device) -> Iterator[Finding]:
    for sentence in name_contradictions(device):
        yield Finding(("architecture",), sentence)


def _architecture_warnings(device: Device) -> Iterator[Finding]:
    if not device.clusters:
        lanes = stated_lanes(device)
        yield from _design_warnings(device, lanes, "", ("architecture", "fp32_au_per_core"))
    elif device.architecture:
        yield from _design_warnings(device, None, "", ("architecture",))
    if device.host_architecture:
        yield from _host_warnings(device.host_architecture)
    for cluster in device.clusters:
        lanes = stated_lanes(device, cluster)
        name = f"cluster {shortened(cluster.name, 40)}: "
        yield from _design_warnings(cluster, lanes, name, (CLUSTERS,))


def _host_warnings(identity: str) -> Iterator[Finding]:
    design = architectures().get(identity)
    if design is None:
        reason = "is not in the table of this version"
    elif design.isa not in CPU_KINDS:
        reason = "is no design of a processor"
    else:
        return
    yield Finding(("host_architecture",), f"host_architecture {identity} {reason}")


def _design_warnings(
    part: Device | Cluster, lanes: float | None, start: str, fields: tuple[str, ...]
) -> Iterator[Finding]:
    if not part.architecture:
        return
    design = architecture_of(part)
    if design is None:
        yield Finding(
            fields[:1],
            f"{start}architecture {part.architecture} is not in the table of this version",
        )
        return
    of_design = design.numbers.get("fp32_lanes")
    # Xeons of one design are sold with one or two vector units; it then states no number of them.
    of_one_unit = None
    if "fma_pipes" not in design.numbers:
        of_one_unit = design.numbers.get("vector_bits", 0) / 32
    if lanes is not None and of_design is not None and lanes not in {of_design, of_one_unit}:
        yield Finding(
            fields,
            f"{start}fp32_au_per_core is {significant(lanes, 5)}, but {design.title} has "
            f"{significant(of_design, 5)}",
        )


def _measured_warnings(device: Device) -> Iterator[Finding]:
    for name, rate in device.measured.items():
        stated = device.metric(name)
        if stated is not None and rate.value > _MEASURED_FACTOR * stated:
            unit = METRIC_BY_NAME[name].unit
            yield Finding(
                (name, MEASURED),
                f"{name} is measured as {significant(rate.value, 4)} {unit}, above the stated "
                f"{significant(stated, 4)} {unit}",
            )


def _operating_point_warnings(device: Device) -> Iterator[Finding]:
    field = "cpu_mhz" if device.is_threaded else "gpu_mhz"
    # Rounding of stated clocks; cards boost up to a third above the clock on their box.
    room = 1.001 if device.is_threaded else 1.35
    clocks = [device.metric("clock_mhz"), device.metric("boost_clock_mhz")]
    clocks += [cluster.clock_mhz for cluster in device.clusters]
    highest = max((clock for clock in clocks if clock is not None), default=None)
    for point in device.operating_points:
        clock = getattr(point, field)
        if clock is not None and highest is not None and clock > highest * room:
            yield Finding(
                (OPERATING_POINTS,),
                f"operating point {shortened(point.name, 40)} runs at {significant(clock, 5)} MHz, "
                f"above the device's clock of {significant(highest, 5)} MHz",
            )


def _source_warnings(device: Device, unknown_metrics: Mapping[str, float]) -> Iterator[Finding]:
    if device.metrics.keys() == device.sources.keys():  # as of every shipped device
        return
    for name in device.metrics:
        if name not in device.sources:
            yield Finding((name,), f"{name} has no source")
    for name in device.sources:
        if name not in device.metrics and name not in unknown_metrics:
            yield Finding(
                (name,), f"a source is given for {shortened(name, 40)}, which has no value"
            )
