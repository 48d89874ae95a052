"""Configurations that a device supports, as far as that is known."""

from __future__ import annotations

from predictor.core.errors import InputError
from predictor.core.records import Configuration, Device
from predictor.core.runtimes import UNKNOWN, runtime_of
from predictor.core.text import printable


def check_supported(device: Device, configuration: Configuration) -> None:
    """Refuse a configuration that ``device`` cannot run.

    A precision is a matter of the hardware: one of the device's configurations must list it. A
    runtime must be listed or portable to the family; ``unknown``, asked for or listed, fits any.

    Raises:
        InputError: it cannot; the reason says what it runs.
    """
    precisions = dict.fromkeys(str(listed.precision) for listed in device.configurations)
    if configuration.precision not in precisions:
        raise _refusal(device, configuration.precision, precisions, "precisions")
    runtimes = dict.fromkeys(listed.runtime for listed in device.configurations)
    is_listed = configuration.runtime in runtimes or UNKNOWN in runtimes
    if not is_listed and device.family not in runtime_of(configuration.runtime).portable:
        raise _refusal(device, configuration.runtime, runtimes, "runtimes")


def _refusal(device: Device, asked: str, known: dict[str, None], what: str) -> InputError:
    runs = ", ".join(known) or "nothing"
    return InputError(
        device.id,
        f"not supported: {printable(device.name)} does not run {asked}, it runs {runs}",
        f"choose one of these {what} or another device",
    )
