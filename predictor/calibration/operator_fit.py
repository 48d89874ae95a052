"""Calibration by operators: from profiles of a few networks to all operators of a target.

A whole network's latency is one number; a profiled pass has the time of each of its operators.
An operator takes the time of its arithmetic, its traffic and its launch at the target's rates, with
traffic beyond each cache apart, each times a factor. The logarithms of the factors are a Gaussian
process over operators: a common shift, terms that operators of one part, kind and type share, and
a function of their traits. Whatever was timed, one operator, several that the runtime fused, or
a whole network, is a sum of such times. Its logarithm is linearised around the best factors so far,
and the process conditioned on all of it at once.

A machine is faster in one minute than in the next: all times of one network share a factor of
their own, no property of the target.

No trait changes with the batch, so a prediction grows with it.

Reference:
    C. Rasmussen and C. Williams, "Gaussian Processes for Machine Learning", 2006, section 2.2.
    C. Bishop, "Pattern Recognition and Machine Learning", 2006, section 4.4 (the linearisation).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from predictor.core.arrays import ArrayRecord, Floats, Integers

_ROUNDS: Final = 16
_STEP: Final = 0.5  # whole steps go past the best where a part becomes all of a sum, and back
_SETTLED: Final = 1e-3  # of the logarithm of a factor
_MAX_LOG_FACTOR: Final = 8.0  # of the logarithm of a factor from the shift
_MIN_MS: Final = 1e-9
_DIGITS: Final = 3  # of traits and of ln(ms): operators that agree in them are one
_CLOCK_MS: Final = 1e-3  # a profile counts whole microseconds
# A fit takes the time of the cube of these, and a prediction the memory of their product.
_MAX_NETWORKS: Final = 200  # those that were measured last
_MAX_TIMES: Final = 600  # of networks and entries of profiles
_MAX_OPERATORS: Final = 500  # that differ


@dataclass(frozen=True, slots=True, eq=False)
class RatedOperators(ArrayRecord):
    """R operators of a graph with the parts of their times at the rates of a target.

    Attributes:
        parts_ms: float64 [R, P], one of an operator is above 0.
        traits: float64 [R, S], sizes as logarithms; none changes with the batch.
        kind: int64 [R], index into :data:`predictor.cost.operator_kinds.NETWORK_KINDS`, or past
            its end for operators that run inside another.
        code: int64 [R], type of operator.
    """

    parts_ms: Floats
    traits: Floats
    kind: Integers
    code: Integers

    def __len__(self) -> int:
        return len(self.code)

    def distinct(self) -> tuple[Integers, Integers]:
        """Return rows of operators that differ, [U], and the place of each operator there, [R]."""
        sizes = np.log(np.maximum(self.parts_ms, _MIN_MS))
        columns = [self.traits, sizes, self.kind[:, None], self.code[:, None]]
        table = np.concatenate(columns, axis=1).round(_DIGITS)
        _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, which


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """Times of one graph on one target: of the whole, and of groups of its operators.

    Attributes:
        work: of the graph.
        latency_ms: of the whole.
        groups: operators that ran together, as rows of ``work``.
        group_ms: float64 [n], time of each group.
        noise: standard deviation of ln(latency) by the spread of its samples.
    """

    work: RatedOperators
    latency_ms: float
    groups: Sequence[Sequence[int]]
    group_ms: Floats
    noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorPrior:
    """Standard deviations, each of the logarithm of a time.

    Attributes:
        shift: of the factor of all operators.
        part: of the factor of each part.
        kind: of the factor that operators of a kind share.
        code: of the factor that operators of a type share.
        similarity: of the function of traits, for operators of a type.
        length: length scale of that function, in units of a logarithm.
        entry: of the time of one entry of a profile.
        network: of the latency of a whole network beside its operators.
        state: of the factor that all times of one network share.
        misfit: of an unmeasured network's latency, beside the variance of the process.
    """

    shift: float = 1.5
    part: float = 0.5
    kind: float = 0.4
    code: float = 0.4
    similarity: float = 0.7
    length: float = 1.5
    entry: float = 0.5
    network: float = 0.03
    state: float = 0.07
    misfit: float = 0.17

    def covariance(self, one: RatedOperators, other: RatedOperators) -> Floats:
        """Return the covariance of the operators' factors but the shift, [R, Q], of each part."""
        distances = (
            # |a - b|^2 = a.a + b.b - 2 a.b: the differences themselves would be [R, Q, S].
            (one.traits**2).sum(axis=1)[:, None]
            + (other.traits**2).sum(axis=1)[None]
            - 2 * one.traits @ other.traits.T
        )
        kernel = self.similarity**2 * np.exp(-np.maximum(distances, 0.0) / (2 * self.length**2))
        same_kind = one.kind[:, None] == other.kind[None]
        same_code = one.code[:, None] == other.code[None]
        common = self.part**2 + self.kind**2 * same_kind
        covariance: Floats = common + same_code * (self.code**2 + kernel)
        return covariance


@dataclass(frozen=True, slots=True, eq=False)
class GraphTimes:
    """Posterior of the times of a graph's operators on a target.

    Attributes:
        parts_ms: float64 [R, P], times of its operators by their parts; they sum to the latency.
        deviation: standard deviation of ln(latency).
    """

    parts_ms: Floats
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class _Observed:
    """Sums of the times of U distinct operators: n logarithms, their noise and network."""

    members: Floats  # [n, U], how often each operator is in the sum
    log_ms: Floats
    noise: Floats
    network: Integers


class OperatorFit:
    """Posterior of the factors of a target's operators, after some networks were timed on it.

    Beyond the limits above the latest networks and the operators with the most time are used: the
    other operators of a graph take as much longer in proportion.
    """

    def __init__(self, timed: Sequence[Timed], prior: FactorPrior | None = None) -> None:
        """Condition on the times of at least one network."""
        self._prior = prior or FactorPrior()
        last = timed[-_MAX_NETWORKS:]
        works = [timing.work for timing in last]
        self._work, places = largest_operators(works, _MAX_OPERATORS)
        self._condition(_observed(last, places, self._work, self._prior))

    def _condition(self, observed: _Observed) -> None:
        prior, parts = self._prior, self._work.parts_ms
        between = prior.covariance(self._work, self._work)
        # The shift's prior stands around the usual ratio of time to work, not around 1.
        plain = np.log(np.maximum(observed.members @ parts.sum(axis=1), _MIN_MS))
        usual = shift = float(np.median(observed.log_ms - plain))
        log_factors, weights = np.zeros(parts.shape), np.zeros(parts.shape)
        common = prior.shift**2 + prior.state**2 * (
            observed.network[:, None] == observed.network[None]
        )
        common += np.diag(observed.noise**2)
        members = observed.members
        for _ in range(_ROUNDS):
            times = parts * np.exp(log_factors + shift)
            total = members @ times.sum(axis=1)
            # The derivatives of ln(sum) by the log factors, members x times / total, are the
            # linearisation: [n, U, P] in full, and never made.
            of_sums = members @ (between * (times @ times.T)) @ members.T
            covariance = common + of_sums / np.outer(total, total)
            off = observed.log_ms - np.log(total) + (shift - usual)
            off += members @ (times * log_factors).sum(axis=1) / total
            solved = np.linalg.solve(covariance, off)
            before = log_factors + shift
            shift += _STEP * (usual + prior.shift**2 * float(solved.sum()) - shift)
            weights += _STEP * (times * (members.T @ (solved / total))[:, None] - weights)
            # From U x P weights, so that new operators need only their covariance with these.
            log_factors = np.clip(between @ weights, -_MAX_LOG_FACTOR, _MAX_LOG_FACTOR)
            if np.abs(log_factors + shift - before).max() < _SETTLED:
                break
        self._shift, self._weights = shift, weights
        self._whitener = np.linalg.inv(np.linalg.cholesky(covariance))  # for all graphs to come
        self._times, self._shares = times, members / total[:, None]

    def predict(self, work: RatedOperators) -> GraphTimes:
        """Return the posterior for a graph; it has an operator at least."""
        first, which = work.distinct()
        one = work.take(first)
        parts_ms = np.concatenate(
            [
                self._parts_ms(one.take(rows))
                for rows in np.array_split(np.arange(len(one)), len(one) // _MAX_OPERATORS + 1)
            ]
        )
        often = np.bincount(which, minlength=len(one))
        return GraphTimes(parts_ms[which], self._deviation(one, parts_ms * often[:, None]))

    def _parts_ms(self, work: RatedOperators) -> Floats:
        logs = self._prior.covariance(work, self._work) @ self._weights
        factors = np.exp(np.clip(logs, -_MAX_LOG_FACTOR, _MAX_LOG_FACTOR) + self._shift)
        times: Floats = work.parts_ms * factors
        return times

    def _deviation(self, work: RatedOperators, times_ms: Floats) -> float:
        """Return the deviation of a graph whose distinct operators take so long, [U, P]."""
        largest = np.argsort(-times_ms.sum(axis=1), kind="stable")[:_MAX_OPERATORS]
        work, times_ms = work.take(largest), times_ms[largest]
        prior = self._prior
        shares = times_ms / max(float(times_ms.sum()), _MIN_MS)
        inside = prior.covariance(work, work)
        across = prior.covariance(self._work, work)
        variance = prior.shift**2 + float((inside * (shares @ shares.T)).sum())
        of_operators = (self._times * (across @ shares)).sum(axis=1)
        white = self._whitener @ (prior.shift**2 + self._shares @ of_operators)
        left = max(variance - float(white @ white), 0.0)
        return float(np.sqrt(left + prior.misfit**2))


def largest_operators(
    works: Sequence[RatedOperators], limit: int
) -> tuple[RatedOperators, list[Integers]]:
    """Return distinct operators that graphs spend most time in, and the index of each, or -1.

    The time is that at the target's rates, as parts of each graph's.

    Args:
        works: of graphs, each with an operator at least.
        limit: largest number of distinct operators returned.
    """
    work = RatedOperators.joined(works)
    first, which = work.distinct()
    ends = np.cumsum([len(operators) for operators in works])
    size = work.parts_ms.sum(axis=1)
    share = np.concatenate([part / part.sum() for part in np.split(size, ends[:-1])])
    largest = np.argsort(-np.bincount(which, share), kind="stable")[:limit]
    place = np.full(len(first), -1)
    place[largest] = np.arange(len(largest))
    return work.take(first[largest]), np.split(place[which], ends[:-1])


def _observed(
    timed: Sequence[Timed], places: Sequence[Integers], work: RatedOperators, prior: FactorPrior
) -> _Observed:
    """Return the observations: all networks, and the entries of profiles that took longest."""
    size = work.parts_ms.sum(axis=1)
    totals, entries = [], []
    for network, (timing, where) in enumerate(zip(timed, places, strict=True)):
        run = where[where >= 0]
        if not len(run):
            continue
        often = np.bincount(run, minlength=len(work))
        scale = timing.work.parts_ms.sum() / (often @ size)
        noise = np.hypot(prior.network, timing.noise)
        # The largest operators stand for the left-out ones in proportion to the work.
        totals.append((often * scale, np.log(timing.latency_ms), noise, network))
        for key, usual_ms, total_ms in _entries(timing, where):
            # The profiler's clock counts whole microseconds: short operators are mostly rounding.
            off = np.hypot(prior.entry, min(1.0, _CLOCK_MS / usual_ms))
            row = (np.bincount(key, minlength=len(work)), np.log(usual_ms), off, network)
            entries.append((total_ms / timing.latency_ms, row))
    entries.sort(key=lambda entry: -entry[0])
    rows = totals + [row for _, row in entries[: max(_MAX_TIMES - len(totals), 0)]]
    members, log_ms, noise, networks = (np.array(column) for column in zip(*rows, strict=True))
    return _Observed(members.astype(np.float64), log_ms, noise, networks)


def _entries(timed: Timed, where: Integers) -> Iterator[tuple[list[int], float, float]]:
    """Yield groups of the same operators: rows, usual time of one, and time of all."""
    logs: dict[tuple[int, ...], list[float]] = {}
    for group, time_ms in zip(timed.groups, timed.group_ms.tolist(), strict=True):
        key = tuple(sorted(where[list(group)].tolist()))
        if key[0] >= 0:
            logs.setdefault(key, []).append(np.log(max(time_ms, _MIN_MS)))
    for key, times in logs.items():
        yield list(key), float(np.exp(np.mean(times))), float(np.exp(times).sum())
