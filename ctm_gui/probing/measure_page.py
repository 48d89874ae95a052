"""Page 3: networks as they are measured, samples as they come, commands of the run."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from ctm_gui.probing.grids import progress_grid
from ctm_gui.probing.page_parts import Table, button, column, label, show_words
from ctm_gui.probing.plots import SamplesPlot
from ctm_gui.probing.progress import RunProgress, duration
from ctm_gui.probing.run import Phase, ProbeRun
from ctm_gui.widgets.basic import STRETCH, ContentOrMessage, hbox, splitter
from ctm_gui.widgets.table_view import copy_button

_BAR_PX = 10
_TABLE_PX, _PLOT_PX = 280, 220
_NO_RUNS = "Each run of the network that is being measured is drawn here."


class MeasurePage(QWidget):
    """The third page; it follows a run. ``go_on_requested`` asks for the rest of a stopped one."""

    go_on_requested = Signal()

    def __init__(self, run: ProbeRun, plot: SamplesPlot) -> None:
        super().__init__()
        self._run = run
        self._displayed_rows: object = None
        self.state = label(role="heading")
        self.progress_bar = QProgressBar(textVisible=False)
        self.progress_bar.setMaximumHeight(_BAR_PX)
        self.progress_bar.setAccessibleName("Networks that are done")
        self.error = label(role="bad")
        self.drift = label(role="muted")
        self.table = Table("Networks of the session", several=True)
        self.plot = plot
        self.pause_button = button(
            "&Pause", "Measure nothing after the block that runs", self._pause
        )
        self.skip_button = button("S&kip", "Leave the network that is being measured", run.skip)
        self.repeat_button = button(
            "&Repeat", "Measure the selected networks again", lambda: run.repeat(self._to_repeat())
        )
        self.stop_button = button("&Stop", "Stop now; the session can go on later", run.stop)
        self.go_on_button = button(
            "&Go On", "Measure what is still waiting", self.go_on_requested.emit
        )
        buttons = hbox(
            self.pause_button,
            self.skip_button,
            self.repeat_button,
            self.stop_button,
            self.go_on_button,
            STRETCH,
            copy_button(self.table),
        )
        self._samples = ContentOrMessage(self.plot, _NO_RUNS)
        parts = splitter(
            Qt.Orientation.Vertical, self.table, self._samples, sizes=(_TABLE_PX, _PLOT_PX)
        )
        column(self, self.state, self.progress_bar, buttons, self.error, self.drift, (parts, 1))
        run.changed.connect(self._show)
        self.table.rows_selected.connect(lambda _rows, _current: self._show_buttons())
        self._show()

    def _pause(self) -> None:
        if self._run.phase is Phase.PAUSED:
            self._run.unpause()
        else:
            self._run.pause()

    def _to_repeat(self) -> list[str]:
        """Return the selected networks that are no longer waiting."""
        progress = self._run.progress
        if progress is None:
            return []
        rows = progress.rows
        chosen = [rows[int(place)] for place in self.table.selected_rows() if place < len(rows)]
        return [network.name for network in chosen if network.state != "waiting"]

    def _show(self) -> None:
        run, progress = self._run, self._run.progress
        self.state.setText(state_words(run))
        show_words(self.error, "" if run.error is None else str(run.error), "bad")
        if progress is not None:
            self._show_progress(progress)
        self._show_buttons()

    def _show_progress(self, progress: RunProgress) -> None:
        # Networks still to be chosen count too: the bar must not go back when they come.
        networks = progress.total + progress.to_come
        self.progress_bar.setRange(0, networks)
        self.progress_bar.setValue(networks - progress.left)
        show_words(self.drift, progress.drift_words(), "warn" if progress.drifted else "muted")
        current = progress.current if self._run.active and not progress.sentinel else ""
        rows = (progress.rows, current, self._run.again)
        if rows != self._displayed_rows:
            self._displayed_rows = rows
            self.table.show_grid(progress_grid(*rows))
        if self.isVisible():
            self.plot.show_trace(progress.trace)
            self._samples.show_content(visible=self.plot.has_data)

    def _show_buttons(self) -> None:
        phase = self._run.phase
        working = phase in {Phase.MEASURING, Phase.PAUSED}
        stopped = phase is Phase.STOPPED
        for control in (self.pause_button, self.skip_button, self.stop_button):
            control.setVisible(not stopped)
            control.setEnabled(working)
        self.go_on_button.setVisible(stopped)
        self.pause_button.setText("&Continue" if phase is Phase.PAUSED else "&Pause")
        self.repeat_button.setEnabled(phase is not Phase.STOPPING and bool(self._to_repeat()))


def state_words(run: ProbeRun) -> str:
    """Return a run's state and remaining time in one line."""
    progress = run.progress
    counted = ""
    if progress is not None:
        counted = f"{progress.total - progress.left} of {progress.total} done"
    if run.phase is Phase.MEASURING:
        left = run.seconds_left
        rest = f"about {duration(left)} left" if left is not None and counted else ""
        now = run.state or (progress.words() if progress is not None else "")
        return " · ".join(part for part in (now or "Preparing…", counted, rest) if part)
    words = {
        Phase.IDLE: "Nothing is being measured",
        Phase.PAUSED: "Paused after the block that runs",
        Phase.STOPPING: "Stopping…",
        Phase.STOPPED: "Stopped: what was measured is stored, and the session can go on",
        Phase.ENDED: "Done",
    }[run.phase]
    return f"{words} · {counted}" if counted else words
