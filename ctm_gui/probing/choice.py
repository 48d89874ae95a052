"""The choice of the first page: a target, the way to it, and the ticked targets beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from predictor.core.records import Configuration, Device, Measurement, Target
from predictor.core.runtimes import CPUS, MEASURED
from predictor.core.stored import SessionState
from predictor.core.text import plural
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.presentation.wording import configuration_text
from predictor.services.probing.plan import probe_target
from predictor.services.probing.sessions import ProbeSession
from predictor.services.signatures.user_signatures import UserSignatures


class Way(StrEnum):
    """Way of latencies from the target to this program."""

    THIS = "this PC"
    SSH = "a board over SSH"
    KIT = "a kit"
    IMPORT = "an import"


class Source(StrEnum):
    """Kind of an import."""

    KIT = "kit"
    TOOL = "tool"
    TYPED = "typed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetChoice:
    """Choice of the first page.

    Attributes:
        way: this machine, a board over SSH, a kit or an import.
        device: that is probed; None for this machine as it is detected.
        threads: of one operator; 0 for all cores, for an import those of the file.
        address: of the board, ``user@host:port``.
        key_file: private key for the board; empty for the agent and the usual files.
        python: program that runs Python 3 on the board.
        source: kind of the import.
        path: of the file that is imported.
        typed: medians, one network a line.
        configuration: that was measured elsewhere; the file must state its open fields.
    """

    way: Way = Way.THIS
    device: Device | None = None
    threads: int = 1
    address: str = ""
    key_file: str = ""
    python: str = "python3"
    source: Source = Source.KIT
    path: str = ""
    typed: str = ""
    configuration: Configuration = field(default_factory=Configuration)

    @property
    def needs_device(self) -> bool:
        """Whether a device must be chosen: this machine and the results of a kit name their own."""
        return self.way in {Way.SSH, Way.KIT} or (
            self.way is Way.IMPORT and self.source is not Source.KIT
        )

    @property
    def problem(self) -> str:
        """The missing field, in one sentence; empty when the next page can come."""
        if self.way is Way.SSH and not self.address.strip():
            return "Give the address of the board, as user@host."
        if self.needs_device and self.device is None:
            return "Choose the device; one that is not listed is made under Library, Devices, New."
        if self.way is Way.IMPORT and self.source is Source.TYPED and not self.typed.strip():
            return "Type one network a line, as: resnet50 23.4 ms"
        if self.way is Way.IMPORT and self.source is not Source.TYPED and not self.path.strip():
            return "Choose the file."
        return ""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A session with networks left to measure.

    Attributes:
        session: as stored.
        way: how it was begun: by its kit, or by where its measurements come from; None where
            neither is known.
    """

    session: ProbeSession
    way: Way | None

    @property
    def done(self) -> int:
        """Number of its networks that are no longer waiting."""
        return sum(probe.state != "waiting" for probe in self.session.probes)


def unfinished(session: ProbeSession, measurements: Mapping[str, Measurement]) -> Unfinished | None:
    """Return the unfinished part of a session; None where it has ended or cannot be read.

    Args:
        session: as stored.
        measurements: of it, by id.
    """
    if session.state is not SessionState.RUNNING or session.problem:
        return None
    return Unfinished(session, way_of(session, measurements))


def way_of(session: ProbeSession, measurements: Mapping[str, Measurement]) -> Way | None:
    """Return the way a session is measured; None where it is still open."""
    if session.plan.kit:
        return Way.KIT
    sources = {m.provenance.source for m in measurements.values()}
    way_of_source = {"local": Way.THIS, "ssh": Way.SSH}
    return next((way for name, way in way_of_source.items() if name in sources), None)


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
