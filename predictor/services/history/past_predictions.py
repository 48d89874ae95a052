"""Stored predictions: read with their measurements, tagged, noted, deleted, answered."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from predictor.core.documents import Provenance
from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.records import Measurement
from predictor.core.stored import StoredMeasurement, StoredPrediction
from predictor.core.tags import checked_note, clean_tags
from predictor.core.text import shortened
from predictor.core.units import LatencyUnit
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.importers.records import Statistic
from predictor.services.history.truth import Pair, pairs
from predictor.services.prediction.scaling import check_plausible
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import predictions as records
from predictor.store import signatures as signature_records
from predictor.store.database import Database

PROTOCOL = "typed-by-hand/1"
STATISTICS: tuple[Statistic, ...] = tuple(Statistic)
MAX_LATENCY_MS = 3_600_000.0  # an hour: a larger number is in another unit
DELETED_RETENTION_NS = 30 * 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True, eq=False)
class PastContent:
    """Stored predictions and measurements, read in one go.

    Attributes:
        predictions: the newest first, at most the limit of the reading.
        count: number of predictions in the store.
        measurements: of graphs that have a prediction, the oldest first.
        pairs: each measurement with the predictions that it is compared with.
    """

    predictions: tuple[StoredPrediction, ...] = ()
    count: int = 0
    measurements: tuple[StoredMeasurement, ...] = ()
    pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class NewTruth:
    """A measured latency as the user typed it.

    Attributes:
        value: digits with a point.
        unit: of the value; a rate is turned into the time of one run over the batch.
        statistic: of the runs behind the value.
        note: the user's words on the measurement.
    """

    value: str
    unit: LatencyUnit = LatencyUnit.MS
    statistic: Statistic = Statistic.MEDIAN
    note: str = ""


class PastPredictions:
    """The stored predictions of an open store.

    Args:
        database: opened on this thread; the caller closes it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, limit: int) -> PastContent:
        """Return the last ``limit`` predictions and all measurements of predicted models."""
        predictions = records.recent(self._database, limit)
        measured = measurement_records.of_predicted(self._database)
        members = signature_records.members(self._database)
        return PastContent(
            tuple(predictions),
            records.count(self._database),
            tuple(measured),
            tuple(pairs(predictions, measured, members)),
        )

    def find(self, prediction: Prediction) -> StoredPrediction | None:
        """Return the newest record of a prediction; None where there is none."""
        return records.newest_of(self._database, prediction)

    def mark(self, prediction_id: str, tags: Sequence[str], note: str) -> None:
        """Set a prediction's tags and note.

        Raises:
            InputError: a tag or the note is too long, or there are too many tags.
        """
        checked, note = clean_tags(tags), checked_note(note)
        with self._database.transaction() as db:
            records.mark(db, prediction_id, checked, note)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete predictions; ``restore`` undoes it."""
        records.delete(self._database, ids)

    def restore(self, ids: Sequence[str]) -> None:
        """Bring deleted predictions back."""
        with self._database.transaction() as db:
            records.restore(db, ids)

    def purge(self) -> None:
        """Remove for good the predictions that were deleted over 30 days ago."""
        records.purge(self._database, time.time_ns() - DELETED_RETENTION_NS)

    def add_truth(
        self, stored: StoredPrediction, truth: NewTruth, identity: str | None = None
    ) -> str:
        """Store a measured latency of a prediction's model on its target.

        Args:
            stored: the prediction.
            truth: as typed.
            identity: id of the new measurement; None makes one.

        Returns:
            Its id.

        Raises:
            InputError: the value is no latency, or the note is too long.
            HostError: the store cannot be written.
        """
        measurement = _measurement(stored, truth, identity or uuid.uuid4().hex)
        measurement_records.add(self._database, measurement, prediction_id=stored.id)
        return measurement.id

    def withdraw_truth(self, measurement_id: str) -> None:
        """Leave a measured latency out from now on; ``reinstate_truth`` undoes it.

        Raises:
            InputError: a signature uses it.
        """
        with self._database.transaction() as db:
            measurement_records.withdraw(db, measurement_id)

    def reinstate_truth(self, measurement_id: str) -> None:
        """Bring a withdrawn latency back."""
        with self._database.transaction() as db:
            measurement_records.reinstate(db, measurement_id)

    def graphs(self, fingerprints: Iterable[str]) -> dict[str, OperatorGraph]:
        """Return the operator graphs of models by fingerprint; one that is damaged is left out."""
        graphs = {}
        for fingerprint in dict.fromkeys(fingerprints):
            data = model_records.graph_of(self._database, fingerprint)
            try:
                graphs[fingerprint] = OperatorGraph.from_bytes(data)
            except (ValueError, KeyError, TypeError):
                continue
        return graphs


def latency_in_ms(value: str, unit: LatencyUnit, batch: int = 1) -> float:
    """Return a typed latency in ms.

    Args:
        value: digits with a decimal point.
        unit: of the value.
        batch: samples of a run, for a rate.

    Raises:
        InputError: it is no number, not over 0, or over an hour.
    """
    text = value.strip()
    subject = f"the latency {shortened(text, 30)}" if text else "the latency"
    # Before float(): the comma of 1,234 groups thousands in one country and is a point in another.
    if "," in text:
        raise InputError(subject, "it has a comma", "write decimals with a point, as 23.4")
    try:
        number = float(text)
    except ValueError as error:
        raise InputError(subject, "it is no number", "write digits, as 23.4") from error
    # Not "<= 0": NaN compares false with everything and must be refused too.
    if not number > 0:
        raise InputError(subject, "it is not over 0", "write what was measured")
    per_unit = unit.from_ms(1.0)
    latency_ms = max(batch, 1) * 1e3 / number if unit is LatencyUnit.FPS else number / per_unit
    if not 0 < latency_ms <= MAX_LATENCY_MS:
        raise InputError(
            subject, "it is over an hour or too small", "choose the unit that is meant"
        )
    return latency_ms


def plausible_ms(value: str, unit: LatencyUnit, prediction: Prediction) -> float:
    """Return a typed latency of a predicted run in ms.

    Raises:
        InputError: it is no latency, or cannot be that of this run.
    """
    value_ms = latency_in_ms(value, unit, prediction.configuration.batch)
    check_plausible(f"the latency {shortened(value.strip(), 30)}", value_ms, prediction)
    return value_ms


def _measurement(stored: StoredPrediction, truth: NewTruth, identity: str) -> Measurement:
    prediction = stored.prediction
    value_ms = plausible_ms(truth.value, truth.unit, prediction)
    provenance = {
        "source": "typed by hand",
        "entered": f"{truth.value.strip()} {truth.unit}",
        "network": prediction.model,
        "note": checked_note(truth.note),
        "recorded_at": datetime.now(UTC).isoformat(),
    }
    return Measurement(
        id=identity,
        fingerprint=prediction.fingerprint,
        device_id=prediction.device_id,
        configuration=prediction.configuration,
        samples_ns=(),
        value_ms=value_ms,
        statistic=str(truth.statistic),
        protocol=PROTOCOL,
        provenance=Provenance(provenance),
    )
