"""Real processes on one store: killed in the middle of writing, and several at once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from predictor.services.history.history import open_history
from predictor.services.history.store_files import store_problems

pytestmark = pytest.mark.slow

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


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a writer, by name and number of commits to a store; none outlives its test."""
    with ExitStack() as children:

        def started(name: str, rounds: int, program: str = WRITER) -> subprocess.Popen[str]:
            child = children.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", program, name, str(rounds)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            children.callback(child.kill)
            assert answer(child) == "ready"
            return child

        yield started


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


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_killed_writer_loses_no_acknowledged_record_and_leaves_no_half(
    tmp_path: Path, start: Start
) -> None:
    """Killed 200 times at a random moment of its writing, a round of which takes about 5 ms."""
    path = tmp_path / "store.sqlite"
    chance = random.Random(20261120)  # noqa: S311 - when to kill
    acknowledged: set[str] = set()
    with open_history(path):
        pass
    child = start("kill", 10**6, KILLED)
    for kill in range(200):
        tell(child, f"{path} {chance.randrange(1, 20_000)}")
        ended_by, *ids = answer(child).split()
        assert int(ended_by) == signal.SIGALRM
        acknowledged.update(ids)
        if kill % 20 == 19:
            stored, rounds = stored_rounds(path)
            assert acknowledged <= stored
            assert set(rounds.values()) == {3}
            # A round that was stored may be killed before it is acknowledged.
            assert len(stored) <= len(acknowledged) + 3 * (kill + 1)
    assert len(acknowledged) >= 3 * 200


def test_a_writer_killed_while_it_makes_the_store_leaves_one_that_opens(
    tmp_path: Path, start: Start
) -> None:
    chance = random.Random(7)  # noqa: S311 - when to kill
    for kill in range(6):
        path = tmp_path / f"store{kill}.sqlite"
        child = start(f"kill{kill}", 10**6)
        tell(child, str(path))
        while not path.exists() and child.poll() is None:
            pass
        # A different moment each time, counted in work and not in time.
        sum(range(chance.randrange(1, 3_000_000)))
        child.kill()
        child.communicate()
        _, rounds = stored_rounds(path)
        assert set(rounds.values()) <= {3}


def test_processes_that_share_a_store_lose_nothing(tmp_path: Path, start: Start) -> None:
    """Each store is new: the processes also race to make it."""
    rounds = 25
    writers = [start(f"writer{i}", rounds) for i in range(3)]
    for number in range(4):
        path = tmp_path / f"store{number}.sqlite"
        acknowledged: set[str] = set()
        for writer in writers:
            tell(writer, str(path))
        for writer in writers:
            while (line := answer(writer)) not in ("closed", ""):
                acknowledged.update(line.split())
            assert line == "closed"

        ids, counts = stored_rounds(path)

        assert ids == acknowledged
        assert len(ids) == 3 * rounds * len(writers)
        assert set(counts.values()) == {3}
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
