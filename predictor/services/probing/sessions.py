"""Probe sessions: networks measured on a target, each committed at once, and the signature."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from predictor import __version__
from predictor.core.errors import InputError
from predictor.core.progress import CancelToken, ProgressCallback
from predictor.core.records import Device, Measurement, Signature, Target
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.kit.results import read_results
from predictor.probing.kit.writer import write_kit
from predictor.probing.measuring.interface import (
    Command,
    Drift,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    ProbeRunner,
    RunStarted,
)
from predictor.probing.measuring.local import LocalRunner
from predictor.probing.protocol import CheckedNetwork, checked_network, measurement_of
from predictor.probing.runner.settings import PROTOCOL, Settings
from predictor.services.devices.user_devices import DeviceFile, UserDevices
from predictor.services.probing.events import ProbesChosen, SessionEvent, is_awaited, joined
from predictor.services.probing.kits import session_of_kit
from predictor.services.probing.live import grown_text, next_probes, probes_to_come
from predictor.services.probing.plan import (
    ProbePlan,
    build_plan,
    plan_facts,
    plan_text,
    probes_of,
)
from predictor.services.probing.repeats import Repeats
from predictor.services.signatures.film import Adaptations, adaptations
from predictor.services.signatures.fit import LeftOut, left_out
from predictor.services.signatures.own import measurements_of
from predictor.services.signatures.stored import Signatures, StoredSignature
from predictor.services.signatures.use import BeforeAfter, before_and_after
from predictor.store import measurements as measurement_records
from predictor.store import probe_sessions as session_records
from predictor.store.database import Database, open_database
from predictor.store.probe_sessions import ProbeState, SessionState, StoredProbe, StoredSession

__all__ = [
    "Command",
    "LocalRunner",
    "ProbeRunner",
    "ProbeState",
    "Probing",
    "SessionState",
    "StoredProbe",
    "StoredSession",
    "StoredSignature",
    "open_probing",
]


class Probing:
    """Probe sessions and signatures in an open store.

    Args:
        database: opened on this thread; closed with this object.

    Attributes:
        signatures: the signatures in it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.signatures = Signatures(database)

    def start(self, plan: ProbePlan) -> StoredSession:
        """Store a new session of a plan and return it; ``run`` measures it."""
        return self._add(plan, plan_text(plan))

    def make_kit(self, plan: ProbePlan, path: Path) -> StoredSession:
        """Write the kit of a plan, and store the session that its results will belong to.

        Raises:
            HostError: the kit cannot be written.
        """
        names = [name for name, _ in probes_of(plan)]
        with tempfile.TemporaryDirectory(prefix="ctm-kit-") as folder:
            built = build_plan(plan.id, plan_text(plan), names, Path(folder))
            plan_sha256 = write_kit(built, path, plan.expected_s)
        return self._add(plan, plan_text(plan, {"plan_sha256": plan_sha256}))

    def run(
        self,
        session_id: str,
        runner: ProbeRunner,
        cancel: CancelToken | None = None,
        source: str = "local",
        asked: Sequence[OperatorGraph] = (),
    ) -> Iterator[SessionEvent]:
        """Measure what a session is still waiting for, and yield events as they come.

        What an event tells of a network is on the disk when the event is yielded. A session that
        was killed, paused or cancelled goes on with the network that it had begun. A live session
        chooses further networks once the first are measured. What was inconclusive is measured
        again as long as there is time left in the budget. When nothing is waiting any more and
        nothing is to come, the session ends and its measurements become the active signature.

        Args:
            session_id: of the session.
            runner: of the machine that is measured.
            cancel: ends the run within a second; the session can go on later.
            source: what the runner is, for the provenance: local or ssh.
            asked: what is to be predicted, for the adaptive selector; none for networks of the
                pool.

        Raises:
            InputError: there is no such session, it has ended, or the plan is wrong.
            HostError: the machine or the store fails.
            CancelledError: it was cancelled.
        """
        session = self._running(session_id)
        before = drift = None
        repeats = Repeats(session.plan)
        try:
            while True:
                for event in self._measure(session, runner, cancel, source):
                    repeats.take(event)
                    if not isinstance(event, Drift):
                        yield event
                        continue
                    drift = joined(before, event)
                    self._note(session_id, drift=drift.drift)
                    yield drift
                before = drift
                chosen = self._grow(session_id, asked)
                again = () if chosen else repeats.due()
                if again:
                    session_records.repeat(self._database, session.id, again)
                if not (chosen or again):
                    break
                yield ProbesChosen(chosen or again, again=bool(again))
                session = self.session(session_id)
        finally:
            self._remove_folder(session_id)
        self._finish(session_id)

    def import_results(self, path: Path) -> StoredSession:
        """Take over what a kit has measured, and return its session.

        Raises:
            InputError: the file is no results of a kit, was changed, is of a kit that this store
                did not make, or was taken over before.
        """
        results = read_results(path)
        session = session_of_kit(self.sessions(), results, str(path))
        waiting = {p.name for p in session.probes if p.state is not ProbeState.MEASURED}
        origin = {"source": "kit", "host": dict(results.host)}
        self._note(session.id, host=dict(results.host), drift=results.drift)
        for network in results.measured:
            if network.name in waiting:
                self._commit_network(session, network, origin)
        for failed in results.failed:
            if failed.name in waiting:
                self._commit_failure(session.id, failed.name, failed.failure, failed.reason)
        if results.finished:
            self._finish(session.id)
        return self.session(session.id)

    def session(self, session_id: str) -> StoredSession:
        """Return a session by its id, or the beginning of it that only one has.

        Raises:
            InputError: there is none, or more than one.
        """
        found = [s for s in self.sessions() if s.id.startswith(session_id)]
        if len(found) > 1:
            raise InputError(
                f"session {session_id}", f"{len(found)} sessions begin so", "give more of the id"
            )
        return found[0] if found else session_records.get(self._database, session_id)

    def sessions(self) -> list[StoredSession]:
        """Return all sessions, the oldest first."""
        return session_records.every(self._database)

    def measurements(self, session_id: str) -> dict[str, Measurement]:
        """Return the measurements of a session by id."""
        found = measurement_records.of_session(self._database, session_id)
        return {measurement.id: measurement for measurement in found}

    def left_out(self, stored: StoredSignature, device: Device) -> tuple[LeftOut, ...]:
        """Predict each network of a signature from all the others."""
        signature = stored.signature
        measurements = self.signatures.measurements(signature.id)
        measured, used = measurements_of(self._database, signature.id, measurements)
        return left_out(Target(device, signature.configuration), used, measured)

    def adaptations(
        self,
        stored: StoredSignature,
        device: Device,
        progress: ProgressCallback,
        cancel: CancelToken | None = None,
    ) -> Adaptations:
        """Fine-tune FiLM to a signature; see :mod:`predictor.services.signatures.film`."""
        return adaptations(self._database, stored, device, progress, cancel)

    def before_and_after(
        self, stored: StoredSignature, device: Device, models: Sequence[Model]
    ) -> tuple[BeforeAfter, ...]:
        """Predict models without a signature and with it."""
        measurements = self.signatures.measurements(stored.signature.id)
        return before_and_after(self._database, stored.signature, measurements, device, models)

    def keep_device(self, device: Device) -> bool:
        """Make a device the user's, unless it is; return whether it was made."""
        devices = UserDevices(self._database)
        if any(entry.device.id == device.id for entry in devices.every()):
            return False
        devices.save(DeviceFile(device))
        return True

    def repeat(self, session_id: str, names: Sequence[str]) -> None:
        """Let networks be measured again by the next run; their measurements stay stored.

        Raises:
            InputError: there is no such session, or it has no such network.
        """
        session = self.session(session_id)
        unknown = [name for name in names if name not in {p.name for p in session.probes}]
        if unknown:
            raise InputError(
                f"network {unknown[0]}", f"session {session.id} has none", "see `ctm probe show`"
            )
        session_records.repeat(self._database, session.id, names)

    def give_up(self, session_id: str) -> None:
        """End a session without measuring the rest; what was measured becomes the signature.

        Raises:
            InputError: there is no such session, or it has ended.
        """
        session = self._running(session_id)
        self._remove_folder(session.id)
        self._finish(session.id, SessionState.CANCELLED)

    def close(self) -> None:
        """Close the store."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _measure(
        self,
        session: StoredSession,
        runner: ProbeRunner,
        cancel: CancelToken | None,
        source: str,
    ) -> Iterator[ProbeEvent]:
        """Measure the waiting networks of a session, and commit what is told before it is."""
        names = [probe.name for probe in session.probes if probe.state is ProbeState.WAITING]
        if not names:
            return
        host: Mapping[str, Any] = {}
        plan = build_plan(session.id, session.plan, names, self._folder(session.id), cancel)
        for event in runner.run(plan, cancel):
            if isinstance(event, RunStarted):
                host = event.host
            if is_awaited(event, names):
                self._commit(session, event, {"source": source, "host": dict(host)})
                yield event

    def _grow(self, session_id: str, asked: Sequence[OperatorGraph]) -> tuple[str, ...]:
        """Add what a live session measures next, and return its names."""
        session = self.session(session_id)
        if not probes_to_come(session.plan):
            return ()
        known = self.measurements(session.id)
        told = {
            probe.name: known[probe.measurement_id].value_ms if probe.measurement_id else math.nan
            for probe in session.probes
        }
        measured, _ = measurements_of(self._database, "", known.values())
        more = next_probes(session.plan, session.configuration, told, measured, asked)
        if more:
            probes = [StoredProbe(p.network.name, p.network.fingerprint) for p in more]
            session_records.extend(
                self._database, session.id, grown_text(session.plan, more), probes
            )
        return tuple(probe.network.name for probe in more)

    def _add(self, plan: ProbePlan, text: str) -> StoredSession:
        probes = tuple(StoredProbe(name, fingerprint) for name, fingerprint in probes_of(plan))
        session = StoredSession(
            plan.id, plan.target.device.id, plan.target.configuration, text, probes
        )
        session_records.add(self._database, session)
        return session_records.get(self._database, plan.id)

    def _folder(self, session_id: str) -> Path:
        """Return where a session's networks are built; a run that was killed leaves them there."""
        path = self._database.path
        return path.with_name(f"{path.name}.probes") / session_id

    def _remove_folder(self, session_id: str) -> None:
        folder = self._folder(session_id)
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another session may be at work
            folder.parent.rmdir()

    def _running(self, session_id: str) -> StoredSession:
        session = self.session(session_id)
        if session.state is not SessionState.RUNNING:
            raise InputError(f"session {session.id}", f"it is {session.state}", "start another one")
        return session

    def _commit(self, session: StoredSession, event: ProbeEvent, origin: Mapping[str, Any]) -> None:
        """Store what an event tells of a network."""
        if isinstance(event, NetworkDone):
            settings = Settings(**plan_facts(session.plan)["settings"])
            network = checked_network(event.document, settings, "the runner")
            self._commit_network(session, network, origin)
        elif isinstance(event, NetworkFailed) and not event.sentinel:
            self._commit_failure(session.id, event.name, event.failure, event.reason)
        elif isinstance(event, RunStarted):
            self._note(session.id, host=dict(event.host))

    def _note(self, session_id: str, **facts: object) -> None:
        session_records.note(self._database, session_id, facts)

    def _commit_network(
        self, session: StoredSession, network: CheckedNetwork, origin: Mapping[str, Any]
    ) -> None:
        facts = plan_facts(session.plan)
        if network.median_ms is None:
            outcome = json.dumps({**origin, **network.facts(with_samples=True)})
            session_records.record_without_number(
                self._database,
                session.id,
                network.name,
                ProbeState.INCONCLUSIVE,
                network.words,
                outcome,
            )
            return
        provenance = {
            "tool": f"closertome {__version__}",
            "boundary": "session.run, inputs prepared before",
            "settings": facts["settings"],
            **facts["configuration"],
            **origin,
        }
        measurement = measurement_of(network, session.device_id, session.configuration, provenance)
        outcome = json.dumps({"verdict": network.verdict, "words": network.words})
        session_records.record_measured(
            self._database, session.id, network.name, measurement, outcome
        )

    def _commit_failure(self, session_id: str, name: str, failure: str, reason: str) -> None:
        state = ProbeState.SKIPPED if failure == "skipped" else ProbeState.FAILED
        outcome = json.dumps({"failure": failure})
        session_records.record_without_number(
            self._database, session_id, name, state, f"{failure}: {reason}", outcome
        )

    def _finish(self, session_id: str, state: SessionState = SessionState.FINISHED) -> None:
        """End a session; its measurements become the active signature of its target."""
        session = session_records.get(self._database, session_id)
        ids = tuple(p.measurement_id for p in session.probes if p.measurement_id is not None)
        if not ids:
            ended = SessionState.FAILED if state is SessionState.FINISHED else state
            session_records.finish(self._database, session_id, ended)
            return
        signature = Signature(
            uuid.uuid4().hex, session.device_id, session.configuration, ids, active=True
        )
        facts = {**json.loads(session.facts), "protocol": PROTOCOL, **plan_facts(session.plan)}
        session_records.finish(self._database, session_id, state, signature, json.dumps(facts))


def open_probing(path: Path | None = None) -> Probing:
    """Open the store for this thread; see :func:`predictor.services.history.history.open_history`.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the disk is full, read-only or failing, or another program holds the store.
    """
    return Probing(open_database(path))
