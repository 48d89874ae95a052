"""Targets among the commands of the palette: this machine first, then devices by their names."""

from __future__ import annotations

from dataclasses import replace

from ctm_gui.window.help_pages import Command, matching
from predictor.core.records import Device
from predictor.presentation.wording import shown
from predictor.services.devices.catalogue import MACHINE_WORDS, Catalogue
from predictor.services.devices.this_machine import machine_title

MENU = "Targets"
_MAX_DEVICES = 20


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
    """Return commands that tick devices, for what is typed; without words there are none."""
    if not query.strip():
        return []
    devices = [d for d in catalogue.search(query) if d.id != catalogue.machine_id]
    return [_command(device) for device in devices[:_MAX_DEVICES]]


def _command(device: Device) -> Command:
    return Command(
        id=f"tick {device.id}",
        menu=MENU,
        text=shown(device.name),
        tip=f"Tick {shown(device.name)}",
        device_ids=(device.id,),
    )
