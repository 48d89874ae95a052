"""The operators of a model over time, and the same as a trace that Perfetto opens.

Operators follow one another in the order of the file's graph. Inside an operator its launch comes
first and its traffic ends with it; where an engine lets arithmetic and traffic overlap, their lanes
do. A module is a run of operators whose names share a path.

Reference:
    Trace Event Format, docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU;
    perfetto.dev/docs/getting-started/other-formats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.files import write_text
from predictor.core.records import Target
from predictor.presentation.wording import target_text
from predictor.services.prediction.explain import OperatorTable

Floats = NDArray[np.float64]

LANES: Final = ("Launch", "Arithmetic", "Memory")
_DEEPEST: Final = 6  # levels of modules
_PROCESS: Final = 1
_MS_TO_US: Final = 1e3
_DIGITS: Final = 3  # of a microsecond: nanoseconds


@dataclass(frozen=True, slots=True)
class Module:
    """A run of operators of one module.

    Attributes:
        depth: 0 for the outermost.
        path: of the module, its last part the name.
        operators: index of the first and behind the last.
    """

    depth: int
    path: tuple[str, ...]
    operators: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The M modules of one depth, by time, and their ends in ms, float64 [2, M]."""

    modules: tuple[Module, ...]
    ends_ms: Floats


@dataclass(frozen=True, eq=False)
class Timeline:
    """N operators over time, in ms.

    Attributes:
        ends_ms: float64 [N + 1], start of each operator and the end of the last.
        lane_start_ms: float64 [len(LANES), N], starts of launch, arithmetic and traffic.
        lane_ms: float64 [len(LANES), N], how long each takes.
        modules: the outermost first, then by time.
        depth: levels of modules.
    """

    ends_ms: Floats
    lane_start_ms: Floats
    lane_ms: Floats
    modules: tuple[Module, ...]
    depth: int

    @property
    def total_ms(self) -> float:
        """The end of the last operator: the latency of the model."""
        return float(self.ends_ms[-1])

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The modules by their depth, the outermost first."""
        modules: list[list[Module]] = [[] for _ in range(self.depth)]
        for module in self.modules:
            modules[module.depth].append(module)
        return tuple(
            Level(
                tuple(of_level),
                self.ends_ms[np.array([module.operators for module in of_level], np.intp).T],
            )
            for of_level in modules
        )


def timeline_of(table: OperatorTable) -> Timeline:
    """Return the timeline of an explained model, cost O(N)."""
    ends_ms = np.concatenate([[0.0], np.cumsum(table.latency_ms)])
    start, end = ends_ms[:-1], ends_ms[1:]
    # Traffic that is hidden behind arithmetic starts with it, the rest comes after it.
    lane_ms = np.stack([table.launch_ms, table.compute_ms, table.memory_ms])
    lane_start = np.stack([start, start + table.launch_ms, np.maximum(start, end - lane_ms[2])])
    modules = tuple(_modules([module_path(name) for name in table.names], table.latency_ms > 0))
    depth = max((module.depth + 1 for module in modules), default=0)
    return Timeline(ends_ms, lane_start, lane_ms, modules, depth)


def module_path(name: str) -> tuple[str, ...]:
    """Return the modules that an operator's name says it is in: ``/a/b/Conv`` is in a and b."""
    parts = [part for part in re.split(r"/" if "/" in name else r"\.", name) if part]
    return tuple(parts[:-1][:_DEEPEST])


def _modules(paths: list[tuple[str, ...]], takes_time: NDArray[np.bool_]) -> Iterator[Module]:
    """Yield the runs of equal paths, depth by depth; operators without time break none."""
    places = np.flatnonzero(takes_time).tolist()
    for depth in range(max((len(paths[place]) for place in places), default=0)):
        first: int | None = None
        path: tuple[str, ...] = ()
        last = 0
        for place in places:
            of_place = paths[place][: depth + 1]
            if of_place != path:
                if first is not None and len(path) > depth:
                    yield Module(depth, path, (first, last + 1))
                first, path = place, of_place
            last = place
        if first is not None and len(path) > depth:
            yield Module(depth, path, (first, last + 1))


def pair_title(model: str, target: Target) -> str:
    """Return the title of a model's trace on a target."""
    return f"{model} on {target.device.name} ({target_text(target.configuration)})"


def write_trace(table: OperatorTable, path: Path, title: str) -> Path:
    """Write the timeline of an explained model as trace events, and return the path.

    Args:
        table: the explanation.
        path: the file.
        title: of the process in the trace: model and target.

    Raises:
        HostError: the file cannot be written.
    """
    text = json.dumps(trace(table, title), allow_nan=False, separators=(",", ":"))
    write_text(path, text + "\n", "the trace")
    return path


def trace(table: OperatorTable, title: str) -> dict[str, object]:
    """Return a document of trace events: modules over their operators, and a thread a lane.

    Times are in microseconds. Operators that take no time are left out.
    """
    timeline = timeline_of(table)
    threads = ("Operators", *LANES)
    names: list[dict[str, object]] = [_metadata("process_name", 0, title)]
    for thread, name in enumerate(threads, start=1):
        names += [_metadata("thread_name", thread, name)]
        names += [_metadata("thread_sort_index", thread, thread)]
    events = [*_module_events(timeline), *_operator_events(table, timeline)]
    return {
        "traceEvents": [*names, *events, *_lane_events(table, timeline)],
        "displayTimeUnit": "ms",
        "otherData": {"title": title, "predicted": "yes", "latency_ms": f"{timeline.total_ms:.6g}"},
    }


def _metadata(kind: str, thread: int, value: str | int) -> dict[str, object]:
    key = "sort_index" if kind == "thread_sort_index" else "name"
    return {"ph": "M", "name": kind, "pid": _PROCESS, "tid": thread, "args": {key: value}}


def _module_events(timeline: Timeline) -> Iterator[dict[str, object]]:
    for module in timeline.modules:
        start, end = (float(timeline.ends_ms[place]) for place in module.operators)
        yield _event(module.path[-1], "module", 1, start, end, {"path": "/".join(module.path)})


def _operator_events(table: OperatorTable, timeline: Timeline) -> Iterator[dict[str, object]]:
    for place in np.flatnonzero(table.latency_ms > 0).tolist():
        start, end = timeline.ends_ms[place : place + 2].tolist()
        facts = {
            "type": table.op_types[place],
            "output_shape": list(table.output_shapes[place]),
            "macs": int(table.macs[place]),
            "bytes_moved": int(table.bytes_moved[place]),
            "share": round(float(table.share[place]), 6),
            "bound_by": table.bound_type[place],
            "operator": place,
        }
        yield _event(table.names[place] or table.op_types[place], "operator", 1, start, end, facts)


def _lane_events(table: OperatorTable, timeline: Timeline) -> Iterator[dict[str, object]]:
    for lane, (starts, times) in enumerate(
        zip(timeline.lane_start_ms, timeline.lane_ms, strict=True)
    ):
        # A part that ends a rounding error after its operator would cross the next one.
        ends = np.minimum(starts + times, timeline.ends_ms[1:]).tolist()
        for place in np.flatnonzero(times > 0).tolist():
            name = table.names[place] or table.op_types[place]
            category = LANES[lane].lower()
            yield _event(name, category, lane + 2, float(starts[place]), ends[place], {})


def _event(
    name: str,
    category: str,
    thread: int,
    start_ms: float,
    end_ms: float,
    facts: dict[str, object],
) -> dict[str, object]:
    # Both ends are rounded, not the duration: slices inside one another must not cross.
    start, end = (round(time_ms * _MS_TO_US, _DIGITS) for time_ms in (start_ms, end_ms))
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": _PROCESS,
        "tid": thread,
        "ts": start,
        "dur": round(end - start, _DIGITS),
        "args": facts,
    }
