"""Probes whose profiles say most about the operators of other networks.

A probe that is profiled tells how long each of its operators took, and not only their sum. With
:class:`OperatorPrior`, linearised at the target's own rates, the logarithms of operators' factors
are Gaussian, and the logarithm of a network's latency is their sum weighed by the operators' shares
of it. What a probe tells depends on its operators and not on the times that are measured, so a plan
can be made before anything is measured. Greedy I-optimal design: each probe leaves the smallest
mean variance of what is asked about. See V. Fedorov, "Theory of Optimal Experiments", 1972.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operators import Integers, OperatorPrior, Work, largest_operators

Floats = NDArray[np.float64]

MOST_OPERATORS: Final = 1500  # that differ, of all networks: their covariance is held


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What one measured network tells: m operators, their sum, and its shares [D] of that."""

    operators: Integers
    noise: Floats  # [m + 1], of the operators and of the sum
    shares: Floats


class OperatorDesign:
    """What N networks with profiles would tell about what is asked."""

    def __init__(
        self,
        networks: Sequence[Work],
        asked: Sequence[Work] = (),
        prior: OperatorPrior | None = None,
    ) -> None:
        """Linearise the prior.

        Args:
            networks: that may be measured, on the target.
            asked: what is to be predicted there; none for the networks.
            prior: of operators.
        """
        self._prior = prior or OperatorPrior()
        work, places = largest_operators([*networks, *asked], MOST_OPERATORS)
        size = work.parts_ms.sum(axis=1)
        told = [self._told(where, size) for where in places]
        self._networks = told[: len(networks)]
        self._meant = np.stack([each.shares for each in told[-len(asked) if asked else 0 :]])
        self._covariance = self._of_factors(work, work.parts_ms / size[:, None])

    def most_telling(self, count: int, first: Sequence[int] = ()) -> tuple[int, ...]:
        """Choose networks greedily.

        Args:
            count: how many.
            first: networks that were measured already; they are not chosen again.

        Returns:
            Their places, in the order of choice; of equal ones the first.
        """
        covariance, chosen = self._covariance.copy(), list(first)
        for place in first:
            self._condition(covariance, place)
        for _ in range(min(count, len(self._networks) - len(chosen))):
            gains = self._gains(covariance)
            gains[chosen] = -np.inf
            best = int(np.argmax(gains))
            self._condition(covariance, best)
            chosen.append(best)
        return tuple(chosen[len(first) :])

    def _of_factors(self, work: Work, shares: Floats) -> Floats:
        """Return the covariance of the logarithms of operators' times, [D, D]."""
        between = self._prior.covariance(work, work)
        common = sum(np.outer(each, each) for each in shares.T)
        found: Floats = self._prior.shift**2 + between * common
        return found

    def _told(self, where: Integers, size: Floats) -> _Told:
        often = np.bincount(where[where >= 0], minlength=len(size))
        (operators,) = np.nonzero(often)
        total = float(often @ size)
        shares = often * size / total if total else np.zeros(len(size))
        noise = np.full(len(operators) + 1, self._prior.entry)
        noise[-1] = self._prior.network
        return _Told(operators, noise, shares)

    def _gains(self, covariance: Floats) -> Floats:
        """Return by how much each network lowers the mean variance of what is asked, [N]."""
        asked = covariance @ self._meant.T  # [D, A]
        sums = np.stack([each.shares for each in self._networks]) @ covariance  # [N, D]
        of_sums = sums @ self._meant.T
        gains = []
        for each, row, of_sum in zip(self._networks, sums, of_sums, strict=True):
            crossed = np.vstack([asked[each.operators], of_sum])
            solved = np.linalg.solve(self._observed(covariance, each, row), crossed)
            gains.append(float((crossed * solved).sum(axis=0).mean()))
        return np.array(gains)

    def _observed(self, covariance: Floats, told: _Told, row: Floats) -> Floats:
        """Return the covariance of what a network tells, [m + 1, m + 1]; its sum comes last."""
        count = len(told.operators)
        found = np.full((count + 1, count + 1), self._prior.state**2)
        found[:-1, :-1] += covariance[np.ix_(told.operators, told.operators)]
        found[-1, :-1] += row[told.operators]
        found[:-1, -1] += row[told.operators]
        found[-1, -1] += row @ told.shares
        found[np.diag_indices(count + 1)] += told.noise**2
        return found

    def _condition(self, covariance: Floats, place: int) -> None:
        """Take into account that a network is measured."""
        told = self._networks[place]
        row = told.shares @ covariance
        crossed = np.vstack([covariance[told.operators], row])
        covariance -= crossed.T @ np.linalg.solve(self._observed(covariance, told, row), crossed)
