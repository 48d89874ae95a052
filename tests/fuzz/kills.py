"""Processes that are killed while they write a store, at a random moment."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from predictor.services.history.history import open_history
from tests.support.store_writers import KILLED, answer, stored_rounds, tell

_LATEST_US = 20_000  # a record is written in about 5 ms
_KILLS = 25  # of one store
_RECORDS = 3  # of a commit


def mutate(rng: random.Random) -> bytes:
    """Return after how many microseconds the writer is killed."""
    return str(rng.randrange(1, _LATEST_US)).encode()


def feed(data: bytes) -> bool:
    """Kill a writer.

    Raises:
        AssertionError: a record that was acknowledged is not in the store, or half a commit is.
    """
    _store().kill(data.decode())
    return True


class _Store:
    """A store whose writers are killed; another one after some kills, as it grows."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        self._writer = subprocess.Popen(
            [sys.executable, "-c", KILLED, "kill", str(10**6)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # this process may be killed before it
            text=True,
        )
        assert answer(self._writer) == "ready"
        self._kills = 0

    def kill(self, after_us: str) -> None:
        if self._kills % _KILLS == 0:
            self._acknowledged: set[str] = set()
            self._path = Path(self._folder.name, f"store{self._kills}.sqlite")
            with open_history(self._path):
                pass
        self._kills += 1
        tell(self._writer, f"{self._path} {after_us}")
        ended_by, *ids = answer(self._writer).split()
        assert int(ended_by) == signal.SIGALRM, f"the writer ended with {ended_by}"
        self._acknowledged.update(ids)
        stored, rounds = stored_rounds(self._path)
        lost = self._acknowledged - stored
        assert not lost, f"{len(lost)} committed rows are lost"
        assert set(rounds.values()) == {_RECORDS}, "half a commit is stored"


@cache
def _store() -> _Store:
    return _Store()
