"""This machine in the window: described at the start, measured once where it is predicted."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ctm_gui.devices.library import DeviceEntry, DeviceLibrary
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from predictor.core.errors import CtmError
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Device, SustainedRates
from predictor.core.text import plural
from predictor.services.devices.this_machine import (
    MachineRates,
    describe_this_machine,
    lacks_rates,
    this_machine,
    with_measured_rates,
)

# While views are built and models read this program itself disturbs what is measured.
SETTLE_S = 2.0
_LOOK_S = 0.05
MEASURE_TIP = "Measure its rates and some small reference networks, about 10 seconds"
_CANCELLED = "Cancelled: the numbers of this PC stay as they are."


class ThisMachine(QObject):
    """Describes this machine at the start, and measures it once where it is predicted.

    Signals:
        changed: ``state``, ``reason`` or ``busy`` changed.
        measured: a measurement is stored, on which predictions rest from now on.

    Attributes:
        state: the present activity in a few words, else empty.
        reason: a sentence on why it is not measured; empty where nothing prevented that.
        is_automatic: whether it is measured without a request.

    Args:
        library: gets the device.
        store: the store's file; None for the usual one.
        parent: owner.
    """

    changed = Signal()
    measured = Signal()

    def __init__(
        self, library: DeviceLibrary, store: Path | None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._store = library, store
        self._worker = SerialWorker("this machine", self)
        self._measuring: Task | None = None
        self._was_tried = self._is_probing = False
        self.state = self.reason = ""
        self.is_automatic = True

    @property
    def busy(self) -> bool:
        """Whether it is being described or measured."""
        return self._worker.busy

    def describe(self) -> None:
        """Make this machine the first of the devices, with the rates that its hardware has."""
        self._worker.submit(
            lambda _: this_machine(None, MachineRates(self._store)),
            on_result=self._on_described,
            on_error=self._library.failed.emit,
        )

    def prepare(self, devices: Iterable[Device]) -> None:
        """Measure this machine where it is predicted; once a session, so that Cancel counts.

        Args:
            devices: that are predicted.
        """
        machine = self._library.machine
        if machine is None or self._was_tried or not self.is_automatic:
            return
        if machine.device.id in {device.id for device in devices}:
            self._measure(again=False)

    def measure(self) -> None:
        """Measure this machine now, also where it was measured before."""
        self._measure(again=True)

    def cancel(self) -> None:
        """Stop measuring; what the system states remains."""
        if self._measuring is not None:
            self._measuring.cancel()
            self._end(_CANCELLED)

    def set_probing(self, *, active: bool) -> None:
        """Measure nothing while reference networks are measured for a probing."""
        self._is_probing = active
        if active and self._measuring is not None:
            self._measuring.cancel()
            self._was_tried = False
            self._end("")

    def close(self) -> None:
        """Stop all work."""
        self._worker.close()

    def _measure(self, *, again: bool) -> None:
        if self._measuring is not None or self._is_probing:
            return
        self._was_tried = True
        self._measuring = self._worker.submit(
            partial(_measured, self._store, again),
            on_result=self._on_measured,
            on_error=self._on_error,
            on_progress=self._on_progress,
        )
        self.changed.emit()

    def _on_described(self, device: Device) -> None:
        self._library.set_machine(device)
        self.changed.emit()

    def _on_progress(self, progress: Progress) -> None:
        self.state = f"Measuring this PC, {progress.total - progress.done} s"
        self.reason = ""
        self.changed.emit()

    def _on_measured(self, result: _Result) -> None:
        machine = self._library.machine
        if machine is not None:
            self._take(machine, result)
        self._end(result.refusal)
        if result.success:
            self.measured.emit()

    def _take(self, machine: DeviceEntry, result: _Result) -> None:
        """Give this machine the rates of its hardware; once it is measured it is stored."""
        device = machine.device
        if result.rates is not None and lacks_rates(device):
            device = with_measured_rates(device, result.rates)
        if result.success or (machine.stored_id and device != machine.device):
            file = replace(machine.file, device=device)
            self._library.save(machine.key, file, result.success)
        elif not machine.stored_id:
            self._library.set_machine(device)

    def _on_error(self, error: CtmError) -> None:
        self._end("Measuring this PC failed: see the messages.")
        self._library.failed.emit(error)

    def _end(self, reason: str) -> None:
        self._measuring = None
        self.state, self.reason = "", reason
        self.changed.emit()


@dataclass(frozen=True, slots=True)
class _Result:
    """Result of a measurement: a success, a refusal, or neither where there was one before.

    Attributes:
        rates: of the hardware; None where they are not measured.
        success: a sentence where it was measured.
        refusal: the reason where it was not.
    """

    rates: SustainedRates | None
    success: str = ""
    refusal: str = ""


def _measured(store: Path | None, again: bool, context: TaskContext) -> _Result:
    """Measure this machine, unless its predictions rest on a probing already.

    Args:
        store: the store's file; None for the usual one.
        again: whether it is measured also where it was before.
        context: of the task.
    """
    # They import the engine of the estimate: half a second that the start does without.
    from predictor.services.probing.quick import (
        QUICK_S,
        Refusal,
        probe_quickly,
    )
    from predictor.services.signatures.quick import has_signature

    machine, rates = describe_this_machine(), MachineRates(store)
    try:
        if not again and has_signature(store, machine):
            return _Result(rates.of(machine))
    except CtmError as error:  # of the store, which says so where it is opened
        return _Result(rates.of(machine), refusal=f"Not measured. {error}")
    context.report(Progress(0, QUICK_S, ""))
    _settle(context.token)
    outcome = probe_quickly(store, context.token, context.report)
    if isinstance(outcome, Refusal):
        return _Result(rates.of(machine), refusal=f"Not measured. {outcome.words}")
    networks = plural(outcome.networks, "reference network")
    words = f"This PC was measured in {outcome.seconds:.0f} s: its rates, {networks}"
    return _Result(rates.of(machine), success=words)


def _settle(token: CancelToken) -> None:
    """Wait for what the window does at a start; raises a CancelledError once it is cancelled."""
    end_s = time.monotonic() + SETTLE_S
    while time.monotonic() < end_s:
        token.check()
        time.sleep(_LOOK_S)
