"""TFLite's ``benchmark_model``, run on Android through adb or elsewhere: its log, times in us.

Written by ``tensorflow/lite/tools/benchmark/benchmark_model.cc`` with the line of statistics from
``tsl/util/stats_calculator.h``. A run prints two such lines, of the warm-up and of the runs; newer
versions add p5, median and p95. With profiling a table of operators follows. Lines may start with
"INFO:" or with logcat's or TensorFlow's own head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source
from predictor.probing.operator_times import OperatorTime

_PER_MS = 1000.0  # microseconds
_COUNT = re.compile(r"(?P<timings>Timings \(microseconds\):\s*)?\bcount=(?P<count>\S+)(?P<rest>.*)")
_FIELD = re.compile(r"(?P<key>first|curr|min|max|avg|std|p5|median|p95)=(?P<value>[^\s(]+)")
_ALL_SAME = "(all same)"
# No pattern may look at a line once for each of its characters: logs are not trusted.
_SUMMARY = "nference timings in us:"
_AVERAGE = re.compile(r"(?:Inference(?: \(avg\))?|no stats): (?P<avg>[^\s,]+)")
_START = re.compile(r"\bSTARTING!")
_BLOCK = re.compile(r"Running benchmark for ")
_GRAPH = re.compile(r"\bGraph: \[(?P<path>[^\[\]]*)\]")
_THREADS = re.compile(r"(?:#threads used for CPU inference|Num threads): \[(?P<threads>[^\[\]]*)\]")
_DELEGATE = re.compile(
    r"Explicitly applied (?P<name>\S+) delegate, and the model graph will be (?P<share>\w+)"
)
_NO_RUNS = re.compile(r"^(?!Memory)(?:\w+: )?count=0\s*$")  # a warm-up of no runs
_FAILED = "Benchmarking failed"
_PROFILE = "Operator-wise Profiling Info for Regular Benchmark Runs"
_RUN_ORDER = "= Run Order ="
_HEADING = re.compile(r"===== .* =====|Number of nodes executed")
_CELLS = re.compile(r"\s{2,}|\t")
_ACTION = "import the whole log of benchmark_model"
_Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class _Statistics:
    """A line of statistics in ms."""

    line: int
    count: int
    values: dict[str, float]


def recognises(source: Source) -> bool:
    """Whether a file looks like a log of benchmark_model."""
    text = source.text
    if "STARTING!" in text and "Graph: [" in text:
        return True
    if "count=" not in text and _SUMMARY not in text:
        return False  # found out quickly: profiles in JSON are large
    return any(_is_count(line) or _average(line) for _, line in source.lines())


def _average(line: str) -> re.Match[str] | None:
    return _AVERAGE.search(line.partition(_SUMMARY)[2])


def _is_count(line: str) -> bool:
    match = _COUNT.search(line)
    return bool(match and ("curr=" in match["rest"] or match["timings"]))


def parse(source: Source) -> Reading:
    """Read each run of the tool in the log.

    Raises:
        InputError: a run failed, lacks its result, or a line is damaged.
    """
    latencies = tuple(_run(source, lines) for lines in _runs(source))
    place_of: dict[tuple[object, ...], str] = {}
    for latency in latencies:
        key = (latency.network, latency.threads, latency.facts.get("delegate"))
        if latency.network and key in place_of:
            raise source.error_at(
                latency.place, f"it measures {latency.network} again, as {place_of[key]} did"
            )
        place_of[key] = latency.place
    return Reading(latencies)


def _runs(source: Source) -> Iterator[list[_Line]]:
    """Split the log at each start of the tool; lines before the first start belong to it."""
    current: list[_Line] = []
    started = False
    for number, line in source.lines():
        if _START.search(line):
            if started:
                yield current
                current = []
            started = True
        current.append((number, line))
    yield current


def _run(source: Source, lines: Sequence[_Line]) -> ImportedLatency:
    result = _result(source, lines)
    values = result.values
    name = "median" if "median" in values else "avg"
    return ImportedLatency(
        network=_last(lines, _GRAPH, "path"),
        place=f"line {result.line}",
        value_ms=values[name],
        statistic=Statistic.MEDIAN if name == "median" else Statistic.MEAN,
        runs=result.count or None,
        runtime="tflite",
        threads=_threads(source, lines),
        profiled=any(_PROFILE in line for _, line in lines),
        facts=facts_ms(values) | _delegate(lines),
        operators=tuple(_operators(source, lines)),
    )


def _result(source: Source, lines: Sequence[_Line]) -> _Statistics:
    """Return the statistics of the timed runs: the second block's, else the closing summary's."""
    for number, line in lines:
        if _FAILED in line:
            raise source.error_at(
                f"line {number}", "the tool says that benchmarking failed", _ACTION
            )
    blocks = sum(bool(_BLOCK.search(line)) for _, line in lines)
    without_runs = sum(bool(_NO_RUNS.search(line)) for _, line in lines)
    plain = [_statistics(source, *pair) for pair in lines if _is_plain_count(pair[1])]
    ended = len(plain) + without_runs
    if blocks > ended or (blocks == 1 and ended == 1):
        number = lines[-1][0]
        raise source.error_at(f"line {number}", "the log ends before the timed runs do", _ACTION)
    if plain:
        return plain[-1]
    timings = [_statistics(source, *pair) for pair in lines if _is_count(pair[1])]
    if timings:
        return timings[-1]
    for number, line in lines:
        if match := _average(line):
            average = source.latency_ms(f"line {number}", match["avg"], _PER_MS, "the mean")
            return _Statistics(number, 0, {"avg": average})
    raise source.error_at(f"line {lines[0][0]}", "a run starts here and has no result", _ACTION)


def _is_plain_count(line: str) -> bool:
    match = _COUNT.search(line)
    return bool(match and not match["timings"] and "curr=" in match["rest"])


def _statistics(source: Source, number: int, line: str) -> _Statistics:
    match = _COUNT.search(line)
    assert match is not None, "the caller looked"  # noqa: S101
    place = f"line {number}"
    count = source.count(place, match["count"], "count")
    rest = match["rest"]
    texts = {m["key"]: m["value"] for m in _FIELD.finditer(rest)}
    if count == 1 or _ALL_SAME in rest:
        # One run, or equal ones: the tool prints curr= alone.
        texts.setdefault("avg", texts.get("curr", ""))
    elif missing := [
        key for key in ("first", "curr", "min", "max", "avg", "std") if key not in texts
    ]:
        raise source.error_at(place, f"{missing[0]}= is missing", _ACTION)
    texts.pop("std", None)
    values = {k: source.latency_ms(place, v, _PER_MS, k) for k, v in texts.items()}
    order = [k for k in ("min", "p5", "median", "p95", "max") if k in values]
    source.ordered(place, {k: values[k] for k in order})
    source.ordered(place, {k: values[k] for k in ("min", "avg", "max") if k in values})
    return _Statistics(number, count, values)


def _last(lines: Sequence[_Line], pattern: re.Pattern[str], group: str) -> str:
    texts = [match[group] for _, line in lines if (match := pattern.search(line))]
    return texts[-1] if texts else ""


def _threads(source: Source, lines: Sequence[_Line]) -> int | None:
    for number, line in reversed(lines):
        if match := _THREADS.search(line):
            # -1 leaves the choice to the library, so the count is not known.
            if match["threads"] == "-1":
                return None
            return source.count(f"line {number}", match["threads"], "the number of threads")
    return None


def _delegate(lines: Sequence[_Line]) -> dict[str, str]:
    applied = [match for _, line in lines if (match := _DELEGATE.search(line))]
    return (
        {"delegate": ", ".join(f"{m['name']} ({m['share']})" for m in applied)} if applied else {}
    )


def _operators(source: Source, lines: Sequence[_Line]) -> Iterator[OperatorTime]:
    """Yield the rows of the table in run order, of the runs and not of the initialisation."""
    columns: list[str] = []
    profile = table = False
    for number, line in lines:
        if _PROFILE in line:
            profile = True
        elif profile and _RUN_ORDER in line:
            table = True
        elif table and _HEADING.search(line):
            return
        elif table and "[node type]" in line:
            columns = _CELLS.split(line.strip())
        elif table and columns and line.strip():
            yield _operator(source, number, columns, _CELLS.split(line.strip()))


def _operator(
    source: Source, number: int, columns: Sequence[str], cells: Sequence[str]
) -> OperatorTime:
    place = f"line {number}"
    if len(cells) != len(columns) or not {"[avg ms]", "[node type]"}.issubset(columns):
        raise source.error_at(
            place, f"it has {len(cells)} cells, the header has {len(columns)}", _ACTION
        )
    row = dict(zip(columns, cells, strict=True))
    time_ms = source.duration_ms(place, row["[avg ms]"], 1.0, "[avg ms]")
    return OperatorTime(row.get("[Name]", ""), row["[node type]"], time_ms)
