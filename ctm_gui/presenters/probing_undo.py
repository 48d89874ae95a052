"""What can be undone of signatures: deletions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtGui import QUndoCommand

from predictor.core.wording import local_time, shown
from predictor.services.probing import StoredSignature
from predictor.services.signatures import Signatures


class Desk(Protocol):
    """What the commands need of the shelf of signatures."""

    def change(self, work: Callable[[Signatures], str], told: str) -> None:
        """Change signatures, show the one whose id comes of it, and say what was done."""

    def put_away(self, stored: StoredSignature, told: str) -> None:
        """Delete a signature, show what is left of its target, and say what was done."""


class Deletion(QUndoCommand):
    """Deletes a signature, and restores it."""

    def __init__(self, desk: Desk, stored: StoredSignature) -> None:
        super().__init__(f"Delete signature of {shown(stored.signature.device_id)}")
        self._desk, self._stored = desk, stored
        self._what = f"the signature of {local_time(stored.created_ns)}"

    def redo(self) -> None:
        """Delete it."""
        self._desk.put_away(self._stored, f"Deleted {self._what}; undo restores it")

    def undo(self) -> None:
        """Restore it."""
        self._desk.change(self._restore, f"Restored {self._what}")

    def _restore(self, signatures: Signatures) -> str:
        signature = self._stored.signature
        signatures.restore(signature.id, active=signature.active)
        return signature.id
