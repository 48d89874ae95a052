"""The Clocks tab: power modes and clocks of one target, and latency over the plane of clocks."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSlider, QWidget

from ctm_gui.clocks.plane import ClocksPresenter
from ctm_gui.clocks.plane_plot import PlanePlot
from ctm_gui.widgets.basic import (
    STRETCH,
    ContentOrMessage,
    combo_box,
    fill_box,
    hbox,
    holder,
    label,
    named,
    vbox,
)
from ctm_gui.widgets.pair_choice import PairChoice
from ctm_gui.widgets.save_plot import save_button
from ctm_gui.widgets.view_options import ViewOptions
from predictor.devices.operating import DOMAINS
from predictor.presentation.wording import batch_of, interval_text, latency_text, number, shown

_DEFAULT, _FREE = "Default clocks", "Clocks as set below"
_KEYS = "Click into the plot to choose clocks."


class ClocksView(QWidget):
    """Modes and sliders over a heat map of latency.

    Args:
        options: unit, budget and theme.
        presenter: pair, clocks and plane.
    """

    def __init__(self, options: ViewOptions, presenter: ClocksPresenter) -> None:
        super().__init__()
        self._options, self._presenter = options, presenter
        self.pair = PairChoice()
        self.pair.sentence.hide()  # on sensitivities, which are of the default clocks
        self.mode_box = combo_box("Power mode", letters=24)
        self.sliders = {name: QSlider(Qt.Orientation.Horizontal) for name in DOMAINS}
        self._names = {name: QLabel() for name in DOMAINS}
        self._values = {name: label(name=f"{DOMAINS[name]} clock in MHz") for name in DOMAINS}
        self.summary = label(role="heading", name="Latency at these clocks")
        self.details = label(role="muted", name="What the clocks change", selectable=True)
        self.plot = PlanePlot(options)
        self.save_button = save_button("clocks", self.plot.save)
        self._arrange()
        self._connect()
        self._show_choices()
        self._show_plane()

    def focus_search(self) -> None:
        """Go to the modes: there is nothing to search."""
        self.mode_box.setFocus()

    def _arrange(self) -> None:
        clocks = QGridLayout()
        for row, (name, slider) in enumerate(self.sliders.items()):
            title = DOMAINS[name]
            self._names[name].setText(f"{title[:1].upper()}{title[1:]}")
            self._names[name].setBuddy(slider)
            slider.setAccessibleName(f"{title} clock")
            self._values[name].setMinimumWidth(80)
            for column, part in enumerate((self._names[name], slider, self._values[name])):
                clocks.addWidget(part, row, column)
        clocks.setColumnStretch(1, 1)
        modes = hbox(named("M&ode", self.mode_box), self.mode_box, STRETCH, self.save_button)
        keys = label(_KEYS, role="muted")
        content = holder(modes, clocks, self.summary, self.details, (self.plot, 1), keys)
        self._stack = ContentOrMessage(content, name="Message")
        vbox(self.pair, (self._stack, 1), of=self)

    def _connect(self) -> None:
        presenter = self._presenter
        self.mode_box.activated.connect(lambda index: presenter.choose_mode(index - 1))
        for name, slider in self.sliders.items():
            slider.valueChanged.connect(
                lambda mhz, domain=name: presenter.choose_clock(domain, float(mhz))
            )
        self.plot.clocks_chosen.connect(self._on_clicked)
        presenter.choices_changed.connect(self._show_choices)
        presenter.plane_changed.connect(self._show_plane)
        self._options.unit_changed.connect(self._show_plane)

    def _on_clicked(self, across: float, up: float) -> None:
        plane = self._presenter.plane
        if plane is not None:
            for domain, mhz in ((plane.across, across), (plane.up, up)):
                if domain:
                    self.sliders[domain].setValue(round(mhz))

    def _show_choices(self) -> None:
        """Follow the device's modes and the chosen clocks."""
        presenter = self._presenter
        names = [_DEFAULT, *(shown(mode.name) for mode in presenter.modes)]
        mode, default = presenter.mode, presenter.is_default
        if mode is None and not default:
            names.append(_FREE)
        index = 0 if mode is None else presenter.modes.index(mode) + 1
        fill_box(self.mode_box, names, index if default or mode else len(names) - 1)
        for name, slider in self.sliders.items():
            ends, mhz = presenter.ranges.get(name), getattr(presenter.clocks, name)
            for part in (self._names[name], slider, self._values[name]):
                part.setVisible(ends is not None)
            if ends is None or mhz is None:
                continue
            with QSignalBlocker(slider):
                slider.setRange(round(ends[0]), round(ends[1]))
                slider.setPageStep(max(1, round((ends[1] - ends[0]) / 10)))
                slider.setValue(round(mhz))
            self._values[name].setText(f"{number(mhz, 5)} MHz")

    def _show_plane(self) -> None:
        plane = self._presenter.plane
        self.plot.show_plane(plane)
        if plane is None:
            self._stack.show_message(shown(self._presenter.message))
            return
        self._stack.show_content()
        prediction = plane.clocked.prediction
        unit = self._options.unit
        words = latency_text(prediction.latency_ms, unit, batch_of(prediction.configuration))
        if prediction.low80_ms is not None:
            words += f", 80 % interval {interval_text(prediction, unit)} {unit}"
        self.summary.setText(words)
        sentence = plane.clocked.sentence
        self.details.setText(f"{sentence[:1].upper()}{sentence[1:]}.")
