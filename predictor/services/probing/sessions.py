"""Probe sessions of the store: networks of a target, each stored as soon as it is measured."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from predictor import __version__
from predictor.core.documents import ProbeOutcome
from predictor.core.errors import InputError
from predictor.core.records import Measurement, Signature
from predictor.core.stored import (
    ProbeState,
    SessionProbe,
    SessionState,
    StoredSession,
    StoredSignature,
)
from predictor.probing.planning import PlannedProbe, ProbePlan
from predictor.probing.protocol import CheckedNetwork, measurement_of
from predictor.probing.runner.settings import PROTOCOL
from predictor.services.probing.session_plan import SessionPlan
from predictor.services.signatures.checks import CHECKS, USED_ANYWAY, work_out
from predictor.services.signatures.user_signatures import measurements_of
from predictor.store import measurements as measurement_records
from predictor.store import probe_sessions as records
from predictor.store.database import Database


class ProbeSession(StoredSession):
    """A session whose plan is parsed where it is looked at first."""

    @cached_property
    def plan(self) -> SessionPlan:
        """The stored plan of its networks and their measuring.

        Raises:
            InputError: the stored text is no plan, or lacks a network of the session.
        """
        try:
            plan = SessionPlan.parse(self.plan_text)
            plan.require(probe.name for probe in self.probes)
        # A stored plan is of any earlier version, or damaged: every way in which parsing fails.
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                f"session {self.id}", "its stored plan cannot be read", "start another one"
            ) from error
        return plan

    @property
    def problem(self) -> str:
        """Sentence on why the session cannot be read; empty where it can."""
        try:
            _ = self.plan
        except InputError as error:
            return str(error)
        return ""

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
                id=plan.id,
                device_id=target.device.id,
                configuration=target.configuration,
                plan_text=stored.to_json(),
                probes=probes,
            ),
        )
        return self.get(plan.id)

    def get(self, session_id: str) -> ProbeSession:
        """Return a session by its id, or the beginning of it that only one has.

        Raises:
            InputError: there is none, or more than one.
        """
        # The first digits of an id do, as with git; ``records.get`` raises where none begins so.
        matching = [s for s in records.load_all(self.database) if s.id.startswith(session_id)]
        if len(matching) > 1:
            raise InputError(
                f"session {session_id}", f"{len(matching)} sessions begin so", "give more of the id"
            )
        stored = matching[0] if matching else records.get(self.database, session_id)
        return ProbeSession(**vars(stored))

    def running(self, session_id: str) -> ProbeSession:
        """Return a session that has not ended.

        Raises:
            InputError: there is no such session, or it has ended.
        """
        session = self.get(session_id)
        if session.state is not SessionState.RUNNING:
            raise InputError(f"session {session.id}", f"it is {session.state}", "start another one")
        return session

    def all(self) -> list[ProbeSession]:
        """Return all sessions, the oldest first."""
        return [ProbeSession(**vars(stored)) for stored in records.load_all(self.database)]

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
        """End a session without measuring the rest; its measurements become a signature.

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
        """Store the result of a network.

        Args:
            session: that it is of.
            network: the checked result of the runner.
            origin: runner and machine, for the provenance.
        """
        if network.median_ms is None:
            # No measurement, as there is no median, but its samples stay available.
            state, words = ProbeState.INCONCLUSIVE, network.words
            outcome = ProbeOutcome({**origin, **network.facts(with_samples=True)})
            records.record(self.database, session.id, network.name, state, outcome, words)
            return
        plan = session.plan.facts()
        # The boundary distinguishes these latencies from others that include preparing the inputs.
        provenance = {
            "tool": f"closertome {__version__}",
            "boundary": "session.run, inputs prepared before",
            "settings": plan["settings"],
            **plan["configuration"],
            **origin,
        }
        measurement = measurement_of(network, session.device_id, session.configuration, provenance)
        outcome = ProbeOutcome({"verdict": network.verdict, "words": network.words})
        records.record(
            self.database,
            session.id,
            network.name,
            ProbeState.MEASURED,
            outcome,
            measurement=measurement,
        )

    def record_failure(self, session_id: str, name: str, failure: str, reason: str) -> None:
        """Store that a network could not be measured, and why."""
        state = ProbeState.SKIPPED if failure == "skipped" else ProbeState.FAILED
        outcome = ProbeOutcome({"failure": failure})
        records.record(self.database, session_id, name, state, outcome, f"{failure}: {reason}")

    def finish(
        self,
        session_id: str,
        state: SessionState = SessionState.FINISHED,
        *,
        use_anyway: bool = False,
    ) -> None:
        """End a session; its measurements become a signature, active where it passes its checks.

        Args:
            session_id: of the session.
            state: that it ends in.
            use_anyway: whether the signature is active though it fails its checks.
        """
        session = self.get(session_id)
        ids = tuple(p.measurement_id for p in session.probes if p.measurement_id is not None)
        if not ids:
            # A signature needs at least one measurement.
            ended = SessionState.FAILED if state is SessionState.FINISHED else state
            records.finish(self.database, session_id, ended)
            return
        facts = session.facts.with_facts(protocol=PROTOCOL, **session.plan.facts())
        signature = Signature(
            uuid.uuid4().hex, session.device_id, session.configuration, ids, active=True
        )
        checks = work_out(
            self.database,
            StoredSignature(signature=signature, created_ns=0, facts=facts, session_id=session_id),
            session.probes,
            *measurements_of(self.database, "", self._of(session, ids)),
        )
        facts = facts.with_facts(**{CHECKS: checks.to_json()})
        if checks.reason and use_anyway:
            facts = facts.with_facts(**{USED_ANYWAY: True})
        signature = replace(signature, active=use_anyway or not checks.reason)
        records.finish(self.database, session_id, state, signature, facts)

    def _of(self, session: ProbeSession, ids: Sequence[str]) -> list[Measurement]:
        measurements = self.measurements(session.id)
        return [measurements[name] for name in ids]

    def folder(self, session_id: str) -> Path:
        """Return the folder of a session's networks; a run that was killed leaves them there."""
        # Beside the store, by the session's id: a later run removes what a killed one left.
        path = self.database.path
        return path.with_name(f"{path.name}.probes") / session_id

    def remove_folder(self, session_id: str) -> None:
        """Remove the networks that were built for a session."""
        folder = self.folder(session_id)
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another session may be at work
            folder.parent.rmdir()


def _waiting(probes: Iterable[PlannedProbe]) -> tuple[SessionProbe, ...]:
    return tuple(
        SessionProbe(name=p.network.name, fingerprint=p.network.fingerprint) for p in probes
    )
