"""How long each node of a real network takes: measured here, kept, told in JSON, exported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from predictor.cli.probe.sessions import session_document, session_text
from predictor.core.documents import Provenance
from predictor.core.records import Signature
from predictor.probing.measuring.local import LocalRunner
from predictor.probing.networks.pool import load_pool
from predictor.probing.operator_times import operator_times
from predictor.probing.planning import SENTINEL, PlannedProbe
from predictor.probing.runner.settings import MAX_OPERATORS
from predictor.services.history.history import open_history
from predictor.services.probing.measure import measure
from predictor.services.probing.open import open_probing
from predictor.services.project.file import read_project
from predictor.store import measurements, signatures
from tests.support.probe_sessions import small_plan

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one real measurement."""
    path = tmp_path_factory.mktemp("store") / "store.sqlite"
    real = next(network for network in load_pool() if network.name == SENTINEL)
    with open_probing(path) as probing:
        plan = replace(small_plan(1), probes=(PlannedProbe(real, "real", None),))
        for _ in measure(probing.sessions, probing.sessions.start(plan).id, LocalRunner()):
            pass
    return path


def test_each_node_has_its_time(store: Path) -> None:
    with open_probing(store) as probing:
        (session,) = probing.sessions.all()
        (measurement,) = probing.sessions.measurements(session.id).values()
    times = operator_times(measurement.provenance)
    assert sum(entry.op_type == "Conv" for entry in times) > 40
    total_ms = sum(entry.time_ms for entry in times)
    # Two passes, between which other programs may take the processors: this tells the unit, of 1000.
    assert measurement.value_ms / 100 < total_ms < measurement.value_ms * 100


def test_json_tells_the_nodes_and_text_does_not(store: Path) -> None:
    with open_probing(store) as probing:
        (session,) = probing.sessions.all()
        known = probing.sessions.measurements(session.id)
    (measurement,) = known.values()
    (probe,) = session_document(session, known, None)["probes"]
    assert probe["operators"] == measurement.provenance.content["operators"]
    assert len(session_text(session, known, None).splitlines()) < 20


def test_a_project_carries_the_nodes_of_a_large_network(store: Path, tmp_path: Path) -> None:
    """20 000 nodes with names of 500 characters, more than a document may have otherwise."""
    with open_probing(store) as probing:
        (session,) = probing.sessions.all()
        (measurement,) = probing.sessions.measurements(session.id).values()
    large = Provenance({"operators": [["\u1234" * 500, "Conv", 1]] * MAX_OPERATORS})
    with open_history(tmp_path / "store.sqlite") as history:
        kept = replace(measurement, provenance=large)
        measurements.add(history.database, kept)
        signature = Signature("2" * 32, kept.device_id, kept.configuration, (kept.id,), active=True)
        signatures.add(history.database, signature)
        history.projects.export(tmp_path / "team.ctmproject")
    (read,) = read_project(tmp_path / "team.ctmproject").measurements
    assert read.measurement.provenance == large
