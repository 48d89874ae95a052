"""The user's store beside predictions: its failure costs no prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from predictor.core.errors import CtmError
from predictor.core.prediction import Prediction
from predictor.core.records import Measurement, Target
from predictor.graph.model import Model
from predictor.services.history.history import History, open_history
from predictor.services.prediction.predict import KnownTargets

_T = TypeVar("_T")


class UserStore:
    """The store, opened while the models are read; its failure costs no prediction.

    Args:
        path: its file; None for the user's own.

    Attributes:
        failure: of the store; None where it works.
        refused: an error for each prediction that the store refused.
    """

    def __init__(self, path: Path | None) -> None:
        self._history: History | None = None
        self.failure: CtmError | None = None
        self.refused: tuple[CtmError, ...] = ()
        try:
            self._history = open_history(path)
        except CtmError as error:
            self.failure = error

    def ask(self, question: Callable[[History], _T], otherwise: _T) -> _T:
        """Return the store's answer to ``question``, ``otherwise`` where the store fails."""
        if self._history is None:
            return otherwise
        try:
            return question(self._history)
        except CtmError as error:
            self.failure = error
            return otherwise

    def measured(self, models: Sequence[Model]) -> list[Measurement]:
        """Return the user's measurements of models; none where the store fails."""
        return self.ask(lambda history: history.measured(models), [])

    def is_measured(self, *fingerprints: str) -> bool:
        """Return whether the user measured a graph; not where the store fails."""
        return self.ask(lambda history: history.is_measured(*fingerprints), otherwise=False)

    def signatures(self, targets: Sequence[Target]) -> KnownTargets:
        """Return the user's measurements on targets; none where the store fails."""
        return self.ask(lambda history: history.user_signatures().of(targets), {})

    def record(self, models: Sequence[Model], predictions: Sequence[Prediction]) -> None:
        """Store the predictions."""
        recorded = self.ask(lambda history: history.record(models, predictions), None)
        self.refused = recorded.refused if recorded else ()

    def close(self) -> None:
        """Close the store."""
        if self._history is not None:
            self._history.close()
