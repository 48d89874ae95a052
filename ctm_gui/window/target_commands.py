"""Targets among the commands of the palette: this machine first, then devices by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctm_gui.targets.products import ProductMatch, find_products
from ctm_gui.window.help_pages import Command, matching
from predictor.core.records import Device
from predictor.presentation.wording import shown
from predictor.services.devices.catalogue import MACHINE_WORDS, Catalogue
from predictor.services.devices.this_machine import machine_title

MENU = "Targets"
_MAX_ROWS = 20


def machine_commands(catalogue: Catalogue, query: str) -> list[Command]:
    """Return the command that ticks this machine, where its words or its name match."""
    machine = catalogue.machine
    if machine is None:
        return []
    title = machine_title(machine)
    command = Command(
        id="this_machine",
        menu=MENU,
        text=shown(title),
        tip="Tick your own computer, where this program runs",
        device_ids=(machine.id,),
    )
    return [command] if matching([replace(command, tip=MACHINE_WORDS)], query) else []


def device_commands(catalogue: Catalogue, query: str) -> list[Command]:
    """Return commands that tick products and devices, for what is typed; none without words."""
    if not query.strip():
        return []
    products, _ = find_products(catalogue, query)
    devices = [d for d in catalogue.search(query) if d.id != catalogue.machine_id]
    return [
        *(_command(item.title, item.sentence, _devices(item)) for item in products[:_MAX_ROWS]),
        *(_command(d.name, f"Tick {d.name}", (d,)) for d in devices[:_MAX_ROWS]),
    ]


def _command(title: str, tip: str, devices: Sequence[Device]) -> Command:
    return Command(
        id=f"tick {title}",
        menu=MENU,
        text=shown(title),
        tip=shown(tip.splitlines()[0]),
        enabled=bool(devices),
        device_ids=tuple(device.id for device in devices),
    )


def _devices(product: ProductMatch) -> list[Device]:
    return [device for _, device in product.units]
