"""The boxes that choose which past predictions are shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QWidget

from ctm_gui.presenters.past_rows import PERIODS, PastFilter, PastRows
from ctm_gui.views.parts import focus_on, matches_text, plain_label, search_box
from predictor.core.records import Basis
from predictor.core.wording import NOTHING, shown

_BOX_PX = 150


class PastFilterBar(QWidget):
    """Search, model, target, basis, tag, time.

    Signals:
        changed: another choice was made.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search_box = search_box("Filter by model, device, engine, tag, note…", "Filter")
        self.model_box = _box("Model", "All models")
        self.device_box = _box("Device", "All devices")
        self.basis_box = _box("Basis", "Every basis")
        self.tag_box = _box("Tag", "All tags")
        self.period_box = _box("Time", "")
        self.measured_box = QCheckBox("&Measured only")
        self.matches = plain_label(role="muted", wraps=False)
        for basis in Basis:
            self.basis_box.addItem(basis.value, basis.value)
        self.basis_box.addItem("no number", NOTHING)
        self.period_box.clear()
        for words, days in PERIODS:
            self.period_box.addItem(words, days)
        self._arrange()
        self._connect()

    def show_choices(self, data: PastRows) -> None:
        """Offer the models, devices and tags that there are; what was chosen stays chosen."""
        _fill(self.model_box, [(shown(name), name) for name in data.models()])
        _fill(self.device_box, [(shown(name), identity) for name, identity in data.devices()])
        _fill(self.tag_box, [(shown(tag), tag) for tag in data.tags()])
        self.tag_box.setVisible(self.tag_box.count() > 1)

    def wanted(self) -> PastFilter:
        """Return what is chosen."""
        return PastFilter(
            self.search_box.text(),
            self.model_box.currentData() or "",
            self.device_box.currentData() or "",
            self.basis_box.currentData() or "",
            self.tag_box.currentData() or "",
            self.period_box.currentData(),
            self.measured_box.isChecked(),
        )

    def show_matches(self, shown_count: int, count: int) -> None:
        """Say how many rows of how many are shown."""
        self.matches.setText(matches_text(shown_count, count))

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        focus_on(self.search_box)

    def _arrange(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.search_box, 1)
        for box in (
            self.model_box,
            self.device_box,
            self.basis_box,
            self.tag_box,
            self.period_box,
            self.measured_box,
            self.matches,
        ):
            row.addWidget(box)

    def _connect(self) -> None:
        self.search_box.textChanged.connect(self.changed)
        for box in (
            self.model_box,
            self.device_box,
            self.basis_box,
            self.tag_box,
            self.period_box,
        ):
            box.activated.connect(self.changed)
        self.measured_box.toggled.connect(self.changed)


def _box(name: str, every: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setMaximumWidth(_BOX_PX)
    box.addItem(every, "")
    return box


def _fill(box: QComboBox, items: Sequence[tuple[str, str]]) -> None:
    if [box.itemData(place) for place in range(1, box.count())] == [data for _, data in items]:
        return
    chosen = box.currentData()
    while box.count() > 1:
        box.removeItem(1)
    for words, data in items:
        box.addItem(words, data)
    box.setCurrentIndex(max(box.findData(chosen), 0))
