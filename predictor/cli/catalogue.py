"""The devices that a command can name, this machine with its rates among them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial

from predictor.cli.console import Console
from predictor.cli.progress import progress_on
from predictor.core.errors import HostError, InputError
from predictor.core.progress import no_progress
from predictor.core.records import Device, SustainedRates
from predictor.core.text import printable
from predictor.services.devices.catalogue import Catalogue, load_catalogue, means_this_machine
from predictor.services.devices.products import product_sentence
from predictor.services.devices.this_machine import (
    MachineRates,
    describe_this_machine,
    measure_rates,
    this_machine,
)
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.prediction.engines import ROOFLINE
from predictor.services.signatures.quick import has_signature

_WITHOUT = "This machine is predicted without networks measured on it"
_Measure = Callable[[MachineRates, Device], SustainedRates | None]

PROBING = (
    "Measuring this machine, its rates and reference networks (10 s; --no-measure skips it); other "
    "programs disturb it."
)
MEASURING = (
    "Measuring this machine's two rates (2 s; --no-measure skips it); other programs disturb it."
)


def _nothing() -> None:
    """Measure no networks."""


def open_catalogue(
    options: argparse.Namespace, console: Console, *, networks: bool = False
) -> Catalogue:
    """Return the shipped devices and the user's own.

    Args:
        options: the command's. ``measure`` says whether this machine is measured when it is named
            and nothing of its hardware is kept: False for never, None for its rates, and for
            networks on a terminal.
        console: gets a note when it is measured.
        networks: whether the command predicts from measured networks, so that they are worth it.
    """
    if options.measure is False:
        return quiet_catalogue(options)
    is_wanted = networks and (options.measure or _on_terminal()) and _uses_networks(options)
    before = partial(_probe_quickly, options, console) if is_wanted else _nothing
    return _catalogue(options, partial(_measured, console), before)


def _uses_networks(options: argparse.Namespace) -> bool:
    return str(options.engine) != ROOFLINE


def _on_terminal() -> bool:
    """Return whether the command talks with a terminal; in scripts no networks are measured."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def quiet_catalogue(options: argparse.Namespace) -> Catalogue:
    """Return the devices, this machine with its stored rates: nothing is measured."""
    return _catalogue(options, lambda rates, machine: None)  # noqa: ARG005


def named_devices(names: Sequence[str], catalogue: Catalogue, console: Console) -> list[Device]:
    """Return the devices that were requested, each once, in that order; of a product all it has.

    A note says which devices stand for a product.

    Raises:
        InputError: a name is that of no device or product, or of several.
    """
    # This machine last: its rates are not measured for a command that another name refuses.
    matches = {text: catalogue.match(text) for text in sorted(names, key=means_this_machine)}
    for match in (matches[text] for text in dict.fromkeys(names)):
        if match.product is not None:
            console.note(printable(product_sentence(match.product, match.devices)))
    requested = (device for text in names for device in matches[text].devices)
    return list({device.id: device for device in requested}.values())


def _catalogue(
    options: argparse.Namespace, measure: _Measure, before: Callable[[], object] = _nothing
) -> Catalogue:
    """Return the devices, this machine with its rates by ``measure`` where none are kept.

    Args:
        options: of the command.
        measure: measures the rates.
        before: called before this machine is described.
    """

    def this(device: Device | None) -> Device:
        before()
        rates = MachineRates(options.store)
        return this_machine(device, rates, partial(measure, rates))

    return load_catalogue(user_devices_of(options.store), this)


def measured_now(rates: MachineRates, console: Console, machine: Device) -> SustainedRates:
    """Measure the rates of this machine and keep them; see ``measure_rates`` for the errors."""
    return measure_rates(
        machine,
        rates,
        lambda error: console.note(f"The rates of this machine are not kept: {error}"),
        # It takes seconds: a line for each of them would fill a log.
        progress=progress_on(console) if sys.stderr.isatty() else no_progress,
    )


def _measured(console: Console, rates: MachineRates, machine: Device) -> SustainedRates | None:
    """Measure the rates of this machine; None, with a note, where that fails."""
    console.note(MEASURING)
    try:
        return measured_now(rates, console, machine)
    except HostError as error:
        console.note(f"This machine is taken without them: {error}")
        return None


def _probe_quickly(options: argparse.Namespace, console: Console) -> None:
    """Measure reference networks on this machine where none are kept; a note where that fails."""
    try:
        if has_signature(options.store, describe_this_machine()):
            return
        # Not at the top: it makes the start of a command half as long again.
        from predictor.services.probing.quick import Refusal, probe_quickly  # noqa: PLC0415

        console.note(PROBING)
        progress = progress_on(console) if sys.stderr.isatty() else no_progress
        probing = probe_quickly(options.store, progress=progress)
    except (HostError, InputError) as error:
        console.note(f"{_WITHOUT}: {error}")
        return
    if isinstance(probing, Refusal):
        console.note(f"{_WITHOUT}: {probing.words}")
