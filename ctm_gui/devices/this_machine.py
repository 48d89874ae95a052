"""This machine in the window: described at the start, its two rates measured once."""

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
from predictor.services.devices.this_machine import (
    MachineRates,
    describe_this_machine,
    is_this_machine,
    lacks_rates,
    measure_rates,
    this_machine,
    with_measured_rates,
)

MEASURING = "Measuring this machine's two rates, about 3 s…"


class ThisMachine(QObject):
    """Describes this machine at the start, and measures it once where it is predicted.

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
        self._is_requested = False
        self.state = ""

    @property
    def busy(self) -> bool:
        """Whether it is being described or measured."""
        return self._worker.busy

    def describe(self) -> None:
        """Make this machine the first of the devices, with the rates that it has stored."""
        self._worker.submit(
            lambda _: this_machine(None, self._rates),
            on_result=self._on_described,
            on_error=self._library.failed.emit,
        )

    def prepare(self, devices: Iterable[Device]) -> None:
        """Measure this machine beside its first prediction; once a session, so that Cancel counts.

        Args:
            devices: that are predicted.
        """
        machine = self._library.machine
        if machine is None or self._is_requested or self.busy:
            return
        if lacks_rates(machine.device) and machine.device.id in {d.id for d in devices}:
            self.measure()

    def measure(self) -> None:
        """Measure this machine now."""
        machine = self._library.machine
        if machine is None or self.busy:
            return
        self._is_requested = True
        self._worker.submit(
            partial(_rates_of, machine.device, self._rates),
            on_result=self._on_rates,
            on_error=self._on_error,
            on_progress=lambda progress: self._show(progress.message),
        )
        self._show(MEASURING)

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
        self._library.set_machine(device)
        self.changed.emit()

    def _on_rates(self, rates: SustainedRates | None) -> None:
        """Add the rates; changes that the user made meanwhile stay."""
        machine = self._library.machine
        if machine is not None and rates is not None:
            device = with_measured_rates(machine.device, rates)
            if machine.stored_id:
                self._library.save(machine.key, replace(machine.file, device=device))
            else:
                self._library.set_machine(device)
        self._show("")

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
