"""Child processes that serve all tests of a process, one after the other.

What reads model files, builds reference networks or lays graphs out is a process that imports for
0.2 to 0.5 s and ends with what it was started for. Here the same program is lent out and goes on:
only one that has failed, or has not answered, is ended.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from predictor.core.child_process import ChildProcess
from predictor.core.child_start import CHILDREN, child_command
from predictor.services.models.reader import reader_command

USERS = (
    "predictor.services.graph.layout",
    "predictor.services.models.ingestion",
    "predictor.services.probing.build",
)
"""Modules that start such processes."""

_AGAIN = Path(__file__).with_name("answer_again.py")

_Answer = dict[str, Any] | None


class LentChild(ChildProcess):
    """A child that the end of what it was started for leaves running where it owes no answer."""

    def __init__(self, command: Sequence[str]) -> None:
        self._owed, self._is_out = 0, False
        super().__init__(command)

    @property
    def is_free(self) -> bool:
        """Whether it can be lent."""
        return self.running and not self._is_out

    def lent(self, *words: str) -> LentChild:
        """Return it with no answers of before, and its name and remedy as they are asked for."""
        self._is_out = True
        self.subject, self.remedy = (*words, self.subject, self.remedy)[:2]
        self.answers = _Counted(self._on_answer)
        return self

    def send(self, request: Mapping[str, object]) -> None:
        """Send one request."""
        self._owed += 1
        super().send(request)

    def kill(self) -> None:
        """Take it back; it is ended where it owes an answer."""
        self._is_out = False
        if self._owed:
            self.end()

    def end(self) -> None:
        """End it."""
        super().kill()

    def _on_answer(self, answer: _Answer) -> None:
        if answer is not None and answer["kind"] != "progress":
            self._owed -= 1


class _Counted(SimpleQueue[_Answer]):
    """Answers, told to a function when they are taken."""

    def __init__(self, on_taken: Callable[[_Answer], None]) -> None:
        super().__init__()
        self._on_taken = on_taken

    def get(self, block: bool = True, timeout: float | None = None) -> _Answer:
        answer = super().get(block, timeout)
        self._on_taken(answer)
        return answer


class Lender:
    """Has the children: stands in for ``ChildProcess`` in the modules of USERS."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._children: dict[str, LentChild] = {}
        self._lasting = {tuple(reader_command()): ("reader", reader_command())}
        for flag in ("--network-builder", "--graph-layout"):
            again = [sys.executable, "-P", "-X", "utf8", str(_AGAIN), CHILDREN[flag]]
            self._lasting[tuple(child_command(flag))] = (flag, again)

    def __call__(self, command: Sequence[str], *words: str, **how: Any) -> ChildProcess:
        """Lend the child for a command line; start another process where it is out."""
        name, lasting = self._lasting.get(tuple(command), ("", []))
        if not lasting or how:
            return ChildProcess(command, *words, **how)
        with self._turn:
            child = self._children.get(name)
            if child is None or not child.running:
                child = self._children[name] = LentChild(lasting)
            return child.lent(*words) if child.is_free else ChildProcess(command, *words)

    def end(self) -> None:
        """End the children."""
        for child in self._children.values():
            child.end()
