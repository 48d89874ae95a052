"""Medians typed by hand: one network a line, as ``resnet50 23.4 ms``."""

from __future__ import annotations

import re

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Source

NAME = "typed"
_LONGEST = 500
_PER_MS = {"ns": 1e6, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1.0, "s": 1e-3}
_LINE = re.compile(
    r"^(?P<network>\S.*?)\s*[\s:=,;]\s*(?P<number>[-+]?[\d.,]\S*?)\s*(?P<unit>[a-zA-Zµμ]*)$"
)
_ACTION = "write one network a line, as: resnet50 23.4 ms"


def parse_typed(text: str) -> Reading:
    """Read typed medians; ms where no line names a unit. Empty lines and ``#`` comments are free.

    Raises:
        InputError: a line is no name with a time, some lines name a unit and others do not, or a
            network stands twice.
    """
    source = Source("the typed values", text)
    latencies: list[ImportedLatency] = []
    seen: dict[str, int] = {}
    units: dict[bool, int] = {}
    for number, line in source.lines():
        content = line.split("#", 1)[0].strip()
        if not content:
            continue
        place = f"line {number}"
        if len(content) > _LONGEST:
            reason = f"it has {len(content)} characters, more than the limit of {_LONGEST}"
            raise source.error_at(place, reason, _ACTION)
        match = _LINE.match(content)
        if match is None:
            raise source.error_at(place, f"{content!r} is no name with a time", _ACTION)
        if "," in match["number"]:
            raise source.error_at(
                place, f"{match['number']} has a comma", "write decimals with a point"
            )
        network, unit = match["network"], match["unit"]
        units.setdefault(bool(unit), number)
        if len(units) > 1:
            other = units[not unit]
            raise source.error_at(
                place, f"it and line {other} differ in naming a unit", "name the unit on each line"
            )
        if unit and unit not in _PER_MS:
            raise source.error_at(place, f"{unit!r} is no unit of time", "write ns, us, ms or s")
        if network in seen:
            raise source.error_at(
                place, f"{network} stands twice, first on line {seen[network]}", _ACTION
            )
        seen[network] = number
        value_ms = source.latency_ms(place, match["number"], _PER_MS[unit or "ms"], "the time")
        latencies.append(ImportedLatency(network, place, value_ms, Statistic.MEDIAN))
    if not latencies:
        raise source.error("there is no line with a network", _ACTION)
    return Reading(tuple(latencies))
