"""Messages to the user: never modal, kept in a list, the last one in the status bar."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from predictor.core.errors import CtmError

MAX_MESSAGES = 500


class Level(StrEnum):
    """Weight of a message."""

    INFO = "info"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence for the user, and when it was said (local time)."""

    time: datetime
    level: Level
    text: str

    @property
    def line(self) -> str:
        """The message with its time, as it is listed and copied."""
        return f"{self.time:%H:%M:%S}  {self.text}"


class MessageLog(QObject):
    """The ``messages`` of this session, the newest last, at most ``MAX_MESSAGES``."""

    added = Signal(object)
    cleared = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.messages: list[Message] = []

    @property
    def error_count(self) -> int:
        """Number of errors among them."""
        return sum(message.level is Level.ERROR for message in self.messages)

    def info(self, text: str) -> None:
        """Add a sentence on a finished action."""
        self._add(Level.INFO, text)

    def error(self, error: CtmError) -> None:
        """Add an error; its sentence shows file names escaped."""
        self._add(Level.ERROR, str(error))

    def clear(self) -> None:
        """Forget all messages."""
        self.messages.clear()
        self.cleared.emit()

    def _add(self, level: Level, text: str) -> None:
        message = Message(datetime.now().astimezone(), level, text)
        self.messages.append(message)
        del self.messages[:-MAX_MESSAGES]
        self.added.emit(message)


class LogMessages(QObject):
    """Passes the warnings of a log on to the user as they are said, on whichever thread.

    Args:
        log: whose warnings are for the user.
        messages: gets them.
    """

    _said = Signal(str)

    def __init__(self, log: logging.Logger, messages: MessageLog) -> None:
        super().__init__(messages)
        self._log = log
        self._said.connect(messages.info)
        self._handler = _Handler(self._said.emit)
        log.addHandler(self._handler)

    def close(self) -> None:
        """Pass no more on."""
        self._log.removeHandler(self._handler)


class _Handler(logging.Handler):
    def __init__(self, say: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say(record.getMessage())
