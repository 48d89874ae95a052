"""The form of a device as a person fills it in, with its problems field by field.

A device file is refused at its first error; the form shows every one beside its field, with the
same checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from predictor.core.errors import InputError
from predictor.core.metrics import MEASURABLE, METRICS, Family, Metric
from predictor.core.records import Cluster, Configuration, Device, MeasuredRate, OperatingPoint
from predictor.core.text import shortened
from predictor.devices import consistency, schema
from predictor.devices.configurations import with_implied
from predictor.devices.fields import (
    MAX_NAME,
    MAX_SOURCE,
    Place,
    check_count,
    check_id,
    check_instruction_sets,
    check_metric,
    check_notes,
    check_range,
    check_text,
)
from predictor.devices.inference import stated_part, with_inferred

R = TypeVar("R")
T = TypeVar("T")

CONFIGURATIONS = "configurations"
# float() alone would take nan, inf, 1_000 and the digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFields:
    """One row of the clusters, as typed; empty lanes are not known."""

    name: str = ""
    cores: str = ""
    clock_mhz: str = ""
    fp32_au_per_core: str = ""
    architecture: str = ""
    instruction_sets: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredFields:
    """One row of the measured rates, as typed; ``metric`` is one of ``MEASURABLE``."""

    metric: str = "dram_bw_gbps"
    value: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFields:
    """One row of the operating points, as typed; an empty number is left as it is."""

    name: str = ""
    power_w: str = ""
    cpu_mhz: str = ""
    gpu_mhz: str = ""
    memory_mhz: str = ""
    cores: str = ""
    gpu_cores: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormFields:
    """The form of one device, as typed.

    Attributes:
        id, name, vendor, system, chip, architecture, host_architecture, notes: texts.
        instruction_sets: names apart by blanks or commas; empty for those of the architecture.
        family: kind of compute unit.
        values: text of each metric that has one, also of one that is not available now.
        available: names of the metrics that are known; the others are absent, not zero.
        sources: source of each metric, by metric name.
        configurations: runtimes and precisions of the device, the usual one first; an unknown
            runtime alone, in FP32, for those that its facts imply.
        clusters: kinds of cores, the fastest first.
        measured: rates that were reached.
        operating_points: power modes and fixed clocks.
        unknown_metrics: metrics of a file of another version; kept and not shown.
    """

    id: str
    name: str
    vendor: str
    family: Family
    system: str = ""
    chip: str = ""
    architecture: str = ""
    instruction_sets: str = ""
    host_architecture: str = ""
    notes: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    available: frozenset[str] = frozenset()
    sources: Mapping[str, str] = field(default_factory=dict)
    configurations: tuple[Configuration, ...] = (Configuration(),)
    clusters: tuple[ClusterFields, ...] = ()
    measured: tuple[MeasuredFields, ...] = ()
    operating_points: tuple[PointFields, ...] = ()
    unknown_metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FormCheck:
    """Result of the checks of a form.

    Attributes:
        entry: the device of the form; None where a field is wrong.
        problems: a sentence for each wrong field, by its key: a metric's name, ``name``,
            ``sources.clock_mhz``, ``clusters.0.cores``, ``measured.1.value`` (rows from 0), ...
        findings: values that contradict each other, among those that are right.
        unsourced: names of the metrics without a source, in the registry's order.
    """

    entry: schema.DeviceFile | None
    problems: Mapping[str, str]
    findings: tuple[consistency.Finding, ...]
    unsourced: tuple[str, ...]


def fields_of(entry: schema.DeviceFile) -> FormFields:
    """Return the form of the stated fields; ``check_form`` of it gives an equal device."""
    device = stated_part(entry.device)
    return FormFields(
        id=device.id,
        name=device.name,
        vendor=device.vendor,
        family=device.family,
        system=device.system,
        chip=device.chip,
        architecture=device.architecture,
        host_architecture=device.host_architecture,
        instruction_sets=" ".join(device.instruction_sets),
        notes=device.notes,
        values={name: number_text(value) for name, value in device.metrics.items()},
        available=frozenset(device.metrics),
        sources=dict(device.sources),
        configurations=device.configurations,
        clusters=tuple(
            ClusterFields(
                name=cluster.name,
                cores=str(cluster.cores),
                clock_mhz=number_text(cluster.clock_mhz),
                fp32_au_per_core=number_text(cluster.fp32_au_per_core),
                architecture=cluster.architecture,
                instruction_sets=" ".join(cluster.instruction_sets),
            )
            for cluster in device.clusters
        ),
        measured=tuple(
            MeasuredFields(name, number_text(rate.value), rate.source)
            for name, rate in device.measured.items()
        ),
        operating_points=tuple(
            PointFields(
                name=point.name,
                source=point.source,
                **{name: number_text(getattr(point, name)) for name in schema.POINT_RANGES},
            )
            for point in device.operating_points
        ),
        unknown_metrics=entry.unknown_metrics,
    )


def check_form(fields: FormFields) -> FormCheck:
    """Check every field and, where each is right, the values against each other."""
    checker = _Checker()
    metrics = {
        metric.name: value
        for metric in METRICS
        if metric.name in fields.available
        if (value := checker.metric(metric.name, fields.values.get(metric.name, ""))) is not None
    }
    sources = _sources(checker, fields)
    device = Device(
        id=checker.run("id", lambda: check_id(fields.id, Place("", "id"))) or "",
        name=checker.text("name", fields.name),
        vendor=checker.text("vendor", fields.vendor),
        family=fields.family,
        metrics=metrics,
        sources=sources,
        configurations=_configurations(checker, fields.configurations),
        clusters=checker.rows(
            consistency.CLUSTERS, fields.clusters, schema.MAX_CLUSTERS, partial(_cluster, checker)
        ),
        system=checker.text("system", fields.system, required=False),
        notes=checker.run("notes", lambda: check_notes(fields.notes, Place("", "notes"))) or "",
        chip=checker.identity("chip", fields.chip),
        architecture=checker.identity("architecture", fields.architecture),
        host_architecture=checker.identity("host_architecture", fields.host_architecture),
        instruction_sets=checker.instruction_sets("instruction_sets", fields.instruction_sets),
        measured=_measured(checker, fields.measured),
        operating_points=checker.rows(
            consistency.OPERATING_POINTS,
            fields.operating_points,
            schema.MAX_OPERATING_POINTS,
            partial(_point, checker),
        ),
    )
    device = with_inferred(device)
    entry = schema.DeviceFile(with_implied(device), unknown_metrics=fields.unknown_metrics)
    return FormCheck(
        None if checker.problems else entry,
        checker.problems,
        consistency.contradictions(device),
        tuple(name for name in metrics if name not in sources),
    )


def number_text(value: float | None) -> str:
    """Write a number so that reading it gives the same one; nothing where there is none.

    Whole numbers have no fraction.
    """
    if value is None:
        return ""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


class _Checker:
    """Collects the problems of the checks that it runs, by field."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}

    def run(self, key: str, check: Callable[[], T]) -> T | None:
        """Return the result of ``check``; None where it refuses, the reason noted under ``key``."""
        try:
            return check()
        except InputError as error:
            self.problems[key] = error.reason
            return None

    def text(self, key: str, text: str, *, required: bool = True) -> str:
        place = _place(key)
        return self.run(key, lambda: check_text(text, place, MAX_NAME, required=required)) or ""

    def source(self, key: str, text: str) -> str:
        return self.run(key, lambda: check_text(text, Place("", "source"), MAX_SOURCE)) or ""

    def identity(self, key: str, text: str) -> str:
        """Return an id that may be empty."""
        return (self.run(key, lambda: check_id(text, _place(key))) or "") if text else ""

    def instruction_sets(self, key: str, text: str) -> tuple[str, ...]:
        names = text.replace(",", " ").lower().split()
        place = _place(key)
        return (self.run(key, lambda: check_instruction_sets(names, place)) or ()) if names else ()

    def metric(self, name: str, text: str, key: str = "") -> float | None:
        # A cell of a list has no box to untick.
        action = "" if key else ": type its value, or untick it where it is not known"
        return self.run(
            key or name,
            lambda: check_metric(name, _number(text, Place("", name), action), Place("")),
        )

    def range(self, key: str, metric: Metric, text: str) -> float | None:
        place = _place(key)
        return self.run(key, lambda: check_range(metric, _number(text, place), place))

    def count(self, key: str, text: str) -> int | None:
        place = _place(key)
        return self.run(key, lambda: check_count(_number(text, place), place, 1, 1_000_000))

    def rows(
        self, key: str, rows: Sequence[R], limit: int, record: Callable[[R, str], T]
    ) -> tuple[T, ...]:
        """Return the records of rows, given with their keys; none where a field of one is wrong."""
        if len(rows) > limit:
            self.problems[key] = f"there are {len(rows)}, more than {limit}"
            return ()
        before = len(self.problems)
        records = [record(row, f"{key}.{number}") for number, row in enumerate(rows)]
        return tuple(records) if len(self.problems) == before else ()


def _place(key: str) -> Place:
    """Return the place of a field, whose name is the last part of its key."""
    return Place("", key.rpartition(".")[2])


def _number(text: str, place: Place, action: str = "") -> float:
    stripped = text.strip()
    if not stripped:
        raise place.wrong(f"is empty{action}")
    if "," in stripped:
        raise place.wrong("has a comma: write 1234.5, with a point and nothing between thousands")
    if not _NUMBER.fullmatch(stripped):
        raise place.wrong(f'is "{shortened(stripped, 30)}" where a number was expected')
    return float(stripped)


def _sources(checker: _Checker, fields: FormFields) -> dict[str, str]:
    """Return the sources of metrics with a value, each checked; an empty one is none."""
    result: dict[str, str] = {}
    for name, text in fields.sources.items():
        if not text.strip() or not (name in fields.available or name in fields.unknown_metrics):
            continue
        result[name] = checker.source(f"sources.{name}", text)
    return result


def _configurations(
    checker: _Checker, configurations: tuple[Configuration, ...]
) -> tuple[Configuration, ...]:
    count = len(configurations)
    if not count:
        checker.problems[CONFIGURATIONS] = "at least one runtime and precision is needed"
    elif count > schema.MAX_CONFIGURATIONS:
        checker.problems[CONFIGURATIONS] = (
            f"there are {count}, more than {schema.MAX_CONFIGURATIONS}"
        )
    elif len(set(configurations)) < count:
        checker.problems[CONFIGURATIONS] = "one runtime and precision is listed twice"
    return configurations


def _cluster(checker: _Checker, row: ClusterFields, key: str) -> Cluster:
    """Return a cluster; a wrong field of it is noted, and it must not be used."""
    cores = checker.count(f"{key}.cores", row.cores)
    lanes = row.fp32_au_per_core
    return Cluster(
        name=checker.text(f"{key}.name", row.name),
        cores=cores or 0,
        clock_mhz=checker.metric("clock_mhz", row.clock_mhz, f"{key}.clock_mhz") or 0.0,
        fp32_au_per_core=checker.metric("fp32_au_per_core", lanes, f"{key}.fp32_au_per_core")
        if lanes.strip()
        else None,
        architecture=checker.identity(f"{key}.architecture", row.architecture.strip()),
        instruction_sets=checker.instruction_sets(f"{key}.instruction_sets", row.instruction_sets),
    )


def _measured(checker: _Checker, rows: tuple[MeasuredFields, ...]) -> dict[str, MeasuredRate]:
    result: dict[str, MeasuredRate] = {}
    before = len(checker.problems)
    for number, row in enumerate(rows):
        key = f"{consistency.MEASURED}.{number}"
        value = checker.range(f"{key}.value", MEASURABLE[row.metric], row.value)
        source = checker.source(f"{key}.source", row.source)
        if row.metric in result:
            checker.problems[f"{key}.metric"] = f"{row.metric} is listed twice"
        result[row.metric] = MeasuredRate(value or 0.0, source)
    return result if len(checker.problems) == before else {}


def _point(checker: _Checker, row: PointFields, key: str) -> OperatingPoint:
    """Return an operating point; a wrong field of it is noted, and it must not be used."""
    name = checker.text(f"{key}.name", row.name)
    numbers: dict[str, Any] = {
        field: checker.range(f"{key}.{field}", metric, text)
        for field, metric in schema.POINT_RANGES.items()
        if field not in schema.POINT_COUNTS and (text := getattr(row, field)).strip()
    }
    counts = {
        field: checker.count(f"{key}.{field}", text)
        for field in schema.POINT_COUNTS
        if (text := getattr(row, field)).strip()
    }
    source = checker.source(f"{key}.source", row.source)
    return OperatingPoint(name=name, source=source, **numbers, **counts)
