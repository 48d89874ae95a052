"""The status bar: the last message, progress, counts, the button of all messages."""

from __future__ import annotations

import math
import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from ctm_gui.widgets.basic import ElidedLabel, button, fill, label
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.messages import Level, Message
from ctm_gui.window.workspace import Workspace
from predictor.core.text import plural

# A progress bar that gets a value paints at once; many files a second need no such haste.
_DELAY_MS = 50
_TELL_AFTER_S = 2.0


class StatusLine(QWidget):
    """Follows a workspace; ``messages_requested`` asks for the list of messages.

    Args:
        options: the theme.
        workspace: messages, models and targets.
    """

    messages_requested = Signal()

    def __init__(self, options: ViewOptions, workspace: Workspace) -> None:
        super().__init__()
        self._options, self._workspace = options, workspace
        self._pending_peak = 0
        self._since = 0.0
        self.message = ElidedLabel()
        self.message.setAccessibleName("Last message")
        self._progress = QProgressBar(textVisible=False)
        self._progress.setFixedSize(120, 10)
        self._progress.setAccessibleName("Progress")
        self._cancel = button("Cancel", act=workspace.cancel_all, name="Stop reading or measuring")
        self._cancel.setFlat(True)
        self.counts = label(role="muted", name="Counts", wraps=False)
        self.messages_button = button("Messages", act=self.messages_requested.emit)
        self.messages_button.setFlat(True)
        parts = (self._progress, self._cancel, self.counts, self.messages_button)
        fill(QHBoxLayout(self), (self.message, 1), *parts, margins=(8, 0, 8, 0), spacing=10)
        workspace.messages.added.connect(self._on_message)
        workspace.messages.cleared.connect(self._on_cleared)
        options.theme_changed.connect(self._colour_again)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(self._show_activity)
        for signal in (
            workspace.activity_changed,
            workspace.selection.changed,
            workspace.shelf.removed,
        ):
            signal.connect(self._show_activity_soon)
        self._show_activity()

    def _colour_again(self) -> None:
        messages = self._workspace.messages.messages
        if messages:
            self._colour(messages[-1])

    def _on_message(self, message: Message) -> None:
        self.message.set_full_text(message.text)
        self._colour(message)
        self._show_errors()

    def _on_cleared(self) -> None:
        self.message.set_full_text("")
        self._show_errors()

    def _colour(self, message: Message) -> None:
        error = message.level is Level.ERROR
        palette = QPalette()
        colour = QColor(self._options.theme.bad if error else self._options.theme.text)
        palette.setColor(QPalette.ColorRole.WindowText, colour)
        self.message.setPalette(palette)

    def _show_errors(self) -> None:
        errors = self._workspace.messages.error_count
        self.messages_button.setText(
            f"Messages ({plural(errors, 'error')})" if errors else "Messages"
        )

    def _show_activity_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _show_activity(self) -> None:
        shelf = self._workspace.shelf
        pending = shelf.pending_count
        if not self._pending_peak:
            self._since = time.monotonic()
        # The most that was pending at once since the last idle moment: the length of the bar.
        self._pending_peak = max(self._pending_peak, pending) if pending else 0
        busy = bool(pending) or self._workspace.searching or bool(self._workspace.machine.state)
        self._progress.setVisible(busy)
        self._cancel.setVisible(busy)
        # A range of zero is drawn as busy: how many files a folder holds is not known before.
        self._progress.setRange(0, self._pending_peak)
        self._progress.setValue(self._pending_peak - pending)
        self.counts.setText(self._counts_text(pending))

    def _counts_text(self, pending: int) -> str:
        comparison = self._workspace.comparison
        if self._workspace.searching:
            return "Searching folders…"
        if pending:
            done = self._pending_peak - pending
            left = time_left(time.monotonic() - self._since, done, pending)
            reading = f"Reading {done + 1} of {self._pending_peak}…"
            return f"{reading} {left}".rstrip()
        if self._workspace.machine.state:
            return self._workspace.machine.state
        of_language = self._workspace.language.state.entries
        models = len(self._workspace.shelf.entries) + len(of_language)
        targets = len(self._workspace.selection.selected)
        counts = [plural(models, "model"), plural(targets, "target")]
        if comparison.predicted:
            counts.append(
                f"{plural(comparison.predicted, 'prediction')} in {comparison.seconds * 1e3:.0f} ms"
            )
        return " · ".join(counts)


def time_left(elapsed_s: float, done: int, pending: int) -> str:
    """Return the time that the rest takes at the rate so far; empty while that is a guess."""
    if not done or elapsed_s < _TELL_AFTER_S:
        return ""
    return f"about {math.ceil(elapsed_s / done * pending)} s left"
