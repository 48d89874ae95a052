"""The Sweep page of Compare: latency of one pair over its batch and over its threads."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from ctm_gui.compare.sweep import SweepPresenter, sweep_sentence
from ctm_gui.compare.sweep_plot import SweepPlot
from ctm_gui.widgets.basic import ContentOrMessage, label, splitter, vbox
from ctm_gui.widgets.pair_choice import PairChoice
from ctm_gui.widgets.view_options import ViewOptions

_LEGEND = (
    "Band: 80 % interval. Dashed line: now. Diamond: measured. Ring: exceeds the memory. Other "
    "batches are predicted as that many independent items."
)


class SweepView(QWidget):
    """A choice of model and target, what a change would bring, and a plot each.

    Args:
        options: unit and theme.
        presenter: the pair and its sweeps.
    """

    def __init__(self, options: ViewOptions, presenter: SweepPresenter) -> None:
        super().__init__()
        self._presenter = presenter
        self.pair = PairChoice()
        self.batch_plot, self.threads_plot = (
            SweepPlot(options, kind) for kind in ("batch", "threads")
        )
        plots = splitter(
            Qt.Orientation.Horizontal, self.batch_plot, self.threads_plot, sizes=(500, 500)
        )
        self._stack = ContentOrMessage(plots, presenter.message)
        self.words = label(_LEGEND, "muted", name="Point of the sweep")
        vbox(self.pair, (self._stack, 1), self.words, of=self, margins=0)
        for plot in (self.batch_plot, self.threads_plot):
            plot.pointed.connect(lambda words: self.words.setText(words or _LEGEND))
        self.pair.choice_changed.connect(presenter.choose)
        presenter.changed.connect(self._show)
        options.unit_changed.connect(self._show)
        self._show()

    def focus_search(self) -> None:
        """Put the cursor into the first box: the page has no search."""
        self.pair.model_box.setFocus()

    def _show(self) -> None:
        presenter = self._presenter
        self.pair.set_choices(presenter.models, presenter.targets)
        if presenter.choice is not None:
            self.pair.set_choice(*presenter.choice)
        by_kind = {sweep.kind: sweep for sweep in presenter.sweeps}
        self.batch_plot.show_sweep(by_kind.get("batch"))
        self.threads_plot.show_sweep(by_kind.get("threads"))
        self.threads_plot.setVisible("threads" in by_kind)
        self.words.setText(_LEGEND)
        self.pair.show_sentence(sweep_sentence(presenter.sweeps), "")
        if presenter.message:
            self._stack.show_message(presenter.message)
        else:
            self._stack.show_content()
