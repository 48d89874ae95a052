"""The store as the window and the command line use it.

A history belongs to the thread that opened it: its connection can't be used on another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from predictor import __version__
from predictor.core.documents import PredictionSettings
from predictor.core.errors import CtmError, HostError
from predictor.core.prediction import Prediction
from predictor.core.records import Measurement
from predictor.graph.model import Model
from predictor.store import fingerprints as fingerprint_records
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import predictions as prediction_records
from predictor.store import reports as report_records
from predictor.store.database import Database, open_database
from predictor.store.failures import REFUSALS
from predictor.store.models import StoredModel
from predictor.store.predictions import NewPrediction
from predictor.store.tables import Tables

if TYPE_CHECKING:  # a command that stores predictions waits for none of them
    from predictor.services.devices.user_devices import UserDevices
    from predictor.services.generation.token_rates import TokenRates
    from predictor.services.history.past_predictions import PastPredictions
    from predictor.services.project.projects import Projects
    from predictor.services.signatures.stored import Signatures
    from predictor.services.signatures.user_signatures import UserSignatures


@dataclass(frozen=True, slots=True)
class Recorded:
    """Ids of the stored predictions, in order, and an error for each refused one."""

    ids: tuple[str, ...]
    refused: tuple[CtmError, ...] = ()


class History:
    """The open store.

    Attributes:
        database: opened on this thread; closed with the history.
    """

    # Each subject is imported where it is first used.
    # ruff: noqa: PLC0415

    def __init__(self, database: Database) -> None:
        self.database = database

    @cached_property
    def devices(self) -> UserDevices:
        """The devices that the user described."""
        from predictor.services.devices.user_devices import UserDevices

        return UserDevices(self.database)

    @cached_property
    def past(self) -> PastPredictions:
        """The stored predictions, and the user's measurements of them."""
        from predictor.services.history.past_predictions import PastPredictions

        return PastPredictions(self.database)

    @cached_property
    def projects(self) -> Projects:
        """Files that take all this to another store."""
        from predictor.services.project.projects import Projects

        return Projects(self.database)

    @cached_property
    def signatures(self) -> Signatures:
        """Of targets, with their measurements."""
        from predictor.services.signatures.stored import Signatures

        return Signatures(self.database)

    @cached_property
    def token_rates(self) -> TokenRates:
        """Of language models."""
        from predictor.services.generation.token_rates import TokenRates

        return TokenRates(self.database)

    def record(self, models: Sequence[Model], predictions: Sequence[Prediction]) -> Recorded:
        """Store predictions and the models that they are about.

        A refused one does not keep the others from being stored.

        Args:
            models: every model that a prediction is about and that the store may not know.
            predictions: the predictions, each one stored as a record of its own.

        Raises:
            HostError: the disk is full, read-only or failing, or another program holds the store.
        """
        try:
            self._renew(models)
            with self.database.transaction() as db:
                return Recorded(tuple(_add(db, models, predictions)))
        except REFUSALS:
            if not predictions:
                raise
        # One by one, which takes longer, to find the refused ones.
        ids: list[str] = []
        refused: list[CtmError] = []
        with self.database.transaction() as db:
            for prediction in predictions:
                about = [m for m in models if _fingerprint(m) == prediction.fingerprint]
                try:
                    # A savepoint: only the rows of a refused prediction are undone.
                    with self.database.step():
                        ids += _add(db, about, [prediction])
                except REFUSALS as error:
                    refused.append(_not_stored(prediction, error))
        return Recorded(tuple(ids), tuple(refused))

    def record_report(
        self, title: str, path: Path, models: Sequence[Model], predictions: Sequence[Prediction]
    ) -> str:
        """Store that a report was written, and those of its predictions that are not stored.

        Args:
            title: of the report.
            path: of its file.
            models: that the predictions are about.
            predictions: that the report shows.

        Returns:
            The id of the record.

        Raises:
            HostError: the disk is full, read-only or failing, or another program holds the store.
        """
        # By the hash of the settings: a report of stored predictions must not store them twice.
        ids = report_records.prediction_ids(
            self.database, [(p, settings_hash(p)) for p in predictions]
        )
        new = [p for p, identity in zip(predictions, ids, strict=True) if identity is None]
        stored = [identity for identity in ids if identity is not None]
        recorded = self.record(models, new).ids if new else ()
        return report_records.add(self.database, title, str(path), [*stored, *recorded])

    def measured(self, models: Sequence[Model]) -> list[Measurement]:
        """Return the user's measurements of models' graphs, the oldest first.

        What is stored of the models under former fingerprints is renewed, where that can be.
        """
        with suppress(HostError):  # a store that may only be read is read
            self._renew(models)
        prints = {model.graph.former_fingerprint: _fingerprint(model) for model in models}
        records = measurement_records.of_fingerprints(
            self.database, [*map(_fingerprint, models), *filter(None, prints)]
        )
        return [replace(r, fingerprint=prints.get(r.fingerprint, r.fingerprint)) for r in records]

    def is_measured(self, *fingerprints: str) -> bool:
        """Return whether the user measured a graph, stated by its fingerprint and a former one."""
        return bool(measurement_records.of_fingerprints(self.database, fingerprints))

    def _renew(self, models: Sequence[Model]) -> None:
        for graph in (model.graph for model in models):
            former = graph.former_fingerprint
            # A look first: a write transaction for nothing would wait for other writers.
            if former and fingerprint_records.has_records(self.database, former):
                with self.database.transaction() as db:
                    fingerprint_records.renew(db, former, graph.fingerprint, graph.to_bytes())

    def user_signatures(self) -> UserSignatures:
        """Return the user's measurements of targets, as engines take them."""
        from predictor.services.signatures.user_signatures import read_user_signatures

        return read_user_signatures(self.database)

    def close(self) -> None:
        """Close the store; the history can't be used any more."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_history(path: Path | None = None) -> History:
    """Open the store for this thread, making or migrating it first where that is needed.

    Args:
        path: the file; None for that of CTM_STORE, else the one in the user's data folder.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the disk is full, read-only or failing, or another program holds the store.
    """
    return History(open_database(path))


def settings_hash(prediction: Prediction) -> str:
    """Return the SHA-256 (hex) of a prediction's engine, configuration and signature.

    Two predictions of one graph on one device with the same hash were made in the same way.
    """
    configuration = prediction.configuration
    settings = {
        "program": __version__,
        "engine": prediction.engine,
        "runtime": configuration.runtime,
        "precision": configuration.precision,
        "threads": configuration.threads,
        "batch": configuration.batch,
        "signature": prediction.signature,
    }
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _add(db: Tables, models: Sequence[Model], predictions: Sequence[Prediction]) -> list[str]:
    stored = [_stored(model) for model in models]
    settings = {(_fingerprint(m), Path(m.path).name): _settings(m) for m in models}
    files = {
        (model.fingerprint, Path(model.path).name): model_records.put(db, model) for model in stored
    }
    return prediction_records.add(
        db,
        [
            NewPrediction(
                p,
                files.get((p.fingerprint, p.model)),
                settings_hash(p),
                settings.get((p.fingerprint, p.model), _settings()),
            )
            for p in predictions
        ],
    )


def _not_stored(prediction: Prediction, error: Exception) -> HostError:
    return HostError(
        f"{prediction.model} on {prediction.device_id}",
        f"the prediction could not be stored ({error})",
        "report this as a fault of the program",
    )


def _settings(model: Model | None = None) -> PredictionSettings:
    """Return the settings of a prediction that no field of it holds."""
    dimensions = {} if model is None else {d.name: d.value for d in model.dynamic}
    return PredictionSettings({"program": __version__, "dimensions": dimensions})


def _fingerprint(model: Model) -> str:
    return model.graph.fingerprint


def _stored(model: Model) -> StoredModel:
    return StoredModel(
        _fingerprint(model),
        model.graph.to_bytes(),
        model.path,
        model.size_bytes,
        model.modified_ns,
    )
