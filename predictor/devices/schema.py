"""The device file "ctm-hcv/1": JSON to Device and back.

A metric that a file does not name is not known; it is never taken as 0. A metric that we do not
know is kept apart with its value and a warning, and is written back, so that a file of a later
version loses nothing on its way through this one.

NeuSight's description of a GPU (github.com/sitar-lab/NeuSight, device_configs) is read too: Device,
Dev_Mem (GB), Mem_Bw (GB/s), Num_Sm, Core_Per_SM, Freq (MHz), SingleFLOPs (GFLOP/s), L2Cache (MiB).
For AMD, Core_Per_SM counts the SIMD units of a compute unit (16 lanes each), SingleFLOPsVEC is the
vector rate and SingleFLOPsMM the matrix rate in FP32.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from predictor.core.metrics import METRIC_BY_NAME, METRICS
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.core.runtimes import RUNTIMES
from predictor.core.text import shortened
from predictor.devices.consistency import consistency_warnings
from predictor.devices.fields import (
    MAX_ID,
    MAX_NAME,
    MAX_SOURCE,
    Place,
    check_count,
    check_family,
    check_id,
    check_list,
    check_metric,
    check_notes,
    check_number,
    check_object,
    check_precision,
    check_runtime,
    check_text,
    is_usual_text,
)
from predictor.devices.strict_json import read_object

_NEUSIGHT_MARKS = frozenset({"Device", "Num_Sm", "Mem_Bw"})
_LANES_PER_AMD_SIMD = 16

# NeuSight's field -> our metric and the factor between the units.
_NEUSIGHT_FIELDS: dict[str, tuple[str, float]] = {
    "Dev_Mem": ("dram_gb", 1),
    "Mem_Bw": ("dram_bw_gbps", 1),
    "Num_Sm": ("core_count", 1),
    "Core_Per_SM": ("fp32_au_per_core", 1),
    "Freq": ("boost_clock_mhz", 1),
    "SingleFLOPs": ("fp32_tflops", 1e-3),
    "SingleFLOPsVEC": ("fp32_tflops", 1e-3),
    "L2Cache": ("l2_kb", 1024),
}


def is_neusight(content: Mapping[str, object]) -> bool:
    """Whether a JSON object is NeuSight's description of a GPU."""
    return "schema" not in content and content.keys() >= _NEUSIGHT_MARKS


def to_device_object(content: Mapping[str, object], subject: str) -> dict[str, object]:
    """Return the same GPU in our form; fields that we do not know become unknown metrics.

    Raises:
        InputError: when a field is of the wrong type or its value out of range, in its own name.
    """
    place = Place(subject)
    name = check_text(content["Device"], place.at("Device"), MAX_NAME)
    is_amd = "SingleFLOPsVEC" in content
    metrics: dict[str, float] = {}
    sources: dict[str, str] = {}
    for key, value in content.items():
        if key == "Device":
            continue
        number = check_number(value, place.at(key))
        metric, factor = _NEUSIGHT_FIELDS.get(key, (key, 1))
        if key == "Core_Per_SM" and is_amd:
            factor = _LANES_PER_AMD_SIMD
        metrics[metric] = number * factor
        if metric in METRIC_BY_NAME:
            sources[metric] = f"NeuSight device description, field {key}"
    return {
        "schema": "ctm-hcv/1",
        "id": _slug(name),
        "name": name,
        "vendor": "AMD" if is_amd else "NVIDIA",
        "family": "gpu",
        "configurations": [{"runtime": "pytorch", "precision": "fp32"}],
        "metrics": metrics,
        "sources": sources,
    }


def _slug(name: str) -> str:
    words = re.findall(r"[a-z0-9]+", name.lower())
    return "-".join(words)[:MAX_ID].strip("-") or "gpu"


SCHEMA = "ctm-hcv/1"
MAX_CLUSTERS = 16
MAX_CONFIGURATIONS = 64
MAX_METRICS = 200
MAX_THREADS = 100_000
MAX_BATCH = 1_000_000

FIELDS = (
    "schema",
    "id",
    "name",
    "vendor",
    "family",
    "system",
    "configurations",
    "clusters",
    "metrics",
    "sources",
    "notes",
)
REQUIRED_FIELDS = ("schema", "id", "name", "vendor", "family", "metrics")
_CLUSTER_FIELDS = ("name", "cores", "clock_mhz", "fp32_au_per_core")
_CONFIGURATION_FIELDS = ("runtime", "precision", "threads", "batch")


@dataclass(frozen=True, slots=True)
class DeviceFile:
    """A device as it was read.

    Attributes:
        device: the device, with known metrics only.
        warnings: its oddities, one sentence each; they do not stop its use.
        unknown_metrics: metrics of the file that this version does not know, by name.
    """

    device: Device
    warnings: tuple[str, ...] = ()
    unknown_metrics: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


def read_device(path: str | os.PathLike[str]) -> DeviceFile:
    """Read the device file at ``path``: ours, or NeuSight's description of a GPU.

    Raises:
        InputError: naming the file, the field, its value and its range.
    """
    return device_from_object(read_object(path), os.fspath(path))


def device_from_object(content: Mapping[str, object], subject: str) -> DeviceFile:
    """Check a JSON object and return its device with the warnings about it.

    Raises:
        InputError: naming the field, its value and its range.
    """
    if is_neusight(content):
        content = to_device_object(content, subject)
    place = Place(subject)
    _check_schema(content, place)
    metrics, unknown = _metrics(content["metrics"], place.at("metrics"))
    device = Device(
        id=check_id(content["id"], place.at("id")),
        name=check_text(content["name"], place.at("name"), MAX_NAME),
        vendor=check_text(content["vendor"], place.at("vendor"), MAX_NAME),
        family=check_family(content["family"], place),
        metrics=metrics,
        sources=_sources(content.get("sources", {}), place.at("sources")),
        configurations=_configurations(content, place.at("configurations")),
        clusters=_clusters(content, place.at("clusters")),
        system=check_text(content.get("system", ""), place.at("system"), MAX_NAME, required=False),
        notes=check_notes(content.get("notes", ""), place.at("notes")),
    )
    warnings = (
        *_unknown_fields(content),
        *(
            f"metric {shortened(name, 40)} is not known to this version; it is kept and not used"
            for name in unknown
        ),
        *consistency_warnings(device, unknown),
    )
    return DeviceFile(device, warnings, MappingProxyType(unknown))


def device_to_object(
    device: Device, unknown_metrics: Mapping[str, float] | None = None
) -> dict[str, object]:
    """Return the JSON object of a device, metrics in the registry's order, empty fields left out.

    ``device_from_object`` of it gives an equal device.
    """
    ordered = {m.name: device.metrics[m.name] for m in METRICS if m.name in device.metrics}
    content: dict[str, object] = {
        "schema": SCHEMA,
        "id": device.id,
        "name": device.name,
        "vendor": device.vendor,
        "family": device.family.value,
        "system": device.system,
        "configurations": [_configuration_object(c) for c in device.configurations],
        "clusters": [_cluster_object(cluster) for cluster in device.clusters],
        "metrics": {
            name: _number(value) for name, value in {**ordered, **(unknown_metrics or {})}.items()
        },
        "sources": dict(device.sources),
        "notes": device.notes,
    }
    optional = {"system", "clusters", "sources", "notes"}
    return {key: value for key, value in content.items() if value or key not in optional}


def device_to_json(device: Device, unknown_metrics: Mapping[str, float] | None = None) -> str:
    """Return the text of the device's file, one field a line and in a fixed order."""
    content = device_to_object(device, unknown_metrics)
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _check_schema(content: Mapping[str, object], place: Place) -> None:
    if "schema" not in content:
        raise Place(place.subject, "this JSON").wrong(
            f'is not a device file (it has no field "schema": "{SCHEMA}")', "choose a device file"
        )
    schema = check_text(content["schema"], place.at("schema"), MAX_NAME)
    if schema != SCHEMA:
        raise place.at("schema").wrong(
            f'is "{schema}", which this version cannot read', f'use a file of schema "{SCHEMA}"'
        )
    for name in REQUIRED_FIELDS:
        if name not in content:
            raise place.at(name).wrong("is missing", "add the field")


def _metrics(value: object, place: Place) -> tuple[dict[str, float], dict[str, float]]:
    content = check_object(value, place)
    if len(content) > MAX_METRICS:
        raise place.wrong(f"has {len(content):,} entries, more than {MAX_METRICS}")
    known: dict[str, float] = {}
    unknown: dict[str, float] = {}
    for name, item in content.items():
        if name in METRIC_BY_NAME:
            known[name] = check_metric(name, item, place)
        else:
            check_text(name, place, MAX_NAME)
            unknown[name] = check_number(item, place.at(name))
    return known, unknown


def _sources(value: object, place: Place) -> dict[str, str]:
    result: dict[str, str] = {}
    for name, text in check_object(value, place).items():
        if name not in METRIC_BY_NAME:
            check_text(name, place, MAX_NAME)
        # The usual text first: thousands are checked at each start.
        if isinstance(text, str) and is_usual_text(text, MAX_SOURCE):
            result[name] = text
        else:
            result[name] = check_text(text, place.at(name), MAX_SOURCE)
    return result


def _configurations(content: Mapping[str, object], place: Place) -> tuple[Configuration, ...]:
    if "configurations" not in content:
        return (Configuration(),)
    items = check_list(content["configurations"], place, MAX_CONFIGURATIONS)
    if not items:
        raise place.wrong("is empty", "name at least one runtime and precision")
    result = tuple(_configuration(item, place, index) for index, item in enumerate(items))
    if len(set(result)) < len(result):
        index = next(i for i, item in enumerate(result) if item in result[:i])
        raise place.item(index).wrong("is listed twice", "remove one of the two")
    return result


def _configuration(value: object, parent: Place, index: int) -> Configuration:
    # The usual entry first: the catalogue has two thousand, of some forty kinds.
    if isinstance(value, dict) and len(value) == 2:
        runtime, precision = value.get("runtime"), value.get("precision")
        if isinstance(runtime, str) and isinstance(precision, str):
            known = _USUAL.get((runtime, precision))
            if known is not None:
                return known
    place = parent.item(index)
    item = check_object(value, place)
    _only(item, _CONFIGURATION_FIELDS, place)
    return Configuration(
        check_runtime(item.get("runtime", "unknown"), place),
        check_precision(item.get("precision", Precision.FP32.value), place),
        _optional_count(item, "threads", place, MAX_THREADS),
        _optional_count(item, "batch", place, MAX_BATCH),
    )


_USUAL = {
    (runtime, precision.value): Configuration(runtime, precision)
    for runtime in RUNTIMES
    for precision in Precision
}


def _optional_count(item: dict[str, object], name: str, place: Place, high: int) -> int:
    """Check a whole number that most configurations leave out; 0 is then meant."""
    return check_count(item[name], place.at(name), 0, high) if name in item else 0


def _clusters(content: Mapping[str, object], place: Place) -> tuple[Cluster, ...]:
    items = check_list(content.get("clusters", []), place, MAX_CLUSTERS)
    return tuple(
        _cluster(check_object(item, place.item(index)), place.item(index))
        for index, item in enumerate(items)
    )


def _cluster(item: dict[str, object], place: Place) -> Cluster:
    _only(item, _CLUSTER_FIELDS, place)
    for name in ("name", "cores", "clock_mhz"):
        if name not in item:
            raise place.at(name).wrong("is missing", "add the field")
    lanes = item.get("fp32_au_per_core")
    return Cluster(
        name=check_text(item["name"], place.at("name"), MAX_NAME),
        cores=check_count(item["cores"], place.at("cores"), 1, 1_000_000),
        clock_mhz=check_metric("clock_mhz", item["clock_mhz"], place),
        fp32_au_per_core=None if lanes is None else check_metric("fp32_au_per_core", lanes, place),
    )


def _only(item: Mapping[str, object], allowed: tuple[str, ...], place: Place) -> None:
    for name in item:
        if name not in allowed:
            raise place.wrong(
                f'has an unknown field "{shortened(name, 40)}"', f"use {', '.join(allowed)}"
            )


def _unknown_fields(content: Mapping[str, object]) -> list[str]:
    return [
        f"field {shortened(name, 40)} is no part of {SCHEMA} and was left out"
        for name in content
        if name not in FIELDS
    ]


def _configuration_object(configuration: Configuration) -> dict[str, object]:
    item = {
        "runtime": configuration.runtime,
        "precision": configuration.precision.value,
        "threads": configuration.threads,
        "batch": configuration.batch,
    }
    return {name: value for name, value in item.items() if value}


def _cluster_object(cluster: Cluster) -> dict[str, object]:
    item = {field: getattr(cluster, field) for field in _CLUSTER_FIELDS if field != "name"}
    numbers = {field: _number(value) for field, value in item.items() if value is not None}
    return {"name": cluster.name, **numbers}


def _number(value: float) -> int | float:
    """Write a whole number without its fraction, as people do."""
    return int(value) if value == int(value) else value
