"""The sweeps of one pair over batch and threads, worked out while their page is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.prediction.followers import PairFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.widgets.ordering import FloatArray
from predictor.core.prediction import Prediction
from predictor.core.records import Basis
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import (
    NOTHING,
    in_unit,
    interval_text,
    limit_sign,
    number,
    p50_text,
)
from predictor.services.prediction.sweep import Sweep, sweeps

_PURPOSE = "to see the latency over batch and threads."
_WORKING = "Working out the sweep…"


class SweepPresenter(PairFollower):
    """The pair that is swept, its sweeps, and the reason where there are none.

    Signals:
        changed: the choices, the pair or its sweeps are others.
        pair_requested: the user chose another pair: index of the model and of the target.
    """

    changed = Signal()
    pair_requested = Signal(int, int)

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self.sweeps: tuple[Sweep, ...] = ()
        self.message = f"{self._comparison.missing} {_PURPOSE}"

    def _begin(self) -> None:
        choice = self.choice
        if choice is None:
            self._show((), f"{self._comparison.missing} {_PURPOSE}")
            return
        comparison = self._comparison
        compared, target = comparison.pair(*choice)
        if compared.problem:
            self._show((), compared.problem)
            return
        devices = {variant.device.id: variant.device for variant in comparison.targets}
        self._show((), _WORKING)
        self._task.start(
            lambda _: sweeps(
                compared.model, target, comparison.measurements, comparison.signatures, devices
            ),
            lambda swept: self._show(swept, _problem(swept)),
            lambda error: self._show((), str(error)),
        )

    def _let_go(self) -> None:
        if self.sweeps:
            self._show((), _WORKING)

    def _show(self, swept: tuple[Sweep, ...], message: str) -> None:
        self.sweeps, self.message = (() if message else swept), message
        self.changed.emit()


def _problem(swept: Sequence[Sweep]) -> str:
    """Return why the present choice has no number; empty where it has one."""
    now = swept[0].predictions[swept[0].now]
    return "" if now.latency_ms is not None else now.problem


def curve(sweep: Sweep, unit: LatencyUnit) -> FloatArray:
    """Return latency, low and high end of the 80 % interval in ``unit``, float64 [3, N] with NaN.

    Of a rate it is that of items: batch over latency.
    """
    rows = [
        [
            in_unit(value, unit, max(p.configuration.batch, 1))
            for value in (p.latency_ms, p.low80_ms, p.high80_ms)
        ]
        for p in sweep.predictions
    ]
    values = np.array(rows, dtype=np.float64).T
    # A rate turns the ends round.
    return values[[0, 2, 1]] if unit is LatencyUnit.FPS else values


def point_words(sweep: Sweep, place: int, unit: LatencyUnit) -> str:
    """Return the lines that hovering over a point shows."""
    prediction = sweep.predictions[place]
    batch = max(prediction.configuration.batch, 1)
    choice = int(sweep.choices[place])
    lines = [f"batch {choice}" if sweep.kind == "batch" else plural(choice, "thread")]
    if prediction.latency_ms is None:
        return "\n".join([*lines, prediction.problem])
    measured = " measured" if prediction.basis is Basis.MEASURED else ""
    lines.append(f"{p50_text(prediction, unit)}{measured}")
    if (interval := interval_text(prediction, unit)) != NOTHING:
        lines.append(f"80 % interval: {interval} {unit}")
    if sweep.kind == "batch":
        limit = limit_sign(prediction)
        lines.append(f"{limit}{number(prediction.latency_ms / batch)} ms an item")
    if prediction.fits_memory is False:
        lines.append("Exceeds the memory of the device")
    return "\n".join(lines)


def sweep_sentence(swept: Sequence[Sweep]) -> str:
    """Return what another batch or number of threads would bring, in one line."""
    parts = []
    for sweep in swept:
        timed = [p for p in sweep.predictions if p.latency_ms and p.fits_memory is not False]
        now = sweep.predictions[sweep.now]
        if not timed or not now.latency_ms:
            continue
        best = max(timed, key=_items_a_ms)
        gain = _items_a_ms(best) / _items_a_ms(now)
        choice = max(getattr(best.configuration, sweep.kind), 1)
        words = f"batch {choice}" if sweep.kind == "batch" else plural(choice, "thread")
        parts.append(f"{words}, {number(gain)}× of now" if gain > 1.005 else f"{words}, as now")
    return f"Most items a second at {' and at '.join(parts)}" if parts else ""


def _items_a_ms(prediction: Prediction) -> float:
    return max(prediction.configuration.batch, 1) / (prediction.latency_ms or np.inf)
