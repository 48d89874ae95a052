"""A page of the window that is built when it is first shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.drop_overlay import refuse_drops


class _Active(Protocol):
    def set_active(self, *, active: bool) -> None: ...


class LateView(QWidget):
    """Built piece by piece between the window's events; ``built`` is emitted at the end.

    Attributes:
        is_built: whether the view is complete.

    Args:
        presenter: works while the view is shown.
    """

    built = Signal()

    def __init__(self, presenter: _Active) -> None:
        super().__init__()
        self._presenter = presenter
        self._is_started = self.is_built = False

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to build the view the first time: the window starts without it."""
        if not self._is_started:
            self._is_started = True
            in_turns(self._building(), self)
        self._presenter.set_active(active=True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._presenter.set_active(active=False)

    def _building(self) -> Iterator[None]:
        yield from self._build()
        refuse_drops(self)
        self.is_built = True
        self.built.emit()

    def _build(self) -> Iterator[None]:
        """Build it, a piece of some milliseconds before each yield."""
        raise NotImplementedError
