"""Means and standard deviations of columns of training data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Statistics of named columns.

    Attributes:
        names: F column names.
        mean: float64 [F].
        std: float64 [F], all positive; 1 where a column has no values.
    """

    names: tuple[str, ...]
    mean: Floats
    std: Floats

    def apply(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return ``values`` [rows, F] standardised, float32 of the same shape."""
        return ((values - self.mean) / self.std).astype(np.float32)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Scaling:
        """Read the values of a checkpoint.

        Raises:
            KeyError, TypeError, ValueError: the values are not of this form.
        """
        names = tuple(map(str, data["names"]))
        mean, std = (np.array(data[key], np.float64) for key in ("mean", "std"))
        if not mean.shape == std.shape == (len(names),):
            raise ValueError("there is not one mean and one deviation for each column")
        if not (np.isfinite([mean, std]).all() and (std > 0).all()):
            raise ValueError("a mean is not finite or a deviation is not positive")
        return cls(names, mean, std)
