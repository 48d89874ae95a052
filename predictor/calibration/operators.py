"""Calibration by operators: what a profile of a few networks says of all operators of a target.

A whole network's latency is one number; a profiled pass tells how long each of its operators took.
An operator takes the time of its arithmetic, its traffic and its launch at the target's rates, what
leaves each cache apart, each times a factor. The logarithms of the factors are a Gaussian process
over operators: a common shift, what operators of one part, kind and type have in common, and what
operators with like traits do. Whatever was timed, one operator, several that the runtime fused, or
a whole network, is a sum of such times. Its logarithm is linearised around the best factors so far,
and the process conditioned on all of it at once.

A machine is faster in one minute than in the next: all that was timed of one network has a factor
of its own in common, which tells nothing of the target.

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
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROUNDS: Final = 16
_STEP: Final = 0.5  # whole steps go past the best where a part becomes all of a sum, and back
_FARTHEST: Final = 8.0  # of the logarithm of a factor from the shift
_LEAST_MS: Final = 1e-9
_DIGITS: Final = 3  # of traits and of ln(ms): operators that agree in them are one
_CLOCK_MS: Final = 1e-3  # a profile counts whole microseconds


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What R operators of one graph have to do on one target.

    Attributes:
        parts_ms: float64 [R, P], parts of their times at the target's rates; one is above 0.
        traits: float64 [R, S], sizes as logarithms; none changes with the batch.
        kind: int64 [R], of :mod:`predictor.network.kinds`.
        code: int64 [R], type of operator.
    """

    parts_ms: Floats
    traits: Floats
    kind: Integers
    code: Integers

    def __len__(self) -> int:
        return len(self.code)


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """What was timed of one graph on one target.

    Attributes:
        work: of the graph.
        latency_ms: of the whole.
        groups: operators that ran together, as rows of ``work``.
        group_ms: float64 [n], how long each group took.
        noise: standard deviation of ln(latency), as far as its samples tell.
    """

    work: Work
    latency_ms: float
    groups: Sequence[Sequence[int]]
    group_ms: Floats
    noise: float


@dataclass(frozen=True, slots=True)
class OperatorPrior:
    """Standard deviations, each of the logarithm of a time.

    Attributes:
        shift: of the factor of all operators.
        part: of what each part has in common.
        kind: of what operators of a kind have in common.
        code: of what operators of a type have in common.
        near: of what operators of a type with like traits have in common.
        length: how far apart traits may be to be alike, in units of a logarithm.
        entry: of the time of one entry of a profile.
        network: of the latency of a whole network beside its operators.
        state: of what all times of one network have in common.
        misfit: of the latency of a network that is foretold, beside what the process says.
    """

    shift: float = 1.5
    part: float = 0.5
    kind: float = 0.4
    code: float = 0.4
    near: float = 0.7
    length: float = 1.5
    entry: float = 0.5
    network: float = 0.03
    state: float = 0.07
    misfit: float = 0.17

    def covariance(self, one: Work, other: Work) -> Floats:
        """Return the covariance of the operators' own factors, [R, Q], of each part."""
        apart = (
            (one.traits**2).sum(axis=1)[:, None]
            + (other.traits**2).sum(axis=1)[None]
            - 2 * one.traits @ other.traits.T
        )
        like = self.near**2 * np.exp(-np.maximum(apart, 0.0) / (2 * self.length**2))
        same_kind = one.kind[:, None] == other.kind[None]
        same_code = one.code[:, None] == other.code[None]
        found: Floats = self.part**2 + self.kind**2 * same_kind + same_code * (self.code**2 + like)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Observed:
    """Sums of the times of U distinct operators: n logarithms, how sure, and of which network."""

    members: Floats  # [n, U], how often each operator is in the sum
    log_ms: Floats
    noise: Floats
    network: Integers


class OperatorFit:
    """What is believed of a target's operators after some networks were timed on it."""

    def __init__(self, timed: Sequence[Timed], prior: OperatorPrior | None = None) -> None:
        """Condition on what was timed of at least one network."""
        self._prior = prior or OperatorPrior()
        self._work, places = _distinct([each.work for each in timed])
        observed = _observed(timed, places, len(self._work), self._prior)
        self._condition(observed)

    def _condition(self, observed: _Observed) -> None:
        prior, parts = self._prior, self._work.parts_ms
        between = prior.covariance(self._work, self._work)
        plain = np.log(np.maximum(observed.members @ parts.sum(axis=1), _LEAST_MS))
        usual = shift = float(np.median(observed.log_ms - plain))
        own, told = np.zeros(parts.shape), np.zeros(parts.shape)
        common = prior.shift**2 + prior.state**2 * (
            observed.network[:, None] == observed.network[None]
        )
        for _ in range(_ROUNDS):
            times = parts * np.exp(own + shift)
            total = observed.members @ times.sum(axis=1)
            shares = observed.members[:, :, None] * times / total[:, None, None]  # [n, U, P]
            crossed = [between @ part.T for part in shares.transpose(2, 0, 1)]
            covariance = common + np.diag(observed.noise**2)
            covariance += sum(shares[:, :, part] @ each for part, each in enumerate(crossed))
            off = observed.log_ms - np.log(total) + (shift - usual)
            off += (shares * own).sum(axis=(1, 2))
            root = np.linalg.cholesky(covariance)
            found = np.linalg.solve(root.T, np.linalg.solve(root, off))
            shift += _STEP * (usual + prior.shift**2 * float(found.sum()) - shift)
            told += _STEP * (np.einsum("nup,n->up", shares, found) - told)
            own = np.clip(between @ told, -_FARTHEST, _FARTHEST)
        self._shift, self._root, self._shares, self._told = shift, root, shares, told

    def parts_ms(self, work: Work) -> Floats:
        """Return the times of a graph's operators by their parts, [R, P]."""
        own = self._prior.covariance(work, self._work) @ self._told
        found: Floats = work.parts_ms * np.exp(np.clip(own, -_FARTHEST, _FARTHEST) + self._shift)
        return found

    def deviation(self, work: Work, parts_ms: Floats) -> float:
        """Return the standard deviation of ln(latency) of a graph.

        Args:
            work: of the graph.
            parts_ms: what :meth:`parts_ms` says of it.
        """
        prior = self._prior
        shares = parts_ms / max(float(parts_ms.sum()), _LEAST_MS)
        inside = prior.covariance(work, work)
        across = prior.covariance(self._work, work)
        variance, crossed = prior.shift**2, np.full(len(self._root), prior.shift**2)
        for part, each in enumerate(shares.T):
            variance += float(each @ inside @ each)
            crossed = crossed + self._shares[:, :, part] @ (across @ each)
        white = np.linalg.solve(self._root, crossed)
        left = max(variance - float(white @ white), 0.0)
        return float(np.sqrt(left + prior.misfit**2))


def _distinct(works: Sequence[Work]) -> tuple[Work, list[Integers]]:
    """Return the operators that differ, and where each graph's are among them."""
    known: dict[bytes, int] = {}
    rows: list[tuple[int, int]] = []
    places = []
    for graph, work in enumerate(works):
        found = np.empty(len(work), np.int64)
        for row, key in enumerate(_keys(work)):
            if key not in known:
                known[key] = len(rows)
                rows.append((graph, row))
            found[row] = known[key]
        places.append(found)
    return (
        Work(
            *(
                np.array([getattr(works[graph], name)[row] for graph, row in rows])
                for name in ("parts_ms", "traits", "kind", "code")
            )
        ),
        places,
    )


def _keys(work: Work) -> Iterator[bytes]:
    sizes = np.log(np.maximum(work.parts_ms, _LEAST_MS))
    table = (
        np.concatenate([work.traits, sizes, work.kind[:, None], work.code[:, None]], axis=1).round(
            _DIGITS
        )
        + 0.0
    )  # no minus 0
    return (row.tobytes() for row in table)


def _observed(
    timed: Sequence[Timed], places: Sequence[Integers], operators: int, prior: OperatorPrior
) -> _Observed:
    members, log_ms, noise, network = [], [], [], []
    for place, (each, where) in enumerate(zip(timed, places, strict=True)):
        entries: dict[tuple[int, ...], list[float]] = {}
        for group, time_ms in zip(each.groups, each.group_ms.tolist(), strict=True):
            key = tuple(sorted(where[list(group)].tolist()))
            entries.setdefault(key, []).append(np.log(max(time_ms, _LEAST_MS)))
        for key, logs in entries.items():
            usual = float(np.mean(logs))
            members.append(np.bincount(key, minlength=operators))
            log_ms.append(usual)
            noise.append(np.hypot(prior.entry, min(1.0, _CLOCK_MS / np.exp(usual))))
            network.append(place)
        members.append(np.bincount(where, minlength=operators))
        log_ms.append(float(np.log(each.latency_ms)))
        noise.append(np.hypot(prior.network, each.noise))
        network.append(place)
    return _Observed(
        np.array(members, np.float64), np.array(log_ms), np.array(noise), np.array(network)
    )
