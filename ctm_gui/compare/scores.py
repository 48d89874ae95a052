"""Scores that the user gave to models, kept in the settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ctm_gui import settings as table
from ctm_gui.prediction.comparison import ComparedModel
from ctm_gui.settings import Settings

_MAX_STORED = 2000


class Scores(QObject):
    """A number for each model, typed by the user and remembered by the model's fingerprint.

    A fingerprint knows no weights, so the names of the file and its folder are part of the key. A
    model keeps its score while it is open, also when another batch gives it another fingerprint.

    ``changed`` is emitted when a score, the name of the scores or their better end changes.

    Args:
        settings: keep the scores.
        parent: owner.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._stored = dict(filter(None, map(_read, settings.get(table.SCORES))))
        self._of_entry: dict[int, float | None] = {}

    @property
    def name(self) -> str:
        """Name of the scores: ``Accuracy (%)``."""
        return self._settings.get(table.SCORE_NAME)

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is the better one."""
        return self._settings.get(table.SCORE_HIGHER)

    def of(self, compared: ComparedModel) -> float | None:
        """Return a model's score, None where the user has given none."""
        if compared.entry_id not in self._of_entry:
            former = self._stored.get(_key(compared, compared.model.graph.former_fingerprint))
            self._of_entry[compared.entry_id] = self._stored.get(_key(compared), former)
        return self._of_entry[compared.entry_id]

    def of_all(self, models: Sequence[ComparedModel]) -> list[float | None]:
        """Return the scores of models."""
        return [self.of(compared) for compared in models]

    def set(self, compared: ComparedModel, score: float | None) -> None:
        """Give a model a score, or take it away."""
        self._of_entry[compared.entry_id] = score
        # Taken out first: a dict keeps the order of insertion, and the oldest scores are dropped.
        self._stored.pop(_key(compared), None)
        self._stored.pop(_key(compared, compared.model.graph.former_fingerprint), None)
        if score is not None:
            self._stored[_key(compared)] = score
        newest = list(self._stored.items())[-_MAX_STORED:]
        # repr keeps every digit. The key comes last because it may hold blanks.
        self._settings.set(table.SCORES, [f"{score!r} {key}" for key, score in newest])
        self.changed.emit()

    def set_name(self, name: str) -> None:
        """Name the scores."""
        self._settings.set(table.SCORE_NAME, name.strip() or table.SCORE_NAME.default)
        self.changed.emit()

    def set_higher_is_better(self, *, higher: bool) -> None:
        """Set the better end of the scores."""
        self._settings.set(table.SCORE_HIGHER, higher)
        self.changed.emit()


def parse_score(text: str) -> float | None:
    """Read a score as people type it: ``71.9``, ``71,9``, ``71.9 %``.

    Raises:
        ValueError: it is no finite number.
    """
    plain = text.strip().removesuffix("%").strip().replace(",", ".")
    if not plain:
        return None
    score = float(plain)
    if not math.isfinite(score):
        raise ValueError(text)
    return score


def _key(compared: ComparedModel, fingerprint: str = "") -> str:
    path = Path(compared.model.path)
    name = fingerprint or compared.model.graph.fingerprint
    return f"{name}/{path.parent.name}/{path.name}"


def _read(line: str) -> tuple[str, float] | None:
    """Parse a line that ``set`` wrote; None for one that is malformed."""
    score, _, key = line.partition(" ")
    try:
        value = float(score)
    except ValueError:
        return None
    return (key, value) if key and math.isfinite(value) else None
