"""What can be undone of signatures: deletions, networks left out or taken in, fine-tunings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtGui import QUndoCommand

from predictor.core.wording import local_time, shown
from predictor.services.signatures.entry import SignatureEntry
from predictor.services.signatures.stored import Signatures


class Desk(Protocol):
    """What the commands need of the shelf of signatures."""

    def change(self, work: Callable[[Signatures], str], told: str) -> None:
        """Change signatures, show the one whose id comes of it, and say what was done."""

    def put_away(self, stored: SignatureEntry, told: str) -> None:
        """Delete a signature, show what is left of its target, and say what was done."""


class Deletion(QUndoCommand):
    """Deletes a signature, and restores it."""

    def __init__(self, desk: Desk, stored: SignatureEntry) -> None:
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


class Replacement(QUndoCommand):
    """Makes a signature that takes another one's place, and gives the place back.

    The signature that was made stays in the store, with the reason that it keeps.

    Args:
        desk: of the signatures.
        text: what is done, for the menu.
        before: id of the signature whose place is taken.
        make: returns the id of the new one.
        told: what is said when it is done.
    """

    def __init__(
        self, desk: Desk, text: str, before: str, make: Callable[[Signatures], str], told: str
    ) -> None:
        super().__init__(text)
        self._desk, self._before, self._make, self._told = desk, before, make, told
        self._made = ""
        self._active = False

    def redo(self) -> None:
        """Let the new one take the place."""
        self._desk.change(self._take_place, self._told)

    def undo(self) -> None:
        """Give the place back."""
        self._desk.change(self._give_back, f"Undone: {self.text()}")

    def _take_place(self, signatures: Signatures) -> str:
        if self._made:
            signatures.restore(self._made, active=self._active)
        else:
            self._made = self._make(signatures)
        return self._made

    def _give_back(self, signatures: Signatures) -> str:
        if self._made:  # else nothing came of it
            self._active = signatures.give_back(self._made, self._before)
        return self._before
