"""The class estimate with an efficiency for each kind of operator and term of the physics.

T is the time of the parts exp(s_km) t_km together (:mod:`predictor.cost.overlap`), with t of
:mod:`predictor.cost.physics`. s is a sum of effects of
the runtime, of the kind of device, of both together, of the precision and of the order in which
cores execute. Each has a normal prior, so that a class with few measurements goes over into its
runtime and its kind. The most probable s is found by Gauss-Newton steps, each solved by conjugate
gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.judge.engines import FittedEngine, over_median_efficiency
from ctm_research.evaluation.judge.groups import Floats, Numbers, members, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows
from predictor.calibration.efficiencies import effect_parts, groups_of, plain_start_means
from predictor.cost.operator_kinds import KINDS
from predictor.cost.overlap import overlapped, runs_ahead
from predictor.cost.physics import TERMS

# Before any measurement: what the terms are worth on the whole, in the order of TERMS.
PRIOR_MEANS: Final = (1.3, 0.1, 1.0, 1.0)
# Standard deviations of the effects in ln: on all terms, on a term, on a kind of operator, on both.
_PRIORS: Final = {
    "all": (0.7, 0.5, 0.35, 0.2),
    "runtime": (0.35, 0.2, 0.2, 0.0),
    "kind": (0.7, 0.35, 0.2, 0.0),
    "class": (0.5, 0.2, 0.2, 0.0),
    "precision": (0.2, 0.15, 0.0, 0.0),
    "order": (0.2, 0.15, 0.15, 0.0),
    "maker": (0.35, 0.2, 0.15, 0.0),
    "sets": (0.35, 0.2, 0.0, 0.0),
}
_OF_PRODUCTS: Final = [TERMS.index("arithmetic"), TERMS.index("block")]
_MISFIT: Final = 0.2  # of the form to a network, in ln
_TAILS: Final = 4.0  # degrees of freedom of Student's t
_PER_SILICON: Final = 60  # measurements of one silicon in a class count as no more
_READ: Final = 120  # of them are read, drawn at random: more tell no more
_STEPS: Final = 10
_SOLVER_STEPS: Final = 30
_LEAST_GAIN: Final = 1e-3


class KindEfficiencies:
    """Efficiencies by kind of operator and term, over times of some form of the physics."""

    folds = 10

    def __init__(
        self,
        times: NDArray[np.float32],
        rows: Rows,
        name: str = "efficiencies by kind of operator",
        means: Sequence[float] = PRIOR_MEANS,
    ) -> None:
        """Make an untrained engine.

        Args:
            times: [R, len(KINDS), terms] in ms, of ``rows``.
            rows: [R], ascending; the measurements that the engine knows of.
            name: on the page.
            means: [terms], what each is worth before any measurement.
        """
        self.name = name
        self._times = times.reshape(len(times), -1)
        self._rows = rows
        self._mean = np.tile(np.log(means), len(KINDS))

    def fit(self, judged: Judged, train: Rows) -> FittedEngine:
        """Find the efficiencies, and the level and spread of each class over them."""
        return over_median_efficiency(judged, train, self.estimates(judged, train)[0])

    def estimates(self, judged: Judged, train: Rows) -> tuple[Floats, dict[str, dict[str, Floats]]]:
        """Return ln of the estimates of all M measurements, and the effects of groups by name.

        NaN where the engine knows nothing of a measurement; effects are [P].
        """
        places = np.searchsorted(self._rows, train[np.isin(train, self._rows)])
        effects = _Effects.of(judged, len(self._mean) // len(KINDS))
        drawn, weight = _drawn(judged, self._rows[places])
        chosen = places[drawn]
        rows = self._rows[chosen]
        noise = np.hypot(_MISFIT, judged.corpus.measurements.noise[rows])
        theta = _most_probable(
            _Problem.of(
                effects,
                self._mean,
                self._times[chosen],
                judged.log_latency[rows],
                judged.target[rows],
                noise,
                weight,
                self._ahead(judged),
            )
        )
        logs = np.full(len(judged.target), np.nan)
        of_target = np.exp(self._mean + effects.of_targets(theta))  # [T, P]
        efficient = of_target[judged.target[self._rows]]
        ahead = self._ahead(judged)[judged.target[self._rows]]
        parts = (self._times * efficient).astype(np.float64, copy=False)
        logs[self._rows] = np.log(overlapped(parts, ahead)[0])
        return logs, effects.by_name(theta)

    def _ahead(self, judged: Judged) -> NDArray[np.bool_]:
        """Return whether starts run ahead on each target, [T]; not in a form with other terms."""
        if len(self._mean) != len(KINDS) * len(TERMS):
            return np.zeros(len(judged.targets), np.bool_)
        return runs_ahead(judged.targets)


@dataclass(frozen=True, slots=True, eq=False)
class _Effects:
    """Effects on P efficiencies of T targets.

    Attributes:
        index: [T, E], the place in theta of each effect that a target has.
        basis: [P, E], by how much each changes an efficiency.
        deviation: standard deviation of each entry of theta before any measurement.
        names: of the groups at each level.
        starts: place in theta of the first effect of each level.
        parts: [T, P], which part of its effects acts on each efficiency of a target.
        means: [T, P], what the efficiencies of a target have beside the mean of all.
    """

    index: Numbers
    basis: Floats
    deviation: Floats
    names: Mapping[str, Sequence[str]]
    starts: Mapping[str, int]
    parts: Floats
    means: Floats

    @classmethod
    def of(cls, judged: Judged, terms: int) -> _Effects:
        size = len(KINDS) * terms
        parts = (
            np.ones((size, 1)),
            np.tile(np.eye(terms), (len(KINDS), 1)),
            np.repeat(np.eye(len(KINDS)), terms, axis=0),
            np.eye(size),
        )
        of_products = np.isin(np.arange(size) % terms, _OF_PRODUCTS)[:, None]
        index, basis, deviation, start = [], [], [], 0
        names: dict[str, Sequence[str]] = {}
        starts: dict[str, int] = {}
        groups = [groups_of(target) for target in judged.targets]
        for name, deviations in _PRIORS.items():
            distinct, group = np.unique([each[name] for each in groups], return_inverse=True)
            used = [pair for pair in zip(parts, deviations, strict=True) if pair[1]]
            if name == "precision":
                # A start takes as long whatever the numbers are, and their bytes are counted.
                used = [(part * of_products, sd) for part, sd in used]
            each = np.concatenate([np.full(part.shape[1], sd) for part, sd in used])
            index.append(start + group[:, None] * len(each) + np.arange(len(each)))
            basis.append(np.hstack([part for part, _ in used]))
            deviation.append(np.tile(each, len(distinct)))
            names[name], starts[name] = distinct.tolist(), start
            start += len(distinct) * len(each)
        # A form with other terms has no starts that physics tells.
        acting, means = np.ones((len(groups), size)), np.zeros((len(groups), size))
        if terms == len(TERMS):
            acting, means = effect_parts(judged.targets), plain_start_means(judged.targets)
        return cls(
            index=np.hstack(index),
            basis=np.hstack(basis),
            deviation=np.concatenate(deviation),
            names=names,
            starts=starts,
            parts=acting,
            means=means,
        )

    def by_name(self, theta: Floats) -> dict[str, dict[str, Floats]]:
        """Return the effects [P] of each group by level and name."""
        result: dict[str, dict[str, Floats]] = {}
        column = 0
        for (level, names), after in zip(
            self.names.items(), [*list(self.starts.values())[1:], len(theta)], strict=True
        ):
            start, width = self.starts[level], (after - self.starts[level]) // len(names)
            basis = self.basis[:, column : column + width]
            own = theta[start:after].reshape(len(names), width) @ basis.T
            result[level] = dict(zip(names, own, strict=True))
            column += width
        return result

    def of_targets(self, theta: Floats) -> Floats:
        """Return the sum of the effects of each target, [T, P]."""
        summed: Floats = self.means + theta[self.index] @ self.basis.T * self.parts
        return summed


def _drawn(judged: Judged, rows: Rows) -> tuple[Numbers, Floats]:
    """Return places of rows to learn from, and their weights.

    A network counts once on a target, a silicon with many measurements in a class as one with
    :data:`_PER_SILICON`.
    """
    first, _ = numbered(judged.target[rows], judged.network[rows])
    first = np.random.default_rng(0).permutation(first)
    _, cell = numbered(judged.class_of(rows[first]) + 1, judged.silicon_of(rows[first]))
    kept = np.concatenate([places[:_READ] for _, places in members(cell)])
    cell = cell[kept]
    return first[kept], np.minimum(1.0, _PER_SILICON / np.bincount(cell)[cell])


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Rows in the order of their targets, with what a step of the fit needs.

    Attributes:
        effects: of all targets.
        mean: [P], efficiencies in ln before any measurement.
        times: [R, P] in ms.
        measured: [R], ln(latency in ms).
        variance: [R], of it.
        weight: [R].
        index: [S, E], places in theta of the effects of the S targets.
        acting: [S, P], which part of them acts on each efficiency.
        target_means: [S, P], what the efficiencies of a target have beside the mean of all.
        starts: [S], first row of each.
        of_row: [R], number of the target of each row, 0 to S - 1.
        ahead: bool [R], whether starts run ahead there.
    """

    effects: _Effects
    mean: Floats
    times: Floats
    measured: Floats
    variance: Floats
    weight: Floats
    index: Numbers
    acting: Floats
    target_means: Floats
    starts: Numbers
    of_row: Numbers
    ahead: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        effects: _Effects,
        mean: Floats,
        times: NDArray[np.float32],
        measured: Floats,
        target: Numbers,
        noise: Floats,
        weight: Floats,
        ahead: NDArray[np.bool_],
    ) -> _Problem:
        order = np.argsort(target, kind="stable")
        groups = list(members(target[order]))
        present = [number for number, _ in groups]
        return cls(
            effects=effects,
            mean=mean,
            times=times[order].astype(np.float64),
            measured=measured[order],
            variance=noise[order] ** 2,
            weight=weight[order],
            index=effects.index[present],
            acting=effects.parts[present],
            target_means=effects.means[present],
            starts=np.array([places[0] for _, places in groups]),
            of_row=np.repeat(np.arange(len(groups)), [len(places) for _, places in groups]),
            ahead=ahead[target[order]],
        )

    def parts(self, theta: Floats) -> Floats:
        """Return the terms with their efficiencies in ms, [R, P]."""
        logs = self.mean + self.target_means + self.along(theta)
        parts: Floats = self.times * np.exp(logs)[self.of_row]
        return parts

    def along(self, theta: Floats) -> Floats:
        """Return the effects on the efficiencies of the S targets, [S, P]."""
        effects: Floats = theta[self.index] @ self.effects.basis.T * self.acting
        return effects

    def cost(self, theta: Floats) -> float:
        """Return minus the logarithm of the posterior, but for a constant."""
        apart = self.measured - np.log(overlapped(self.parts(theta), self.ahead)[0])
        tails = np.log1p(apart**2 / (self.variance * _TAILS))
        prior = np.sum((theta / self.effects.deviation) ** 2) / 2
        return float((_TAILS + 1) / 2 * (self.weight @ tails) + prior)

    def gathered(self, of_targets: Floats) -> Floats:
        """Sum values of the effects of S targets, [S, E], into theta's shape."""
        size = len(self.effects.deviation)
        summed: Floats = np.bincount(self.index.ravel(), of_targets.ravel(), size).astype(float)
        return summed


def _most_probable(problem: _Problem) -> Floats:
    """Return theta at the maximum of the posterior."""
    theta = np.zeros(len(problem.effects.deviation))
    cost, damping = problem.cost(theta), 1e-2
    for _ in range(_STEPS):
        step, damping, lower = _step(problem, theta, cost, damping)
        if step is None:
            break
        theta, gain = theta + step, cost - lower
        cost = lower
        if gain < _LEAST_GAIN * abs(cost):
            break
    return theta


def _step(
    problem: _Problem, theta: Floats, cost: float, damping: float
) -> tuple[Floats | None, float, float]:
    """Return a step that lowers the cost, the next damping and the cost after it."""
    # All rows of a target share its effects, so that rows meet P terms only.
    whole, shares = overlapped(problem.parts(theta), problem.ahead)  # [R], [R, P]
    apart = problem.measured - np.log(whole)
    # Of Student's t: what is far off counts little.
    weight = problem.weight * (_TAILS + 1) / (_TAILS * problem.variance + apart**2)
    basis, prior = problem.effects.basis, problem.effects.deviation**-2

    def uphill(rows: Floats) -> Floats:
        summed = np.add.reduceat(shares * rows[:, None], problem.starts, axis=0)  # [S, P]
        return problem.gathered(summed * problem.acting @ basis)

    def curvature(x: Floats) -> Floats:
        along = problem.along(x)[problem.of_row]
        return uphill(np.einsum("rp,rp->r", shares, along) * weight) + prior * x

    downhill = uphill(weight * apart) - prior * theta
    # The squares of shares that do not overlap: enough to scale the steps of the solver.
    squares = np.add.reduceat(shares**2 * weight[:, None], problem.starts, axis=0)
    diagonal = problem.gathered(squares * problem.acting**2 @ basis**2) + prior
    for _ in range(5):
        step = _solved(curvature, diagonal, damping, downhill)
        lower = problem.cost(theta + step)
        if lower < cost:
            return step, max(damping / 5, 1e-4), lower
        damping *= 10
    return None, damping, cost


def _solved(
    curvature: Callable[[Floats], Floats], diagonal: Floats, damping: float, right: Floats
) -> Floats:
    """Solve (curvature + damping diagonal) x = right by conjugate gradients, roughly."""
    x, left = np.zeros_like(right), right.copy()
    scaled = left / diagonal
    direction, size = scaled.copy(), float(left @ scaled)
    enough = 1e-4 * size
    for _ in range(_SOLVER_STEPS):
        image = curvature(direction) + damping * diagonal * direction
        length = size / float(direction @ image)
        x += length * direction
        left -= length * image
        scaled = left / diagonal
        next_size = float(left @ scaled)
        if next_size < enough:
            break
        direction = scaled + next_size / size * direction
        size = next_size
    return x
