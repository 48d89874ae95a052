"""Statistics of columns, fitted on training data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.network.scaling import Scaling

# Columns are natural logs. One that hardly changes in training must not explode elsewhere.
_MIN_STD = 0.25


def fit_scaling(names: tuple[str, ...], values: NDArray[np.floating]) -> Scaling:
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
    return Scaling(names, mean, np.where(present.any(axis=0), np.maximum(std, _MIN_STD), 1.0))


def identity_scaling(names: tuple[str, ...]) -> Scaling:
    """Return statistics that leave every column as it is."""
    return Scaling(names, np.zeros(len(names)), np.ones(len(names)))
