"""The process that measures one block: it loads the network, warms up, times runs, profiles."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from .failures import MeasuringError, failure_of
from .machine import Accounting, clock_mhz, temperature_c
from .medians import percentile
from .messages import Lines
from .profiling import profiled_pass
from .sampling import timed_runs, warm_up, with_heartbeat
from .session import open_session
from .settings import CPU_PROVIDER, Settings


def block_main(
    arguments: Sequence[str],
    open_session: Callable[[dict[str, Any]], tuple[Any, Any]] = open_session,
    profiled_pass: Callable[..., dict[str, Any]] = profiled_pass,
) -> int:
    """Measure one block in this process; its job is the first line of standard input.

    A job with ``more`` is followed by another one.

    Args:
        arguments: of the command line; there are none.
        open_session: loads the network of a job and makes its inputs; another runtime has its own.
        profiled_pass: returns the times of the operators.
    """
    del arguments
    answers = Lines(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # onnxruntime prints to standard output
    jobs: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    job = {"more": True}
    while job.get("more"):
        job = json.loads(jobs.get())
        try:
            answers.send(0, "result", _measure_block(job, answers, open_session))
        except MeasuringError as error:
            answers.send(0, "error", {"failure": error.code, "reason": error.reason})
            continue
        if job.get("profile"):
            profile = profiled_pass(
                job,
                lambda event: answers.send(0, "progress", {"event": event}),
                time.perf_counter_ns,
            )
            answers.send(0, "progress", {"event": "operators", **profile})
    return 0


def _read_jobs(jobs: queue.Queue[bytes]) -> None:
    """Read the jobs, and end this process with its parent."""
    for line in sys.stdin.buffer:
        jobs.put(line)
    os._exit(3)


def _measure_block(
    job: dict[str, Any],
    answers: Lines,
    open_session: Callable[[dict[str, Any]], tuple[Any, Any]],
) -> dict[str, Any]:
    settings, configuration = Settings(**job["settings"]), job["configuration"]
    if configuration["affinity"] and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, configuration["affinity"])
    started = time.time()
    begin = time.monotonic()
    try:
        session, feeds = open_session(job)
        loaded_s = time.monotonic() - begin
        answers.send(0, "progress", {"event": "loaded", "seconds": loaded_s})
        run = with_heartbeat(
            lambda: session.run(None, feeds),
            lambda: answers.send(0, "progress", {"event": "warming"}),
        )
        warm = warm_up(run, time.perf_counter_ns, settings)

        def report(new: Sequence[int]) -> None:
            answers.send(0, "progress", {"event": "samples", "samples_ns": list(new)})

        accounting = Accounting()
        samples, ended = timed_runs(
            lambda: session.run(None, feeds), time.perf_counter_ns, settings, report
        )
    except MeasuringError:
        raise
    except Exception as error:  # onnxruntime's errors have no common base of theirs
        raise failure_of(error) from error
    return {
        "started_unix": started,
        "load_s": loaded_s,
        "warm_up": warm,
        "samples_ns": samples,
        "median_ns": percentile(sorted(samples), 0.5),
        "ended_by": ended,
        **accounting.finish(
            configuration["threads"], on_processor=configuration["provider"] == CPU_PROVIDER
        ),
        "temperature_c": temperature_c(),
        "clock_mhz": clock_mhz(),
    }
