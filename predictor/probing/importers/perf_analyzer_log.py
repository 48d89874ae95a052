"""Printed output of Triton's ``perf_analyzer``: times of requests as the client sees them, in us.

Written by ``perf_analyzer`` of triton-inference-server, a block for each number of requests at
once.
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

_CONCURRENCY = re.compile(r"^Request concurrency: (?P<count>\d+)\s*$")
_BATCH = re.compile(r"^\s+Batch size: (?P<count>\d+)\s*$")
_TIME = re.compile(r"^\s+(?P<key>Avg|p50|p90|p95|p99) latency: (?P<value>\d\S*) usec")
_REQUESTS = re.compile(r"^\s+Request count: (?P<count>\d+)\s*$")
_SERVER = re.compile(r"^\s+Server:\s*$")
_PER_MS = 1e3
_ALONE = "measure again with --concurrency-range 1"


def recognises(source: Source) -> bool:
    """Whether a file looks like the output of perf_analyzer."""
    return "Request concurrency: " in source.text and "latency: " in source.text


def parse(source: Source) -> Reading:
    """Read the median of requests one at a time, their mean where no percentiles were printed.

    Raises:
        InputError: no block has one request at a time, or the output holds two runs of it.
    """
    times: dict[str, float] = {}
    counts: dict[str, int] = {}
    places: dict[str, str] = {}
    is_alone = is_client = False
    for number, line in source.lines():
        place = f"line {number}"
        if concurrency := _CONCURRENCY.match(line):
            is_alone = source.count(place, concurrency["count"], "concurrency") == 1
            is_client = is_alone
            if is_alone and times:
                raise source.error_at(place, "another run begins", "import one at a time")
        elif batch := _BATCH.match(line):
            counts["batch"] = source.count(place, batch["count"], "batch")
        elif _SERVER.match(line):
            is_client = False
        elif is_client and (time := _TIME.match(line)):
            key = time["key"].lower()
            times[key], places[key] = source.latency_ms(place, time["value"], _PER_MS, key), place
        elif is_client and (requests := _REQUESTS.match(line)):
            counts["runs"] = source.count(place, requests["count"], "requests")
    key = "p50" if "p50" in times else "avg"
    if key not in times:
        reason = "it has no latency of one request at a time; several wait for each other"
        raise source.error(reason, _ALONE)
    ordered = [name for name in ("p50", "p90", "p95", "p99") if name in times]
    source.ordered(places[key], {name: times[name] for name in ordered})
    return Reading(
        (
            ImportedLatency(
                network="",
                place=places[key],
                value_ms=times[key],
                statistic=Statistic.MEDIAN if key == "p50" else Statistic.MEAN,
                runs=counts.get("runs"),
                batch=counts.get("batch"),
                facts=facts_ms(times),
            ),
        ),
        ("It is the time of a request, so the way to the server and back is in it.",),
    )
