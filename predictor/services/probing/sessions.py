"""Probe sessions of the store: networks of a target, each stored as soon as it is measured."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from predictor import __version__
from predictor.core.documents import NO_FACTS, ProbingFacts
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Measurement, Signature
from predictor.probing.planning import PlannedProbe, ProbePlan
from predictor.probing.protocol import CheckedNetwork, measurement_of
from predictor.probing.runner.settings import PROTOCOL
from predictor.services.probing.session_plan import SessionPlan
from predictor.store import measurements as measurement_records
from predictor.store import probe_sessions as records
from predictor.store.database import Database
from predictor.store.probe_sessions import ProbeState, SessionState, StoredProbe, StoredSession

__all__ = ["ProbeSession", "ProbeSessions", "ProbeState", "SessionProbe", "SessionState"]


@dataclass(frozen=True, slots=True)
class SessionProbe:
    """One network of a session.

    Attributes:
        name: unique in the session.
        fingerprint: of its operator graph.
        state: what became of it.
        reason: why it has no number, in words, else empty.
        verdict: steady, noisy or inconclusive; empty where it was not measured.
        words: the verdict for people.
        measurement_id: of its measurement, None where it has none.
    """

    name: str
    fingerprint: str
    state: ProbeState = ProbeState.WAITING
    reason: str = ""
    verdict: str = ""
    words: str = ""
    measurement_id: str | None = None

    @classmethod
    def of(cls, stored: StoredProbe) -> SessionProbe:
        """Read what the store has of a network."""
        outcome = json.loads(stored.outcome)
        return cls(
            stored.name,
            stored.fingerprint,
            stored.state,
            stored.reason,
            str(outcome.get("verdict", "")),
            str(outcome.get("words", "")),
            stored.measurement_id,
        )


@dataclass(frozen=True, slots=True)
class ProbeSession:
    """A session.

    Attributes:
        id: UUID hex.
        device_id: id of the device.
        configuration: threads and batch resolved to counts.
        plan: all that its networks are made of and measured by.
        probes: in the order of measuring.
        state: whether it has something to do.
        created_ns: when it was planned, since 1970.
        finished_ns: when it ended, None while it is running.
        facts: of the machine, and the drift.
    """

    id: str
    device_id: str
    configuration: Configuration
    plan: SessionPlan
    probes: tuple[SessionProbe, ...]
    state: SessionState = SessionState.RUNNING
    created_ns: int = 0
    finished_ns: int | None = None
    facts: ProbingFacts = NO_FACTS

    @classmethod
    def of(cls, stored: StoredSession) -> ProbeSession:
        """Read what the store has of a session."""
        return cls(
            stored.id,
            stored.device_id,
            stored.configuration,
            SessionPlan.parse(stored.plan),
            tuple(map(SessionProbe.of, stored.probes)),
            stored.state,
            stored.created_ns,
            stored.finished_ns,
            stored.facts,
        )

    @property
    def waiting(self) -> list[str]:
        """Names of the networks that are still to be measured."""
        return [probe.name for probe in self.probes if probe.state is ProbeState.WAITING]


class ProbeSessions:
    """The sessions in an open store.

    Args:
        database: opened on this thread; the caller closes it.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def start(self, plan: ProbePlan, kit: Mapping[str, str] | None = None) -> ProbeSession:
        """Store a new session of a plan and return it; ``measure`` measures it.

        Args:
            plan: that was made now.
            kit: where a kit was written, the hash of the plan in it.
        """
        stored = replace(SessionPlan.of(plan), kit=kit)
        target, probes = plan.target, _waiting(plan.probes)
        records.add(
            self.database,
            StoredSession(
                plan.id, target.device.id, target.configuration, stored.to_json(), probes
            ),
        )
        return self.get(plan.id)

    def get(self, session_id: str) -> ProbeSession:
        """Return a session by its id, or the beginning of it that only one has.

        Raises:
            InputError: there is none, or more than one.
        """
        matching = [s for s in records.every(self.database) if s.id.startswith(session_id)]
        if len(matching) > 1:
            raise InputError(
                f"session {session_id}", f"{len(matching)} sessions begin so", "give more of the id"
            )
        return ProbeSession.of(matching[0] if matching else records.get(self.database, session_id))

    def running(self, session_id: str) -> ProbeSession:
        """Return a session that has not ended.

        Raises:
            InputError: there is no such session, or it has ended.
        """
        session = self.get(session_id)
        if session.state is not SessionState.RUNNING:
            raise InputError(f"session {session.id}", f"it is {session.state}", "start another one")
        return session

    def every(self) -> list[ProbeSession]:
        """Return all sessions, the oldest first."""
        return [ProbeSession.of(stored) for stored in records.every(self.database)]

    def measurements(self, session_id: str) -> dict[str, Measurement]:
        """Return the measurements of a session by id."""
        measured = measurement_records.of_session(self.database, session_id)
        return {measurement.id: measurement for measurement in measured}

    def repeat(self, session_id: str, names: Sequence[str]) -> None:
        """Let networks be measured again by the next run; their measurements stay stored.

        Raises:
            InputError: there is no such session, or it has no such network.
        """
        session = self.get(session_id)
        unknown = [name for name in names if name not in {p.name for p in session.probes}]
        if unknown:
            raise InputError(
                f"network {unknown[0]}", f"session {session.id} has none", "see `ctm probe show`"
            )
        records.repeat(self.database, session.id, names)

    def give_up(self, session_id: str) -> None:
        """End a session without measuring the rest; what was measured becomes the signature.

        Raises:
            InputError: there is no such session, or it has ended.
        """
        session = self.running(session_id)
        self.remove_folder(session.id)
        self.finish(session.id, SessionState.CANCELLED)

    def extend(self, session: ProbeSession, chosen: Sequence[PlannedProbe]) -> None:
        """Add networks behind those of a session."""
        plan = session.plan.grown(chosen).to_json()
        records.extend(self.database, session.id, plan, _waiting(chosen))

    def note(self, session_id: str, **facts: object) -> None:
        """Add facts to a session's; one that was noted before is replaced."""
        records.note(self.database, session_id, facts)

    def record(
        self, session: ProbeSession, network: CheckedNetwork, origin: Mapping[str, Any]
    ) -> None:
        """Store what was measured of a network.

        Args:
            session: that it is of.
            network: as the runner tells it.
            origin: where it was measured, for the provenance.
        """
        if network.median_ms is None:
            outcome = {**origin, **network.facts(with_samples=True)}
            self._record_without_number(
                session.id, network.name, ProbeState.INCONCLUSIVE, network.words, outcome
            )
            return
        plan = session.plan.facts()
        provenance = {
            "tool": f"closertome {__version__}",
            "boundary": "session.run, inputs prepared before",
            "settings": plan["settings"],
            **plan["configuration"],
            **origin,
        }
        measurement = measurement_of(network, session.device_id, session.configuration, provenance)
        outcome = {"verdict": network.verdict, "words": network.words}
        records.record_measured(
            self.database, session.id, network.name, measurement, json.dumps(outcome)
        )

    def record_failure(self, session_id: str, name: str, failure: str, reason: str) -> None:
        """Store that a network could not be measured, and why."""
        state = ProbeState.SKIPPED if failure == "skipped" else ProbeState.FAILED
        self._record_without_number(
            session_id, name, state, f"{failure}: {reason}", {"failure": failure}
        )

    def _record_without_number(
        self, session_id: str, name: str, state: ProbeState, reason: str, outcome: Mapping[str, Any]
    ) -> None:
        records.record_without_number(
            self.database, session_id, name, state, reason, json.dumps(outcome)
        )

    def finish(self, session_id: str, state: SessionState = SessionState.FINISHED) -> None:
        """End a session; its measurements become the active signature of its target."""
        session = self.get(session_id)
        ids = tuple(p.measurement_id for p in session.probes if p.measurement_id is not None)
        if not ids:
            ended = SessionState.FAILED if state is SessionState.FINISHED else state
            records.finish(self.database, session_id, ended)
            return
        signature = Signature(
            uuid.uuid4().hex, session.device_id, session.configuration, ids, active=True
        )
        facts = session.facts.with_facts(protocol=PROTOCOL, **session.plan.facts())
        records.finish(self.database, session_id, state, signature, facts)

    def folder(self, session_id: str) -> Path:
        """Return where a session's networks are built; a run that was killed leaves them there."""
        path = self.database.path
        return path.with_name(f"{path.name}.probes") / session_id

    def remove_folder(self, session_id: str) -> None:
        """Remove the networks that were built for a session."""
        folder = self.folder(session_id)
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another session may be at work
            folder.parent.rmdir()


def _waiting(probes: Iterable[PlannedProbe]) -> tuple[StoredProbe, ...]:
    return tuple(StoredProbe(p.network.name, p.network.fingerprint) for p in probes)
