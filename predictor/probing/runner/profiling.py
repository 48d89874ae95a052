"""The profiled pass: how long each node takes, by onnxruntime's own profiler.

It follows the timed runs of a network's first block, in the same process, for the profiler slows
what it watches. Whatever fails here loses the times of the nodes and never the measurement.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .failures import MeasuringError, failure_of
from .medians import percentile
from .sampling import profiled_runs, with_heartbeat
from .session import open_session
from .settings import LONGEST_NAME, MAX_OPERATORS, Settings

_KERNEL = "_kernel_time"
# Their nodes end when the device has its command, not when it has computed.
_ASYNCHRONOUS = frozenset(
    f"{name}ExecutionProvider"
    for name in (
        "CANN", "CUDA", "Dml", "JS", "MIGraphX", "NvTensorRTRTX", "ROCM", "Tensorrt", "WebGpu",
    )
)  # fmt: skip


def profiled_pass(
    job: dict[str, Any], report: Callable[[str], None], clock_ns: Callable[[], int]
) -> dict[str, Any]:
    """Return ``operators`` of a job's network, or ``operators_missing``: why there are none.

    Args:
        job: of a block; ``profile`` is the folder that the profiler writes to.
        report: is called with the step that begins, as a sign of life.
        clock_ns: monotonic clock in nanoseconds.
    """
    try:
        return {"operators": _profiled(job, report, clock_ns)}
    except MeasuringError as error:
        return {"operators_missing": error.reason}
    except Exception as error:  # noqa: BLE001  # onnxruntime's errors have no common base of theirs
        return {"operators_missing": failure_of(error).reason}


def _profiled(
    job: dict[str, Any], report: Callable[[str], None], clock_ns: Callable[[], int]
) -> list[list[Any]]:
    provider = job["configuration"]["provider"]
    if provider in _ASYNCHRONOUS:
        raise ValueError(f"{provider} does not say how long its nodes compute")
    settings = Settings(**job["settings"])
    session, feeds = open_session(job, str(Path(job["profile"]) / "profile"))
    report("loaded")
    run = with_heartbeat(lambda: session.run(None, feeds), lambda: report("profiling"))
    profiled_runs(run, clock_ns, settings)
    path = session.end_profiling()
    report("profiling")
    return node_times(_events(Path(path)), settings.profile_warm_up_runs)


def _events(path: Path) -> list[dict[str, Any]]:
    """Return the complete events of a profile in the order of their beginning."""
    try:
        events = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError as error:
        raise ValueError("onnxruntime's profile is cut short or damaged") from error
    complete = [event for event in events if event.get("ph") == "X"]
    return sorted(complete, key=lambda event: int(event["ts"]))


def node_times(events: Sequence[dict[str, Any]], dropped_runs: int) -> list[list[Any]]:
    """Return ``[name, op_type, time_ns]`` of each node in the order of running.

    The time is the median over the runs; what runs more than once in a run is summed over it.

    Args:
        events: of the profile, in the order of their beginning; times in microseconds.
        dropped_runs: runs at the beginning that do not count.

    Raises:
        ValueError: no run is left, no node is reported, or there are too many of them.
    """
    runs = [event for event in events if event.get("name") == "model_run"][dropped_runs:]
    starts = [int(run["ts"]) for run in runs]
    totals: dict[tuple[str, str, str], list[int]] = {}
    for event in events:
        name = str(event.get("name", ""))
        if event.get("cat") != "Node" or not name.endswith(_KERNEL):
            continue
        run = bisect_right(starts, int(event["ts"])) - 1
        if run >= 0:
            key = _key(name[: -len(_KERNEL)], event.get("args", {}))
            totals.setdefault(key, [0] * len(runs))[run] += int(event["dur"])
    if not totals:
        raise ValueError("onnxruntime's profile has no node")
    if len(totals) > MAX_OPERATORS:
        raise ValueError(f"it has {len(totals)} nodes, more than {MAX_OPERATORS}")
    return [
        [name[:LONGEST_NAME], op_type[:LONGEST_NAME], percentile(sorted(times), 0.5) * 1000]
        for (name, op_type, _), times in totals.items()
    ]


def _key(name: str, facts: dict[str, Any]) -> tuple[str, str, str]:
    """Return a node's identity: name and type, and its number where the name is empty."""
    return name, str(facts.get("op_name", "")), "" if name else str(facts.get("node_index", ""))
