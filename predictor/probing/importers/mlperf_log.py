"""MLPerf LoadGen's ``mlperf_log_detail.txt``: lines ``:::MLLOG {json}``, times in nanoseconds.

Written by ``loadgen/results.cc``. The keys of a result are ``result_mean_latency_ns``,
``result_min_latency_ns`` and ``result_50.00_percentile_latency_ns`` with other percentiles. Only a
SingleStream run measures the latency of one run; in the other scenarios queries wait.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source

_MARK = ":::MLLOG"
_PER_MS = 1e6  # nanoseconds
_MEDIAN = "result_50.00_percentile_latency_ns"
_STATISTICS = (
    (_MEDIAN, Statistic.MEDIAN),
    ("result_mean_latency_ns", Statistic.MEAN),
    ("result_min_latency_ns", Statistic.MINIMUM),
)
_LATENCY = re.compile(r"result_(?:min|max|mean|\d+\.\d+_percentile)_latency_ns")
_ACTION = "import the mlperf_log_detail.txt of a SingleStream performance run"


@dataclass(frozen=True, slots=True)
class _Value:
    line: int
    value: object


def recognises(source: Source) -> bool:
    """Whether a file looks like a detailed log of LoadGen."""
    return _MARK in source.text


def parse(source: Source) -> Reading:
    """Read the result of one run of LoadGen.

    Raises:
        InputError: a line is damaged, the scenario is no SingleStream, or there is no result.
    """
    values = _values(source)
    _check_scenario(source, values)
    facts = _latencies(source, values)
    key, statistic = _headline(source, facts)
    queries = values.get("result_query_count")
    count = (
        source.count(f"line {queries.line}", queries.value, "result_query_count")
        if queries
        else None
    )
    latency = ImportedLatency(
        network="",
        place=f"line {values[key].line}",
        value_ms=facts[key],
        statistic=statistic,
        runs=count,
        batch=1,  # a query of SingleStream is one sample
        facts={
            "scenario": "SingleStream",
            **facts_ms({key.removesuffix("_ns"): time for key, time in facts.items()}),
        },
    )
    return Reading((latency,), _notes(values))


def _values(source: Source) -> dict[str, _Value]:
    values: dict[str, _Value] = {}
    for number, line in source.lines():
        if not line.startswith(_MARK):
            continue
        place = f"line {number}"
        try:
            record = json.loads(line.removeprefix(_MARK))
        except (ValueError, RecursionError) as error:
            reason = f"what follows {_MARK} is no JSON, or is cut short"
            raise source.error_at(place, reason, _ACTION) from error
        table = source.table(place, record, "the record")
        key = str(table.get("key", ""))
        if key.startswith("result_") and key in values:
            raise source.error_at(
                place, f"{key} stands twice, first on line {values[key].line}", _ACTION
            )
        values[key] = _Value(number, table.get("value"))
    return values


def _check_scenario(source: Source, values: dict[str, _Value]) -> None:
    scenario = values.get("effective_scenario") or values.get("requested_scenario")
    if scenario and scenario.value != "SingleStream":
        reason = f"the scenario is {scenario.value}, whose latencies hold time spent waiting"
        raise source.error_at(f"line {scenario.line}", reason, _ACTION)
    mode = values.get("effective_test_mode") or values.get("requested_test_mode")
    if mode and mode.value == "AccuracyOnly":
        raise source.error_at(f"line {mode.line}", "the run measured accuracy, not time", _ACTION)


def _latencies(source: Source, values: dict[str, _Value]) -> dict[str, float]:
    latencies_ms = {
        key: source.latency_ms(f"line {value.line}", value.value, _PER_MS, key)
        for key, value in values.items()
        if _LATENCY.fullmatch(key)
    }
    if not latencies_ms:
        raise source.error("it holds no result (a line with result_..._latency_ns)", _ACTION)
    percentiles = sorted((k for k in latencies_ms if "percentile" in k), key=_percent)
    if not percentiles:  # LoadGen writes them last, and always
        raise source.error("it ends before the percentiles of the latency", _ACTION)
    keys = ["result_min_latency_ns", *percentiles, "result_max_latency_ns"]
    line = values[next(iter(latencies_ms))].line
    source.ordered(f"line {line}", {key: latencies_ms[key] for key in keys if key in latencies_ms})
    return latencies_ms


def _percent(key: str) -> float:
    return float(key.split("_")[1])


def _headline(source: Source, facts: dict[str, float]) -> tuple[str, Statistic]:
    for key, statistic in _STATISTICS:
        if key in facts:
            return key, statistic
    raise source.error(f"it has neither {_MEDIAN} nor a mean or a minimum", _ACTION)


def _notes(values: dict[str, _Value]) -> tuple[str, ...]:
    validity = values.get("result_validity")
    if not validity or validity.value == "VALID":
        return ()
    why = values.get("result_invalid_reason")
    reason = f": {str(why.value).strip()}" if why else ""
    return (f"LoadGen marks the run as {validity.value}{reason}",)
