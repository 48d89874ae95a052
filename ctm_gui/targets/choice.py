"""The devices of the catalogue that are compared, with favourites and configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.targets.what_ifs import WhatIf
from ctm_gui.undo import UndoStep, push_change
from predictor.core.records import Configuration, Device, Target
from predictor.core.text import plural, printable
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.presentation.wording import target_text
from predictor.services.devices.catalogue import Catalogue
from predictor.services.prediction.targets import supports


class TargetSelection(QObject):
    """The devices of the catalogue, and the selection among them.

    ``changed`` is emitted when the checked devices change; ``devices_changed`` when the devices to
    choose from do; ``badges_changed`` gives the ids of the devices whose badges changed.

    Attributes:
        configurations: the one that was chosen in place of the usual one, by device id.
        variants: further configurations that are predicted beside it, by device id.
        what_ifs: what is predicted in its place for now, by device id.

    Args:
        catalogue: all devices.
        selected: ids that are checked; one that is not known counts once its device is there. None
            is the default cross-section, and this machine once it is described.
        undo_stack: gets a step for each choice of the user's.
        parent: owner.
    """

    changed = Signal()
    devices_changed = Signal()
    badges_changed = Signal(frozenset)

    def __init__(
        self,
        catalogue: Catalogue,
        selected: Iterable[str] | None = None,
        undo_stack: QUndoStack | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._undo_stack = undo_stack or QUndoStack(self)
        self.catalogue = catalogue
        first = (THIS_MACHINE_ID, *(device.id for device in catalogue.cross_section))
        # Ids of absent devices are kept: own devices come only once the store is read.
        self._selected = set(first if selected is None else selected)
        self._favourites: set[str] = set()
        self.configurations: dict[str, Configuration] = {}
        self.variants: dict[str, tuple[Configuration, ...]] = {}
        self.what_ifs: dict[str, WhatIf] = {}
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
        if old_id in self._favourites:
            self._favourites = self._favourites - {old_id} | {new_id}
        if old_id in self.configurations:
            self.configurations[new_id] = self.configurations.pop(old_id)
        if old_id in self.variants:
            self.variants[new_id] = self.variants.pop(old_id)

    @property
    def selected_ids(self) -> tuple[str, ...]:
        """Ids of the checked devices, in the catalogue's order."""
        # Not by the devices: a start reads the files of the checked ones alone.
        return tuple(name for name in self.catalogue.by_id if name in self._selected)

    @property
    def selected(self) -> tuple[Device, ...]:
        """The checked devices, in the catalogue's order, once for each configuration.

        The one that is predicted is the first of the device: the chosen one, then its variants. A
        what-if stands in place of the chosen one.
        """
        return tuple(
            with_first(device, configuration)
            for device in map(self.catalogue.by_id.__getitem__, self.selected_ids)
            for configuration in (self._predicted_first(device), *self.variants_of(device))
        )

    def _predicted_first(self, device: Device) -> Configuration:
        chosen, what_if = self.configuration_of(device), self.what_ifs.get(device.id)
        return chosen if what_if is None else what_if.of(with_first(device, chosen))

    def set_what_if(self, device: Device, what_if: WhatIf) -> None:
        """Predict a device, ticked by it, otherwise for now; an empty what-if as usual."""
        before = dict(self.what_ifs)
        after = {key: value for key, value in before.items() if key != device.id}
        if what_if != WhatIf():
            after[device.id] = what_if
        if after != before:
            words = f"{printable(device.name)}: {what_if.words or 'No What-If'}"
            push_change(
                self._undo_stack, words, self._show_what_ifs, after, before, f"what if {device.id}"
            )

    def reset_what_ifs(self) -> None:
        """Predict all targets as usual."""
        if self.what_ifs:
            push_change(
                self._undo_stack, "Reset What-Ifs", self._show_what_ifs, {}, dict(self.what_ifs)
            )

    def _show_what_ifs(self, what_ifs: dict[str, WhatIf]) -> None:
        self.what_ifs = dict(what_ifs)
        self.devices_changed.emit()
        self.changed.emit()

    @property
    def favourites(self) -> frozenset[str]:
        """Ids of the favourite devices."""
        return frozenset(self._favourites)

    def set_favourite(self, device_id: str, *, favourite: bool) -> None:
        """Make a device a favourite, or no longer."""
        change = self._favourites.add if favourite else self._favourites.discard
        change(device_id)
        self.devices_changed.emit()

    def has_choice(self, device_id: str) -> bool:
        """Whether anything but the usual configuration may be chosen of a device."""
        return (
            device_id in self.configurations
            or device_id in self.what_ifs
            or device_id in self.variants
        )

    def configuration_of(self, device: Device) -> Configuration:
        """Return the configuration that a device is predicted with."""
        usual = device.configurations[0]
        chosen = self.configurations.get(device.id, usual)
        # The device may have been edited since, or lack what an earlier session chose.
        is_available = chosen in device.configurations or supports(device, chosen)
        return chosen if is_available else usual

    def variants_of(self, device: Device) -> tuple[Configuration, ...]:
        """Return the further configurations of a device that it can run."""
        chosen = self.configuration_of(device)
        return tuple(
            variant
            for variant in self.variants.get(device.id, ())
            if supports(device, variant) and not are_same(device, variant, chosen)
        )

    def add_variant(self, device: Device, variant: Configuration) -> None:
        """Predict a device, ticked by it, with a further configuration."""
        present = (self.configuration_of(device), *self.variants_of(device))
        if not any(are_same(device, variant, entry) for entry in present):
            words = f"Add {printable(device.name)}: {target_text(variant)}"
            self._set_variants(device, (*self.variants_of(device), variant), words, checked=True)

    def remove_variant(self, device: Device, variant: Configuration) -> None:
        """Predict a device with a configuration less."""
        left = tuple(entry for entry in self.variants_of(device) if entry != variant)
        words = f"Remove {printable(device.name)}: {target_text(variant)}"
        self._set_variants(device, left, words, checked=device.id in self._selected)

    def _set_variants(
        self, device: Device, variants: tuple[Configuration, ...], words: str, *, checked: bool
    ) -> None:
        before = self.variants.get(device.id, ())
        was_checked = device.id in self._selected
        change = partial(self._show_variants, device.id, variants, checked=checked)
        back = partial(self._show_variants, device.id, before, checked=was_checked)
        self._undo_stack.push(UndoStep(words, change, back))

    def _show_variants(
        self, device_id: str, variants: tuple[Configuration, ...], *, checked: bool
    ) -> None:
        self.variants[device_id] = variants
        if not variants:
            del self.variants[device_id]
        self._selected = self._selected - {device_id} | ({device_id} if checked else set())
        self.devices_changed.emit()
        self.changed.emit()

    def choices(self, device: Device) -> tuple[Configuration, ...]:
        """Return the configurations of a device, and the one that it is predicted with."""
        chosen = self.configuration_of(device)
        configurations = device.configurations
        return configurations if chosen in configurations else (*configurations, chosen)

    def show_probed(self, device_id: str, probed: Configuration) -> Configuration:
        """Check a device, predicted as it was measured; return the configuration of that.

        Args:
            device_id: of the device.
            probed: that was measured, threads as a count.
        """
        device = next((entry for entry in self.devices if entry.id == device_id), None)
        configuration = replace(probed, batch=0)
        if device is not None:
            # "All cores" and their number are one target: what the device lists goes first.
            same = (c for c in device.configurations if are_same(device, c, configuration))
            configuration = next(same, configuration)
            self._configure(device, configuration)
        # No step: undo after a probing would only hide its result.
        self._check({device_id}, checked=True)
        return configuration

    def show_targets(self, targets: Sequence[Target]) -> None:
        """Check these devices alone, each in the configuration of its first target, as one step."""
        chosen = {t.device.id: replace(t.configuration, batch=0) for t in reversed(targets)}
        before = frozenset(self._selected), dict(self.configurations)
        after = frozenset(chosen), {**self.configurations, **chosen}
        words = f"Compare {plural(len(chosen), 'target')}"
        push_change(self._undo_stack, words, self._show_selection, after, before)

    def _show_selection(self, state: tuple[frozenset[str], dict[str, Configuration]]) -> None:
        self._selected, self.configurations = set(state[0]), dict(state[1])
        self.devices_changed.emit()
        self.changed.emit()

    def set_configuration(self, device: Device, configuration: Configuration) -> None:
        """Predict a device with a configuration; its first one is the usual."""
        before = self.configuration_of(device)
        if configuration != before:
            words = f"{printable(device.name)}: {target_text(configuration)}"
            configure = partial(self._configure, device)
            push_change(self._undo_stack, words, configure, configuration, before)

    def _configure(self, device: Device, configuration: Configuration) -> None:
        if configuration == device.configurations[0]:
            self.configurations.pop(device.id, None)
        else:
            self.configurations[device.id] = configuration
        self.devices_changed.emit()
        if device.id in self._selected:
            self.changed.emit()

    def restore(
        self,
        favourites: Iterable[str],
        configurations: Mapping[str, Configuration],
        variants: Mapping[str, tuple[Configuration, ...]],
    ) -> None:
        """Take up favourites, configurations and variants of an earlier session."""
        self._favourites = set(favourites)
        self.configurations, self.variants = dict(configurations), dict(variants)
        self.devices_changed.emit()
        self.changed.emit()

    def show_saved(self, device_id: str) -> None:
        """Check a device that the user saved; to take that back is no step of its own."""
        self._check({device_id}, checked=True)

    def is_selected(self, device_id: str) -> bool:
        """Whether the device is checked."""
        return device_id in self._selected

    def count_selected(self, device_ids: frozenset[str]) -> int:
        """Return how many of some devices are checked."""
        return len(device_ids & self._selected)

    def select(self, device_ids: Iterable[str], *, selected: bool) -> None:
        """Check or uncheck devices."""
        ids = set(device_ids)
        changed = ids - self._selected if selected else ids & self._selected
        if changed:
            words = f"{'Tick' if selected else 'Untick'} {self._names(changed)}"
            tick, back = (
                partial(self._check, changed, checked=c) for c in (selected, not selected)
            )
            self._undo_stack.push(UndoStep(words, tick, back))

    def _check(self, device_ids: set[str], *, checked: bool) -> None:
        after = self._selected | device_ids if checked else self._selected - device_ids
        if after != self._selected:
            self._selected = after
            self.changed.emit()

    def _names(self, device_ids: set[str]) -> str:
        if len(device_ids) > 1:
            return plural(len(device_ids), "target")
        (identity,) = device_ids
        device = self.catalogue.by_id.get(identity)
        return printable(device.name if device else identity)

    def badge(self, device_id: str) -> tuple[str, str]:
        """Return the basis of a device's numbers, in a word and in a sentence."""
        return self._badges.get(device_id, ("", ""))

    @property
    def has_badges(self) -> bool:
        """Whether any device has a badge."""
        return bool(self._badges)

    def set_badges(self, badges: Mapping[str, tuple[str, str]]) -> None:
        """Set the basis of each device's numbers, a word and a sentence by device id."""
        old, self._badges = self._badges, dict(badges)
        changed = frozenset(key for key, _ in old.items() ^ badges.items())
        if changed:
            self.badges_changed.emit(changed)


def are_same(device: Device, one: Configuration, other: Configuration) -> bool:
    """Whether two configurations are one target: all cores and their number are."""
    # Not by their identities, which take ten times as long: a catalogue has thousands of choices.
    alike = (one.runtime, one.precision, one.batch) == (other.runtime, other.precision, other.batch)
    return alike and device.threads_in_use(one.threads) == device.threads_in_use(other.threads)


def with_first(device: Device, configuration: Configuration) -> Device:
    """Return a device whose first configuration is another: ``resolve_targets`` takes that."""
    if configuration == device.configurations[0]:
        return device
    further = (c for c in device.configurations if c != configuration)
    return replace(device, configurations=(configuration, *further))
