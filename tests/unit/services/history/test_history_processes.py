"""Real processes on one store: killed in the middle of writing, and several at once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from predictor.services.history.history import open_history
from tests.support.store_writers import KILLED, WRITER, answer, stored_rounds, tell

pytestmark = pytest.mark.slow

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
