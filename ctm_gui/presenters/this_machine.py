"""This machine as a device of the user's: what its system states, then what is measured."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from ctm_gui.presenters.devices import DeviceLibrary
from ctm_gui.tasks.serial import SerialWorker, Task
from predictor.core.errors import CtmError
from predictor.core.records import Device
from predictor.services.devices.this_machine import describe_this_machine, with_measured
from predictor.services.devices.user_devices import DeviceFile


class ThisMachine(QObject):
    """Makes a device of this machine; ``changed`` says that ``state`` is another.

    Args:
        library: gets the device.
        parent: owner.
    """

    changed = Signal()

    def __init__(self, library: DeviceLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._worker = SerialWorker("this machine", self)
        self._task: Task | None = None
        self._key = ""
        self.state = ""

    @property
    def busy(self) -> bool:
        """Whether it is being described or measured."""
        return self._task is not None

    def detect(self) -> None:
        """Describe this machine, add it, and measure what its system does not state."""
        if self.busy:
            return
        self._show("Reading what the system states…")
        self._task = self._worker.submit(
            lambda _: describe_this_machine(), on_result=self._on_described, on_error=self._on_error
        )

    def cancel(self) -> None:
        """Stop measuring; what the system states stays."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self._show("")
            self._library.done.emit("Measuring was cancelled; what the system states is kept")

    def close(self) -> None:
        """Stop all work."""
        self._worker.close()

    def _on_described(self, device: Device) -> None:
        self._key = self._library.add(DeviceFile(device))
        self._show("Measuring matrix products and copy bandwidth, about three seconds…")
        self._task = self._worker.submit(
            lambda context: with_measured(device, context.token),
            on_result=lambda measured: self._on_measured(device, measured),
            on_error=self._on_error,
        )

    def _on_measured(self, described: Device, measured: Device) -> None:
        """Add what was measured; what the user has changed meanwhile stays."""
        self._task = None
        self._show("")
        entry = self._library.entry(self._key)
        if entry is None:
            return
        device = replace(
            entry.device,
            metrics={**measured.metrics, **entry.device.metrics},
            sources={**measured.sources, **entry.device.sources},
            notes=measured.notes if entry.device.notes == described.notes else entry.device.notes,
        )
        self._library.save(self._key, replace(entry.file, device=device))

    def _on_error(self, error: CtmError) -> None:
        self._task = None
        self._show("")
        self._library.failed.emit(error)

    def _show(self, state: str) -> None:
        self.state = state
        self.changed.emit()
