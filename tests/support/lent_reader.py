"""One process that reads model files for all commands of the tests that are run in their process.

A command starts a reader and ends it, 0.4 s of processor time each. Here it is lent one that goes
on: only one that has failed, or has not answered, is ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from predictor.core.child_process import ChildProcess
from predictor.services.models.reader import reader_command

_Answer = dict[str, Any] | None


class LentReader(ChildProcess):
    """A reader that the end of a command leaves running where it owes no answer."""

    def __init__(self) -> None:
        self._owed, self._is_out = 0, False
        super().__init__(reader_command())

    @property
    def is_free(self) -> bool:
        """Whether it can be lent."""
        return self.running and not self._is_out

    def lent(self) -> LentReader:
        """Return it with no answers of before."""
        self._is_out = True
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
    """Has the reader: stands in for ``ChildProcess`` where models are read."""

    def __init__(self) -> None:
        self._reader: LentReader | None = None

    def __call__(self, command: Sequence[str], **how: Any) -> ChildProcess:
        """Lend the reader for its command line; start another process where it is out."""
        if list(command) != reader_command() or how:
            return ChildProcess(command, **how)
        if self._reader is None or not self._reader.running:
            self._reader = LentReader()
        return self._reader.lent() if self._reader.is_free else ChildProcess(command)

    def end(self) -> None:
        """End the reader."""
        if self._reader is not None:
            self._reader.end()
