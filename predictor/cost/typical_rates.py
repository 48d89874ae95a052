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
_LEAST_LAUNCH_S: Final = 1e-9


@dataclass(frozen=True, slots=True)
class TypicalRates:
    """Rates that stand in for those that the facts of a device do not give, by kind of device.

    Each is a median; the key is empty for devices of all kinds.

    Attributes:
        matrix: multiply-accumulates a second of products.
        ratios: by rate (``convolution``, ``vector``, ``unit``, ``bandwidth``), that rate over
            ``matrix``.
    """

    matrix: Mapping[str, float]
    ratios: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, rates: Rates, kinds: Sequence[str]) -> TypicalRates:
        """Return the medians of T targets that state rates, with the kind of each device."""
        groups = np.array(kinds)
        return cls(
            _medians(rates.matrix, groups),
            {name: _medians(getattr(rates, name) / rates.matrix, groups) for name in _FILLED},
        )

    def complete(self, rates: Rates, kinds: Sequence[str]) -> Rates:
        """Return the rates of T targets without gaps: a missing one is typical for its kind.

        What no device states stays unknown; a launch takes at least a nanosecond.
        """
        matrix = _filled(rates.matrix, 1.0, self.matrix, kinds)
        filled = {
            name: _filled(getattr(rates, name), matrix, self.ratios[name], kinds)
            for name in _FILLED
        }
        launch_s = np.maximum(rates.launch_s, _LEAST_LAUNCH_S)
        return replace(rates, matrix=matrix, launch_s=launch_s, **filled)


def _medians(values: Floats, groups: NDArray[np.str_]) -> dict[str, float]:
    is_stated = np.isfinite(values)
    of_group = {
        name: is_stated & (groups == name) for name in np.unique(groups[is_stated]).tolist()
    }
    return {
        name: float(np.exp(np.median(np.log(values[where]))))
        for name, where in {"": is_stated, **of_group}.items()
        if where.any()
    }


def _filled(
    values: Floats, beside: Floats | float, typical: Mapping[str, float], kinds: Sequence[str]
) -> Floats:
    """Return values whose gaps follow ``beside`` in the typical ratio of their kind."""
    of_all = typical.get("", np.nan)
    usual = beside * np.array([typical.get(name, of_all) for name in kinds], np.float64)
    return np.where(np.isfinite(values), values, usual)
