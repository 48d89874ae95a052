"""The form of a device for the window: its fields as typed, and their checks.

Cheap enough to run at every keystroke.
"""

from __future__ import annotations

from predictor.core.errors import InputError
from predictor.core.records import Device, Target
from predictor.cost.capability import capability
from predictor.cost.rates.facts import MissingMetricError


def missing_metric(device: Device) -> str:
    """Return a metric without which the usual configuration has no prediction; empty for none."""
    try:
        capability(Target(device, device.configurations[0]))
    except MissingMetricError as error:
        return error.metric
    except InputError:
        return ""
    return ""
