"""The other configurations of devices whose row the user opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from ctm_gui.prediction.comparison import Comparison
from ctm_gui.prediction.followers import ComparisonFollower
from ctm_gui.targets.choice import TargetSelection, are_same, with_first
from ctm_gui.tasks.serial import SerialWorker
from predictor.core.records import Configuration, Device
from predictor.presentation.prediction_rows import PredictionRow


class FurtherConfigurations(ComparisonFollower):
    """Predicts the open models on what else an opened device runs, beside the comparison.

    ``changed`` is emitted when ``rows`` or ``opened`` change.

    Attributes:
        opened: ids of the devices.
        rows: model after model; those of devices that are not ticked any more are left out.

    Args:
        worker: the thread that predictions are made on.
        selection: the targets.
        comparing: returns the work that compares the open models on devices.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self,
        worker: SerialWorker,
        selection: TargetSelection,
        comparing: Callable[[tuple[Device, ...]], Callable[[], Comparison]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(worker, parent)
        self._selection, self._comparing = selection, comparing
        self.opened: frozenset[str] = frozenset()
        self.rows: Sequence[PredictionRow] = ()
        self._announced = self.opened

    def toggle(self, device_id: str) -> None:
        """Open the row of a device, or close it."""
        self.opened ^= {device_id}
        self._refresh()

    def has_any(self, device_id: str) -> bool:
        """Return whether a device lists other configurations."""
        device = self._selection.catalogue.by_id.get(device_id)
        return device is not None and next(self._further(device), None) is not None

    def use(self, row: PredictionRow) -> None:
        """Predict a device with the configuration of a row from now on."""
        device = self._selection.catalogue.by_id[row.prediction.device_id]
        wanted = row.prediction.configuration
        for configuration in self._further(device):
            if are_same(device, configuration, replace(wanted, batch=configuration.batch)):
                self._selection.set_configuration(device, configuration)
                return

    def _further(self, device: Device) -> Iterator[Configuration]:
        selection = self._selection
        present = (selection.configuration_of(device), *selection.variants_of(device))
        return (
            configuration
            for configuration in selection.choices(device)
            if not any(are_same(device, configuration, entry) for entry in present)
        )

    def _begin(self) -> None:
        devices = tuple(
            with_first(device, configuration)
            for device in map(self._selection.catalogue.by_id.get, sorted(self.opened))
            if device is not None and self._selection.is_selected(device.id)
            for configuration in self._further(device)
        )
        if not devices:
            self._show(Comparison())
            return
        work = self._comparing(devices)
        self._task.start(lambda _: work(), self._show, lambda _: self._show(Comparison()))

    def _let_go(self) -> None:
        self.rows = ()

    def _show(self, comparison: Comparison) -> None:
        # Nothing beside another comparison is no news: its views follow that one already.
        is_news = bool(self.rows or comparison.rows) or self.opened != self._announced
        self.rows, self._announced = comparison.rows, self.opened
        if is_news:
            self.changed.emit()
