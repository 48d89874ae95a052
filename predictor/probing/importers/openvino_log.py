"""Printed output of OpenVINO's ``benchmark_app``, in C++ and Python alike; short times in us.

Written by ``samples/cpp/benchmark_app`` and ``tools/benchmark_tool`` of OpenVINO.
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

_TIME = re.compile(
    r"\[ INFO \]\s+(?P<key>Median|Average|Min|Max):\s+(?P<value>\S+) (?P<unit>[mu]s)\s*$"
)
_PER_MS = {"ms": 1.0, "us": 1e3}
_REQUESTS = re.compile(r"Measuring performance \(.*?(?P<count>\d+) inference requests")
_BATCH = re.compile(r"\[ INFO \] Model batch size: (?P<count>\d+)\s*$")
_THREADS = re.compile(r"\[ INFO \]\s+INFERENCE_NUM_THREADS: (?P<count>\d+)\s*$")
_PRECISION = re.compile(r"\[ INFO \]\s+INFERENCE_PRECISION_HINT: .*?(?P<name>b?f(?:loat)?\d\d)")
_PRECISIONS = {
    "f32": Precision.FP32,
    "float32": Precision.FP32,
    "f16": Precision.FP16,
    "float16": Precision.FP16,
    "bf16": Precision.BF16,
    "bfloat16": Precision.BF16,
}


def recognises(source: Source) -> bool:
    """Whether a file looks like a log of benchmark_app."""
    return "[ INFO ] Latency:" in source.text and "[ INFO ] Throughput:" in source.text


def check_alone(source: Source, place: str, requests: object, what: str) -> None:
    """Check that benchmark_app had one request at a time.

    Raises:
        InputError: several ran at once, or their number is none.
    """
    count = source.count(place, requests, what)
    if count != 1:
        reason = f"{count} requests ran at once, so they waited for each other"
        raise source.error_at(place, reason, "measure again with -hint latency -nireq 1")


def parse(source: Source) -> Reading:
    """Read the median latency of a run with one request at a time.

    Raises:
        InputError: the log is cut short, holds two runs, or several requests ran at once.
    """
    times: dict[str, float] = {}
    counts: dict[str, int] = {}
    precision: Precision | None = None
    median_at = ""
    for number, line in source.lines():
        place = f"line {number}"
        if time := _TIME.search(line):
            key = time["key"].lower()
            if key in times:
                raise source.error_at(place, "another run begins", "import one at a time")
            times[key] = source.latency_ms(place, time["value"], _PER_MS[time["unit"]], key)
            median_at = place if key == "median" else median_at
        elif requests := _REQUESTS.search(line):
            check_alone(source, place, requests["count"], "the number of requests")
        elif batch := _BATCH.search(line):
            counts["batch"] = source.count(place, batch["count"], "batch")
        elif threads := _THREADS.search(line):
            counts["threads"] = source.count(place, threads["count"], "threads")
        elif stated := _PRECISION.search(line):
            precision = _PRECISIONS.get(stated["name"], precision)
    if "median" not in times:
        raise source.error("it has no median latency", "run benchmark_app to its end")
    source.ordered(median_at, {k: times[k] for k in ("min", "median", "max") if k in times})
    return Reading(
        (
            ImportedLatency(
                network="",
                place=median_at,
                value_ms=times["median"],
                statistic=Statistic.MEDIAN,
                runtime="openvino",
                precision=precision,
                threads=counts.get("threads"),
                batch=counts.get("batch"),
                facts=facts_ms(times),
            ),
        )
    )
