"""Sessions and signatures of the store: what was measured, compared, chosen, deleted with undo."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from ctm_gui.presenters.probing_choice import Unfinished, Way, unfinished, way_of
from ctm_gui.presenters.probing_store import ProbingStore
from predictor.core.errors import InputError
from predictor.core.percentiles import coefficient_of_variation
from predictor.core.records import Configuration, Device, Measurement
from predictor.core.units import significant
from predictor.core.wording import shown
from predictor.services.ingestion import Model
from predictor.services.probing import Probing, StoredProbe, StoredSession, StoredSignature
from predictor.services.signature_fit import LeftOut
from predictor.services.signature_use import BeforeAfter
from predictor.services.signatures import excluded_words


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One network of a signature or session.

    Attributes:
        name: of the network.
        fingerprint: of its graph, by which signatures are compared.
        median_ms: None where it has no number.
        least_ms: of its fastest run; None where single runs are not known.
        variation: coefficient of variation, as a share.
        runs: how many are known.
        words: its verdict, or why it has no number.
        other_ms: the median in the signature that it is compared with.
        measurement_id: of its measurement; empty where it has no number.
        fit: what the other networks tell of it; None where they tell nothing, or not yet.
    """

    name: str
    fingerprint: str
    median_ms: float | None
    least_ms: float | None = None
    variation: float | None = None
    runs: int = 0
    words: str = ""
    other_ms: float | None = None
    measurement_id: str = ""
    fit: LeftOut | None = None

    @property
    def disagrees(self) -> bool:
        """Whether it lies outside of what the other networks tell of it."""
        return self.fit is not None and self.fit.disagrees

    @property
    def ratio(self) -> float | None:
        """How much longer it took than in the other signature, as a share."""
        if self.median_ms is None or not self.other_ms:
            return None
        return self.median_ms / self.other_ms - 1.0


@dataclass(frozen=True, slots=True)
class Result:
    """What the result page shows.

    Attributes:
        device_id: of the target.
        configuration: of the target.
        rows: its networks.
        signature: None where no signature came of the session.
        session: None for a signature that was imported.
        signatures: all of the target, the newest first.
        other_id: of the signature that it is compared with, else empty.
        way: how its session was measured; None where nothing tells.
        assessed: whether it is known what the networks tell of one another and of the models.
        changes: the open models without the signature and with it.
    """

    device_id: str
    configuration: Configuration
    rows: tuple[ResultRow, ...]
    signature: StoredSignature | None = None
    session: StoredSession | None = None
    signatures: tuple[StoredSignature, ...] = ()
    other_id: str = ""
    way: Way | None = None
    assessed: bool = False
    changes: tuple[BeforeAfter, ...] = ()

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The networks of its session that are better measured again."""
        if self.session is None:
            return ()
        odd = {row.name for row in self.rows if row.disagrees}
        return tuple(
            probe.name for probe in self.session.probes if _is_doubtful(probe) or probe.name in odd
        )

    @property
    def repeatable(self) -> frozenset[str]:
        """The networks that its session can measure again."""
        if self.session is None or self.way is Way.KIT:
            return frozenset()
        return frozenset(probe.name for probe in self.session.probes)

    @property
    def fits(self) -> tuple[LeftOut, ...]:
        """What the networks tell of one another."""
        return tuple(row.fit for row in self.rows if row.fit is not None)


@dataclass(frozen=True, slots=True)
class Known:
    """What the window knows that a signature tells something of.

    Attributes:
        device: returns a device by its id; None where there is none.
        models: returns the open models.
    """

    device: Callable[[str], Device | None] = lambda _: None
    models: Callable[[], Sequence[Model]] = tuple


# Sessions and signatures, the newest first.
_Overview = tuple[tuple[Unfinished, ...], tuple[StoredSignature, ...]]


class SignatureShelf(QObject):
    """Follows the store.

    ``sessions_changed`` says that ``sessions`` are others; ``shown`` gives a Result; ``failed`` an
    error; ``told`` a sentence on what was done.

    Args:
        store: of sessions and signatures.
        undo_stack: gets a command for each deletion.
        known: devices and models of the window, of which a signature tells something.
        parent: owner.
    """

    sessions_changed = Signal()
    shown = Signal(object)
    failed = Signal(object)
    told = Signal(str)

    def __init__(
        self,
        store: ProbingStore,
        undo_stack: QUndoStack,
        known: Known | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._known = store, known or Known()
        self._undo_stack = undo_stack
        self.sessions: tuple[Unfinished, ...] = ()
        self.signatures: tuple[StoredSignature, ...] = ()
        self.result: Result | None = None

    def refresh(self) -> None:
        """Read sessions and signatures again."""
        self._store.run(_overview, on_result=self._on_overview, on_error=self.failed.emit)

    def show_session(self, session_id: str) -> None:
        """Show what came of a session."""
        self._show(partial(_of_session, session_id))

    def show_signature(self, signature_id: str, other_id: str = "") -> None:
        """Show a signature, beside another one of its target where that is asked."""
        self._show(partial(_of_signature, signature_id, other_id))

    def activate(self, signature_id: str) -> None:
        """Make a signature the active one of its target."""

        def work(probing: Probing) -> Result:
            probing.signatures.activate(signature_id)
            return _of_signature(signature_id, "", probing)

        self._show(work)

    def exclude(self, signature_id: str, row: ResultRow, reason: str) -> None:
        """Leave a network out of a signature; a new one without it takes its place."""

        def work(probing: Probing) -> Result:
            made = probing.signatures.exclude(signature_id, row.measurement_id, reason)
            return _of_signature(made, "", probing)

        self._show(work, f"Left out {row.name}: {shown(reason)}")

    def leave(self, session_id: str) -> None:
        """End a session that will not go on; what was measured becomes its signature."""
        self._store.run(
            lambda probing: probing.give_up(session_id),
            on_result=lambda _: self.refresh(),
            on_error=self.failed.emit,
        )

    def delete(self, stored: StoredSignature) -> None:
        """Delete a signature; undo brings it back."""
        self._undo_stack.push(_Deletion(self, stored))

    def put_away(self, stored: StoredSignature) -> None:
        """Delete it in the store, and show what is left of its target."""

        def work(probing: Probing) -> Result:
            probing.signatures.delete(stored.signature.id)
            return _after_deletion(stored, probing)

        self._show(work, f"Deleted the signature of {moment(stored.created_ns)}; undo restores it")

    def bring_back(self, stored: StoredSignature) -> None:
        """Undo its deletion."""

        def work(probing: Probing) -> Result:
            active = stored.signature.active
            probing.signatures.restore(stored.signature.id, active=active)
            return _of_signature(stored.signature.id, "", probing)

        self._show(work, f"Restored the signature of {moment(stored.created_ns)}")

    def _show(self, work: Any, told: str = "") -> None:
        def done(found: tuple[Result, _Overview]) -> None:
            self.result = found[0]
            self._on_overview(found[1])
            self.shown.emit(self.result)
            if told:
                self.told.emit(told)
            self._assess(self.result)

        self._store.run(
            lambda probing: (work(probing), _overview(probing)),
            on_result=done,
            on_error=self.failed.emit,
        )

    def _assess(self, result: Result) -> None:
        """Predict networks from one another, and the models; which takes a second or two."""
        device = self._known.device(result.device_id)
        if result.signature is None or device is None:
            return
        stored, models = result.signature, list(self._known.models())

        def done(found: tuple[tuple[LeftOut, ...], tuple[BeforeAfter, ...]]) -> None:
            if self.result is result:
                self.result = _assessed(result, *found)
                self.shown.emit(self.result)

        self._store.run(
            lambda probing: (
                probing.left_out(stored, device),
                probing.before_and_after(stored, device, models),
            ),
            on_result=done,
            on_error=self.failed.emit,
        )

    def _on_overview(self, found: _Overview) -> None:
        self.sessions, self.signatures = found
        self.sessions_changed.emit()


class _Deletion(QUndoCommand):
    """Deletes a signature, and restores it."""

    def __init__(self, shelf: SignatureShelf, stored: StoredSignature) -> None:
        super().__init__(f"Delete signature of {shown(stored.signature.device_id)}")
        self._shelf = shelf
        self._stored = stored

    def redo(self) -> None:
        self._shelf.put_away(self._stored)

    def undo(self) -> None:
        self._shelf.bring_back(self._stored)


def moment(time_ns: int) -> str:
    """Return a time as people here write it: ``2026-11-21 04:05``."""
    return datetime.fromtimestamp(time_ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M")


def signature_facts(stored: StoredSignature) -> list[tuple[str, str]]:
    """Return what is known of a signature beside its numbers, as label and words."""
    facts = json.loads(stored.facts)
    host: Mapping[str, Any] = facts.get("host") or {}
    configuration: Mapping[str, Any] = facts.get("configuration") or {}
    drift = facts.get("drift")
    found = [
        ("Protocol", str(facts.get("protocol") or "imported")),
        ("Machine", _joined(host, ("node", "processor", "system"))),
        ("Runtime", _runtime(host, configuration)),
        ("Power", _joined(host, ("power_source", "governor"))),
        ("Drift", "" if drift is None else f"{drift:.1%}"),
        ("Left out", ", ".join(excluded_words(facts))),
    ]
    return [(label, shown(words)) for label, words in found if words]


def result_rows(
    measurements: Sequence[Measurement], probes: Sequence[StoredProbe] = ()
) -> tuple[ResultRow, ...]:
    """Return a row for each measurement, and for each network that has no number.

    Args:
        measurements: of a signature or session.
        probes: of its session; those without a measurement are told with their reason.
    """
    rows = [_row(measurement) for measurement in measurements]
    missing = [
        ResultRow(
            probe.name, probe.fingerprint, None, words=shown(probe.reason or str(probe.state))
        )
        for probe in probes
        if probe.measurement_id is None
    ]
    return (*rows, *missing)


def compared(rows: Sequence[ResultRow], others: Sequence[Measurement]) -> tuple[ResultRow, ...]:
    """Return the rows with the medians that the same networks have in another signature."""
    known = {measurement.fingerprint: measurement.value_ms for measurement in others}
    return tuple(replace(row, other_ms=known.get(row.fingerprint)) for row in rows)


def _assessed(result: Result, fits: Sequence[LeftOut], changes: tuple[BeforeAfter, ...]) -> Result:
    known = {fit.measurement_id: fit for fit in fits}
    rows = tuple(replace(row, fit=known.get(row.measurement_id)) for row in result.rows)
    return replace(result, rows=rows, assessed=True, changes=changes)


def _row(measurement: Measurement) -> ResultRow:
    provenance = json.loads(measurement.provenance)
    samples_ns = measurement.samples_ns
    words = provenance.get("words") or f"imported: {measurement.statistic}"
    return ResultRow(
        shown(str(provenance.get("network") or measurement.fingerprint[:12])),
        measurement.fingerprint,
        measurement.value_ms,
        min(samples_ns) / 1e6 if samples_ns else None,
        coefficient_of_variation(samples_ns) if samples_ns else None,
        len(samples_ns),
        shown(str(words)),
        measurement_id=measurement.id,
    )


def _overview(probing: Probing) -> _Overview:
    left = [
        found
        for session in probing.sessions()
        if session.finished_ns is None
        and (found := unfinished(session, probing.measurements(session.id)))
    ]
    return tuple(reversed(left)), tuple(reversed(probing.signatures.every()))


def _of_session(session_id: str, probing: Probing) -> Result:
    session = probing.session(session_id)
    signatures = _of_target(probing, session.device_id, session.configuration)
    mine = next((s for s in signatures if s.session_id == session.id), None)
    if mine is not None:
        return _of_signature(mine.signature.id, "", probing)
    measured = probing.measurements(session.id)
    return Result(
        session.device_id,
        session.configuration,
        result_rows(list(measured.values()), session.probes),
        session=session,
        signatures=signatures,
        way=way_of(session, measured),
    )


def _of_signature(signature_id: str, other_id: str, probing: Probing) -> Result:
    found = [s for s in probing.signatures.every() if s.signature.id == signature_id]
    if not found:
        raise InputError(f"signature {signature_id}", "it was deleted", "choose another one")
    stored = found[0]
    session = probing.session(stored.session_id) if stored.session_id else None
    probes = session.probes if session else ()
    measured = probing.signatures.measurements(signature_id)
    rows = result_rows(measured, probes)
    if other_id:
        rows = compared(rows, probing.signatures.measurements(other_id))
    signature = stored.signature
    return Result(
        signature.device_id,
        signature.configuration,
        rows,
        stored,
        session,
        _of_target(probing, signature.device_id, signature.configuration),
        other_id,
        way_of(session, {m.id: m for m in measured}) if session else None,
    )


def _after_deletion(deleted: StoredSignature, probing: Probing) -> Result:
    """Return the active signature of the target, else its newest, else nothing of it."""
    device_id, configuration = deleted.signature.device_id, deleted.signature.configuration
    left = _of_target(probing, device_id, configuration)
    chosen = next((s for s in left if s.signature.active), left[0] if left else None)
    if chosen is None:
        return Result(device_id, configuration, ())
    return _of_signature(chosen.signature.id, "", probing)


def _of_target(
    probing: Probing, device_id: str, configuration: Configuration
) -> tuple[StoredSignature, ...]:
    target = (device_id, configuration)
    found = probing.signatures.every()
    return tuple(
        s for s in reversed(found) if (s.signature.device_id, s.signature.configuration) == target
    )


def _is_doubtful(probe: StoredProbe) -> bool:
    noisy = json.loads(probe.outcome).get("verdict") == "noisy"
    return noisy or (probe.measurement_id is None and probe.state != "waiting")


def _joined(facts: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(str(facts[key]) for key in keys if facts.get(key))


def _runtime(host: Mapping[str, Any], configuration: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (_joined(host, ("onnxruntime",)), configuration.get("provider"))))


def ratio_text(share: float | None) -> str:
    """Write a relative difference with its sign: ``+3.1 %``; a dash where there is none."""
    if share is None:
        return "—"
    return f"{'+' if share >= 0 else '−'}{significant(abs(share) * 100, 2)} %"
