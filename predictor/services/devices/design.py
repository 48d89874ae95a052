"""The design of a device in words: its chip, its architecture and its instruction sets."""

from __future__ import annotations

from collections.abc import Iterator

from predictor.core.records import Device
from predictor.devices.architectures import architectures, instruction_sets
from predictor.presentation.wording import shown


def architecture_titles() -> dict[str, str]:
    """Return the titles of all architectures, by id."""
    return {row.id: row.title for row in architectures().values()}


def instruction_sets_of(architecture: str) -> tuple[str, ...]:
    """Return the instruction sets of the architecture with that id; none where it is unknown."""
    row = architectures().get(architecture)
    return () if row is None else row.instruction_sets


def design_facts(device: Device) -> Iterator[tuple[str, str]]:
    """Yield name and text of each of these facts that is known; several kinds of cores in order."""
    if device.chip:
        yield "Chip", shown(device.chip)
    host, designs = device.host_architecture, _ids(device)
    titles = architecture_titles() if designs or host else {}
    if designs:
        yield "Architecture", ", ".join(shown(titles.get(i, i)) for i in designs)
    sets = dict.fromkeys(
        " ".join(instruction_sets(device, cluster)) for cluster in device.clusters or (None,)
    )
    if any(sets):
        yield "Instruction sets", "; ".join(text or "not known" for text in sets)
    if host:
        yield "Host", shown(titles.get(host, host))


def _ids(device: Device) -> list[str]:
    """Return the distinct ids of a device's architectures, the fastest first."""
    stated = [cluster.architecture for cluster in device.clusters]
    return list(dict.fromkeys(filter(None, [*stated, "" if any(stated) else device.architecture])))
