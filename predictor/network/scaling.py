"""Means and standard deviations of columns: fitted on training data only, stored, applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError

# Columns are natural logs. One that hardly changes in training must not explode elsewhere.
_MIN_STD = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Statistics of named columns.

    Attributes:
        names: F column names.
        mean: float64 [F].
        std: float64 [F], all positive; 1 where a column has no values.
    """

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]

    @classmethod
    def fit(cls, names: tuple[str, ...], values: NDArray[np.floating]) -> Scaling:
        """Fit on ``values`` [rows, F]; NaN cells are left out.

        Raises:
            InputError: the table has no rows, or not one column for each name.
        """
        if values.ndim != 2 or values.shape[1] != len(names):
            raise InputError(
                "scaling statistics",
                f"the table has the shape {values.shape}, and there are {len(names)} columns",
                "give rows of one value for each column",
            )
        if not len(values):
            raise InputError("scaling statistics", "there are no rows", "give at least one")
        present = ~np.isnan(values)
        # An empty column has mean 0 and deviation 1, without a division by zero.
        count = np.maximum(present.sum(axis=0), 1)
        filled = np.where(present, values, 0.0).astype(np.float64)
        mean = filled.sum(axis=0) / count
        std = np.sqrt((np.where(present, filled - mean, 0.0) ** 2).sum(axis=0) / count)
        return cls(names, mean, np.where(present.any(axis=0), np.maximum(std, _MIN_STD), 1.0))

    @classmethod
    def identity(cls, names: tuple[str, ...]) -> Scaling:
        """Return statistics that leave every column as it is."""
        return cls(names, np.zeros(len(names)), np.ones(len(names)))

    def apply(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return ``values`` [rows, F] standardised, float32 of the same shape."""
        return ((values - self.mean) / self.std).astype(np.float32)

    def to_json(self) -> dict[str, object]:
        """Return plain values; floats keep every digit."""
        return {
            "names": list(self.names),
            "mean": self.mean.tolist(),
            "std": self.std.tolist(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Scaling:
        """Rebuild from :meth:`to_json`.

        Raises:
            InputError: the values are not of this form.
        """
        try:
            names = tuple(map(str, _list(data["names"])))
            mean, std = (np.array(_list(data[key]), np.float64) for key in ("mean", "std"))
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(f"a part is missing or of the wrong type ({error})") from error
        if mean.shape != (len(names),) or std.shape != (len(names),):
            raise _damaged("there is not one mean and one deviation for each column")
        if not (np.isfinite(mean).all() and np.isfinite(std).all() and (std > 0).all()):
            raise _damaged("a mean is not finite or a deviation is not positive")
        return cls(names, mean, std)


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__} in place of a list")
    return value


def _damaged(reason: str) -> InputError:
    return InputError("scaling statistics", reason, "use an undamaged checkpoint")
