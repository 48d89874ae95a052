"""Typical rates in place of those that the facts of a device do not give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.cost.physics import Rates

Floats = NDArray[np.float64]

_FILLED: Final = ("convolution", "vector", "unit", "bandwidth")
_MIN_LAUNCH_S: Final = 1e-9


@dataclass(frozen=True, slots=True)
class TypicalRates:
    """Rates that stand in for those that the facts of a device do not give.

    Each is a median over targets of a group, by the names of
    :func:`predictor.cost.physics.likenesses`.

    Attributes:
        matrix: multiply-accumulates a second of products.
        ratios: by rate (``convolution``, ``vector``, ``unit``, ``bandwidth``), that rate over
            ``matrix``.
    """

    matrix: Mapping[str, float]
    ratios: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, rates: Rates, groups: Sequence[Sequence[str]]) -> TypicalRates:
        """Return the medians of T targets that state rates, with the groups of each."""
        return cls(
            _medians(rates.matrix, groups),
            {name: _medians(getattr(rates, name) / rates.matrix, groups) for name in _FILLED},
        )

    def complete(self, rates: Rates, groups: Sequence[Sequence[str]]) -> Rates:
        """Return the rates of T targets without gaps: a missing one is typical for what is like it.

        What no device states stays unknown; a launch takes at least a nanosecond.
        """
        matrix = _filled(rates.matrix, 1.0, self.matrix, groups)
        filled = {
            name: _filled(getattr(rates, name), matrix, self.ratios[name], groups)
            for name in _FILLED
        }
        launch_s = np.maximum(rates.launch_s, _MIN_LAUNCH_S)
        return replace(rates, matrix=matrix, launch_s=launch_s, **filled)


def _medians(values: Floats, groups: Sequence[Sequence[str]]) -> dict[str, float]:
    stated: dict[str, list[float]] = {}
    for place in np.flatnonzero(np.isfinite(values)).tolist():
        for name in groups[place]:
            stated.setdefault(name, []).append(values[place])
    return {name: float(np.exp(np.median(np.log(rates)))) for name, rates in sorted(stated.items())}


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
