"""Printed output of ``hailortcli benchmark``: rates, and the latency of one frame on the chip.

Written by HailoRT's ``hailortcli``: a line of progress for each network, then a summary.
"""

from __future__ import annotations

import re

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Source

_NETWORK = re.compile(r"^Network (?P<name>[^\s/:]+)(?:/\S+)?: 100%")
_LATENCY = re.compile(r"^Latency\s*\(hw\)\s*= (?P<value>\S+) ms\s*$")
_RATE = re.compile(r"^(?:FPS)?\s*\((?P<key>hw_only|streaming)\)\s*= (?P<value>\S+)\s*$")
_NOTE = "It is the latency on the chip; the way through the host is not in it."


def recognises(source: Source) -> bool:
    """Whether a file looks like the output of hailortcli."""
    return "(hw_only)" in source.text and "FPS" in source.text


def parse(source: Source) -> Reading:
    """Read the mean latency of one frame at a time; frame rates are of frames that overlap.

    Raises:
        InputError: the output has no latency, two runs, or several networks.
    """
    names: set[str] = set()
    facts: dict[str, str] = {}
    latency_ms: float | None = None
    latency_at = ""
    for number, line in source.lines():
        place = f"line {number}"
        if network := _NETWORK.match(line):
            names.add(network["name"])
        elif time := _LATENCY.match(line):
            if latency_ms is not None:
                raise source.error_at(place, "another run begins", "import one at a time")
            latency_ms, latency_at = source.latency_ms(place, time["value"], 1.0, "latency"), place
        elif rate := _RATE.match(line):
            fps = source.quantity(place, rate["value"], rate["key"])
            facts[f"fps_{rate['key']}"] = f"{fps:.6g}"
    if len(names) > 1:
        reason = f"{len(names)} networks ran in turn, so that no time is of one alone"
        raise source.error(reason, "measure one network at a time")
    if latency_ms is None:
        raise source.error("it has no latency", "run hailortcli benchmark to its end")
    return Reading(
        (
            ImportedLatency(
                network=names.pop() if names else "",
                place=latency_at,
                value_ms=latency_ms,
                statistic=Statistic.MEAN,
                runtime="hailort",
                facts=facts,
            ),
        ),
        (_NOTE,),
    )
