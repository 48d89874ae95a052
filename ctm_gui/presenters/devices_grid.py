"""The list of devices as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctm_gui.presenters.devices import DeviceEntry
from ctm_gui.presenters.grid import Grid, count_column, text_column
from predictor.core.metric_labels import FAMILY_WORDS
from predictor.core.wording import shown


class DevicesGrid(Grid):
    """A row for each device: its name, whose it is, and how many metrics are known.

    Args:
        entries: the devices, in the order in which they are shown first.
        is_modified: whether a key's device has something that is not saved.
    """

    def __init__(self, entries: Sequence[DeviceEntry], is_modified: Callable[[str], bool]) -> None:
        self.entries = tuple(entries)
        self.texts = [_searched(entry) for entry in self.entries]
        names = [_name(entry, is_modified(entry.key)) for entry in self.entries]
        columns = [
            text_column(
                "name", "Device", names, "Devices of your own stand first; edited: not saved yet."
            ),
            count_column(
                "facts",
                "Facts",
                [len(entry.device.metrics) for entry in self.entries],
                str,
                "How many hardware metrics are known.",
            ),
        ]
        super().__init__(len(self.entries), columns)

    def row_of(self, key: str) -> int | None:
        """Return the row of a device; None where it is not there."""
        keys = [entry.key for entry in self.entries]
        return keys.index(key) if key in keys else None


def _name(entry: DeviceEntry, modified: bool) -> str:
    name = shown(entry.device.name)
    if not entry.own:
        return name
    state = "edited" if modified else "own"
    return f"{name} · {state}"


def _searched(entry: DeviceEntry) -> str:
    device = entry.device
    words = (device.id, device.name, device.vendor, device.family.value, device.system)
    whose = "own" if entry.own else "shipped"
    return " ".join((*words, FAMILY_WORDS[device.family], whose)).casefold()
