"""Printed statistics of ``qnn-profile-viewer``, of the runs that ``qnn-net-run`` profiled, in us.

Blocks ``Execute Stats (Average)``, ``(Min)``, ``(Max)`` and ``(Overall)`` follow those of set-up.
In each stand the times of every graph: ``NetRun`` is the call as the program sees it, the lines of
the backend are parts of it. Read from output of the AI Engine Direct SDK of 2024 to 2026.
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

_PER_MS = 1000.0  # microseconds
_BLOCK = re.compile(r"^\W*(?P<kind>[A-Z][\w -]{0,40}Stats)(?: \((?P<key>\w+)\))?:\s*$")
_GRAPH = re.compile(r"^\W*Graph \d+ \((?P<name>[^()]*)\):\s*$")
_TIME = re.compile(r"^\s*NetRun:\s+(?P<value>\S+) us\s*$")
_PART = re.compile(
    r"^\s*Backend \((?P<name>[\w ]{1,40})\(execute\) time\):\s+(?P<value>\S+) us\s*$"
)
_EXECUTE = "Execute Stats"
_ACTION = "import all that qnn-profile-viewer prints"


def recognises(source: Source) -> bool:
    """Whether a file looks like the output of qnn-profile-viewer."""
    return "Execute Stats (Average):" in source.text and "NetRun:" in source.text


def parse(source: Source) -> Reading:
    """Read the mean of ``NetRun`` of each graph.

    Raises:
        InputError: the output is cut short or of two logs.
    """
    times: dict[str, dict[str, float]] = {}
    places: dict[str, str] = {}
    kind = key = graph = ""
    for number, line in source.messages():
        place = f"line {number}"
        if block := _BLOCK.match(line):
            kind, key, graph = block["kind"], (block["key"] or "").lower(), ""
        elif named := _GRAPH.match(line):
            graph = named["name"]
        elif kind == _EXECUTE and (time := _TIME.match(line) or _PART.match(line)):
            part = (time.groupdict().get("name") or "").strip().lower().replace(" ", "_")
            name = f"{part}_{key}" if part else key
            entered = times.setdefault(graph, {})
            if name in entered:
                raise source.error_at(place, "another log begins", "import one at a time")
            entered[name] = source.duration_ms(place, time["value"], _PER_MS, "the time")
            if name == "average":
                places[graph] = place
    if not places:
        raise source.error("it has no average time of a run", _ACTION)
    return Reading(
        tuple(_latency(source, graph, place, times[graph]) for graph, place in places.items())
    )


def _latency(source: Source, graph: str, place: str, times: dict[str, float]) -> ImportedLatency:
    value_ms = source.latency_ms(place, times["average"], 1.0, "NetRun")
    source.ordered(place, {key: times[key] for key in ("min", "average", "max") if key in times})
    return ImportedLatency(
        # The converter names a graph after its file, or calls it model.
        network="" if graph == "model" else graph,
        place=place,
        value_ms=value_ms,
        statistic=Statistic.MEAN,
        runtime="qnn",
        profiled=True,
        facts=facts_ms(times),
    )
