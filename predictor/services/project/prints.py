"""Projects under the fingerprints of the store: of a graph its former one or that of now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from predictor.core.prediction import Prediction
from predictor.core.records import Measurement
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.project.records import Project
from predictor.store import fingerprints as fingerprint_records
from predictor.store.database import Database

_Record = TypeVar("_Record", Measurement, Prediction)


def as_stored(database: Database, project: Project) -> Project:
    """Return a project whose records are under the fingerprints that the store has for them.

    A graph that was opened since stands under another fingerprint here than in a project of
    before, and one that was not opened since under its former one.
    """
    prints = fingerprint_records.renewed(database, project.graphs)
    for fingerprint, data in project.graphs.items():
        former = OperatorGraph.from_bytes(data).former_fingerprint
        if former and fingerprint_records.has_records(database, former):
            prints[fingerprint] = former
    if not prints:
        return project
    return replace(
        project,
        # One whose fingerprint is replaced is in the store: its bytes are not used.
        graphs={prints.get(name, name): data for name, data in project.graphs.items()},
        measurements=tuple(
            replace(stored, measurement=_renamed(stored.measurement, prints))
            for stored in project.measurements
        ),
        predictions=tuple(
            replace(stored, prediction=_renamed(stored.prediction, prints))
            for stored in project.predictions
        ),
    )


def _renamed(record: _Record, prints: Mapping[str, str]) -> _Record:
    return replace(record, fingerprint=prints.get(record.fingerprint, record.fingerprint))
