"""The user's measurements as a table: latencies of models, and probings of targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from ctm_gui.history.presenter import Devices
from ctm_gui.tasks.store_client import StoreClient, StoreRunner
from ctm_gui.widgets.grid import Grid, number_column, text_column
from predictor.core.records import Configuration
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import (
    NOTHING,
    configuration_text,
    interval_text,
    local_time,
    percent,
    shown,
)
from predictor.services.history.history import History

MAX_ROWS = 20_000
_SIGNED = partial(percent, signed=True)
_ERROR = "Predicted against measured; over zero where the prediction is too slow."
_STATE = "Whether predictions of the target use it, and why not."


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """A measured latency of a model, or a probing of a target.

    Attributes:
        what: the model, or the number of reference networks.
        device_id: of the device.
        configuration: as it was measured.
        measured_ms: the latency; None for a probing.
        predicted_ms: what was predicted of it; None for a probing.
        interval: the prediction's 80 % interval in ms, in words.
        created_ns: when it was stored, since 1970.
        state: what it is used for.
    """

    what: str
    device_id: str
    configuration: Configuration
    measured_ms: float | None = None
    predicted_ms: float | None = None
    interval: str = NOTHING
    created_ns: int
    state: str

    @property
    def error(self) -> float | None:
        """The prediction's error as a part of the measured latency; None of a probing."""
        if not self.predicted_ms or not self.measured_ms:
            return None
        return self.predicted_ms / self.measured_ms - 1.0


def measured_rows(history: History) -> tuple[MeasuredRow, ...]:
    """Return all that the user measured, the newest first."""
    pairs = {pair.measured.measurement.id: pair for pair in history.past.read(MAX_ROWS).pairs}
    latencies = [
        MeasuredRow(
            what=pair.predicted.prediction.model,
            device_id=pair.measured.measurement.device_id,
            configuration=pair.measured.measurement.configuration,
            measured_ms=pair.measured_ms,
            predicted_ms=pair.predicted_ms,
            interval=interval_text(pair.predicted.prediction, LatencyUnit.MS),
            created_ns=pair.measured.created_ns,
            state="corrects this model",
        )
        for pair in pairs.values()
    ]
    probings = [
        MeasuredRow(
            what=plural(len(stored.signature.measurement_ids), "reference network"),
            device_id=stored.signature.device_id,
            configuration=stored.signature.configuration,
            created_ns=stored.created_ns,
            state=_state(stored.signature.active, history.signatures.noted_reason(stored)),
        )
        for stored in history.signatures.all()
    ]
    return tuple(sorted([*latencies, *probings], key=lambda row: -row.created_ns))


def _state(active: bool, reason: str) -> str:
    words = "calibrates the target" if active else "not in use"
    return f"{words}: {reason}" if reason else words


class MeasuredPresenter(StoreClient):
    """Reads what was measured while somebody looks; ``changed`` is emitted with other rows.

    Args:
        run: runs work with the open store.
        devices: returns the devices that there are now, by id.
        parent: owner.
    """

    changed = Signal()

    def __init__(self, run: StoreRunner, devices: Devices, parent: QObject | None = None) -> None:
        super().__init__(run, parent)
        self._devices, self._active = devices, False
        self.rows: tuple[MeasuredRow, ...] = ()

    def set_active(self, *, active: bool) -> None:
        """Read while somebody looks."""
        self._active = active
        self.read()

    def read(self, *_: object) -> None:
        """Read again what the store has."""
        if self._active:
            self._submit(measured_rows, self._show)

    def device_name(self, device_id: str) -> str:
        """Return a device's name; its id where it is no longer there."""
        device = self._devices().get(device_id)
        return shown(device.name if device is not None else device_id)

    def _show(self, rows: tuple[MeasuredRow, ...]) -> None:
        if rows != self.rows:
            self.rows = rows
            self.changed.emit()


class MeasuredGrid(Grid):
    """A row for each measured latency and each probing.

    Args:
        rows: the newest first.
        names: of their devices.
    """

    def __init__(self, rows: Sequence[MeasuredRow] = (), names: Sequence[str] = ()) -> None:
        self.rows = tuple(rows)
        errors = [
            row.predicted_ms / row.measured_ms - 1.0
            if row.predicted_ms and row.measured_ms
            else None
            for row in rows
        ]
        super().__init__(
            len(self.rows),
            [
                text_column("what", "Measured", [shown(row.what) for row in rows]),
                text_column("device", "Device", names),
                text_column(
                    "how", "Configuration", [configuration_text(r.configuration) for r in rows]
                ),
                number_column("measured", "Measured (ms)", [row.measured_ms for row in rows]),
                number_column("predicted", "Predicted (ms)", [row.predicted_ms for row in rows]),
                text_column("interval", "80 % interval (ms)", [row.interval for row in rows]),
                number_column("error", "Error", errors, _ERROR, _SIGNED, by_size=True),
                text_column("when", "When", [local_time(row.created_ns) for row in rows]),
                text_column("state", "Use", [row.state or NOTHING for row in rows], _STATE),
            ],
        )


def summary(rows: Sequence[MeasuredRow]) -> str:
    """Return how much was measured in a sentence."""
    probings = sum(row.measured_ms is None for row in rows)
    latencies = plural(len(rows) - probings, "measured latency", "measured latencies")
    return f"{latencies}, {plural(probings, 'probing')}."
