"""Presenters that work on the newest comparison, or on one pair of it, while they are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from ctm_gui.prediction.comparison import Comparison, place_of, target_names
from ctm_gui.tasks.serial import OneTask, SerialWorker
from predictor.core.records import RunId


class ComparisonFollower(QObject):
    """Works on the newest comparison while its view is visible; ``_begin`` starts the work.

    Args:
        worker: the thread that predictions are made on.
        parent: owner.
    """

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._comparison = Comparison()
        self._task = OneTask(worker)
        self._active = False
        self._stale = True

    @property
    def settled(self) -> bool:
        """Whether the content shown is that of the present comparison and choice."""
        return not self._task.busy

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow a new comparison; the choice stays where the comparison still has it."""
        if comparison is not self._comparison:
            self._comparison = comparison
            self._refresh()

    def set_active(self, *, active: bool) -> None:
        """Set whether the view is visible; nothing is computed for a hidden one."""
        self._active = active
        if active and self._stale:
            self._refresh()

    def _refresh(self) -> None:
        """Drop the running work and begin anew; a hidden view begins when it is shown."""
        self._task.cancel()
        self._stale = not self._active
        if self._active:
            self._begin()
        else:
            self._let_go()

    def _begin(self) -> None:
        """Show the result where it needs no work, else submit the work."""
        raise NotImplementedError

    def _let_go(self) -> None:
        """Forget what a hidden view would show: it may be of models that are closed."""
        raise NotImplementedError


class PairFollower(ComparisonFollower):
    """Works on one pair of the comparison; a pair that has gone gives way to the first one."""

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        # Ids, not indices: these change with each comparison.
        self._chosen: tuple[int, RunId | None] | None = None

    @property
    def models(self) -> Sequence[str]:
        """Labels of the models to choose from."""
        return [compared.label for compared in self._comparison.models]

    @property
    def targets(self) -> Sequence[str]:
        """Names of the targets to choose from."""
        return target_names(self._comparison.targets)

    @property
    def choice(self) -> tuple[int, int] | None:
        """Model and target index of the pair; None where there is none."""
        comparison = self._comparison
        if not comparison.models or not comparison.targets:
            return None
        entry_id, target = self._chosen or (0, None)
        models = [compared.entry_id for compared in comparison.models]
        model = models.index(entry_id) if entry_id in models else 0
        return model, place_of(comparison.targets, target)

    @property
    def chosen(self) -> tuple[int, int] | None:
        """The pair, where its target was chosen; None where it is the first one."""
        return self.choice if self._chosen is not None and self._chosen[1] is not None else None

    def take_pair(self, other: PairFollower) -> None:
        """Work on the pair that another follower works on, or will."""
        if other._chosen is not None:
            self._choose(*other._chosen)

    def choose(self, model: int, target: int) -> None:
        """Choose another pair of the comparison, by index."""
        models, targets = self._comparison.models, self._comparison.targets
        # The boxes may not know the newest comparison yet.
        if 0 <= model < len(models) and 0 <= target < len(targets):
            self._choose(models[model].entry_id, targets[target].run_id)

    def choose_model(self, entry_id: int) -> None:
        """Choose another model of the shelf, on the same target."""
        self._choose(entry_id, self._chosen[1] if self._chosen else None)

    def _choose(self, entry_id: int, target: RunId | None) -> bool:
        """Work on a pair; whether it is another than before."""
        if (entry_id, target) == self._chosen:
            return False
        self._chosen = entry_id, target
        self._refresh()
        return True
