"""The choice of the first page: a target and the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from predictor.core.records import Configuration, Device, Measurement
from predictor.core.stored import SessionState
from predictor.services.probing.sessions import ProbeSession


class Way(StrEnum):
    """Way of latencies from the target to this program."""

    THIS = "this machine"
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
        if self.needs_device and self.device is None:
            return "Choose the device; one that is not listed is described on the Devices tab."
        if self.way is Way.SSH and not self.address.strip():
            return "Give the address of the board, as user@host."
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
