"""The ticked targets as the wizard offers them: how each is reached, and as what it is probed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctm_gui.probing.choice import Way
from predictor.core.records import Configuration, Device, Target
from predictor.core.runtimes import CPUS, MEASURED
from predictor.core.text import plural
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.presentation.wording import configuration_text
from predictor.services.probing.plan import probe_target
from predictor.services.signatures.user_signatures import UserSignatures

_REACHED = {
    Way.THIS: "here",
    Way.SSH: "over SSH, or by a kit",
    Way.IMPORT: "by an import",
}


@dataclass(frozen=True, slots=True)
class Ticked:
    """A ticked target.

    Attributes:
        target: as it is compared, what-ifs in it.
        way: that its measurements come by, unless the user chooses another.
        probed: the target of its measurements.
        networks: number of networks that were measured on it already.
    """

    target: Target
    way: Way
    probed: Target
    networks: int

    @property
    def waits(self) -> bool:
        """Whether it can be probed from here, and was not yet."""
        return self.way is not Way.IMPORT and not self.networks

    @property
    def reached(self) -> str:
        """The way in a few words."""
        return _REACHED[self.way]

    @property
    def state(self) -> str:
        """Its measurements in a few words."""
        return f"{plural(self.networks, 'network')} measured" if self.networks else "not yet"

    @property
    def words(self) -> str:
        """Sentence on the configuration that is probed, or why none is; empty where it is plain."""
        if self.way is Way.IMPORT:
            return (
                "It cannot be probed from here: reference networks run on processors, with "
                f"{MEASURED}. Measure with its own runtime, and import the file or type medians."
            )
        if self.probed.id == self.target.id:
            return ""
        ticked, probed = (
            configuration_text(replace(target.configuration, threads=target.threads, batch=0))
            for target in (self.target, self.probed)
        )
        return (
            f"It is ticked with {ticked}. Reference networks run with {probed}: it is ticked so "
            "afterwards. The results help its other configurations too, but less."
        )


def ticked_targets(
    targets: Sequence[Target], user_signatures: UserSignatures
) -> tuple[Ticked, ...]:
    """Return the ticked targets: this machine, then what can be reached, then the others.

    Args:
        targets: as they are compared.
        user_signatures: the user's measurements.
    """
    order = list(_REACHED)
    # Measurements count for every batch: several of one target are probed once.
    by_id = {target.id: target for target in reversed(targets)}
    entries = [
        _ticked(by_id[identity], user_signatures)
        for identity in dict.fromkeys(t.id for t in targets)
    ]
    return tuple(sorted(entries, key=lambda entry: order.index(entry.way)))


def _ticked(target: Target, user_signatures: UserSignatures) -> Ticked:
    way = _way_to(target.device)
    probed = target
    if way is not Way.IMPORT:
        probed = probe_target(target.device, target.configuration.threads)
    measured = user_signatures.measured.get(probed.id)
    return Ticked(target, way, probed, 0 if measured is None else len(measured.graphs))


def _way_to(device: Device) -> Way:
    if device.id == THIS_MACHINE_ID:
        return Way.THIS
    return Way.SSH if device.family in CPUS else Way.IMPORT


def configuration_of(entry: Ticked) -> Configuration:
    """Return the configuration that the fields of the wizard begin with: threads as ticked."""
    threads = entry.target.configuration.threads
    return replace(entry.probed.configuration, threads=threads, batch=0)
