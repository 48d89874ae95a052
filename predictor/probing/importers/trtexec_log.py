"""Printed output of TensorRT's ``trtexec``: options of a run, then its performance summary, in ms.

Written by ``samples/common/sampleOptions.cpp`` and ``sampleReporting.cpp``.
"""

from __future__ import annotations

import re

from predictor.core.records import Precision
from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source

_SUMMARY = "=== Performance summary ==="
# After a time stamp and a level, or whatever a wrapper prints before them.
_TIMES = re.compile(r"(?:^|\])\s*(?P<what>Latency|GPU Compute Time): (?P<values>min = .*)$")
_VALUE = re.compile(r"(\w+) = (\S+) (\w+)")
_OPTION = re.compile(r"\[I\] (?:Inference )?(?P<name>Model|Precision|Streams): (?P<value>.*\S)\s*$")
_KEYS = ("min", "mean", "median", "max")
# The narrowest of the formats that the builder may choose from.
_PRECISIONS = (
    ("INT8", Precision.INT8),
    ("BF16", Precision.BF16),
    ("FP16", Precision.FP16),
    ("FP32", Precision.FP32),
)


def recognises(source: Source) -> bool:
    """Whether a file holds a summary of trtexec."""
    return _SUMMARY in source.text


def parse(source: Source) -> Reading:
    """Read the host latency: transfers in and out and the time on the GPU.

    Raises:
        InputError: the summary is cut short, stands twice, or is of several streams.
    """
    options: dict[str, str] = {}
    times: dict[str, tuple[str, dict[str, float]]] = {}
    for number, line in source.lines():
        place = f"line {number}"
        if option := _OPTION.search(line):
            options[option["name"]] = option["value"]
        elif measured := _TIMES.search(line):
            if measured["what"] in times:
                raise source.error_at(place, "another summary begins", "import one at a time")
            times[measured["what"]] = place, _milliseconds(source, place, measured["values"])
    if "Latency" not in times:
        raise source.error("its summary has no line of latencies", "run trtexec to its end")
    if options.get("Streams", "1") != "1":
        reason = f"{options['Streams']} streams ran at once, so queries waited for each other"
        raise source.error(reason, "measure again with --streams=1")
    place, latency = times["Latency"]
    facts = {"boundary": "transfer to the GPU, computation, transfer back"}
    facts |= facts_ms({key: latency[key] for key in _KEYS if key in latency})
    if "GPU Compute Time" in times:
        facts["gpu_compute_median_ms"] = f"{times['GPU Compute Time'][1]['median']:.6g}"
    return Reading(
        (
            ImportedLatency(
                network=options.get("Model", ""),
                place=place,
                value_ms=latency["median"],
                statistic=Statistic.MEDIAN,
                runtime="tensorrt",
                precision=_precision(options.get("Precision", "")),
                facts=facts,
            ),
        )
    )


def _milliseconds(source: Source, place: str, text: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, value, unit in _VALUE.findall(text):
        if unit != "ms":
            raise source.error_at(place, f"{key} is in {unit}, not in ms")
        if key in _KEYS:
            values[key] = source.latency_ms(place, value, 1.0, key)
    if "median" not in values:
        raise source.error_at(place, "it has no median", "run trtexec to its end")
    source.ordered(place, {key: values[key] for key in ("min", "median", "max") if key in values})
    return values


def _precision(text: str) -> Precision | None:
    return next((precision for name, precision in _PRECISIONS if name in text.split("+")), None)
