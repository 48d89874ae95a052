"""The fields of the box, of what it costs, and of the simulation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ctm_gui.loads.fields_view import CountBox, PlainBox, TableForm, show_number, show_text
from predictor.core.units import significant
from predictor.services.loads.boxes import budget_watts
from predictor.services.loads.records import Box

_NONE: Final = "none"
_SEVERAL: Final = re.compile(r"(\d+)\s*[x×]\s+(\S.*)")


class BoxForm(TableForm):
    """Fields of the box of a load: power, price, memory, cores and units."""

    def __init__(self) -> None:
        super().__init__()
        self.power = PlainBox("Watts that the box may draw", "W")
        self.number("power_w", "Power", self.power, "Limit on the runs, before that of the mode.")
        self.price = PlainBox("Price of the box", "")
        self.number("price", "Price", self.price, "Of the box, in your currency.")
        self.memory = PlainBox("Memory that the units share", "GiB")
        self.number("memory_gb", "Memory", self.memory, "That the units share.")
        self.cores = CountBox("Cores of the host", _NONE)
        self.number("host_cores", "Host cores", self.cores, "Of the host.")
        self.clock = self.line("clock", "Clocks", "Clocks in place of those of the mode")
        self.clock.setPlaceholderText("gpu=612,mem=1600")
        self.units = self.line("units", "Units", "Units of the box by name", _units, wide=True)
        self.units.setToolTip("Devices by name: gpu = rtx4090, dla = 2 × jetson-agx-orin-dla.")
        self.units.setPlaceholderText("gpu = rtx4090")
        self.name = self.line("name", "Name", "Name of a box of stated units")

    def show_table(self, table: Mapping[str, Any], box: Box | None) -> None:
        """Show what the table states; else what the box has.

        Args:
            table: of the load file.
            box: None where it is not known.
        """
        watts = budget_watts(box) if box else None
        memory = box.memory_bytes / 2**30 if box and box.memory_bytes else None
        for field, key, value, unit in (
            (self.power, "power_w", watts, " W"),
            (self.price, "price", box and box.price, ""),
            (self.memory, "memory_gb", memory, " GiB"),
            (self.cores, "host_cores", box and box.cores, ""),
        ):
            show_number(field, table.get(key))
            field.setSpecialValueText(f"{significant(value, 6)}{unit}" if value else _NONE)
        units = table.get("units")
        if units is None and box is not None:
            units = {u.name: {"device": u.device.id, "count": u.count} for u in box.units.values()}
        show_text(self.clock, table.get("clock"))
        show_text(self.units, _units_text(units))
        show_text(self.name, table.get("name"))
        self.name.setEnabled("units" in table)


class CostForm(TableForm):
    """Prices beside that of the box."""

    def __init__(self) -> None:
        super().__init__()
        self.energy = PlainBox("Price of a kilowatt hour", "a kWh", none=_NONE)
        self.number("price_per_kwh", "Electricity", self.energy, "In your currency.")
        self.rent = PlainBox("Price of an hour of the box", "an hour", none=_NONE)
        self.number("price_per_hour", "Rent", self.rent, "In your currency.")
        self.years = PlainBox("Years that the box is used", "years", none="3 years")
        self.number("years", "Used for", self.years, "That the price of the box is spread over.")

    def show_table(self, table: Mapping[str, Any]) -> None:
        """Show the prices of a load."""
        show_number(self.energy, table.get("price_per_kwh"))
        show_number(self.rent, table.get("price_per_hour"))
        show_number(self.years, table.get("years"))


class SimulationForm(TableForm):
    """Fields of the simulation of a load: items, draws and seed."""

    def __init__(self) -> None:
        super().__init__()
        self.items = CountBox("Items of all draws together", "40,000")
        self.number("items", "Items", self.items, "Of all draws together.")
        self.draws = CountBox("Draws of the uncertain latencies", "40")
        self.number("draws", "Draws", self.draws, "Of the uncertain latencies.")
        self.seed = CountBox("Seed of all that is drawn", "0")
        self.number("seed", "Seed", self.seed, "The same one draws the same.")

    def show_table(self, table: Mapping[str, Any]) -> None:
        """Show the numbers of a simulation."""
        for field, key in ((self.items, "items"), (self.draws, "draws"), (self.seed, "seed")):
            show_number(field, table.get(key))


def _units(text: str) -> object:
    """Return units as the file has them; the text where it is none, for its reader to say."""
    pairs = [part.partition("=") for part in text.split(",")]
    units: dict[str, object] = {}
    for name, _, device in pairs:
        several = _SEVERAL.fullmatch(device.strip())
        units[name.strip()] = (
            {"device": several[2], "count": int(several[1])} if several else device.strip()
        )
    is_complete = len(units) == len(pairs) and all(units) and all(units.values())
    return units if is_complete else text


def _units_text(units: object) -> str:
    if not isinstance(units, Mapping):
        return str(units or "")
    return ", ".join(f"{name} = {_unit_text(unit)}" for name, unit in units.items())


def _unit_text(unit: object) -> str:
    if not isinstance(unit, Mapping):
        return str(unit)
    count, device = unit.get("count", 1), unit.get("device", "")
    return str(device) if count == 1 else f"{count} × {device}"
