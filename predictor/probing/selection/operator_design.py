"""Probes whose profiles say most about the operators of other networks.

A profiled probe gives the time of each of its operators, and not only their sum. With
:class:`FactorPrior`, linearised at the target's own rates, the logarithms of operators' factors
are Gaussian, and the logarithm of a network's latency is their sum weighed by the operators' shares
of it. A probe's information depends on its operators and not on the measured times, so a plan can
be made before anything is measured. Greedy I-optimal design: each probe leaves the smallest
mean variance of the graphs in question. See V. Fedorov, "Theory of Optimal Experiments", 1972.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from predictor.calibration.operator_fit import FactorPrior, RatedOperators, largest_operators
from predictor.core.arrays import Floats, Integers

MAX_OPERATORS: Final = 1500  # that differ
_MIN_MS: Final = 1e-9


class OperatorDesign:
    """Information of N profiled networks about the graphs that are requested.

    Of D distinct operators and of N networks and A graphs to be predicted, each a sum of
    operators, the covariance of all logarithms is held: [D + N + A, D + N + A].
    """

    def __init__(
        self,
        networks: Sequence[RatedOperators],
        requested: Sequence[RatedOperators] = (),
        prior: FactorPrior | None = None,
    ) -> None:
        """Linearise the prior.

        Args:
            networks: that may be measured, on the target.
            requested: graphs to be predicted there; none for the networks.
            prior: of operators.
        """
        self._prior = prior or FactorPrior()
        work, places = largest_operators([*networks, *requested], MAX_OPERATORS)
        size = work.parts_ms.sum(axis=1)
        often = np.stack([np.bincount(where[where >= 0], minlength=len(work)) for where in places])
        shares = often * size / np.maximum((often * size).sum(axis=1, keepdims=True), _MIN_MS)
        # Each operator alone, then each network as the sum of its shares.
        alone = self._of_operators(work)
        across = shares @ alone
        self._covariance = np.block([[alone, across.T], [across, across @ shares.T]])
        # Rows of the covariance that a profiled network reads: its operators, and their sum.
        self._reading_rows = [
            np.append(np.flatnonzero(row), len(work) + place)
            for place, row in enumerate(often[: len(networks)])
        ]
        self._requested = len(work) + np.arange(len(networks) if requested else 0, len(places))

    def choose(self, count: int, first: Sequence[int] = ()) -> tuple[int, ...]:
        """Choose networks greedily.

        Args:
            count: number of networks.
            first: networks that were measured already; they are not chosen again.

        Returns:
            Their places, in the order of choice; of equal ones the first.
        """
        covariance, chosen = self._covariance.copy(), list(first)
        for place in first:
            self._condition(covariance, place)
        for _ in range(min(count, len(self._reading_rows) - len(chosen))):
            gains = self._gains(covariance)
            gains[chosen] = -np.inf
            best = int(np.argmax(gains))
            self._condition(covariance, best)
            chosen.append(best)
        return tuple(chosen[len(first) :])

    def _of_operators(self, work: RatedOperators) -> Floats:
        """Return the covariance of the logarithms of D operators' times, [D, D]."""
        shares = work.parts_ms / work.parts_ms.sum(axis=1, keepdims=True)
        between = self._prior.covariance(work, work) * (shares @ shares.T)
        covariance: Floats = self._prior.shift**2 + between
        return covariance

    def _gains(self, covariance: Floats) -> Floats:
        """Return each network's reduction of the mean variance of the graphs in question, [N].

        With the covariance S of its readings and their covariances X with those graphs it is the
        trace of S^-1 X X^T over the number of graphs.
        """
        crossed = covariance[:, self._requested] / np.sqrt(len(self._requested))
        squared = crossed @ crossed.T
        solved = (
            np.linalg.solve(
                self._readings_covariance(covariance, rows), squared[np.ix_(rows, rows)]
            )
            for rows in self._reading_rows
        )
        return np.array([np.trace(matrix) for matrix in solved])

    def _readings_covariance(self, covariance: Floats, rows: Integers) -> Floats:
        """Return the covariance of a network's readings, with their noise."""
        noise = np.full(len(rows), self._prior.entry)
        # The last row is the sum: whole runs are timed better than entries of a profile.
        noise[-1] = self._prior.network
        # The state is common to all times of one network, so it is in every entry.
        return covariance[np.ix_(rows, rows)] + self._prior.state**2 + np.diag(noise**2)

    def _condition(self, covariance: Floats, place: int) -> None:
        """Take into account that a network is measured."""
        rows = self._reading_rows[place]
        readings = covariance[rows]
        covariance -= readings.T @ np.linalg.solve(
            self._readings_covariance(covariance, rows), readings
        )
