"""Printed output of RKNN: ``rknn.eval_perf()``, ``RKNN_QUERY_PERF_DETAIL``, ``rknn_benchmark``.

``eval_perf`` of RKNN-Toolkit and RKNN-Toolkit2 prints ``Total Time(us)`` and frames a second. With
``perf_debug=True``, and by the query of librknnrt, a table of layers stands before their sum
(``Total Operator Elapsed Time(us)``; from 1.6 on ``... Per Frame Time(us)``). ``rknn_benchmark`` of
rknpu2 prints each run, rounded to 10 us, and in newer versions their mean. Read from output of
versions 1.4 to 2.3.
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
from predictor.probing.importers.source import Source, median_ns
from predictor.probing.operator_times import OperatorTime

_PER_MS = 1000.0  # microseconds
_TOTAL = re.compile(r"^\s*Total Time\(us\):\s*(?P<value>[^\sF]+)")
_SUM = re.compile(r"^\s*Total Operator Elapsed (?:Per Frame )?Time\(us\):\s*(?P<value>\S+)")
_BEGIN = re.compile(r"^\s*Begin perf \.\.\.")
_RUN = re.compile(r"^\s*\d+: Elapse Time = (?P<value>[^\sm]+)ms, FPS = \S+\s*$")
_MEAN = re.compile(r"^\s*Avg (?:elapse )?Time =? ?(?P<value>[^\sm]+)ms")
_END = re.compile(r"^\s*(?:Avg |Save output to|---- Top|rknn run perf detail)")
_SPACED = re.compile(r"\b(DDR|NPU|Total) Cycles\b")
_CLOSING = (("total", _TOTAL, _PER_MS), ("sum", _SUM, _PER_MS), ("mean", _MEAN, 1.0))
_COLUMNS = ("ID", "OpType", "DataType", "Target")
_PRECISIONS = {
    "INT8": Precision.INT8,
    "UINT8": Precision.INT8,
    "FLOAT16": Precision.FP16,
}
_ACTION = "import the whole output of one run of the tool"
_NOTE = (
    "It is the sum of the layers, each timed by itself, which slows the network; "
    "perf_debug=False and rknn_benchmark time whole runs."
)


def recognises(source: Source) -> bool:
    """Whether a file looks like output of RKNN's tools."""
    text = source.text
    if "Total Operator Elapsed " in text and "Time(us):" in text:
        return True
    if "Begin perf ..." in text and "Elapse Time = " in text:
        return True
    return "Total Time(us):" in text and "FPS" in text


@dataclass(kw_only=True)
class _Output:
    """Content of a file: closing times by their key, runs, layers with their data type."""

    times: dict[str, float] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    samples_ns: list[int] = field(default_factory=list)
    layers: list[tuple[str, OperatorTime]] = field(default_factory=list)
    in_table: bool = False
    in_runs: bool = False


def parse(source: Source) -> Reading:
    """Read the time of whole runs where there is one, else the sum of the layers.

    Raises:
        InputError: the output is cut short, damaged, or of two runs of a tool.
    """
    output = _Output()
    time_column = 0
    for number, line in source.messages():
        place = f"line {number}"
        words = line.split()
        if tuple(words[:4]) == _COLUMNS:
            time_column = _time_column(source, place, line)
            output.in_table = True
        elif output.in_table and words and words[0].isdigit():
            output.layers.append(_layer(source, place, words, time_column))
        elif _BEGIN.match(line) and output.samples_ns:
            raise source.error_at(place, "another run begins", "import one at a time")
        elif run := _RUN.match(line):
            if output.in_runs:  # those before are of the warm-up
                run_ms = source.latency_ms(place, run["value"], 1.0, "a run")
                output.samples_ns.append(round(1e6 * run_ms))
                output.places["runs"] = place
        else:
            output.in_runs |= bool(_BEGIN.match(line))
            output.in_runs &= not _END.match(line)
            _close(source, place, line, output)
    return _reading(source, output)


def _time_column(source: Source, place: str, line: str) -> int:
    """Return the index of the time among the words of a row."""
    titles = _SPACED.sub(r"\1Cycles", line).split()
    if "Time(us)" not in titles:
        raise source.error_at(place, "the table has no column Time(us)", _ACTION)
    return titles.index("Time(us)")


def _layer(
    source: Source, place: str, words: list[str], time_column: int
) -> tuple[str, OperatorTime]:
    """Return the data type of a layer, and its time."""
    if len(words) < time_column + 4:  # use of the NPU, and the name
        raise source.error_at(place, "the row of a layer is cut short", _ACTION)
    _, op_type, data_type, unit = words[:4]
    time_ms = source.duration_ms(place, words[time_column], _PER_MS, "Time(us)")
    # "Conv:/stem/Conv": the type in the model, then the name there.
    name = words[-1].partition(":")[2] or words[-1]
    return data_type, OperatorTime(name, op_type, time_ms, unit)


def _close(source: Source, place: str, line: str, output: _Output) -> None:
    """Enter a closing time."""
    for key, pattern, per_ms in _CLOSING:
        if match := pattern.match(line):
            if key in output.times:
                raise source.error_at(place, "another run begins", "import one at a time")
            output.times[key] = source.latency_ms(place, match["value"], per_ms, "the time")
            output.places[key] = place
            output.in_table = False


def _reading(source: Source, output: _Output) -> Reading:
    is_cut = "sum" in output.times and "Total Memory " not in source.text
    if output.in_table or output.in_runs or is_cut:
        raise source.error("it ends before its closing time", _ACTION)
    key = next((key for key in ("mean", "runs", "total", "sum") if key in output.places), "")
    if not key:
        raise source.error("it has no time of a run", _ACTION)
    samples = tuple(output.samples_ns)
    if samples:
        value_ms, statistic = median_ns(samples) / 1e6, Statistic.MEDIAN
    else:
        value_ms = output.times[key]
        statistic = Statistic.MEAN if key == "mean" else Statistic.STATED
    is_sum = key == "sum"
    latency = ImportedLatency(
        network="",
        place=output.places[key],
        value_ms=value_ms,
        statistic=statistic,
        samples_ns=samples,
        runs=len(samples) or None,
        runtime="rknn",
        precision=_precision(output.layers),
        profiled=is_sum,
        facts=facts_ms(output.times),
        operators=tuple(layer for _, layer in output.layers),
    )
    return Reading((latency,), (_NOTE,) if is_sum else ())


def _precision(layers: list[tuple[str, OperatorTime]]) -> Precision | None:
    """Return the arithmetic in which the NPU spends most of its time; None without layers."""
    time_ms: dict[str, float] = {}
    for data_type, layer in layers:
        if layer.unit == "NPU":
            time_ms[data_type] = time_ms.get(data_type, 0.0) + layer.time_ms
    return _PRECISIONS.get(max(time_ms, key=lambda name: time_ms[name])) if time_ms else None
