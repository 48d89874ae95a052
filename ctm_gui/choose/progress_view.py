"""Progress of a choice that takes long, with buttons to cancel it and to start it again."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from ctm_gui.choose.presenter import ChoicePresenter
from ctm_gui.widgets.basic import STRETCH, button, fill, label

_BAR_PX, _STATE_PX = 6, 150
# Shorter work ends before a row above the table would be read; the table would jump twice.
_DELAY_MS = 300


class ChoiceProgress(QWidget):
    """A progress bar, the number of models judged and Cancel; once cancelled, *Choose Again*.

    Attributes:
        delay: before it is shown.

    Args:
        presenter: of the choice.
    """

    def __init__(self, presenter: ChoicePresenter) -> None:
        super().__init__()
        self._presenter = presenter
        self.bar = QProgressBar(textVisible=False)
        self.bar.setMaximumHeight(_BAR_PX)
        self.bar.setAccessibleName("Choosing")
        self.state = label(role="muted", wraps=False)
        self.state.setMinimumWidth(_STATE_PX)  # the bar keeps its length
        self.cancel_button = button("Cancel", act=presenter.cancel, name="Stop choosing")
        self.again_button = button("Choose Again", act=presenter.choose_again)
        parts = ((self.bar, 1), self.state, self.cancel_button, self.again_button, STRETCH)
        fill(QHBoxLayout(self), *parts, margins=0)
        self.delay = QTimer(self, interval=_DELAY_MS, singleShot=True)
        self.delay.timeout.connect(self._show)
        presenter.changed.connect(self._follow)
        presenter.progressed.connect(self._show_progress)
        self._show()

    def _follow(self) -> None:
        if self._presenter.settled:
            self.delay.stop()
            self._show()
        elif not self.delay.isActive():
            self.delay.start()
            self._show_progress()

    def _show(self) -> None:
        is_busy, is_cancelled = not self._presenter.settled, self._presenter.is_cancelled
        for part in (self.bar, self.state, self.cancel_button):
            part.setVisible(is_busy)
        self.again_button.setVisible(is_cancelled)
        self.setVisible(is_busy or is_cancelled)
        self._show_progress()

    def _show_progress(self) -> None:
        progress = self._presenter.progress
        self.bar.setRange(0, 0 if progress is None else progress.total)
        self.bar.setValue(0 if progress is None else progress.done)
        self.state.setText("" if progress is None else progress.message)
