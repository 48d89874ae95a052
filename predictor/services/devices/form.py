"""The form of a device for the window: its fields as typed, and their checks.

Cheap enough to run at every keystroke.
"""

from __future__ import annotations

from predictor.core.errors import InputError
from predictor.core.records import Device, Target
from predictor.cost.capability import capability
from predictor.cost.rates.facts import MissingMetricError
from predictor.devices.consistency import CLUSTERS, MEASURED, OPERATING_POINTS, Finding
from predictor.devices.fields import range_text
from predictor.devices.form import (
    CONFIGURATIONS,
    ClusterFields,
    FormCheck,
    FormFields,
    MeasuredFields,
    PointFields,
    check_form,
    fields_of,
    number_text,
)

__all__ = [
    "CLUSTERS",
    "CONFIGURATIONS",
    "MEASURED",
    "OPERATING_POINTS",
    "ClusterFields",
    "Finding",
    "FormCheck",
    "FormFields",
    "MeasuredFields",
    "PointFields",
    "check_form",
    "fields_of",
    "missing_metric",
    "number_text",
    "range_text",
]


def missing_metric(device: Device) -> str:
    """Return a metric without which the usual configuration has no prediction; empty for none."""
    try:
        capability(Target(device, device.configurations[0]))
    except MissingMetricError as error:
        return error.metric
    except InputError:
        return ""
    return ""
