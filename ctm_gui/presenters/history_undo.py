"""What can be undone in the history: tags and notes, deletions, recorded latencies."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtGui import QUndoCommand

from predictor.core.text import plural
from predictor.core.wording import shown
from predictor.services.history.history import History
from predictor.services.history.past_predictions import NewTruth, StoredPrediction


class Desk(Protocol):
    """What the commands need of the history."""

    def change(self, work: Callable[[History], object], said: str) -> None:
        """Change something in the store, say what was done, and read it again."""


class Marking(QUndoCommand):
    """Sets tags and note of a prediction, and the old ones again."""

    def __init__(
        self, desk: Desk, stored: StoredPrediction, tags: tuple[str, ...], note: str
    ) -> None:
        super().__init__(f"Mark {shown(stored.prediction.model)}")
        self._desk, self._stored = desk, stored
        self._tags, self._note = tags, note

    def redo(self) -> None:
        """Set them."""
        self._set(self._tags, self._note)

    def undo(self) -> None:
        """Set the old ones."""
        self._set(self._stored.tags, self._stored.note)

    def _set(self, tags: tuple[str, ...], note: str) -> None:
        identity = self._stored.id
        said = f"Marked {shown(self._stored.prediction.model)}"
        self._desk.change(lambda history: history.past.mark(identity, tags, note), said)


class Deletion(QUndoCommand):
    """Deletes predictions, and brings them back."""

    def __init__(self, desk: Desk, stored: Sequence[StoredPrediction]) -> None:
        self._ids = [s.id for s in stored]
        first = shown(stored[0].prediction.model)
        self._what = first if len(stored) == 1 else plural(len(stored), "prediction")
        super().__init__(f"Delete {self._what}")
        self._desk = desk

    def redo(self) -> None:
        """Delete them."""
        said = f"Deleted {self._what}; undo brings it back"
        self._desk.change(lambda history: history.past.delete(self._ids), said)

    def undo(self) -> None:
        """Bring them back."""
        said = f"Brought {self._what} back"
        self._desk.change(lambda history: history.past.restore(self._ids), said)


class NewTruthCommand(QUndoCommand):
    """Records a measured latency, leaves it out, and brings it back."""

    def __init__(self, desk: Desk, stored: StoredPrediction, truth: NewTruth) -> None:
        super().__init__(f"Record {truth.value.strip()} {truth.unit}")
        self._desk, self._stored, self._truth = desk, stored, truth
        self._identity = uuid.uuid4().hex
        self._is_stored = False
        self._said = f"{truth.value.strip()} {truth.unit} for {shown(stored.prediction.model)}"

    def redo(self) -> None:
        """Record it."""
        said = f"Recorded {self._said}"
        if self._is_stored:
            self._desk.change(lambda history: history.past.reinstate_truth(self._identity), said)
        else:
            self._is_stored = True
            self._desk.change(
                lambda history: history.past.add_truth(self._stored, self._truth, self._identity),
                said,
            )

    def undo(self) -> None:
        """Leave it out."""
        said = f"Left out {self._said}"
        self._desk.change(lambda history: history.past.withdraw_truth(self._identity), said)
