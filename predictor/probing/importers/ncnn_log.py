"""ncnn's ``benchncnn``, run on Android through adb or elsewhere: its log, times in ms.

Written by ``benchmark/benchncnn.cpp``: a header (loop_count, num_threads, powersave, gpu_device,
cooling_down), then one line a network with minimum, maximum and mean. The minimum is the headline,
as in ncnn's own tables: the mean of a few loops is noisy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from predictor.core.records import Precision
from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source

_HEADER = re.compile(
    r"^\s*(?P<key>loop_count|num_threads|powersave|gpu_device|cooling_down) = (?P<value>\S+)\s*$"
)
_ROW = re.compile(
    # Possessive, so that a long line of blanks is looked at once.
    r"^\s*+(?P<network>\S++(?:\s++\S++)*?)\s++min =\s*(?P<min>\S+)"
    r"\s+max =\s*(?P<max>\S+)\s+avg =\s*(?P<avg>\S+)(?P<rest>.*)$"
)
_PART = re.compile(r"\S\s+min =")
_ACTION = "import the log as benchncnn wrote it"
_NOTE_HEADER = "Rows stand before any header of benchncnn, so their threads and unit are not known."


@dataclass(slots=True)
class _Run:
    """Text of a header by key, and the lines of the rows under it."""

    line: int = 0
    facts: dict[str, str] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)


def recognises(source: Source) -> bool:
    """Whether a file looks like a log of benchncnn."""
    if "loop_count = " not in source.text and "min =" not in source.text:
        return False  # found out quickly: profiles in JSON are large
    return any(_ROW.match(line) or _HEADER.match(line) for _, line in source.lines())


def parse(source: Source) -> Reading:
    """Read the networks of each run of the tool in the log.

    Raises:
        InputError: a line is damaged, or a network stands twice in one run.
    """
    run = _Run()
    latencies: list[ImportedLatency] = []
    for number, line in source.lines():
        if header := _HEADER.match(line):
            # A header after rows starts another run of the tool.
            if run.rows or not run.facts:
                run = _Run(number)
            run.facts[header["key"]] = header["value"]
        elif row := _ROW.match(line):
            latencies.append(_latency(source, number, row, run))
        elif _PART.search(line):
            raise source.error_at(f"line {number}", "the row is not complete", _ACTION)
    if not latencies:
        raise source.error("it holds no line of a network", _ACTION)
    bare = any(latency.threads is None for latency in latencies)
    return Reading(tuple(latencies), (_NOTE_HEADER,) if bare else ())


def _latency(source: Source, number: int, row: re.Match[str], run: _Run) -> ImportedLatency:
    place = f"line {number}"
    if row["network"] in run.rows:
        first = run.rows[row["network"]]
        raise source.error_at(
            place, f"{row['network']} stands twice, first on line {first}", _ACTION
        )
    run.rows[row["network"]] = number
    if row["rest"].strip():
        raise source.error_at(place, f"{row['rest'].strip()!r} follows the mean", _ACTION)
    values = {key: source.latency_ms(place, row[key], 1.0, key) for key in ("min", "avg", "max")}
    source.ordered(place, values)
    return ImportedLatency(
        network=row["network"],
        place=place,
        value_ms=values["min"],
        statistic=Statistic.MINIMUM,
        runs=_count(source, run, "loop_count"),
        runtime=_runtime(run),
        precision=Precision.INT8 if row["network"].endswith(("_int8", "-int8")) else None,
        threads=_count(source, run, "num_threads"),
        batch=1,
        facts={
            **facts_ms({"mean": values["avg"], "max": values["max"]}),
            **{key: run.facts[key] for key in ("powersave", "gpu_device") if key in run.facts},
        },
    )


def _count(source: Source, run: _Run, key: str) -> int | None:
    if key not in run.facts:
        return None
    return source.count(f"line {run.line}", run.facts[key], key)


def _runtime(run: _Run) -> str | None:
    if "gpu_device" not in run.facts:
        return None
    # -1 is benchncnn's number for the processor.
    return "ncnn" if run.facts["gpu_device"] == "-1" else "ncnn-vulkan"
