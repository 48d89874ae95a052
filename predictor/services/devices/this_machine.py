"""This machine as a device, with the two rates that are measured once for its hardware."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import HostError, InputError
from predictor.core.files import read_text, write_text
from predictor.core.metrics import COMPUTED_HERE
from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.core.records import Device, SustainedRates
from predictor.probing import self_test
from predictor.store.database import store_path

_FILE: Final = "machine-rates.json"
_SCHEMA: Final = "ctm-machine-rates/1"
_RATES: Final = ("dram_bw_gbps", "fp32_tflops")
# Of a processor; not its clock, which a virtual machine states as it is at the moment.
_HARDWARE: Final = ("core_count", "fp32_au_per_core", "l1_kb_per_core", "l2_kb", "llc_kb")
# What detection writes, in contrast to the user; the second is of earlier versions, and of keys.
_DETECTED_NAMES: Final = ("This PC", "This machine")
_DETECTED_SOURCE: Final = "this machine: "


class MachineRates:
    """Measured rates by hardware, in a file beside the store: a home folder can have many machines.

    Args:
        store: the store's file; None for that of CTM_STORE, else the one in the user's folder.
    """

    def __init__(self, store: Path | None = None) -> None:
        self._path = store_path(store).with_name(_FILE)

    def of(self, machine: Device) -> SustainedRates | None:
        """Return the rates of a machine as detected; None where the file has none that count."""
        entry = self._machines().get(hardware_of(machine), {})
        try:
            rates = SustainedRates(
                copy_gbps=float(entry["copy_gbps"]),
                product_tflops=float(entry["product_tflops"]),
                all_cores_tflops=float(entry["all_cores_tflops"]),
                day=str(entry["day"]),
            )
        except (LookupError, TypeError, ValueError):
            return None
        numbers = rates.copy_gbps, rates.product_tflops, rates.all_cores_tflops
        counts = all(0 < rate < math.inf for rate in numbers)
        return rates if counts else None

    def keep(self, machine: Device, rates: SustainedRates) -> None:
        """Store the rates of a machine as detected, in place of earlier ones.

        Raises:
            HostError: the file cannot be written.
        """
        machines = {**self._machines(), hardware_of(machine): asdict(rates)}
        text = json.dumps({"schema": _SCHEMA, "machines": machines}, indent=2)
        try:
            # The folder is the store's, which may not be made yet: for the user alone.
            self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            reason = f"it cannot be made ({error.strerror})"
            raise HostError(str(self._path.parent), reason, "make the folder writable") from error
        write_text(self._path, text, "the rates of this machine")

    def _machines(self) -> dict[str, Any]:
        """Return the entries by hardware; none where the file is damaged: it is written anew."""
        try:
            machines = json.loads(read_text(self._path))["machines"]
        except (InputError, LookupError, TypeError, ValueError, RecursionError):
            return {}
        return machines if isinstance(machines, dict) else {}


def this_machine(
    stored: Device | None,
    rates_file: MachineRates,
    measure: Callable[[Device], SustainedRates | None] = lambda _: None,
) -> Device:
    """Return this machine with its rates, as far as they are stated, stored or can be measured.

    Args:
        stored: the user's description of it; None where there is none.
        rates_file: rates of earlier runs.
        measure: gets the machine as detected where it has no rates; returns None to leave it so.
    """
    machine = describe_this_machine()
    device = stored if stored is not None and is_this_machine(stored, machine) else machine
    if not lacks_rates(device):
        return device
    rates = rates_file.of(machine) or measure(machine)
    return device if rates is None else with_measured_rates(device, rates)


def measure_rates(
    machine: Device,
    rates_file: MachineRates,
    on_write_error: Callable[[HostError], None],
    cancel: CancelToken | None = None,
    progress: ProgressCallback = no_progress,
) -> SustainedRates:
    """Measure the two rates of this machine, about two seconds, and store them.

    Args:
        machine: it as detected.
        rates_file: gets the rates once both are measured.
        on_write_error: gets the error where they cannot be written.
        cancel: ends the measurement within a tenth of a second.
        progress: gets the seconds that went by.

    Raises:
        HostError: the measurement fails.
        CancelledError: it was cancelled.
    """
    rates = self_test.run_self_test(machine.threads_in_use(0), cancel=cancel, progress=progress)
    try:
        rates_file.keep(machine, rates)
    except HostError as error:
        on_write_error(error)
    return rates


def describe_this_machine() -> Device:
    """Return this machine as its system states it; nothing is measured."""
    # 20 ms and more that a start does not wait for.
    from predictor.devices.detection import detect_this_machine  # noqa: PLC0415

    return detect_this_machine()


@cache
def this_hardware() -> str:
    """Return the key of this machine's hardware, which is read once."""
    return hardware_of(describe_this_machine())


def is_this_machine(stored: Device, machine: Device) -> bool:
    """Whether a device that was detected once was so on this hardware.

    Fields that the user has changed since do not count.

    Args:
        stored: the user's description of the machine.
        machine: this machine as detected.
    """
    processor = _processor(stored.name)
    if processor is not None and processor != _processor(machine.name):
        return False
    is_detected = stored.sources.get("core_count", "").startswith(_DETECTED_SOURCE)
    return not is_detected or stored.metric("core_count") == machine.metric("core_count")


def machine_title(machine: Device) -> str:
    """Return this machine's name in a list of devices: ``This PC (Intel Core i7-8700)``."""
    processor = _processor(machine.name)
    words = machine.name if processor is None else processor
    return f"{_DETECTED_NAMES[0]} ({words})" if words else _DETECTED_NAMES[0]


def lacks_rates(device: Device) -> bool:
    """Whether one of the two rates that can be measured is not stated, or only computed."""
    return any(
        name not in device.metrics or device.sources.get(name) == COMPUTED_HERE for name in _RATES
    )


def with_measured_rates(device: Device, rates: SustainedRates) -> Device:
    """Return this machine with rates; those that it states itself stay."""
    return self_test.with_measured_rates(device, rates)


def hardware_of(machine: Device) -> str:
    """Return the key of a machine's rates: its processor and the cores of it that can be used."""
    facts = [f"{name} {machine.metrics[name]:g}" for name in _HARDWARE if name in machine.metrics]
    clusters = [f"{cluster.cores} x {cluster.name}" for cluster in machine.clusters]
    name = machine.name.replace(*_DETECTED_NAMES, 1)
    return ", ".join([name, *clusters, *facts, " ".join(machine.instruction_sets)])


def _processor(name: str) -> str | None:
    """Return the processor in a name that detection wrote, perhaps empty; None for the user's."""
    for detected in _DETECTED_NAMES:
        if name == detected or name.startswith(f"{detected} ("):
            return name.removeprefix(detected).strip(" ").removeprefix("(").removesuffix(")")
    return None
