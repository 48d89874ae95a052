"""What tests of the wizard click, read and store."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from predictor.core.documents import Provenance
from predictor.core.records import Configuration, Measurement, Signature
from predictor.probing.networks.pool import load_pool
from predictor.store import measurements, signatures
from predictor.store.database import open_database

WAIT_MS = 120_000  # planning computes for some seconds, a minute where others have the processors

LEFT = Qt.MouseButton.LeftButton


def click(qtbot: QtBot, button: QPushButton) -> None:
    assert button.isVisible()
    assert button.isEnabled()
    qtbot.mouseClick(button, LEFT)


def cells(table: QWidget, column: int) -> list[str]:
    model = table.model()  # type: ignore[attr-defined]
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def titles(table: QWidget) -> list[str]:
    grid = table.grid_model.grid  # type: ignore[attr-defined]
    return [column.title for column in grid.columns]


def signed(
    store: Path, device_id: str, configuration: Configuration, latency_ms: list[float]
) -> None:
    """Store an active signature of a target over networks of the pool."""
    database = open_database(store)
    made = [
        Measurement(
            id=f"{number:032}",
            fingerprint=network.fingerprint,
            device_id=device_id,
            configuration=configuration,
            samples_ns=(),
            value_ms=value,
            statistic="median",
            protocol="typed-by-hand/1",
            provenance=Provenance({"network": f"net{number}"}),
        )
        for number, (network, value) in enumerate(zip(load_pool(), latency_ms, strict=False))
    ]
    for measurement in made:
        measurements.add(database, measurement)
    ids = tuple(measurement.id for measurement in made)
    signatures.add(database, Signature("5" * 32, device_id, configuration, ids, active=True))
    database.close()
