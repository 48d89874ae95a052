"""Makes the JSON Schema of a device file from the registry, so that the two cannot differ.

    python packaging/make_schema.py [FILE]

Editors use it to complete and check a file while it is written; the program's own validation
(``predictor.devices.schema``) says more, in sentences.
"""

from __future__ import annotations

import json
from pathlib import Path

from destination import destination

from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.metrics import MEASURABLE, METRIC_BY_NAME, METRICS, Family, Metric
from predictor.core.records import Precision
from predictor.core.runtimes import RUNTIMES
from predictor.devices.fields import ID_PATTERN, MAX_ID, MAX_NAME, MAX_NOTES, MAX_SOURCE
from predictor.devices.schema import (
    MAX_BATCH,
    MAX_CLUSTERS,
    MAX_CONFIGURATIONS,
    MAX_METRICS,
    MAX_OPERATING_POINTS,
    MAX_THREADS,
    POINT_COUNTS,
    POINT_RANGES,
    REQUIRED_FIELDS,
    SCHEMA,
)
from predictor.presentation.metric_labels import METRIC_HELP

FILE = Path(__file__).resolve().parent.parent / "resources" / "schema" / "device.schema.json"

Json = dict[str, object]


def device_json_schema() -> Json:
    """Return the JSON Schema (2020-12) of a device file of schema ``ctm-hcv/1``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Device ({SCHEMA})",
        "type": "object",
        "required": list(REQUIRED_FIELDS),
        "properties": {
            "schema": {"const": SCHEMA},
            "id": _id(),
            "name": _text(MAX_NAME),
            "vendor": _text(MAX_NAME),
            "family": {"enum": [family.value for family in Family]},
            "system": {"type": "string", "maxLength": MAX_NAME},
            "chip": _id(),
            "architecture": _id(),
            "instruction_sets": _instruction_sets(),
            "host_architecture": _id(),
            "configurations": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_CONFIGURATIONS,
                "uniqueItems": True,
                "items": _configuration(),
            },
            "clusters": {"type": "array", "maxItems": MAX_CLUSTERS, "items": _cluster()},
            "metrics": {
                "type": "object",
                "maxProperties": MAX_METRICS,
                "properties": {metric.name: _metric(metric) for metric in METRICS},
                "additionalProperties": {"type": "number"},
            },
            "sources": {"type": "object", "additionalProperties": _text(MAX_SOURCE)},
            "measured": {
                "type": "object",
                "properties": {name: _measured(metric) for name, metric in MEASURABLE.items()},
                "additionalProperties": False,
            },
            "operating_points": {
                "type": "array",
                "maxItems": MAX_OPERATING_POINTS,
                "items": _operating_point(),
            },
            "notes": {"type": "string", "maxLength": MAX_NOTES},
        },
    }


def json_schema_text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(device_json_schema(), indent=2) + "\n"


def _metric(metric: Metric) -> Json:
    unit = f" in {metric.unit}" if metric.unit else ""
    return {
        "type": "number",
        "minimum": metric.low,
        "maximum": metric.high,
        "description": f"{metric.label}{unit}. {METRIC_HELP[metric.name]}",
    }


def _configuration() -> Json:
    return {
        "type": "object",
        "properties": {
            "runtime": {"enum": list(RUNTIMES)},
            "precision": {"enum": [precision.value for precision in Precision]},
            "threads": {"type": "integer", "minimum": 0, "maximum": MAX_THREADS},
            "batch": {"type": "integer", "minimum": 0, "maximum": MAX_BATCH},
        },
        "additionalProperties": False,
    }


def _cluster() -> Json:
    return {
        "type": "object",
        "required": ["name", "cores", "clock_mhz"],
        "properties": {
            "name": _text(MAX_NAME),
            "cores": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
            "clock_mhz": _metric(METRIC_BY_NAME["clock_mhz"]),
            "fp32_au_per_core": _metric(METRIC_BY_NAME["fp32_au_per_core"]),
            "architecture": _id(),
            "instruction_sets": _instruction_sets(),
        },
        "additionalProperties": False,
    }


def _measured(metric: Metric) -> Json:
    return {
        "type": "object",
        "required": ["value", "source"],
        "properties": {"value": _metric(metric), "source": _text(MAX_SOURCE)},
        "additionalProperties": False,
    }


def _operating_point() -> Json:
    numbers = {
        name: {
            "type": "integer" if name in POINT_COUNTS else "number",
            "minimum": metric.low,
            "maximum": metric.high,
        }
        for name, metric in POINT_RANGES.items()
    }
    return {
        "type": "object",
        "required": ["name", "source"],
        "properties": {"name": _text(MAX_NAME), **numbers, "source": _text(MAX_SOURCE)},
        "additionalProperties": False,
    }


def _instruction_sets() -> Json:
    return {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {"enum": list(INSTRUCTION_SETS)},
    }


def _id() -> Json:
    return {"type": "string", "pattern": ID_PATTERN, "maxLength": MAX_ID}


def _text(limit: int) -> Json:
    return {"type": "string", "minLength": 1, "maxLength": limit}


if __name__ == "__main__":
    destination(__doc__, FILE).write_text(json_schema_text(), encoding="utf-8")
