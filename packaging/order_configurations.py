"""Writes the configurations of the shipped devices in the order of the table of defaults.

    python packaging/order_configurations.py [FOLDER]

The order is that of ``predictor.devices.default_configurations``: what owners deploy with, then
what the shipped engine has measurements of, then the rest, the best deployable first. Only the
field ``configurations`` of a file changes. Run it after a change of the table, of a device's facts,
or of the engine.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from destination import destination

from predictor.core.records import Configuration, Device
from predictor.devices.catalogue import devices_dir, load_device_files
from predictor.devices.default_configurations import best_first
from predictor.devices.schema import device_to_object
from predictor.services.prediction.engines import measured_configurations


def ordered(device: Device) -> tuple[Configuration, ...]:
    """Return the configurations of a device as its file lists them."""
    return best_first(device, device.configurations, measured_configurations(device))


def write_ordered(folder: Path) -> list[str]:
    """Write the files of a folder whose order differs; return the ids of their devices."""
    written: list[str] = []
    for entry in load_device_files(folder):
        device, configurations = entry.device, ordered(entry.device)
        if configurations != device.configurations:
            path = folder / f"{device.id}.json"
            content = json.loads(path.read_bytes())
            listed = Device(
                id=device.id,
                name="",
                vendor="",
                family=device.family,
                metrics={},
                configurations=configurations,
            )
            content["configurations"] = device_to_object(listed)["configurations"]
            path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            written.append(device.id)
    return written


if __name__ == "__main__":
    names = write_ordered(destination(__doc__, devices_dir()))
    sys.stdout.write("".join(f"{name}\n" for name in names))
