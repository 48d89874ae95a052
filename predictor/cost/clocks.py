"""Latency of a graph at other clocks of its device, from the terms of its operators.

Resources of an operator overlap. Of arithmetic and on-chip traffic, which follow the clock of the
unit, the longer counts; off-chip traffic follows the clock of the memory. Both join as a p-norm, so
the longer counts and the other still a little. On a GPU the host launches operators ahead of it, as
a pipeline of two stages::

    L_i = L_(i-1) + c_i          the host is done with launching operator i
    G_i = max(G_(i-1), L_i) + g_i    the GPU is done with it, after a bubble where the host is late

Only the ratio of the pipeline at a point to that at the default clocks is used, so the latency at
the default clocks is exactly that of the engine. Every time is work over one clock, or constant, so
a higher clock never slows a run down and never speeds it up by more than its own factor.

Reference:
    FLAME, arXiv 2604.15357, as reconstructed from its abstract: launches ahead of the GPU. The
    memory clock and the overlap of resources are ours (docs/clocks.md has the alternatives).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from predictor.core.arrays import Floats

_MIN_MS: Final = 1e-12
# A latency is known to some percent at a point that was measured. What hides traffic is hardly
# known beforehand, so that two or three measurements may move it by some factor.
_MEASURED_DEVIATION: Final = 0.02
_TILT_DEVIATION: Final = 1.0
_SHARPNESS_DEVIATION: Final = 1.0  # in ln
_TILTS: Final = np.linspace(-2.0, 2.0, 41)
_SHARPER: Final = np.linspace(-0.4, 1.2, 9)  # ln of the exponent over the usual one


@dataclass(frozen=True, slots=True)
class Overlap:
    """Constants of a kind of device, chosen by ``ctm evaluate clocks``.

    Attributes:
        on_chip: time of on-chip traffic over the engine's time of memory.
        off_chip: time of off-chip traffic over the same.
        sharpness: exponent p of the norm; 1 is a sum, infinity the longest.
        deviation: standard deviation of ln(latency) for each unit of ln(latency / default).
    """

    on_chip: float
    off_chip: float
    sharpness: float
    deviation: float


GPU: Final = Overlap(on_chip=1.7, off_chip=1.4, sharpness=1.5, deviation=0.1)
CPU: Final = Overlap(on_chip=2.8, off_chip=2.0, sharpness=1.5, deviation=0.1)


@dataclass(frozen=True, slots=True, eq=False)
class Slowness:
    """Times of P operating points over those at the default clocks, float64 [P].

    Attributes:
        host: of launches by the processor.
        unit: of arithmetic and on-chip traffic.
        memory: of off-chip traffic.
    """

    host: Floats
    unit: Floats
    memory: Floats

    @classmethod
    def default(cls) -> Slowness:
        """Return the default clocks as the one point."""
        return cls(np.ones(1), np.ones(1), np.ones(1))

    @property
    def smallest(self) -> Floats:
        """The least of the three, [P]: no run gets faster than by this."""
        return np.minimum(np.minimum(self.host, self.unit), self.memory)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClockModel:
    """Times of the N operators of one graph on one target at its default clocks; ms, float64 [N].

    Attributes:
        compute_ms: arithmetic.
        memory_ms: traffic of the memory.
        launch_ms: launches.
        busy_ms: of the operators without their launches.
        overlap: constants of the kind of device.
        is_launched: whether a host launches the operators ahead of the device.
        level: ln of the measured latency over the predicted one, at all clocks.
        tilt: ln of the off-chip traffic over that of ``overlap``.
        sharper: ln of the exponent over that of ``overlap``.
    """

    compute_ms: Floats
    memory_ms: Floats
    launch_ms: Floats
    busy_ms: Floats
    overlap: Overlap
    is_launched: bool
    level: float = 0.0
    tilt: float = 0.0
    sharper: float = 0.0

    def factors(self, points: Slowness) -> Floats:
        """Return the latency at points over that at the default clocks, [P]; cost O(N P)."""
        default = self._pipeline(Slowness.default())
        if default[0] <= 0:  # views alone
            return np.ones_like(points.unit)
        ratio: Floats = self._pipeline(points) / default
        return ratio * math.exp(self.level)

    def calibrated(self, points: Slowness, ratios: Floats) -> ClockModel:
        """Return the model after measurements at some points.

        One measurement fixes the level. From two on they also show how much of the time is memory,
        and how well it is hidden.

        Args:
            points: K points.
            ratios: latencies there over that predicted at the default clocks, [K].
        """
        grid = product(_TILTS.tolist(), _SHARPER.tolist()) if len(ratios) > 1 else [(0.0, 0.0)]
        best, min_misfit = self, math.inf
        for tilt, sharper in grid:
            model = replace(self, level=0.0, tilt=tilt, sharper=sharper)
            log_ratios = np.log(ratios / model.factors(points))  # [K]
            level = float(log_ratios.mean())
            misfit = (((log_ratios - level) / _MEASURED_DEVIATION) ** 2).sum()
            misfit += (tilt / _TILT_DEVIATION) ** 2 + (sharper / _SHARPNESS_DEVIATION) ** 2
            if misfit < min_misfit:
                best, min_misfit = replace(model, level=level), misfit
        return best

    def _pipeline(self, points: Slowness) -> Floats:
        """Return the latency at P points in ms, before calibration."""
        launch = self.launch_ms[:, None] * points.host  # [N, P]
        busy = self.busy_ms[:, None] * self._slower(points)
        if self.is_launched:
            return pipelined(launch, busy)
        total: Floats = (launch + busy).sum(axis=0)
        return total

    def _slower(self, points: Slowness) -> Floats:
        """Return the time of each operator at P points over that at the default clocks, [N, P]."""
        p = self.overlap.sharpness * math.exp(self.sharper)
        on_chip = np.maximum(self.compute_ms, self.overlap.on_chip * self.memory_ms)
        off_chip = self.overlap.off_chip * self.memory_ms * math.exp(self.tilt)
        # An operator that takes no time counts as one of the unit.
        of_unit = 1 / (1 + (off_chip / np.maximum(on_chip, _MIN_MS)) ** p)[:, None]  # [N, 1]
        joined = of_unit * points.unit**p + (1 - of_unit) * points.memory**p
        slower: Floats = joined ** (1 / p)
        return slower


def pipelined(launch_ms: Floats, busy_ms: Floats) -> Floats:
    """Return when a device is done with N operators that a host launches in turn, [P].

    It is the longest way through the two stages: the host until some operator, the device from it.

    Args:
        launch_ms: time of the host for each, [N, P].
        busy_ms: time of the device for each, [N, P].
    """
    launched = np.cumsum(launch_ms, axis=0)
    left = np.cumsum(busy_ms[::-1], axis=0)[::-1]
    done: Floats = (launched + left).max(axis=0, initial=0.0)
    return done
