"""Printed output of ONNX Runtime's ``onnxruntime_perf_test``: seconds of runs one after the other.

Written by ``onnxruntime/test/perftest/performance_runner.cc``.
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

_MEAN = re.compile(r"^Average inference time cost(?: total)?: (?P<value>\S+) (?P<unit>m?s)\s*$")
_TIME = re.compile(r"^(?P<key>Min|Max|P50|P90|P95|P99) Latency: (?P<value>\S+) s\s*$")
_RUNS = re.compile(r"^Total inference requests: (?P<count>\d+)\s*$")
_THREADS = re.compile(r"^Setting intra_op_num_threads to (?P<count>\d+)\s*$")
_PER_MS = {"ms": 1.0, "s": 1e-3}


def recognises(source: Source) -> bool:
    """Whether a file looks like the output of onnxruntime_perf_test."""
    return "Average inference time cost" in source.text


def parse(source: Source) -> Reading:
    """Read the mean: percentiles are printed after it on request, and may be cut off.

    Raises:
        InputError: the output is cut short, or holds two runs.
    """
    times: dict[str, float] = {}
    counts: dict[str, int] = {}
    places: dict[str, str] = {}
    for number, line in source.lines():
        place = f"line {number}"
        if time := _MEAN.match(line):
            key, per_ms = "mean", _PER_MS[time["unit"]]
        elif time := _TIME.match(line):
            key, per_ms = time["key"].lower(), _PER_MS["s"]
        else:
            for name, pattern in (("runs", _RUNS), ("threads", _THREADS)):
                if stated := pattern.match(line):
                    counts[name] = source.count(place, stated["count"], name)
            continue
        if key in times:
            raise source.error_at(place, "another run begins", "import one at a time")
        times[key], places[key] = source.latency_ms(place, time["value"], per_ms, key), place
    if "mean" not in times:
        raise source.error("it has no average", "run onnxruntime_perf_test to its end")
    source.ordered(places["mean"], {k: times[k] for k in ("min", "p50", "max") if k in times})
    return Reading(
        (
            ImportedLatency(
                network="",
                place=places["mean"],
                value_ms=times["mean"],
                statistic=Statistic.MEAN,
                runs=counts.get("runs"),
                runtime="onnxruntime",
                threads=counts.get("threads"),
                facts=facts_ms(times),
            ),
        )
    )
