"""The window shows what the user measured in the place of what is predicted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from ctm_gui.compare.words import details
from ctm_gui.window.workspace import Workspace
from predictor.core.documents import Provenance
from predictor.core.records import Basis, Measurement
from predictor.core.units import LatencyUnit
from predictor.store import measurements
from predictor.store.database import open_database

SETTLE_MS = 30_000


def test_a_measured_cell_is_shown_with_the_engines_own_number(
    qtbot: QtBot,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
    make_model: Callable[..., Path],
    tmp_path: Path,
) -> None:
    workspace.open_paths([str(make_model())])
    settle(workspace)
    qtbot.waitUntil(lambda: bool(workspace.comparison.rows), timeout=SETTLE_MS)
    before = workspace.comparison.rows[0].prediction
    assert before.basis is not Basis.MEASURED
    database = open_database(tmp_path / "store" / "store.db")
    measurements.add(
        database,
        Measurement(
            id="0" * 32,
            fingerprint=before.fingerprint,
            device_id=before.device_id,
            configuration=before.configuration,
            samples_ns=(),
            value_ms=12.5,
            statistic="median",
            protocol="typed-by-hand/1",
            provenance=Provenance(),
        ),
    )
    database.close()

    workspace.user_measurements.read()

    def first_is_measured() -> bool:
        return workspace.comparison.rows[0].prediction.basis is Basis.MEASURED

    qtbot.waitUntil(first_is_measured, timeout=SETTLE_MS)
    settle(workspace)
    row = workspace.comparison.rows[0]
    assert (row.prediction.latency_ms, row.prediction.predicted_ms) == (12.5, before.latency_ms)
    assert all(r.prediction.basis is not Basis.MEASURED for r in workspace.comparison.rows[1:])
    text = details(row, LatencyUnit.MS, None)
    assert "Measured: your own measurement, median, typed-by-hand/1" in text
    assert "The engine alone predicts " in text
