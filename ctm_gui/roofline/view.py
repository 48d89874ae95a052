"""The roofline: what of the hardware each operator of one model reaches on one target."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from ctm_gui.prediction.explanation import Explained
from ctm_gui.roofline.points import RooflinePoints
from ctm_gui.roofline.roofline_plot import RooflinePlot
from ctm_gui.widgets.basic import ContentOrMessage, hbox, holder, label, vbox
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.save_plot import save_button
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.text import plural
from predictor.presentation.wording import shown

_NOTHING_YET = (
    "Drop a model and tick a target to see how close it gets to the limits of the hardware."
)
_NO_ROOFS = "The rates of this target are not known: add them to the device to see its roofs."


class RooflineView(QWidget):
    """Operators of one model under the roofs of one target.

    Signals:
        operators_selected: the user selected operators: intp [K], and the current one or None.

    Args:
        options: unit and theme.
    """

    operators_selected = Signal(object, object)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._explained: Explained | None = None
        self.plot = RooflinePlot(options)
        self.compare_box = QCheckBox("&Other targets")
        self.compare_box.setToolTip(
            "Show the highest roofs of the next ticked targets, of four at most."
        )
        self.compare_box.setChecked(True)
        self.save_button = save_button("roofline", self.plot.save)
        self.summary = label(role="muted", name="Where the operators stand")
        self._stack = ContentOrMessage(holder((self.plot, 1)))
        controls = hbox((self.summary, 1), self.compare_box, self.save_button)
        vbox(controls, (self._stack, 1), of=self, margins=0)
        self.compare_box.toggled.connect(self._refresh)
        self.plot.operator_chosen.connect(self._on_chosen)
        self.show_explained(None)

    def show_explained(self, explained: Explained | None, message: str = "") -> None:
        """Show an explained pair, or say why there is none."""
        self._explained = explained
        if explained is None or explained.roofline is None or not explained.table.names:
            reason = _NOTHING_YET if explained is None else _NO_ROOFS
            self._stack.show_message(shown(message) if message else reason)
            self.compare_box.hide()  # it counts those of the pair before
            self.summary.setText("")
            self.plot.show_points(None)
        else:
            self._stack.show_content()
            self._refresh()
        for widget in (self.save_button, self.compare_box):
            widget.setEnabled(self.plot.has_points)

    def select_operators(self, operators: IndexArray, current: int | None) -> None:
        """Mark operators, intp [K]."""
        self.plot.select(operators, current)

    def focus_search(self) -> None:
        """Put the focus on the plot: it has nothing to search in."""
        self.plot.setFocus()

    def _refresh(self, *_: object) -> None:
        explained = self._explained
        if explained is None or explained.roofline is None:
            return
        self.compare_box.setVisible(bool(explained.other_roofs))
        count, further = len(explained.other_roofs), explained.further
        of = f" of {further}" if further > count else ""
        self.compare_box.setText(f"&{count}{of} {plural(further, 'other target').split(' ', 1)[1]}")
        all_targets = self.compare_box.isChecked()
        points = RooflinePoints(explained, explained.roofline, all_targets=all_targets)
        self.plot.show_points(points)
        self.summary.setText(points.sentence())

    def _on_chosen(self, operator: int) -> None:
        chosen = np.array([operator], dtype=np.intp)
        self.plot.select(chosen, operator)
        self.operators_selected.emit(chosen, operator)
