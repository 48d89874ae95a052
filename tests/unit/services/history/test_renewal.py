"""What is stored under a former fingerprint is found and renewed when its model is opened."""

from __future__ import annotations

import dataclasses
import sqlite3
from pathlib import Path

import pytest

from predictor.graph.model import Model
from predictor.services.devices.catalogue import Catalogue
from predictor.services.history.history import History, open_history
from predictor.services.history.store_files import store_problems
from predictor.services.project.file import read_project
from predictor.store import fingerprints, measurements, models
from tests.support.filled_stores import MEASURED, NET, OTHER, fill, measurement
from tests.support.past_predictions import predictions_of

FORMER, CURRENT = NET.graph.fingerprint, "c" * 64
CATALOGUE = Catalogue(())


def opened(former: str = FORMER) -> Model:
    """The model as it is read now."""
    graph = dataclasses.replace(NET.graph, fingerprint=CURRENT, former_fingerprint=former)
    return dataclasses.replace(NET, graph=graph)


def prints(history: History) -> set[str]:
    return {stored.prediction.fingerprint for stored in history.past.read(100).predictions}


@pytest.fixture
def filled(history: History) -> History:
    """A store of before."""
    fill(history)
    return history


def test_opening_a_model_renews_all_that_is_stored_of_it(filled: History) -> None:
    found = filled.measured([opened()])

    assert MEASURED in {m.id for m in found}
    assert {m.fingerprint for m in found} == {CURRENT}
    assert prints(filled) == {CURRENT, OTHER.graph.fingerprint}
    assert dict(models.graphs(filled.database)).keys() == prints(filled)
    assert {stored.path for stored in filled.past.read(100).predictions} == {NET.path, OTHER.path}
    assert measurements.of_fingerprints(filled.database, [FORMER]) == []
    assert fingerprints.renewed(filled.database, [FORMER]) == {FORMER: CURRENT}
    assert store_problems(filled.database.path) == []


def test_recording_renews_too_and_the_files_of_a_model_are_one(filled: History) -> None:
    filled.record([opened()], predictions_of(opened()))

    assert prints(filled) == {CURRENT, OTHER.graph.fingerprint}
    rows = filled.database.connection.execute("SELECT count(*) FROM model_files").fetchone()
    assert rows == (2,)


def test_two_former_fingerprints_may_be_of_one_network(filled: History) -> None:
    filled.measured([opened()])
    filled.measured([opened(OTHER.graph.fingerprint)])

    assert prints(filled) == {CURRENT}
    assert store_problems(filled.database.path) == []


def test_rows_are_known_by_the_former_fingerprint_of_their_model(filled: History) -> None:
    assert filled.is_measured(CURRENT, FORMER)
    assert not filled.is_measured(CURRENT, "d" * 64)


def test_a_store_that_may_only_be_read_is_read(filled: History, path: Path) -> None:
    filled.close()
    with open_history(path) as history:
        history.database.connection.execute("PRAGMA query_only = ON")
        assert {m.fingerprint for m in history.measured([opened()])} == {CURRENT}
        assert prints(history) == {FORMER, OTHER.graph.fingerprint}


def test_a_model_without_records_waits_for_no_writer(history: History, path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert history.measured([opened()]) == []


def test_a_project_of_before_meets_its_renewed_records(filled: History, tmp_path: Path) -> None:
    file = tmp_path / "before.ctmproject"
    filled.projects.export(file)
    filled.measured([opened()])

    plan = filled.projects.apply(read_project(file), CATALOGUE, lambda _: None)

    assert plan.conflicts == ()
    assert [counts.new for counts in plan.counts.values()] == [0] * len(plan.counts)
    assert prints(filled) == {CURRENT, OTHER.graph.fingerprint}


def test_a_project_of_now_meets_records_that_wait(filled: History, tmp_path: Path) -> None:
    file = tmp_path / "now.ctmproject"
    with open_history(tmp_path / "theirs.sqlite") as theirs:
        filled.projects.export(tmp_path / "before.ctmproject")
        theirs.projects.apply(
            read_project(tmp_path / "before.ctmproject"), CATALOGUE, lambda _: None
        )
        theirs.measured([opened()])
        theirs.projects.export(file)

    plan = filled.projects.apply(read_project(file), CATALOGUE, lambda _: None)

    assert plan.conflicts == ()
    assert [counts.new for counts in plan.counts.values()] == [0] * len(plan.counts)
    assert prints(filled) == {FORMER, OTHER.graph.fingerprint}


def test_a_measurement_without_a_graph_is_renewed(history: History) -> None:
    measurements.add(history.database, measurement())

    assert [m.fingerprint for m in history.measured([opened()])] == [CURRENT]
    assert history.is_measured(CURRENT)
