"""The errors that a user may see: each one sentence of subject, reason and remedy.

Anything that is not a :class:`CtmError` is a defect of ours and goes to the crash dialog.
"""

from __future__ import annotations

from typing import ClassVar

from predictor.core.text import shortened

_MAX_PART = 500


class CtmError(Exception):
    """An error that is explained to the user in one sentence.

    A part that is too long to be read, a name of 10 kB in it, loses its middle.

    Args:
        subject: the object that it is about (a path, a node, an option); shown escaped.
        reason: why it failed, with the offending value and the limit.
        action: the user's next step, as an imperative without a full stop.
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 3

    def __init__(self, subject: str, reason: str, action: str) -> None:
        parts = (subject, reason, action)
        super().__init__(*(p if len(p) <= _MAX_PART else shortened(p, _MAX_PART) for p in parts))
        self.subject, self.reason, self.action = self.args

    def __str__(self) -> str:
        subject, reason, action = (shortened(part, _MAX_PART) for part in self.args)
        return f"{subject}: {reason}; {action}."

    def to_dict(self) -> dict[str, str]:
        """Return the JSON form of an error that crosses a process boundary."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "reason": self.reason,
            "action": self.action,
        }


class InputError(CtmError):
    """The user's input is wrong: a file, a device description, an option."""

    kind = "input"
    exit_code = 2


class HostError(CtmError):
    """This machine failed: disk, memory, a missing library, a worker that died."""

    kind = "host"
    exit_code = 3


class CancelledError(CtmError):
    """The user stopped the work."""

    kind = "cancelled"
    exit_code = 130

    def __init__(
        self,
        subject: str = "the operation",
        reason: str = "it was cancelled",
        action: str = "start it again when you wish",
    ) -> None:
        super().__init__(subject, reason, action)


_KINDS: dict[str, type[CtmError]] = {
    error.kind: error for error in (InputError, HostError, CancelledError)
}


def error_from_dict(data: dict[str, str]) -> CtmError:
    """Rebuild an error that crossed a process boundary (inverse of ``CtmError.to_dict``)."""
    return _KINDS.get(data["kind"], HostError)(data["subject"], data["reason"], data["action"])
