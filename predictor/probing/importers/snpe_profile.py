"""Printed statistics of ``snpe-diagview``, of the runs that ``snpe-net-run`` profiled, in us.

Under ``Average SNPE Statistics`` stand the time of a call and its parts, then the layers by their
number with the unit that ran each. Read from output of SNPE 2.9.
"""

from __future__ import annotations

import re

from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source
from predictor.probing.operator_times import OperatorTime

_PER_MS = 1000.0  # microseconds
_MARK = "Average SNPE Statistics:"
_TIME = re.compile(r"^\s*(?P<name>[A-Z][\w ]{2,40}) Time: (?P<value>\S+) us\s*$")
_LAYERS = re.compile(r"^\s*Layer Times:\s*$")
_LAYER = re.compile(r"^\s*(?P<name>\d+): (?P<value>\S+) (?P<scale>us|cycles) : (?P<unit>\w+)")
_TOTAL = "total_inference"
_ACTION = "import all that snpe-diagview prints"


def recognises(source: Source) -> bool:
    """Whether a file looks like the output of snpe-diagview."""
    return _MARK in source.text


def parse(source: Source) -> Reading:
    """Read the mean time of a call, and of each layer.

    Raises:
        InputError: the output is cut short or of two logs.
    """
    times: dict[str, float] = {}
    operators: list[OperatorTime] = []
    in_average = in_layers = False
    total_at = ""
    for number, line in source.messages():
        place = f"line {number}"
        if line.strip() == _MARK:
            if times:
                raise source.error_at(place, "another log begins", "import one at a time")
            in_average = True
        elif _LAYERS.match(line):
            in_layers = in_average
        elif in_layers and (layer := _LAYER.match(line)):
            if layer["scale"] == "us":
                time_ms = source.duration_ms(place, layer["value"], _PER_MS, "the layer")
                operators.append(OperatorTime(f"layer {layer['name']}", "", time_ms, layer["unit"]))
        elif in_average and (time := _TIME.match(line)):
            name = time["name"].lower().replace(" ", "_")
            times[name] = source.duration_ms(place, time["value"], _PER_MS, time["name"])
            total_at = place if name == _TOTAL else total_at
    if _TOTAL not in times:
        raise source.error("it has no total inference time", _ACTION)
    return Reading(
        (
            ImportedLatency(
                network="",
                place=total_at,
                value_ms=source.latency_ms(total_at, times[_TOTAL], 1.0, "the total"),
                statistic=Statistic.MEAN,
                runtime="snpe",
                profiled=True,
                facts=facts_ms(times),
                operators=tuple(operators),
            ),
        )
    )
