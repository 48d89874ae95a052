"""Printed output of MNN's ``benchmark.out``, ``MNNV2Basic.out`` and ``timeProfile.out``, in ms.

``benchmark/benchmark.cpp`` prints a header (``Forward type``, loops) and a line a network with
maximum, minimum and mean; versions from 0.2 to 3 differ in blanks and in the facts of the header.
``tools/cpp/MNNV2Basic.cpp`` prints the operators that it times, then ``Avg=`` of whole runs under
their timing. Precision is a hint there (0 normal, 1 high, 2 low), not what ran.
``tools/cpp/timeProfile.cpp`` prints a table of operators by name, one by type, and their sum.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source
from predictor.probing.operator_times import OperatorTime

_HEADER = re.compile(r"^\s*Forward type: \*\*(?P<type>[^*]{1,20})\*\*(?P<rest>.*)$")
_FACT = re.compile(r"\b(?P<key>thread|precision)=(?P<value>\d+)")
_LOOPS = re.compile(r"^\s*--------> Benchmarking\.\.\. loop = (?P<count>\d+)")
# Possessive, so that a long line of blanks is looked at once.
_ROW = re.compile(
    r"^\s*+\[ - \] (?P<network>\S++)\s++max =\s*+(?P<max>[^\sm]++) ?ms\s++"
    r"min =\s*+(?P<min>[^\sm]++) ?ms\s++avg =\s*+(?P<avg>[^\sm]++) ?ms\s*+$"
)
_OPEN = re.compile(r"^\s*Open Model (?P<network>\S+)\s*$")
_RUNS = re.compile(r"\bRun (?P<count>\d+) time:\s*$")
_OPERATOR = re.compile(
    r"^\s*+(?P<name>\S++)\s++(?:\[(?P<type>[^\]]++)\] )?run \d++ average cost (?P<time>\S++) ms,"
)
_MEAN = re.compile(
    r"^\s*Avg= (?P<avg>\S+) ms, (?:OpSum = \S+ ms )?min= (?P<min>\S+) ms, max= (?P<max>\S+) ms\s*$"
)
_THREADS = re.compile(r"^\s*Set ThreadNumber = (?P<count>\S+)\s*$")
# A row of the table by type has its time where this has the type.
_PROFILED = re.compile(
    r"^(?!Node )(?P<name>[^\t]++)\t(?P<type>[A-Za-z_][^\t]*+)\t(?P<time>[^\t]++)"
    r"\t[^\t]++\t[^\t]++\t?$"
)
_SUM = re.compile(r"^\s*total time : (?P<value>\S+) ms, total mflops : ")
_PRECISIONS = {"0": "normal", "1": "high", "2": "low"}
_ACTION = "import the log as MNN's tool wrote it"
_NOTE = "Precision is a hint to MNN; say with --precision what it ran in."
_SUMMED = "It is the sum of operators, each timed by itself; MNNV2Basic.out times whole runs."


@dataclass(slots=True, kw_only=True)
class _Run:
    """Run of a tool up to a result: facts of its header, its network, the operators."""

    facts: dict[str, str] = field(default_factory=dict)
    network: str = ""
    threads: int | None = None
    count: int | None = None
    operators: list[OperatorTime] = field(default_factory=list)


def recognises(source: Source) -> bool:
    """Whether a file looks like the output of a tool of MNN."""
    text = source.text
    if "Sort by node name !" in text or " ms, total mflops : " in text:
        return True
    return ("[ - ] " in text and "avg =" in text) or ("Avg= " in text and "min= " in text)


def parse(source: Source) -> Reading:
    """Read the mean of each network of each run of a tool.

    Raises:
        InputError: a line is damaged, a network stands twice, or runs are of two backends.
    """
    run = _Run()
    latencies: list[ImportedLatency] = []
    place_of: dict[tuple[str, int | None], str] = {}
    for number, line in source.messages():
        place = f"line {number}"
        if next_run := _next_run(source, place, line, run):
            run = next_run
        elif loops := _LOOPS.match(line) or _RUNS.search(line):
            run.count = source.count(place, loops["count"], "the number of runs")
        elif operator := _OPERATOR.match(line) or _PROFILED.match(line):
            name, op_type = operator["name"].strip(), (operator["type"] or "").strip()
            time_ms = source.duration_ms(place, operator["time"], 1.0, "the cost")
            run.operators.append(OperatorTime(name, op_type, time_ms))
        elif latency := _result(source, place, line, run):
            key = latency.network, latency.threads
            if key in place_of:
                reason = f"{key[0] or 'a result'} stands twice, first on {place_of[key]}"
                raise source.error_at(place, reason, _ACTION)
            place_of[key] = place
            latencies.append(latency)
        elif "[ - ] " in line or line.lstrip().startswith(("Avg= ", "total time : ")):
            raise source.error_at(place, "the row is not complete", _ACTION)
    if not latencies:
        raise source.error("it holds no result", _ACTION)
    has_sum = any(latency.statistic is Statistic.STATED for latency in latencies)
    return Reading(tuple(latencies), (_NOTE, *((_SUMMED,) if has_sum else ())))


def _next_run(source: Source, place: str, line: str, before: _Run) -> _Run | None:
    """Return the run that a line begins, if it does."""
    if header := _HEADER.match(line):
        return _started(source, place, header, before)
    if threads := _THREADS.match(line):
        return _Run(threads=source.count(place, threads["count"], "ThreadNumber"))
    if opened := _OPEN.match(line):
        return _Run(network=opened["network"], threads=None if before.facts else before.threads)
    return None


def _started(source: Source, place: str, header: re.Match[str], before: _Run) -> _Run:
    if header["type"] != before.facts.get("forward_type", header["type"]):
        reason = f"it runs on {header['type']}, those before did not"
        raise source.error_at(place, reason, "import the runs of one backend at a time")
    facts = {match["key"]: match["value"] for match in _FACT.finditer(header["rest"])}
    # On a GPU the number is a mode, not a count.
    on_cpu = header["type"] == "CPU"
    threads = facts.get("thread") if on_cpu else None
    precision = facts.get("precision", "")
    return _Run(
        facts={
            "forward_type": header["type"],
            **({"precision": _PRECISIONS.get(precision, precision)} if precision else {}),
        },
        threads=source.count(place, threads, "thread") if threads else None,
    )


def _result(source: Source, place: str, line: str, run: _Run) -> ImportedLatency | None:
    """Return the result that a line states, if it does."""
    if summed := _SUM.match(line):
        value_ms = source.latency_ms(place, summed["value"], 1.0, "total time")
        return _latency(place, run.network, run, value_ms, {})
    row = _ROW.match(line) or _MEAN.match(line)
    if row is None:
        return None
    values = {key: source.latency_ms(place, row[key], 1.0, key) for key in ("min", "avg", "max")}
    source.ordered(place, values)
    facts = facts_ms({key: values[key] for key in ("min", "max")})
    network = row.groupdict().get("network") or run.network
    return _latency(place, network, run, values["avg"], facts)


def _latency(
    place: str, network: str, run: _Run, value_ms: float, facts: dict[str, str]
) -> ImportedLatency:
    operators = tuple(run.operators)
    return ImportedLatency(
        network=network,
        place=place,
        value_ms=value_ms,
        statistic=Statistic.MEAN if facts else Statistic.STATED,
        runs=run.count,
        runtime="mnn",
        threads=run.threads,
        profiled=bool(operators),
        facts=facts | run.facts,
        operators=operators,
    )
