"""Least squares of relative errors with coefficients between limits."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDS: Final = 15


def relative(
    columns: Floats,
    seconds: Floats,
    weights: Floats,
    lower: Floats,
    usual: Floats,
    pull: Floats,
    *,
    upper: Floats | None = None,
    rest: Floats | None = None,
) -> Floats:
    """Return coefficients of at least ``lower`` that make relative errors small.

    Args:
        columns: work over rate by coefficient, [N, K].
        seconds: measured, [N].
        weights: of the rows, [N].
        lower: least value of each coefficient, [K].
        usual: that they are drawn to, [K].
        pull: towards that, [K].
        upper: greatest value of each coefficient, [K].
        rest: seconds that do not depend on them, [N].
    """
    room = np.full(len(lower), np.inf) if upper is None else upper - lower
    fixed = columns @ lower + (0.0 if rest is None else rest)
    prior = np.diag(pull)
    robust = np.ones(len(seconds))
    solved = lower
    for _ in range(_ROUNDS):
        by = weights * robust / seconds
        matrix = np.vstack([columns * by[:, None], prior])
        target = np.concatenate([(seconds - fixed) * by, prior @ (usual - lower)])
        solved = lower + bounded(matrix, target, room)
        error = (columns @ (solved - lower) + fixed) / seconds - 1
        robust = 1 / np.sqrt(np.maximum(np.abs(error), 0.02))
    return solved


def bounded(matrix: Floats, target: Floats, upper: Floats) -> Floats:
    """Return the least-squares solution between 0 and ``upper``.

    An entry that exceeds its limit without the limits stays at it.
    """
    x: Floats = np.zeros(len(upper))
    free = upper > 0
    while free.any():
        x[free] = not_negative(matrix[:, free], target - matrix[:, ~free] @ x[~free])
        excess = x > upper
        x[excess] = upper[excess]
        if not (free & excess).any():
            break
        free &= ~excess
    return x


def not_negative(matrix: Floats, target: Floats) -> Floats:
    """Return the least-squares solution without negative entries.

    Reference:
        Lawson and Hanson, Solving Least Squares Problems (1974), algorithm NNLS.
    """
    scale = np.sqrt((matrix**2).sum(axis=0))
    a = matrix / scale
    gram, right = a.T @ a, a.T @ target
    count = len(right)
    x, free = np.zeros(count), np.zeros(count, bool)
    for _ in range(10 * count):
        gradient = np.where(free, -np.inf, right - gram @ x)
        if gradient.max() <= 1e-10 * np.abs(right).max():
            break
        free[int(gradient.argmax())] = True
        while True:
            solved = np.zeros(count)
            solved[free] = np.linalg.solve(gram[np.ix_(free, free)], right[free])
            wrong = free & (solved <= 0)
            if not wrong.any():
                break
            step = (x[wrong] / (x[wrong] - solved[wrong])).min()
            x += step * (solved - x)
            free &= x > 1e-14
            x[~free] = 0.0
        x = solved
    result: Floats = x / scale
    return result
