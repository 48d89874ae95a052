"""The form of a device for the window: its fields as typed, and their checks.

Cheap enough to be asked at every keystroke.
"""

from __future__ import annotations

from predictor.devices.consistency import CLUSTERS, Finding
from predictor.devices.fields import range_text
from predictor.devices.form import (
    CONFIGURATIONS,
    ClusterFields,
    FormCheck,
    FormFields,
    check_form,
    fields_of,
    number_text,
)

__all__ = [
    "CLUSTERS",
    "CONFIGURATIONS",
    "ClusterFields",
    "Finding",
    "FormCheck",
    "FormFields",
    "check_form",
    "fields_of",
    "number_text",
    "range_text",
]
