"""ONNX Runtime's profile: a JSON array of trace events, times in microseconds.

Written whole by ``onnxruntime/core/common/profiler.cc`` when profiling ends. Its fields have
changed over the years: events and arguments that are not known here are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Entry, Source, median_ns
from predictor.probing.operator_times import OperatorTime

_PER_MS = 1000.0  # microseconds
_KERNEL = "_kernel_time"
_NOTE_PROFILED = "These runs were timed with the profiler on, which slows small networks."


def recognises(source: Source) -> bool:
    """Whether a file looks like ONNX Runtime's profile."""
    head = source.text[:4096]
    return head.lstrip().startswith("[") and '"cat"' in head and '"dur"' in head


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    line: int
    name: str
    start_us: float
    duration_us: float
    op_type: str
    provider: str


def parse(source: Source) -> Reading:
    """Read the runs after the first, and the mean time of each node over them.

    Raises:
        InputError: the file is damaged, or holds fewer than two runs.
    """
    events = [(entry, table) for entry in source.elements() if (table := _measured(source, entry))]
    runs = [_event(source, *pair) for pair in events if pair[1].get("name") == "model_run"]
    if len(runs) < 2:
        content = "one run, the warm-up" if runs else "no event model_run"
        raise source.error(f"it holds {content}", "profile at least two runs of the session")
    runs.sort(key=lambda run: run.start_us)
    _check_no_overlap(source, runs)
    # The first run is the warm-up.
    timed = runs[1:]
    for run in timed:
        source.latency_ms(f"line {run.line}", run.duration_us, _PER_MS, "dur of model_run")
    nodes = [_event(source, *pair) for pair in events if _is_kernel(pair[1])]
    samples = tuple(round(run.duration_us * 1000) for run in timed)
    return Reading(
        (
            ImportedLatency(
                network="",
                place=f"line {timed[0].line}",
                value_ms=median_ns(samples) / 1e6,
                statistic=Statistic.MEDIAN,
                samples_ns=samples,
                runs=len(samples),
                runtime="onnxruntime",
                profiled=True,
                facts={"providers": ", ".join(sorted({n.provider for n in nodes if n.provider}))},
                operators=_operators(nodes, timed),
            ),
        ),
        (_NOTE_PROFILED,),
    )


def _measured(source: Source, entry: Entry) -> dict[str, object]:
    table = source.table(f"line {entry.line}", entry.value, "an event")
    return dict(table) if table.get("ph") == "X" else {}


def _is_kernel(table: dict[str, object]) -> bool:
    return table.get("cat") == "Node" and str(table.get("name", "")).endswith(_KERNEL)


def _event(source: Source, entry: Entry, table: dict[str, object]) -> _Event:
    place = f"line {entry.line}"
    name = str(table.get("name", ""))
    arguments = table.get("args")
    facts = arguments if isinstance(arguments, dict) else {}
    return _Event(
        line=entry.line,
        name=name.removesuffix(_KERNEL),
        start_us=source.quantity(place, table.get("ts"), "ts"),
        duration_us=source.quantity(place, table.get("dur"), "dur"),
        op_type=str(facts.get("op_name", "")),
        provider=str(facts.get("provider", "")),
    )


def _check_no_overlap(source: Source, runs: Sequence[_Event]) -> None:
    for earlier, later in pairwise(runs):
        if later.start_us == earlier.start_us:
            raise source.error_at(f"line {later.line}", "the same run stands twice in the file")
        if later.start_us < earlier.start_us + earlier.duration_us:
            raise source.error_at(
                f"line {later.line}",
                "its runs overlap, so none of them is the latency of one run alone",
                "profile runs one after another",
            )


def _operators(nodes: Sequence[_Event], runs: Sequence[_Event]) -> tuple[OperatorTime, ...]:
    first_us, last_us = runs[0].start_us, runs[-1].start_us + runs[-1].duration_us
    # A node that runs several times in a run is summed over it.
    totals: dict[tuple[str, str, str], float] = {}
    for node in nodes:
        if first_us <= node.start_us <= last_us:
            key = (node.name, node.op_type, node.provider)
            totals[key] = totals.get(key, 0.0) + node.duration_us
    return tuple(
        OperatorTime(name, op_type, total / len(runs) / _PER_MS, provider)
        for (name, op_type, provider), total in totals.items()
    )
