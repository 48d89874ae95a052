"""One pair at chosen clocks, and its latency over the plane of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.prediction.comparison import Comparison
from ctm_gui.prediction.explanation import ExplanationPresenter
from ctm_gui.prediction.followers import ComparisonFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.widgets.ordering import FloatArray
from predictor.core.records import Device, OperatingPoint
from predictor.devices.operating import (
    Clocks,
    clock_ranges,
    clocks_of,
    default_clocks,
    is_clocked,
    power_modes,
)
from predictor.services.prediction.clocks import Clocked, at_clocks, clock_model, latency_plane

_PURPOSE: Final = "to see the latency over the clocks."
WORKING: Final = "Working out the latency over the clocks…"
_NO_CLOCK: Final = "This device states no clock that its latency could follow."
_STEPS: Final = 24  # of each axis; a map of 600 cells takes some milliseconds


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plane:
    """Latency of one pair over two clocks, the others as chosen.

    Attributes:
        across, up: domains of the axes; ``up`` is empty where the device has one clock.
        columns, rows: MHz, float64 [C] and [R].
        latency_ms: float64 [R, C].
        clocked: the prediction at the chosen clocks.
    """

    across: str
    up: str
    columns: FloatArray
    rows: FloatArray
    latency_ms: FloatArray
    clocked: Clocked


class ClocksPresenter(ComparisonFollower):
    """Follows the pair that is explained, and predicts it at clocks that the user chooses.

    ``choices_changed`` is emitted when pair, device or chosen clocks change; ``plane_changed`` when
    ``plane`` and ``message`` do.

    Args:
        explanation: has the pair that all tabs show.
        worker: the thread that predictions are made on.
        parent: owner.
    """

    choices_changed = Signal()
    plane_changed = Signal()

    def __init__(
        self, explanation: ExplanationPresenter, worker: SerialWorker, parent: QObject | None = None
    ) -> None:
        super().__init__(worker, parent)
        self._explanation = explanation
        self.device: Device | None = None
        self.clocks = Clocks()
        self.mode: OperatingPoint | None = None
        self.plane: Plane | None = None
        self.message = f"{self._comparison.missing} {_PURPOSE}"
        explanation.choices_changed.connect(self._on_pair)

    @property
    def modes(self) -> list[OperatingPoint]:
        """Power modes of the device that have a name of their own."""
        return power_modes(self.device) if self.device is not None else []

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """Lowest and highest clock in MHz, by domain."""
        if self.device is None or not is_clocked(self.device):
            return {}
        return clock_ranges(self.device)

    @property
    def is_default(self) -> bool:
        """Whether the chosen clocks are the device's own."""
        return self.device is None or self.clocks == default_clocks(self.device)

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow a new comparison; the chosen clocks stay while the device does."""
        super().set_comparison(comparison)
        self._on_pair()

    def choose_mode(self, index: int) -> None:
        """Take the clocks of a mode; -1 for the default clocks."""
        if self.device is None:
            return
        self.mode = self.modes[index] if 0 <= index < len(self.modes) else None
        default = default_clocks(self.device)
        self.clocks = default if self.mode is None else clocks_of(self.device, self.mode)
        self.choices_changed.emit()
        self._refresh()

    def choose_clock(self, domain: str, mhz: float) -> None:
        """Set one clock; what runs is no mode any more."""
        if getattr(self.clocks, domain) == mhz:
            return
        self.mode = None
        self.clocks = replace(self.clocks, **dict[str, Any]({domain: mhz}))
        self.choices_changed.emit()
        self._refresh()

    def _on_pair(self) -> None:
        pair = self._pair()
        device = None if pair is None else self._comparison.targets[pair[1]].device
        if device is not self.device:
            self.device, self.mode = device, None
            self.clocks = Clocks() if device is None else default_clocks(device)
        self.choices_changed.emit()
        self._refresh()

    def _pair(self) -> tuple[int, int] | None:
        """Return the pair that is explained; None where this comparison has no such one yet."""
        choice, comparison = self._explanation.choice, self._comparison
        if choice is None or choice[0] >= len(comparison.models):
            return None
        return choice if choice[1] < len(comparison.targets) else None

    def _begin(self) -> None:
        choice, comparison = self._pair(), self._comparison
        if choice is None or not comparison.rows:
            missing = comparison.missing
            self._show(None, f"{missing} {_PURPOSE}" if missing else WORKING)
            return
        compared, target = comparison.pair(*choice)
        prediction = comparison.rows[choice[0] * len(comparison.targets) + choice[1]].prediction
        if compared.problem or prediction.latency_ms is None or not self.ranges:
            self._show(None, compared.problem or prediction.problem or _NO_CLOCK)
            return
        self.message = WORKING
        clocks, mode, signatures = self.clocks, self.mode, comparison.signatures
        axes = _axes(self.ranges)

        def plane() -> Plane:
            followed = clock_model(compared.model, target, measured=signatures)
            latency_ms = latency_plane(prediction, followed, target, clocks, axes)
            (across, columns), (up, rows) = axes.items()
            up = up if up in clocks.stated else ""
            clocked = at_clocks(prediction, followed, target, clocks, mode)
            return Plane(
                across=across,
                up=up,
                columns=columns,
                rows=rows,
                latency_ms=latency_ms,
                clocked=clocked,
            )

        self._task.start(
            lambda _: plane(),
            lambda made: self._show(made, ""),
            lambda error: self._show(None, str(error)),
        )

    def _let_go(self) -> None:
        self._show(None, WORKING)

    def _show(self, plane: Plane | None, message: str) -> None:
        self.plane, self.message = plane, message
        self.plane_changed.emit()


def _axes(ranges: Mapping[str, tuple[float, float]]) -> dict[str, FloatArray]:
    """Return the two axes: the unit's clock across, memory or the host's upwards.

    A device of one clock has one row, at a memory clock that nothing follows.
    """
    across = "gpu" if "gpu" in ranges else "cpu"
    up = next((name for name in ("mem", "cpu") if name in ranges and name != across), "")
    axes = {across: np.linspace(*ranges[across], _STEPS)}
    axes[up or "mem"] = np.linspace(*ranges[up], _STEPS) if up else np.ones(1)
    return axes


def contour(plane: Plane, level_ms: float) -> list[tuple[float, float, float, float]]:
    """Return where the latency is a level, as lines: x0, y0, x1, y1 in MHz (marching squares)."""
    lines: list[tuple[float, float, float, float]] = []
    above = plane.latency_ms > level_ms
    for row in range(len(plane.rows) - 1):
        for column in range(len(plane.columns) - 1):
            cell = above[row : row + 2, column : column + 2]
            if cell.any() and not cell.all():
                # Latency falls along both axes, so a level crosses two sides of a cell.
                first, second, *_ = _crossings(plane, row, column, level_ms)
                lines.append((*first, *second))
    return lines


def _crossings(plane: Plane, row: int, column: int, level_ms: float) -> list[tuple[float, float]]:
    """Return the points of a cell's sides at a level, by linear interpolation."""
    corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
    points = []
    for (r0, c0), (r1, c1) in zip(corners, corners[1:] + corners[:1], strict=True):
        low, high = plane.latency_ms[r0, c0], plane.latency_ms[r1, c1]
        if (low > level_ms) != (high > level_ms):
            part = (level_ms - low) / (high - low)
            x = plane.columns[c0] + part * (plane.columns[c1] - plane.columns[c0])
            y = plane.rows[r0] + part * (plane.rows[r1] - plane.rows[r0])
            points.append((float(x), float(y)))
    return points
