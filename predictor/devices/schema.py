"""The device file "ctm-hcv/1": JSON to Device and back.

A metric that a file does not name is not known; it is never taken as 0. A metric that we do not
know is kept apart with its value and a warning, and is written back, so that a file of a later
version loses nothing on its way through this one.

NeuSight's description of a GPU is read too (``predictor.devices.neusight``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from predictor.core import records
from predictor.core.metrics import MEASURABLE, METRIC_BY_NAME, METRICS
from predictor.core.runtimes import RUNTIMES
from predictor.core.text import shortened
from predictor.devices import fields
from predictor.devices.configurations import NOT_STATED, implied_configurations
from predictor.devices.consistency import consistency_warnings
from predictor.devices.inference import stated_part, with_inferred
from predictor.devices.neusight import is_neusight, to_device_object
from predictor.devices.strict_json import read_object

SCHEMA = "ctm-hcv/1"
BOX_SCHEMAS = "ctm-box/"  # with which those of box files begin
MAX_CLUSTERS = 16
MAX_CONFIGURATIONS = 64
MAX_METRICS = 200
MAX_OPERATING_POINTS = 64
MAX_THREADS = 100_000
MAX_BATCH = 1_000_000

FIELDS = (
    "schema",
    "id",
    "name",
    "vendor",
    "family",
    "system",
    "chip",
    "architecture",
    "instruction_sets",
    "host_architecture",
    "configurations",
    "clusters",
    "metrics",
    "sources",
    "measured",
    "operating_points",
    "notes",
)
INFERRED = "inferred"
"""Field of a printed device for its inferences; a reader infers them anew."""

REQUIRED_FIELDS = ("schema", "id", "name", "vendor", "family", "metrics")
_CLUSTER_OPTIONAL = ("fp32_au_per_core", "architecture", "instruction_sets")
# Number of an operating point -> the metric whose range it has.
POINT_RANGES = {
    "power_w": METRIC_BY_NAME["tdp_w"],
    "cpu_mhz": METRIC_BY_NAME["clock_mhz"],
    "gpu_mhz": METRIC_BY_NAME["clock_mhz"],
    "memory_mhz": METRIC_BY_NAME["clock_mhz"],
    "cores": METRIC_BY_NAME["core_count"],
    "gpu_cores": METRIC_BY_NAME["core_count"],
}
POINT_COUNTS = ("cores", "gpu_cores")
"""Those that are whole numbers."""
_CONFIGURATION_FIELDS = ("runtime", "precision", "threads", "batch")


@dataclass(frozen=True, slots=True)
class DeviceFile:
    """A device as it was read.

    Attributes:
        device: the device, with known metrics only.
        unknown_metrics: metrics of the file that this version does not know, by name.
        unknown_fields: names of its fields that were left out.
    """

    device: records.Device
    unknown_metrics: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    unknown_fields: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Its oddities, one sentence each; they do not stop its use.

        Only looked for when asked: no start reads the table of architectures for them.
        """
        return (
            *(
                f"field {shortened(name, 40)} is no part of {SCHEMA} and was left out"
                for name in self.unknown_fields
            ),
            *(
                f"metric {shortened(name, 40)} is not known to this version; "
                "it is kept and not used"
                for name in self.unknown_metrics
            ),
            *consistency_warnings(self.device, self.unknown_metrics),
        )


def read_device(path: str | os.PathLike[str], *, as_stated: bool = False) -> DeviceFile:
    """Read the device file at ``path``: ours, or NeuSight's description of a GPU.

    Args:
        path: the file.
        as_stated: whether fields that its names imply stay empty, as of the shipped files.

    Raises:
        InputError: naming the file, the field, its value and its range.
    """
    return device_from_object(read_object(path), os.fspath(path), as_stated=as_stated)


def device_from_object(
    content: Mapping[str, object], subject: str, *, as_stated: bool = False
) -> DeviceFile:
    """Check a JSON object and return its device, with the fields that its names imply.

    Args:
        content: the object.
        subject: what an error names.
        as_stated: whether fields that its names imply stay empty.

    Raises:
        InputError: naming the field, its value and its range.
    """
    if is_neusight(content):
        content = to_device_object(content, subject)
    place = fields.Place(subject)
    _check_schema(content, place)
    metrics, unknown = _metrics(content["metrics"], place.at("metrics"))
    device = records.Device(
        id=fields.check_id(content["id"], place.at("id")),
        name=fields.check_text(content["name"], place.at("name"), fields.MAX_NAME),
        vendor=fields.check_text(content["vendor"], place.at("vendor"), fields.MAX_NAME),
        family=fields.check_family(content["family"], place),
        metrics=metrics,
        sources=_sources(content.get("sources", {}), place.at("sources")),
        configurations=_configurations(content, place.at("configurations")),
        clusters=_clusters(content, place.at("clusters")),
        system=fields.check_text(
            content.get("system", ""), place.at("system"), fields.MAX_NAME, required=False
        ),
        notes=fields.check_notes(content.get("notes", ""), place.at("notes")),
        chip=_optional_id(content, "chip", place),
        architecture=_optional_id(content, "architecture", place),
        host_architecture=_optional_id(content, "host_architecture", place),
        instruction_sets=_instruction_sets(content, place),
        measured=_measured(content.get("measured", {}), place.at("measured")),
        operating_points=_operating_points(content, place.at("operating_points")),
    )
    device = device if as_stated else with_inferred(device)
    if "configurations" not in content:
        device = replace(device, configurations=implied_configurations(device))
    unknown_fields = tuple(name for name in content if name not in {*FIELDS, INFERRED})
    return DeviceFile(device, MappingProxyType(unknown), unknown_fields)


def device_to_object(
    device: records.Device, unknown_metrics: Mapping[str, float] | None = None
) -> dict[str, object]:
    """Return the JSON object of a device, metrics in the registry's order, empty fields left out.

    Inferred fields are left out too: ``device_from_object`` of the object gives an equal device.
    """
    device = stated_part(device)
    ordered = {m.name: device.metrics[m.name] for m in METRICS if m.name in device.metrics}
    content: dict[str, object] = {
        "schema": SCHEMA,
        "id": device.id,
        "name": device.name,
        "vendor": device.vendor,
        "family": device.family.value,
        "system": device.system,
        "chip": device.chip,
        "architecture": device.architecture,
        "instruction_sets": list(device.instruction_sets),
        "host_architecture": device.host_architecture,
        "configurations": [_configuration_object(c) for c in device.configurations],
        "clusters": [_cluster_object(cluster) for cluster in device.clusters],
        "metrics": {
            name: _number(value) for name, value in {**ordered, **(unknown_metrics or {})}.items()
        },
        "sources": dict(device.sources),
        "measured": {
            name: {"value": _number(measured.value), "source": measured.source}
            for name in MEASURABLE
            if (measured := device.measured.get(name)) is not None
        },
        "operating_points": [_point_object(point) for point in device.operating_points],
        "notes": device.notes,
    }
    needed = {*REQUIRED_FIELDS, "configurations"}
    return {key: value for key, value in content.items() if value or key in needed}


def device_to_json(
    device: records.Device, unknown_metrics: Mapping[str, float] | None = None
) -> str:
    """Return the text of the device's file, one field a line and in a fixed order."""
    content = device_to_object(device, unknown_metrics)
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _check_schema(content: Mapping[str, object], place: fields.Place) -> None:
    if "schema" not in content:
        raise fields.Place(place.subject, "this JSON").wrong(
            f'is not a device file (it has no field "schema": "{SCHEMA}")',
            "choose the file of a device, a box, a load or a model",
        )
    schema = fields.check_text(content["schema"], place.at("schema"), fields.MAX_NAME)
    if schema.startswith(BOX_SCHEMAS):
        raise place.at("schema").wrong(
            "is that of a box", "name a device; ctm load and ctm choose --load take a --box"
        )
    if schema != SCHEMA:
        raise place.at("schema").wrong(
            f'is "{schema}", which this version cannot read', f'use a file of schema "{SCHEMA}"'
        )
    for name in REQUIRED_FIELDS:
        if name not in content:
            raise place.at(name).wrong("is missing", "add the field")


def _metrics(value: object, place: fields.Place) -> tuple[dict[str, float], dict[str, float]]:
    content = fields.check_object(value, place)
    if len(content) > MAX_METRICS:
        raise place.wrong(f"has {len(content):,} entries, more than {MAX_METRICS}")
    metrics: dict[str, float] = {}
    unknown: dict[str, float] = {}
    for name, item in content.items():
        if name in METRIC_BY_NAME:
            metrics[name] = fields.check_metric(name, item, place)
        else:
            fields.check_text(name, place, fields.MAX_NAME)
            unknown[name] = fields.check_number(item, place.at(name))
    return metrics, unknown


def _sources(value: object, place: fields.Place) -> dict[str, str]:
    result: dict[str, str] = {}
    for name, text in fields.check_object(value, place).items():
        if name not in METRIC_BY_NAME:
            fields.check_text(name, place, fields.MAX_NAME)
        # The usual text first: thousands are checked at each start.
        if isinstance(text, str) and fields.is_usual_text(text, fields.MAX_SOURCE):
            result[name] = text
        else:
            result[name] = fields.check_text(text, place.at(name), fields.MAX_SOURCE)
    return result


def _configurations(
    content: Mapping[str, object], place: fields.Place
) -> tuple[records.Configuration, ...]:
    if "configurations" not in content:
        return NOT_STATED
    items = fields.check_list(content["configurations"], place, MAX_CONFIGURATIONS)
    if not items:
        raise place.wrong("is empty", "name at least one runtime and precision")
    result = tuple(_configuration(item, place, index) for index, item in enumerate(items))
    if len(set(result)) < len(result):
        index = next(i for i, item in enumerate(result) if item in result[:i])
        raise place.item(index).wrong("is listed twice", "remove one of the two")
    return result


def _configuration(value: object, parent: fields.Place, index: int) -> records.Configuration:
    # The usual entry first: the catalogue has two thousand, of some forty kinds.
    if isinstance(value, dict) and len(value) == 2:
        runtime, precision = value.get("runtime"), value.get("precision")
        if isinstance(runtime, str) and isinstance(precision, str):
            usual = USUAL_CONFIGURATIONS.get((runtime, precision))
            if usual is not None:
                return usual
    place = parent.item(index)
    item = fields.check_object(value, place)
    _only(item, _CONFIGURATION_FIELDS, place)
    return records.Configuration(
        fields.check_runtime(item.get("runtime", "unknown"), place),
        fields.check_precision(item.get("precision", records.Precision.FP32.value), place),
        _optional_count(item, "threads", place, MAX_THREADS),
        _optional_count(item, "batch", place, MAX_BATCH),
    )


USUAL_CONFIGURATIONS = {
    (runtime, precision.value): records.Configuration(runtime, precision)
    for runtime in RUNTIMES
    for precision in records.Precision
}


def _optional_count(item: dict[str, object], name: str, place: fields.Place, high: int) -> int:
    """Check a whole number that most configurations leave out; 0 is then meant."""
    return fields.check_count(item[name], place.at(name), 0, high) if name in item else 0


def _clusters(content: Mapping[str, object], place: fields.Place) -> tuple[records.Cluster, ...]:
    items = fields.check_list(content.get("clusters", []), place, MAX_CLUSTERS)
    return tuple(_cluster(item, place.item(index)) for index, item in enumerate(items))


def _cluster(value: object, place: fields.Place) -> records.Cluster:
    item = _complete(value, ("name", "cores", "clock_mhz"), place, _CLUSTER_OPTIONAL)
    lanes = item.get("fp32_au_per_core")
    return records.Cluster(
        name=fields.check_text(item["name"], place.at("name"), fields.MAX_NAME),
        cores=fields.check_count(item["cores"], place.at("cores"), 1, 1_000_000),
        clock_mhz=fields.check_metric("clock_mhz", item["clock_mhz"], place),
        fp32_au_per_core=None
        if lanes is None
        else fields.check_metric("fp32_au_per_core", lanes, place),
        architecture=_optional_id(item, "architecture", place),
        instruction_sets=_instruction_sets(item, place),
    )


def _optional_id(item: Mapping[str, object], name: str, place: fields.Place) -> str:
    """Check an id that may be left out; it is then empty."""
    return fields.check_id(item[name], place.at(name)) if name in item else ""


def _instruction_sets(item: Mapping[str, object], place: fields.Place) -> tuple[str, ...]:
    if "instruction_sets" not in item:
        return ()
    return fields.check_instruction_sets(item["instruction_sets"], place.at("instruction_sets"))


def _measured(value: object, place: fields.Place) -> dict[str, records.MeasuredRate]:
    result = {}
    for name, entry in fields.check_object(value, place).items():
        if name not in MEASURABLE:
            raise place.wrong(
                f'has the rate "{shortened(name, 40)}"', f"use {', '.join(MEASURABLE)}"
            )
        inside = place.at(name)
        item = _complete(entry, ("value", "source"), inside)
        result[name] = records.MeasuredRate(
            fields.check_range(MEASURABLE[name], item["value"], inside.at("value")),
            fields.check_text(item["source"], inside.at("source"), fields.MAX_SOURCE),
        )
    return result


def _operating_points(
    content: Mapping[str, object], place: fields.Place
) -> tuple[records.OperatingPoint, ...]:
    items = fields.check_list(content.get("operating_points", []), place, MAX_OPERATING_POINTS)
    return tuple(_point(item, place.item(index)) for index, item in enumerate(items))


def _point(value: object, place: fields.Place) -> records.OperatingPoint:
    item = _complete(value, ("name", "source"), place, tuple(POINT_RANGES))
    numbers: dict[str, Any] = {
        name: fields.check_range(metric, item[name], place.at(name))
        for name, metric in POINT_RANGES.items()
        if name in item and name not in POINT_COUNTS
    }
    counts = {
        name: fields.check_count(item[name], place.at(name), 1, 1_000_000)
        for name in POINT_COUNTS
        if name in item
    }
    return records.OperatingPoint(
        name=fields.check_text(item["name"], place.at("name"), fields.MAX_NAME),
        source=fields.check_text(item["source"], place.at("source"), fields.MAX_SOURCE),
        **numbers,
        **counts,
    )


def _complete(
    value: object, required: tuple[str, ...], place: fields.Place, optional: tuple[str, ...] = ()
) -> dict[str, object]:
    """Check that a value is an object with the required fields, and no others than those."""
    item = fields.check_object(value, place)
    _only(item, (*required, *optional), place)
    for name in required:
        if name not in item:
            raise place.at(name).wrong("is missing", "add the field")
    return item


def _only(item: Mapping[str, object], allowed: tuple[str, ...], place: fields.Place) -> None:
    for name in item:
        if name not in allowed:
            raise place.wrong(
                f'has an unknown field "{shortened(name, 40)}"', f"use {', '.join(allowed)}"
            )


def _configuration_object(configuration: records.Configuration) -> dict[str, object]:
    item = {
        "runtime": configuration.runtime,
        "precision": configuration.precision.value,
        "threads": configuration.threads,
        "batch": configuration.batch,
    }
    return {name: value for name, value in item.items() if value}


def _cluster_object(cluster: records.Cluster) -> dict[str, object]:
    content = {
        "name": cluster.name,
        "cores": cluster.cores,
        "clock_mhz": _number(cluster.clock_mhz),
        "fp32_au_per_core": None if (n := cluster.fp32_au_per_core) is None else _number(n),
        "architecture": cluster.architecture,
        "instruction_sets": list(cluster.instruction_sets),
    }
    return {name: value for name, value in content.items() if value}


def _point_object(point: records.OperatingPoint) -> dict[str, object]:
    values = {name: getattr(point, name) for name in POINT_RANGES}
    numbers = {name: _number(value) for name, value in values.items() if value is not None}
    return {"name": point.name, **numbers, "source": point.source}


def _number(value: float) -> int | float:
    """Write a whole number without its fraction, as people do."""
    return int(value) if value == int(value) else value
