"""Which devices of the catalogue are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QObject, Signal

from predictor.core.records import Device
from predictor.services.catalogue import Catalogue
from predictor.services.comparison import default_devices


class TargetSelection(QObject):
    """The devices of the catalogue and which of them are checked.

    ``changed`` says that the checked devices are others; ``devices_changed`` that the devices to
    choose from are; ``badges_changed`` that their badges are.

    Args:
        catalogue: all devices.
        selected: ids that are checked; one that is not known counts once its device is there. None
            is the default cross-section.
        parent: owner.
    """

    changed = Signal()
    devices_changed = Signal()
    badges_changed = Signal()

    def __init__(
        self,
        catalogue: Catalogue,
        selected: Iterable[str] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.catalogue = catalogue
        wanted = selected if selected is not None else [d.id for d in default_devices(catalogue)]
        self._selected = set(wanted)
        self._badges: dict[str, tuple[str, str]] = {}

    @property
    def devices(self) -> tuple[Device, ...]:
        """All devices, in the catalogue's order."""
        return self.catalogue.devices

    def set_catalogue(self, catalogue: Catalogue) -> None:
        """Choose among other devices; those that are checked and still there stay checked."""
        before = self.selected
        self.catalogue = catalogue
        self.devices_changed.emit()
        if self.selected != before:
            self.changed.emit()

    def rename(self, old_id: str, new_id: str) -> None:
        """Follow a device to its new id, before its catalogue comes."""
        if old_id in self._selected:
            self._selected = self._selected - {old_id} | {new_id}

    def search(self, words: str) -> tuple[Device, ...]:
        """Return the devices in which every one of the words occurs; all where there is none."""
        return self.catalogue.search(words)

    @property
    def selected_ids(self) -> tuple[str, ...]:
        """Ids of the checked devices, in the catalogue's order."""
        return tuple(device.id for device in self.selected)

    @property
    def selected(self) -> tuple[Device, ...]:
        """The checked devices, in the catalogue's order."""
        return tuple(device for device in self.devices if device.id in self._selected)

    def is_selected(self, device_id: str) -> bool:
        """Whether the device is checked."""
        return device_id in self._selected

    def select(self, device_ids: Iterable[str], *, selected: bool) -> None:
        """Check or uncheck devices."""
        ids = set(device_ids)
        after = self._selected | ids if selected else self._selected - ids
        if after != self._selected:
            self._selected = after
            self.changed.emit()

    def badge(self, device_id: str) -> tuple[str, str]:
        """Return what the device's numbers rest on, in a word and in a sentence."""
        return self._badges.get(device_id, ("", ""))

    def set_badges(self, badges: Mapping[str, tuple[str, str]]) -> None:
        """Say what each device's numbers rest on, by device id."""
        if badges != self._badges:
            self._badges = dict(badges)
            self.badges_changed.emit()
