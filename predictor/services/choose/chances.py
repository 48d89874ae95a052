"""Chances of latencies within limits, also of several models together.

ln(latency) of a model on a target is normal. The errors of several models on one target have a
shared part, v_i . v_j (``PredictionTable.shared_error``); the rest is independent. Given the
shared part the models are independent, so the chance that all keep their limits is the mean of a
product of normal distribution functions over the shared part.

Reference:
    A. Genz and F. Bretz, "Computation of Multivariate Normal and t Probabilities", 2009, section
    2.3.1, which conditions on common factors.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_POINTS: Final = 512
_CELLS_AT_A_TIME: Final = 256  # x points x models
_MAX_Z: Final = 8.0  # standard deviations; beyond it a chance is 0 or 1 to 15 digits
_STEPS: Final = 8192
_MIN_RESIDUAL: Final = 1e-3  # standard deviation that models do not share, at least


def normal_cdf(z: Floats) -> Floats:
    """Return the normal distribution function, never falling with z, to 1e-6."""
    chances: Floats = np.interp(z, *_table())
    return chances


def joint_chance(z: Floats, shared: Floats) -> Floats:
    """Return the chance that all of M normal errors are under their limits, float64 [N].

    Args:
        z: float64 [M, N], limits in standard deviations.
        shared: float64 [M, N, S], shared part of each error.
    """
    single: Floats = normal_cdf(z)
    if len(z) == 1:
        return np.asarray(single[0])
    together = np.empty(z.shape[1])
    for start in range(0, z.shape[1], _CELLS_AT_A_TIME):
        cells = slice(start, start + _CELLS_AT_A_TIME)
        together[cells] = _all_under(z[:, cells], shared[:, cells])
    # The points approximate a distribution: their mean may exceed the smallest chance of a model.
    bounded: Floats = np.minimum(together, single.min(axis=0))
    return bounded


def _all_under(z: Floats, shared: Floats) -> Floats:
    common = np.einsum("ins,jns->nij", shared, shared)
    values, vectors = np.linalg.eigh(common)
    # root @ root.T is the covariance of the shared parts; rounding may take a value below 0.
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    residual = np.sqrt(np.maximum(1.0 - np.einsum("nii->ni", common), _MIN_RESIDUAL**2))
    errors = np.einsum("nij,pj->npi", root, _points(len(z)))
    chances: Floats = (
        normal_cdf((z.T[:, None] - errors) / residual[:, None]).prod(axis=2).mean(axis=1)
    )
    return chances


@cache
def _points(count: int) -> Floats:
    """Return points that stand for independent standard normal numbers, float64 [points, count].

    With each stands the opposite one, so that both tails weigh the same.

    Reference:
        M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018.
    """
    ratio = 2.0
    for _ in range(64):  # to the root of x^(d + 1) = x + 1
        ratio = (1 + ratio) ** (1 / (count + 1))
    steps = np.arange(1, _POINTS // 2 + 1)
    cube = np.modf(0.5 + np.outer(steps, ratio ** -np.arange(1.0, count + 1)))[0]
    normal = np.vectorize(NormalDist().inv_cdf)(cube)
    return np.concatenate([normal, -normal])


@cache
def _table() -> tuple[Floats, Floats]:
    grid = np.linspace(-_MAX_Z, _MAX_Z, _STEPS + 1)
    values = np.array([0.5 * math.erfc(-z / math.sqrt(2)) for z in grid.tolist()])
    values[[0, -1]] = 0.0, 1.0
    return grid, values
