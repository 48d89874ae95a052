"""The timeline: the operators of one model on one target, one after another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from ctm_gui.prediction.explanation import Explained
from ctm_gui.timeline.strip import Strip
from ctm_gui.timeline.timeline_plot import TimelinePlot
from ctm_gui.widgets.basic import ContentOrMessage, button, hbox, holder, label, tool_button, vbox
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.save_plot import save_button, save_plot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import shown

_NOTHING_YET = "Drop a model and tick a target to see its operators over time."
_KEYS = (
    "Wheel: zoom. Drag: move. Left and Right: the operator before and after. "
    "Double click on a module: only that."
)
_ZOOM = 2.0


class TimelineView(QWidget):
    """Operators of one model on one target over time.

    Signals:
        operators_selected: the user selected operators: intp [K], and the current one or None.
        trace_requested: the user wants the timeline as trace events: the Path to write.

    Args:
        options: unit and theme.
    """

    operators_selected = Signal(object, object)
    trace_requested = Signal(object)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self._strip: Strip | None = None
        self._selected: IndexArray = np.zeros(0, dtype=np.intp)
        self.plot = TimelinePlot(options)
        self.summary = label(role="muted", name="Time of the operators")
        self.figures = label(role="muted", name="Selected operators", selectable=True)
        self.figures.setAlignment(Qt.AlignmentFlag.AlignTop)  # it has the room of the plot's rest
        self.zoom_buttons = [
            tool_button("+", "Zoom in (+)", "Zoom in"),
            tool_button("\N{MINUS SIGN}", "Zoom out (-)", "Zoom out"),
            tool_button("All", "Show the whole time (Escape)", "Show the whole time"),
        ]
        self.save_button = save_button("timeline", self.save)
        self.trace_button = button(
            "Tr&ace…", "Save the timeline as trace events, which Perfetto opens."
        )
        self._arrange()
        self._connect()
        self.show_explained(None)

    def show_explained(self, explained: Explained | None, message: str = "") -> None:
        """Show an explained pair, or say why there is none."""
        has_any = explained is not None and explained.timeline.total_ms > 0
        self._strip = Strip(explained) if explained is not None and has_any else None
        for widget in (*self.zoom_buttons, self.save_button, self.trace_button):
            widget.setEnabled(has_any)
        self.plot.show_strip(self._strip)
        self._selected = np.zeros(0, dtype=np.intp)
        self._show_figures()
        if self._strip is None:
            self._stack.show_message(shown(message) if message else _NOTHING_YET)
        else:
            self._stack.show_content()
        self._show_summary()

    def select_operators(self, operators: IndexArray, current: int | None) -> None:
        """Mark operators, intp [K], and write their figures."""
        self.plot.select(operators, current)
        self._selected = operators
        self._show_figures()

    def focus_search(self) -> None:
        """Put the focus on the strip: it has nothing to search in."""
        self.plot.setFocus()

    def save(self, path: Path) -> None:
        """Save what is in view as SVG or PNG by the path's ending.

        Raises:
            HostError: the file cannot be written.
        """
        save_plot(self.plot, path, "Timeline of operators")

    def ask_for_trace(self) -> bool:
        """Ask where to save the trace; False where there is none to save."""
        if self._strip is None:
            return False
        name = f"{Path(self._strip.explained.model).stem or 'timeline'}.trace.json"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save trace", name, "JSON (*.json)")
        if chosen:
            path = Path(chosen)
            self.trace_requested.emit(path if path.suffix else path.with_suffix(".json"))
        return True

    def _arrange(self) -> None:
        controls = hbox((self.summary, 1), *self.zoom_buttons, self.save_button, self.trace_button)
        self._stack = ContentOrMessage(holder((self.plot, 1), self.figures))
        vbox(controls, (self._stack, 1), of=self, margins=0)

    def _connect(self) -> None:
        actions = (
            lambda: self.plot.zoom(_ZOOM),
            lambda: self.plot.zoom(1 / _ZOOM),
            self.plot.show_all,
        )
        for made, act in zip(self.zoom_buttons, actions, strict=True):
            made.clicked.connect(lambda _checked, act=act: act())
        self.trace_button.clicked.connect(self.ask_for_trace)
        self.plot.operators_chosen.connect(self._on_chosen)
        self._options.unit_changed.connect(self._show_summary)
        self._options.unit_changed.connect(self._show_figures)

    def _show_figures(self) -> None:
        strip, chosen = self._strip, self._selected
        text = strip.figures(chosen, self._options.unit) if strip and chosen.size else _KEYS
        self.figures.setText(text)

    def _show_summary(self) -> None:
        strip = self._strip
        self.summary.setText("" if strip is None else strip.sentence(self._options.unit))

    def _on_chosen(self, operators: IndexArray, current: int | None) -> None:
        self.select_operators(operators, current)
        self.operators_selected.emit(operators, current)
