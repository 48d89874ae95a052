"""Whether the runner's median is that of bare onnxruntime loops over the same seconds.

A machine that is shared with others is faster in one second than in the next, by far more than the
limit. So the runner and two bare loops of the same network take turns on one processor: a loop, the
runner, the other loop, the runner, and so on. While one has its turn, the others are stopped
(SIGSTOP, SIGCONT). A turn holds at least ten runs and lasts a tenth of a second at least; a run
that a stop hits looks long, to the runner as to a loop, and is too rare to move a median. The
runner is the product's own, whole: it warms up, measures its blocks and decides when they end. Its
median is compared with that of what both loops ran while the blocks that it kept were timed.

How far the two loops are apart by the same turns is what the comparison itself cannot tell. A try
in which that is more than the limit, or the runner finds the network inconclusive, tells about the
machine and not about the runner: it is counted as disturbed and taken again, up to twice
``--repeats`` in all. The best of the others counts. This needs a system with POSIX signals.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from benchmarks.common import Table, parse_arguments, publish
from predictor.core.units import significant
from predictor.presentation.wording import NOTHING, percent
from predictor.probing.measuring.interface import (
    MeasuringPlan,
    NetworkDone,
    NetworkFile,
    ProbeEvent,
    RunConfiguration,
    Samples,
)
from predictor.probing.measuring.local import LocalRunner
from predictor.probing.networks.pool import PoolNetwork, load_pool
from predictor.probing.networks.spaces import write_network

LIMIT = 0.02
PARTS = 4  # networks from the smallest to the largest of the pool
TURN_S, TURN_RUNS = 0.1, 10  # the least that a turn lasts, and the least that it holds

Runs = Sequence[tuple[int, int]]  # when each began and how long it took, ns
Spans = Mapping[int, tuple[int, int]]  # when the timed runs of a block began and ended, ns

_BARE = """
import json, os, sys, threading, time
import numpy as np, onnxruntime
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, json.loads(sys.argv[2]))
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
feeds = {i.name: np.random.default_rng(0).uniform(-1, 1, i.shape).astype(np.float32)
         for i in session.get_inputs()}
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
runs = []
while not ended.is_set():
    begun = time.perf_counter_ns()
    session.run(None, feeds)
    runs.append((begun, time.perf_counter_ns() - begun))
    if len(runs) == 20:
        print(sorted(duration for _, duration in runs)[10], flush=True)
print(json.dumps(runs))
"""


class BareLoop:
    """A plain loop over a network in a fresh process, stopped but in its turns.

    Attributes:
        median_ns: of its first runs.
        group: its process group.
    """

    def __init__(self, path: Path, processors: Sequence[int]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BARE, str(path), json.dumps(processors)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "ORT_DISABLE_TELEMETRY": "1"},
            start_new_session=True,
        )
        self.group = self._process.pid
        self.median_ns = int(self._process.stdout.readline())  # type: ignore[union-attr]
        os.killpg(self.group, signal.SIGSTOP)

    def end(self) -> Runs:
        """End the loop and return its runs."""
        os.killpg(self.group, signal.SIGCONT)
        written, _ = self._process.communicate()
        return [(begun, duration) for begun, duration in json.loads(written)]

    def close(self) -> None:
        """End the process, stopped or not."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def turns(groups: Sequence[int], seconds: float) -> Iterator[None]:
    """Let process groups run one after the other, again and again, and the others be stopped."""
    ended = threading.Event()

    def give() -> None:
        while not ended.is_set():
            for group in groups:
                _signal(group, signal.SIGCONT)
                ended.wait(seconds)
                _signal(group, signal.SIGSTOP)

    for group in groups:
        _signal(group, signal.SIGSTOP)
    thread = threading.Thread(target=give)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _signal(group: int, which: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # the runner is done
        os.killpg(group, which)


class Try(NamedTuple):
    """One comparison; medians in ms, those of the runner None where it is inconclusive."""

    turn_ms: float
    loop_ms: tuple[float, float]
    bare_ms: float
    runner_ms: float | None
    verdict: str
    seconds: float

    @property
    def loops_apart(self) -> float:
        """Relative difference of the two loops."""
        return self.loop_ms[0] / self.loop_ms[1] - 1

    @property
    def disturbed(self) -> bool:
        """Whether the try tells nothing: the loops differ, or the network is inconclusive."""
        return self.runner_ms is None or abs(self.loops_apart) > LIMIT

    @property
    def error(self) -> float:
        """Relative difference of the runner's median; NaN where it has none."""
        return float("nan") if self.runner_ms is None else self.runner_ms / self.bare_ms - 1


def compare(network: NetworkFile) -> Try:
    """Measure a network both ways at once."""
    start = time.monotonic()
    processors = _last_processor()
    configuration = RunConfiguration(affinity=tuple(processors))
    plan = MeasuringPlan("0" * 32, (network,), configuration=configuration)
    with ExitStack() as stack:
        loops = [BareLoop(network.path, processors) for _ in range(2)]
        for loop in loops:
            stack.callback(loop.close)
        turn_s = max(TURN_S, TURN_RUNS * max(loop.median_ns for loop in loops) / 1e9)
        spans, document = _measured(plan, loops, turn_s)
        runs = [loop.end() for loop in loops]
    kept = [spans[place + 1] for place in document["agreeing"]] or list(spans.values())
    return Try(
        turn_s * 1e3,
        (_median_ms(runs[:1], kept), _median_ms(runs[1:], kept)),
        _median_ms(runs, kept),
        document["median_ms"],
        document["verdict"],
        time.monotonic() - start,
    )


def _last_processor() -> list[int]:
    """Return the processor of the comparison; empty where the system does not let one choose."""
    return sorted(os.sched_getaffinity(0))[-1:] if hasattr(os, "sched_getaffinity") else []


def _measured(
    plan: MeasuringPlan, loops: Sequence[BareLoop], turn_s: float
) -> tuple[Spans, Mapping[str, Any]]:
    """Let the runner measure in turns with the loops; return when, and its entry."""
    before = {child.pid for child in psutil.Process().children()}
    events = LocalRunner().run(plan)
    next(events)  # its process is at work now
    (runner,) = {child.pid for child in psutil.Process().children()} - before
    with turns([loops[0].group, runner, loops[1].group, runner], turn_s):
        return _followed(events)


def _followed(events: Iterator[ProbeEvent]) -> tuple[Spans, Mapping[str, Any]]:
    spans: dict[int, tuple[int, int]] = {}
    document: Mapping[str, Any] = {}
    for event in events:
        now = time.perf_counter_ns()
        if isinstance(event, Samples):
            begun, _ = spans.get(event.block, (now - sum(event.samples_ns), now))
            spans[event.block] = (begun, now)
        elif isinstance(event, NetworkDone):
            document = event.document
    return spans, document


def _median_ms(loops: Sequence[Runs], spans: Sequence[tuple[int, int]]) -> float:
    """Return the median of all runs that began within spans."""
    found = [
        duration
        for runs in loops
        for begun, duration in runs
        if any(first <= begun <= last for first, last in spans)
    ]
    return float(np.median(found)) / 1e6


def chosen() -> list[PoolNetwork]:
    """Return networks spread evenly over the pool by their MACs, the smallest and largest too."""
    ordered = sorted(load_pool(), key=lambda network: network.macs)
    return [ordered[round(i * (len(ordered) - 1) / (PARTS - 1))] for i in range(PARTS)]


def tries(network: PoolNetwork, folder: Path, repeats: int) -> list[Try]:
    """Compare a network until so many tries told something, or twice as many were made."""
    path = folder / f"{network.name}.onnx"
    sha256 = write_network(path, network.space, network.code)
    file = NetworkFile(name=network.name, path=path, sha256=sha256, fingerprint=network.fingerprint)
    made: list[Try] = []
    while sum(not one.disturbed for one in made) < repeats and len(made) < 2 * repeats:
        made.append(compare(file))
    return made


HEADER = (
    "network",
    "turn ms",
    "bare loops ms",
    "runner ms",
    "runner to loops",
    "loop to loop",
    "disturbed tries",
    "",
)


def row(name: str, made: list[Try]) -> tuple[str, ...]:
    """Return a network's cells: its best try, the differences of all, and if it is in the limit."""
    told = sorted((one for one in made if not one.disturbed), key=lambda one: abs(one.error))
    if not told:
        apart = _listed(one.loops_apart for one in made)
        return (name, *[NOTHING] * 4, apart, str(len(made)), "NOT TOLD")
    best = told[0]
    return (
        name,
        significant(best.turn_ms),
        significant(best.bare_ms, 4),
        significant(best.runner_ms or 0.0, 4),
        _listed(one.error for one in told),
        _listed(one.loops_apart for one in told),
        str(len(made) - len(told)),
        "ok" if abs(best.error) <= LIMIT else "EXCEEDED",
    )


def _listed(parts: Iterator[float]) -> str:
    return ", ".join(percent(part, 2, signed=True) for part in parts)


def main() -> int:
    """Print the table; return 1 unless each network's best try is within the limit."""
    options = parse_arguments(__doc__, repeats=3)
    with tempfile.TemporaryDirectory() as folder:
        made = {n.name: tries(n, Path(folder), options.repeats) for n in chosen()}
    rows = [row(name, found) for name, found in made.items()]
    figures = [{"network": name, **one._asdict()} for name, found in made.items() for one in found]
    apart = [abs(one.loops_apart) for found in made.values() for one in found]
    floor = percent(float(np.median(apart)), 2)
    limit = f"Limit: {percent(LIMIT)} for the best of {options.repeats} tries; one thread."
    beside = (
        f"Two bare loops that take the same turns differ by {floor}, the median of all tries, the "
        "disturbed ones too: less than that the comparison cannot tell."
    )
    title = "The runner's median beside bare loops of the runtime"
    publish("probe_fidelity", title, Table(HEADER, rows), figures, options.output, [limit, beside])
    return 0 if all(cells[-1] == "ok" for cells in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
