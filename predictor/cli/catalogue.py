"""The devices that a command can name, this machine with its rates among them."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from predictor.cli.console import Console
from predictor.cli.progress import progress_on
from predictor.core.errors import HostError
from predictor.core.progress import no_progress
from predictor.core.records import Device, SustainedRates
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.devices.this_machine import MachineRates, measure_rates, this_machine
from predictor.services.devices.user_devices import user_devices_of

MEASURING = (
    "Measuring this machine's two rates (3 s; --no-measure skips it); other programs disturb it."
)


def open_catalogue(options: argparse.Namespace, console: Console) -> Catalogue:
    """Return the shipped devices and the user's own.

    Args:
        options: the command's. ``measure`` tells whether the rates of this machine are measured
            when it is named and none of its hardware are kept.
        console: told that they are measured.
    """
    if not options.measure:
        return quiet_catalogue(options)
    kept = MachineRates(options.store)
    measure = partial(_measured, kept, console)
    return load_catalogue(
        user_devices_of(options.store), lambda own: this_machine(own, kept, measure)
    )


def quiet_catalogue(options: argparse.Namespace) -> Catalogue:
    """Return the devices; of this machine nothing is measured, what is kept has to do."""
    kept = MachineRates(options.store)
    return load_catalogue(
        user_devices_of(options.store), lambda own: this_machine(own, kept, lambda _: None)
    )


def measured_now(kept: MachineRates, console: Console, machine: Device) -> SustainedRates:
    """Measure the rates of this machine and keep them; see ``measure_rates`` for the errors."""
    return measure_rates(
        machine,
        kept,
        lambda error: console.note(f"The rates of this machine are not kept: {error}"),
        # It is a matter of seconds: a line for each of them would fill a log.
        progress=progress_on(console) if sys.stderr.isatty() else no_progress,
    )


def _measured(kept: MachineRates, console: Console, machine: Device) -> SustainedRates | None:
    """Measure the rates of this machine; None, with a note, where that fails."""
    console.note(MEASURING)
    try:
        return measured_now(kept, console, machine)
    except HostError as error:
        console.note(f"This machine is taken without them: {error}")
        return None
