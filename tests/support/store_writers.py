"""Programs that write a store until they are killed, and what is in it then."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

from predictor.services.history.history import open_history
from predictor.services.history.store_files import store_problems

# Waits for a path on each line of its input, and answers each commit with the ids in it.
WRITER = """
import pathlib, sys
import numpy as np
from predictor.core.records import Basis, Configuration
from predictor.core.prediction import Prediction
from predictor.graph.model import Model
from predictor.graph.operator_graph import ARRAYS, OperatorGraph
from predictor.services.history.history import open_history

name, rounds = sys.argv[1], int(sys.argv[2])

def model(fingerprint):
    arrays = {a: np.zeros((0,), np.int64) for a in ARRAYS}
    graph = OperatorGraph(**arrays, names=(), op_types=(), attributes=(), parameters=0,
        weights_total_bytes=0, input_bytes=0, output_bytes=0, peak_activation_bytes=0,
        fingerprint=fingerprint)
    return Model(path=f"/m/{name}", size_bytes=1, modified_ns=1, ir_version=8, opsets={},
        producer="", inputs=(), outputs=(), dynamic=(), notes=(), graph=graph)

print("ready", flush=True)
for line in sys.stdin:
    with open_history(pathlib.Path(line.rstrip("\\n"))) as history:
        for round_ in range(rounds):
            digest = f"{name}{round_:08d}".rjust(64, "0")
            made = [
                Prediction(model=name, fingerprint=digest, device_id=f"device{i}",
                           configuration=Configuration(), engine="roofline/1",
                           basis=Basis.ANALYTIC, latency_ms=1.0 + i)
                for i in range(3)
            ]
            print(*history.record([model(digest)], made).ids, flush=True)
    print("closed", flush=True)
"""

# Forks a writer for each line of its input: a path, and the microseconds from its first round to
# the alarm that ends it. Nobody handles the alarm, so it ends a process as SIGKILL does. Tells the
# signal that ended the writer, and what it had acknowledged.
KILLED = (
    WRITER[: WRITER.index('print("ready"')]
    + """
import os, signal
import sqlite_utils

def write(path, number, after_us, pipe):
    with open_history(pathlib.Path(path)) as history:
        for round_ in range(rounds):
            digest = f"{number:032d}{round_:032d}"
            made = [
                Prediction(model=name, fingerprint=digest, device_id=f"device{i}",
                           configuration=Configuration(), engine="roofline/1",
                           basis=Basis.ANALYTIC, latency_ms=1.0 + i)
                for i in range(3)
            ]
            ids = history.record([model(digest)], made).ids
            os.write(pipe, (" ".join(ids) + " ").encode())
            if not round_:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_REAL, after_us / 1e6)

print("ready", flush=True)
for number, line in enumerate(sys.stdin):
    path, after_us = line.rsplit(maxsplit=1)
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        write(path, number, int(after_us), theirs)
        os._exit(0)
    os.close(theirs)
    with open(ours) as acknowledged:
        words = acknowledged.read().split()
    _, status = os.waitpid(child, 0)
    print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, *words, flush=True)
"""
)


def tell(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


def answer(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().rstrip("\n")


def stored_rounds(path: Path) -> tuple[set[str], Counter[str]]:
    """The ids in a store, and how many predictions there are of each round."""
    with open_history(path) as history:
        assert store_problems(history.database.path) == []
        stored = history.past.read(10**6).predictions
    return {s.id for s in stored}, Counter(s.prediction.fingerprint for s in stored)
