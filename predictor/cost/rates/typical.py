"""Rates of targets side by side, and typical ones in place of those that facts do not give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from predictor.core.arrays import ArrayRecord, Floats
from predictor.core.records import Target, by_run
from predictor.devices.architectures import kind

FILLED: Final = ("convolution", "vector", "unit", "bandwidth")
"""Rates that follow that of products where a device does not state them."""

_MIN_LAUNCH_S: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rates(ArrayRecord):
    """Rates of the terms of the physics on T targets; NaN where the facts of the device give none.

    Attributes:
        convolution: [T], multiply-accumulates a second of convolutions.
        matrix: [T], of other products, in the precision of the run.
        vector: [T], of other multiplications.
        unit: [T], of products on one core or SM.
        bandwidth: [T], bytes a second of the memory, or of the host link where it streams.
        launch_s: [T], seconds.
        held_bytes: [T], memory of a chip that streams the rest from the host; 0 of the others.
        weight_ratio, activation_ratio: [T, WIDTHS], bytes in the run for a byte in the file.
    """

    convolution: Floats
    matrix: Floats
    vector: Floats
    unit: Floats
    bandwidth: Floats
    launch_s: Floats
    held_bytes: Floats
    weight_ratio: Floats
    activation_ratio: Floats


@dataclass(frozen=True, slots=True)
class TypicalRates:
    """Rates that stand in for those that the facts of a device do not give.

    Each is a median over targets of a group, by the names of :func:`likenesses`.

    Attributes:
        matrix: multiply-accumulates a second of products.
        ratios: by rate of ``FILLED``, that rate over ``matrix``.
    """

    matrix: Mapping[str, float]
    ratios: Mapping[str, Mapping[str, float]]

    def complete(self, rates: Rates, groups: Sequence[Sequence[str]]) -> Rates:
        """Return the rates of T targets without gaps: a missing one is typical for what is like it.

        What no device states stays unknown; a launch takes at least a nanosecond.
        """
        matrix = _filled(rates.matrix, 1.0, self.matrix, groups)
        filled = {
            name: _filled(getattr(rates, name), matrix, self.ratios[name], groups)
            for name in FILLED
        }
        launch_s = np.maximum(rates.launch_s, _MIN_LAUNCH_S)
        return replace(rates, matrix=matrix, launch_s=launch_s, **filled)


def _filled(
    values: Floats,
    base: Floats | float,
    typical: Mapping[str, float],
    groups: Sequence[Sequence[str]],
) -> Floats:
    """Return values whose gaps follow ``base`` in the typical ratio of what is like them."""
    result = values.copy()
    gaps = np.flatnonzero(~np.isfinite(values))
    usual = [
        next((typical[name] for name in groups[gap] if name in typical), np.nan)
        for gap in gaps.tolist()
    ]
    result[gaps] = np.broadcast_to(base, values.shape)[gaps] * np.array(usual, np.float64)
    return result


def likenesses(targets: Sequence[Target]) -> list[tuple[str, ...]]:
    """Return the groups of targets that are like each one, from the nearest on.

    Devices with the same chip in the number format of the run, accelerators of its maker, devices
    of its kind, and all.
    """
    return by_run(targets, _likeness)


def _likeness(target: Target) -> tuple[str, ...]:
    of_device, chip = kind(target.device), target.device.chip
    name = target.configuration.precision.number_format
    nearest = (f"{of_device} of {chip} {name}",) if chip else ()
    # Makers of accelerators build for one market each, some watches and some servers.
    maker = (f"{of_device} of {target.device.vendor}",) if of_device == "npu" else ()
    return (*nearest, *maker, of_device, "")
