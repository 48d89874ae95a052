"""This machine in the window: made a device of the user's, its two rates measured once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from ctm_gui.devices.library import DeviceLibrary
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.errors import CtmError
from predictor.core.progress import Progress
from predictor.core.records import Device, SustainedRates
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.devices.schema import DeviceFile
from predictor.services.devices.this_machine import (
    MachineRates,
    describe_this_machine,
    is_this_machine,
    lacks_rates,
    measure_rates,
    with_measured_rates,
)

MEASURING = "Measuring this machine's two rates, about 3 s…"


class ThisMachine(QObject):
    """Describes this machine, and measures its rates where none of its hardware are kept.

    ``changed`` is emitted when ``state`` or ``busy`` changes.

    Attributes:
        state: the present activity in a few words, else empty.

    Args:
        library: gets the device.
        rates: of earlier measurements.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self, library: DeviceLibrary, rates: MachineRates, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._rates = library, rates
        self._worker = SerialWorker("this machine", self)
        self._added = ""  # key of the device that is described and not measured yet
        self._is_requested = self._is_saving = False
        self.state = ""
        library.made.connect(self._on_made)
        library.busy_changed.connect(self._on_library)

    @property
    def busy(self) -> bool:
        """Whether it is being described or measured, or its rates are being saved."""
        return self._worker.busy or self._is_saving

    def detect(self) -> None:
        """Describe this machine, add it, and measure the rates that its system does not state."""
        if self.busy:
            return
        self._worker.submit(
            lambda _: describe_this_machine(), on_result=self._on_described, on_error=self._on_error
        )
        self._show("Reading the hardware…")

    def prepare(self, devices: Iterable[Device]) -> None:
        """Measure this machine before it is predicted; once a session, so that Cancel counts.

        Args:
            devices: that are to be predicted.
        """
        device = next((d for d in devices if d.id == THIS_MACHINE_ID), None)
        if device is not None and lacks_rates(device) and not (self._is_requested or self.busy):
            self._measure(self._library.key_of(device.id))

    def cancel(self) -> None:
        """Stop measuring; the facts from the system stay."""
        if self._worker.busy:
            self._worker.cancel_all()
            self._show("")
            self._library.done.emit(
                "Measuring was cancelled; this machine is predicted from its hardware alone"
            )

    def close(self) -> None:
        """Stop all work."""
        self._worker.close()

    def _on_described(self, device: Device) -> None:
        self._show("")
        self._added = self._library.add(DeviceFile(device))

    def _on_made(self, key: str) -> None:
        """Measure once the library has the device: kept rates come before it is stored."""
        if key == self._added:
            self._added = ""
            self._measure(key)

    def _measure(self, key: str) -> None:
        entry = self._library.entry(key)
        if entry is None:
            return
        self._is_requested = True
        self._worker.submit(
            partial(_rates_of, entry.device, self._rates),
            on_result=partial(self._on_rates, key),
            on_error=self._on_error,
            on_progress=lambda progress: self._show(progress.message),
        )
        self._show(self.state)

    def _on_rates(self, key: str, rates: SustainedRates | None) -> None:
        """Add the rates; changes that the user made meanwhile stay."""
        entry = self._library.entry(key)
        if entry is None or rates is None:
            self._show("")
            return
        self._is_saving = True
        device = with_measured_rates(entry.device, rates)
        self._library.save(key, replace(entry.file, device=device))
        self._show("")

    def _on_library(self) -> None:
        if self._is_saving and not self._library.busy:
            self._is_saving = False
            self.changed.emit()

    def _on_error(self, error: CtmError) -> None:
        self._show("")
        self._library.failed.emit(error)

    def _show(self, state: str) -> None:
        self.state = state
        self.changed.emit()


def _rates_of(device: Device, store: MachineRates, context: TaskContext) -> SustainedRates | None:
    """Return the rates of this machine; None where the device is not of its hardware."""
    machine = describe_this_machine()
    if not is_this_machine(device, machine):
        return None
    rates = store.of(machine)
    if rates is None:
        context.report(Progress(0, 1, MEASURING))
        # The store, which lies in the same folder, reports a folder that cannot be written.
        rates = measure_rates(machine, store, lambda _: None, context.token)
    return rates
