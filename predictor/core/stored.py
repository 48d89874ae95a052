"""Records as the store holds them: a measurement, signature, prediction or session with its row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from predictor.core import documents
from predictor.core.prediction import Prediction
from predictor.core.records import Configuration, Measurement, Signature


@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """A measurement as it is stored.

    Attributes:
        measurement: the record.
        created_ns: when it was stored, since 1970.
        prediction_id: of the prediction that it was recorded for, None where it was for none.
    """

    measurement: Measurement
    created_ns: int
    prediction_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPrediction:
    """A prediction as it is stored.

    Attributes:
        id: UUID hex.
        created_ns: when it was recorded, since 1970.
        path: of the model's file, empty where it is not known.
        settings_hash: SHA-256 (hex) of engine, configuration and signature.
        prediction: the record.
        settings: the program's version and the values of dynamic dimensions.
        tags: the user's words for it, in order.
        note: the user's remark.
    """

    id: str
    created_ns: int
    path: str
    settings_hash: str
    prediction: Prediction
    settings: documents.PredictionSettings = documents.NO_SETTINGS
    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSignature:
    """A signature as it is stored.

    Attributes:
        signature: the record.
        created_ns: when it was stored, since 1970.
        facts: of the machine and the protocol.
        session_id: of the probe session that it came from, None where it came from none.
        deleted_ns: when it was deleted; None where it was not.
        timed: number of its measurements with times of operators.
    """

    signature: Signature
    created_ns: int
    facts: documents.ProbingFacts = documents.NO_FACTS
    session_id: str | None = None
    deleted_ns: int | None = None
    timed: int = 0

    @property
    def deleted(self) -> bool:
        """Whether it was deleted."""
        return self.deleted_ns is not None


class SessionState(StrEnum):
    """State of a session; one that was paused or killed is running."""

    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ProbeState(StrEnum):
    """State of a network in its session."""

    WAITING = "waiting"
    MEASURED = "measured"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProbe:
    """One network of a session.

    Attributes:
        name: unique in the session.
        fingerprint: of its operator graph.
        state: of its measuring.
        reason: why it has no number, in words, else empty.
        outcome: the runner's verdict and, where there is no number, its results.
        measurement_id: of its measurement, None where it has none.
    """

    name: str
    fingerprint: str
    state: ProbeState = ProbeState.WAITING
    reason: str = ""
    outcome: documents.ProbeOutcome = documents.NO_OUTCOME
    measurement_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class StoredSession:
    """A session as it is stored.

    Attributes:
        id: UUID hex.
        device_id: id of the device.
        configuration: threads and batch resolved to counts.
        plan_text: networks and settings, as a JSON object.
        probes: in the order of measuring.
        state: whether it has something to do.
        created_ns: when it was planned, since 1970.
        finished_ns: when it ended, None while it is running.
        facts: notes on machine and drift.
    """

    id: str
    device_id: str
    configuration: Configuration
    plan_text: str
    probes: tuple[SessionProbe, ...]
    state: SessionState = SessionState.RUNNING
    created_ns: int = 0
    finished_ns: int | None = None
    facts: documents.ProbingFacts = documents.NO_FACTS
