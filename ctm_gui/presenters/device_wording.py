"""Words for metrics and for findings on a device, by the kind of compute unit."""

from __future__ import annotations

import re

from predictor.core.metric_labels import metric_label
from predictor.core.metrics import METRICS, Family, Metric
from predictor.services.devices.form import range_text

_NAMES = re.compile(r"\b(?:" + "|".join(metric.name for metric in METRICS) + r")\b")


def metric_help(metric: Metric, family: Family) -> str:
    """Return what a metric means, its unit and its range, a sentence each."""
    label = metric_label(metric.name, family)
    unit = f"In {metric.unit}, " if metric.unit else "A count, "
    return (
        f"{label} ({metric.name})\n{metric.help}\n{unit}{range_text(metric)}.\n"
        "Leave it unticked where it is not known: absent is not zero."
    )


def applies(name: str, family: Family) -> bool:
    """Whether a device of ``family`` can have the metric at all."""
    return name != "dsp_count" or family is Family.FPGA


def in_words(sentence: str, family: Family) -> str:
    """Return a check's sentence with labels in place of field names, as a sentence of its own."""
    words = _NAMES.sub(lambda name: metric_label(name.group(), family), sentence)
    return f"{words[:1].upper()}{words[1:]}."
