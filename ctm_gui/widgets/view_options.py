"""Options that all views share: the unit of latencies, the budget and the theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal

from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.theme import LIGHT, Theme
from predictor.core.units import LatencyUnit


class ViewOptions(QObject):
    """Unit, budget and theme of the views, which read them here and follow the signals.

    The window has one, and so have its dialogs; views made for a picture alone may have another.

    Signals:
        unit_changed: the unit of latencies is another one.
        budget_changed: the latency budget is another one.
        theme_changed: the theme is another one; ``follow_theme`` spreads costly drawing over turns.

    Args:
        unit: of every latency.
        theme: colours of what paints itself.
        budget_ms: the latency budget in milliseconds; None for no budget.
    """

    unit_changed = Signal()
    budget_changed = Signal()
    theme_changed = Signal()

    def __init__(
        self,
        unit: LatencyUnit = LatencyUnit.MS,
        theme: Theme = LIGHT,
        budget_ms: float | None = None,
    ) -> None:
        super().__init__()
        self._unit, self._theme, self._budget_ms = unit, theme, budget_ms
        self._pending: list[Callable[[], object]] = []

    @property
    def unit(self) -> LatencyUnit:
        """Unit of every latency."""
        return self._unit

    @property
    def theme(self) -> Theme:
        """Colours of what paints itself."""
        return self._theme

    @property
    def budget_ms(self) -> float | None:
        """The latency budget in milliseconds; None for no budget."""
        return self._budget_ms

    def set_unit(self, unit: LatencyUnit) -> None:
        """Show latencies in ``unit``."""
        if unit is not self._unit:
            self._unit = unit
            self.unit_changed.emit()

    def set_budget_ms(self, budget_ms: float | None) -> None:
        """Hold latencies against another budget; None for no budget."""
        if budget_ms != self._budget_ms:
            self._budget_ms = budget_ms
            self.budget_changed.emit()

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        if theme is not self._theme:
            self._theme = theme
            self.theme_changed.emit()

    def do_in_turn(self, work: Callable[[], object]) -> None:
        """Call ``work`` after what waits already, one call per turn of the event loop."""
        self._pending.append(work)
        if len(self._pending) == 1:
            in_turns(self._working(), self)

    def _working(self) -> Iterator[None]:
        while self._pending:
            yield
            self._pending.pop(0)()
