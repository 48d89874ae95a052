"""The estimate of hardware of which little or nothing was measured, as the judge asks it.

Efficiencies by kind of operator, the level of the class over them, and what measured targets tell
about the deviation of others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ctm_research.corpus.corpus import CorpusTarget
from ctm_research.evaluation.judge.efficiencies import PRIOR_MEANS, KindEfficiencies
from ctm_research.evaluation.judge.engines import Predicted
from ctm_research.evaluation.judge.groups import Floats, medians, members, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.evaluation.judge.network_training import NetworkTraining
from ctm_research.evaluation.judge.operator_network import OperatorTraining
from ctm_research.evaluation.judge.term_times import (
    Asked,
    Change,
    DistinctOperators,
    kinds_in_corpus,
    sums_by_kind,
    typical_rates,
)
from predictor.calibration.efficiencies import LEVELS, Efficiencies, groups_of
from predictor.calibration.evidence import Evidence, Keys, Scales
from predictor.calibration.network_deviations import NetworkDeviations
from predictor.calibration.product_kinds import PRODUCT_KINDS, main_directions
from predictor.calibration.target_fit import SHAPE, TargetFit
from predictor.calibration.unknowns import MeasuredKinds, widening
from predictor.core.records import Target
from predictor.core.runtimes import runtime_of
from predictor.cost.operator_kinds import KINDS
from predictor.cost.overlap import overlapped, runs_ahead
from predictor.cost.physics import TERMS, rates_of
from predictor.cost.rates.typical import Rates, likenesses
from predictor.engine.operator_factors import CAUTION, OperatorFactors
from predictor.network.features import scale_free

_MOST_DEVIATIONS: Final = 2.0  # of a target: what is further off is of another kind
_LEAST_SILICON: Final = 3  # of fewer, a median is that of one device
_LEAST_NETWORKS: Final = 4  # of a target that tells of shapes and networks
_USUAL_TARGETS: Final = 50.0  # that the usual covariance of shapes counts as
_CROWDED: Final = 0.7  # targets of one silicon in a class together count as so much less
_ROUNDS: Final = 4
_OF_PRODUCTS: Final = 0.07  # standard deviation in ln of the effects of compositions
_DIRECTIONS: Final = 12  # of compositions: 98.6 % of how networks differ
_MOST_READ: Final = 120  # networks of a target: more tell no more
_EARLY_START: Final = 2.5  # time of a start of an early version, over one of today
# The likeliest on silicon left out in inner folds.
SCALES: Final = Scales(0.35, 0.3, 0.2, 0.1, 0.5)


class Learned(Enum):
    """What the estimate learns beside efficiencies by kind of operator and levels."""

    OPERATORS = "factors of operators"
    NETWORKS = "deviations of networks"
    PRODUCTS = "effects of kinds of products"
    COVARIANCE = "covariance of shapes"


WHOLE: Final = frozenset(Learned)


class EstimateEngine:
    """The estimate, trained anew in each fold."""

    folds = 10

    def __init__(
        self, judged: Judged, name: str = "estimate", learned: Collection[Learned] = WHOLE
    ) -> None:
        """Find the times of the terms of all networks.

        Args:
            judged: the corpus.
            name: on the page.
            learned: the parts that it has beside efficiencies by kind of operator and levels.
        """
        self.name, self.learned = name, frozenset(learned)
        self._judged, self._targets = judged, with_likely_threads(judged)
        rates, groups = rates_of(self._targets), likenesses(self._targets)
        self._stated = rates
        self._typical = typical_rates(rates, groups)
        self._rates = _with_early_starts(judged, self._typical.complete(rates, groups))
        self._ahead = runs_ahead(self._targets)
        self._times = sums_by_kind(judged, self._rates, judged.rows)
        self._efficiencies = KindEfficiencies(self._times, judged.rows)
        operators = DistinctOperators.of(judged.corpus)
        self._kinds = kinds_in_corpus(judged.corpus, operators)
        self._networks = NetworkTraining(judged, operators)
        self._training = (
            OperatorTraining(judged, self._targets, self._rates, operators, self._kinds)
            if Learned.OPERATORS in self.learned
            else None
        )
        self._trained: dict[bytes, OperatorFactors] = {}  # the last ones, shared by variants

    def variant(self, name: str, learned: Collection[Learned]) -> EstimateEngine:
        """Return the engine with some of its learned parts only."""
        other = copy(self)
        other.name, other.learned = name, self.learned & frozenset(learned)
        return other

    def fit(self, judged: Judged, train: Rows) -> FittedEstimate:
        """Find efficiencies, factors of operators, levels and deviations."""
        _, effects = self._efficiencies.estimates(judged, train)
        mean = np.tile(np.log(PRIOR_MEANS), len(KINDS))
        bare = Efficiencies(mean, effects, {name: {} for name in LEVELS}, self._typical)
        efficient = bare.of(self._targets)
        factors, times = None, (self._times, self._times)
        if self._training is not None and Learned.OPERATORS in self.learned:
            factors = self._factors(self._training, train, efficient)
            both = sums_by_kind(
                judged, self._rates, judged.rows, self._change(factors), 2 * len(TERMS)
            )
            times = both[..., : len(TERMS)], both[..., len(TERMS) :]
        cautious, parts = (
            each.reshape(len(each), -1)
            * efficient.reshape(len(efficient), -1)[judged.target[judged.rows]]
            for each in times
        )
        over = np.full(len(judged.target), np.nan)
        ahead = self._ahead[judged.target[judged.rows]]
        over[judged.rows] = np.log(overlapped(cautious, ahead)[0])
        over = judged.log_latency - over
        level = _levels(judged, train[np.isin(train, judged.rows)], over)
        of_class = np.exp(_level_of(judged, level))[judged.target[judged.rows], None]
        measured = MeasuredKinds.of(
            [self._targets[place] for place in np.unique(judged.target[train]).tolist()]
        )
        fitted = FittedEstimate(
            judged=judged,
            parts=parts * of_class,
            cautious=cautious * of_class,
            efficiencies=replace(bare, level=level),
            operators=factors,
            networks=NetworkDeviations.nothing(),
            directions=np.empty((PRODUCT_KINDS, 0)),
            compositions=np.empty((int(judged.network.max()) + 1, 0)),
            evidence=Evidence.nothing(SCALES),
            measured=measured,
            keys=Keys.of(self._targets),
            ahead=self._ahead,
            wider=self._wider(measured),
        )
        has_covariance = Learned.COVARIANCE in self.learned
        for _ in range(_ROUNDS if has_covariance else 0):
            fitted = fitted.with_covariance(train)
        if Learned.NETWORKS in self.learned:
            fitted = self._with_networks(fitted, train)
            fitted = fitted.with_covariance(train) if has_covariance else fitted
        if Learned.PRODUCTS in self.learned:
            fitted = self._with_products(fitted, train)
        return replace(fitted, evidence=fitted.evidence_of(train))

    def _wider(self, measured: MeasuredKinds) -> Floats:
        """Return the factor on the level's deviation of each target of which nothing is known."""
        unknowns = measured.unknowns(self._targets, self._stated)
        untold = [
            not listed.threads_stated and target.threads != 0
            for listed, target in zip(self._judged.corpus.targets, self._targets, strict=True)
        ]
        counts = np.array([len(each) for each in unknowns], np.int64)
        return widening(counts + np.array(untold, np.int64))

    def _factors(
        self, training: OperatorTraining, train: Rows, efficient: Floats
    ) -> OperatorFactors:
        """Return the factors of operators; those of the last measurements are trained once."""
        key = train.tobytes()
        if key not in self._trained:
            self._trained.clear()
            self._trained[key] = training.fit(train, efficient)
        return self._trained[key]

    def _with_networks(self, fitted: FittedEstimate, train: Rows) -> FittedEstimate:
        """Return the estimate with what networks deviate by on all targets of a class."""
        networks = self._networks.fit(*fitted.apart(train))
        of_rows = np.exp(self._networks.of_rows(networks, self._judged.rows))[:, None]
        return replace(fitted, parts=fitted.parts * of_rows, networks=networks)

    def _with_products(self, fitted: FittedEstimate, train: Rows) -> FittedEstimate:
        """Return the estimate with effects of the compositions of networks."""
        shares = self._networks.compositions()
        networks = np.unique(self._judged.network[train])
        directions = main_directions(shares[networks], _DIRECTIONS)
        of_products = _OF_PRODUCTS**2 * np.eye(directions.shape[1])
        covariance = block_diag(fitted.evidence.covariance, of_products)
        return replace(
            fitted,
            directions=directions,
            compositions=shares @ directions,
            evidence=Evidence.nothing(SCALES, covariance),
        )

    def _change(self, factors: OperatorFactors) -> Change:
        """Return the change of the operators' times by their factors.

        The terms are there twice: with caution, and with the factors in full.
        """
        packed = self._judged.corpus.graphs.packed
        features = scale_free(packed.features.astype(np.float64))
        states = factors.states(features, packed.op_code, self._kinds)
        context, contexts = factors.contexts(self._targets, np.ones(len(self._targets)))

        def change(times: Floats, asked: Asked) -> Floats:
            distinct, place = np.unique(context[asked.targets], return_inverse=True)
            of_pairs = factors.factors(states[asked.operators], contexts.take(distinct))
            of_targets = of_pairs[place].transpose(1, 0, 2)
            return np.concatenate([times * of_targets**CAUTION, times * of_targets], axis=-1)

        return change


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FittedEstimate:
    """The estimate after training.

    Attributes:
        judged: the corpus.
        parts: float64 [J, P], of the judged rows' times in ms, deviations apart.
        cautious: float64 [J, P], the same where nothing of the silicon was measured.
        efficiencies: of groups of targets.
        operators: factors of single operators; None for an estimate without.
        networks: deviations of networks, which the parts have and the cautious ones have not.
        directions: float64 [PRODUCT_KINDS, R], in which kinds of products deviate on a target.
        compositions: float64 [N, R], of the products of the networks of the corpus along them.
        evidence: of the targets in training.
        measured: what these targets are.
        keys: of all targets.
        ahead: bool [T], whether starts run ahead.
        wider: float64 [T], factors on the level's deviation where nothing is known of a target.
    """

    judged: Judged
    parts: Floats
    cautious: Floats
    efficiencies: Efficiencies
    operators: OperatorFactors | None
    networks: NetworkDeviations
    directions: Floats
    compositions: Floats
    evidence: Evidence
    measured: MeasuredKinds
    keys: Keys
    ahead: NDArray[np.bool_]
    wider: Floats

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """Return the estimates, moved by what measured targets tell."""
        logs, deviation = np.empty((2, len(rows)))
        targets, of_row = np.unique(self.judged.target[rows], return_inverse=True)
        known = self.evidence.about(self.keys.take(targets))
        for place, mine in members(of_row):
            own = measured.get(int(targets[place]))
            is_known = own is not None or known.nearness[place] > 0
            wider = 1.0 if is_known else self.wider[targets[place]]
            fit = TargetFit.prior(
                known.mean[place],
                known.variance[place] * wider**2,
                known.shape[place],
                known.shape_variance[place],
                covariance=self.evidence.covariance,
                ahead=bool(self.ahead[targets[place]]),
            )
            if own is not None:
                latency_ms = np.exp(self.judged.log_latency[own])
                fit = fit.measured(self._of(self.parts, own), latency_ms, self._composition(own))
            parts = self._of(self.parts if is_known else self.cautious, rows[mine])
            logs[mine], variance = fit.predicted(parts, self._composition(rows[mine]))
            deviation[mine] = np.sqrt(variance + SHAPE.network**2)
        return Predicted(logs, deviation)

    def with_evidence(self, rows: Rows) -> FittedEstimate:
        """Return the estimate that has measurements of further silicon as evidence."""
        return replace(self, evidence=self.evidence.joined(self.evidence_of(rows)))

    def of_measured(self, rows: Rows) -> Rows:
        """Return those of some rows whose target there is evidence of."""
        distinct, place = np.unique(self.judged.target[rows], return_inverse=True)
        return rows[np.array(self.evidence.have(self.keys.take(distinct)), np.bool_)[place]]

    def evidence_of(self, train: Rows) -> Evidence:
        """Return the deviations of the targets of some measurements, each network counted once."""
        judged = self.judged
        stated = np.array(
            [
                each.threads_stated or each.threads_likely > 0 or target.threads == 0
                for each, target in zip(judged.corpus.targets, judged.targets, strict=True)
            ]
        )
        # A run on an unknown number of threads says little about one on a known number, but where
        # the runtime has a number of its own.
        usual = np.array(
            [
                runtime_of(each.configuration.runtime).unset_threads is not None
                for each in judged.targets
            ]
        )
        limit = _MOST_DEVIATIONS * SCALES.level
        fits, targets, networks = [], [], []
        for target, fit, rows, _ in self._fits(train):
            if not stated[target] and not usual[target]:
                continue
            # So far off they were not all cores.
            if stated[target] or abs(fit.mean[0]) < limit:
                fits.append(fit)
                targets.append(target)
                networks.append(len(rows))
        if not fits:
            return Evidence.nothing(SCALES, self.evidence.covariance)
        seen = np.array(targets)
        means = np.array([fit.mean for fit in fits])
        return Evidence(
            keys=self.keys.take(seen),
            level=np.clip(means[:, 0], -limit, limit),
            variance=np.array([fit.covariance[0, 0] for fit in fits]),
            shape=means[:, 1:],
            networks=np.array(networks),
            scales=SCALES,
            covariance=self.evidence.covariance,
        )

    def with_covariance(self, train: Rows) -> FittedEstimate:
        """Return the estimate, nothing measured, with the likelier covariance of shapes."""
        return replace(self, evidence=Evidence.nothing(SCALES, self._covariance(train)))

    def _covariance(self, train: Rows) -> Floats:
        """Return the covariance of the shapes of some measurements' targets, float64 [P, P].

        A step of expectation and maximisation; the usual covariance counts as some targets.
        """
        judged = self.judged
        fits = [(target, fit) for target, fit, *_ in self._fits(train, _LEAST_NETWORKS)]
        targets = np.array([target for target, _ in fits], np.int64)
        _, of_target = np.unique(
            np.stack([judged.silicon[targets], judged.klass[targets]]), axis=1, return_inverse=True
        )
        alike = np.bincount(of_target.reshape(-1))[of_target.reshape(-1)]
        total, count = _USUAL_TARGETS * SHAPE.covariance(), _USUAL_TARGETS
        for (_, fit), weight in zip(fits, (alike**-_CROWDED).tolist(), strict=True):
            shape = fit.mean[1:]
            total += weight * (np.outer(shape, shape) + fit.covariance[1:, 1:])
            count += weight
        covariance: Floats = total / count
        return covariance

    def apart(self, train: Rows) -> tuple[Rows, Floats]:
        """Return a row of each network on each target, and ln(measured / estimated) there.

        Level and shape of the target are those of all its networks.
        """
        rows, apart = [np.empty(0, np.int64)], [np.empty(0)]
        for _, fit, mine, logs in self._fits(train, _LEAST_NETWORKS):
            rows.append(mine)
            parts, composition = self._of(self.parts, mine), self._composition(mine)
            apart.append(logs - fit.predicted(parts, composition)[0])
        return np.concatenate(rows), np.concatenate(apart)

    def _fits(self, train: Rows, least: int = 1) -> Iterator[tuple[int, TargetFit, Rows, Floats]]:
        """Yield each target with its fit, a row of each network and their ln(latency in ms).

        Args:
            train: rows.
            least: number of networks of a target.
        """
        judged = self.judged
        train = train[np.isin(train, judged.rows)]
        # Repeats, and runs on hosts that nobody tells apart, are one measurement.
        first, cell = numbered(judged.target[train], judged.graph[train])
        logs = medians(cell, judged.log_latency[train], len(first))
        rows = train[first]
        once, _ = numbered(judged.target[rows], judged.network[rows])
        order = np.random.default_rng(0).permutation(once)
        for target, mine in members(judged.target[rows[order]]):
            if len(mine) < least:
                continue
            read = order[mine[:_MOST_READ]]
            prior = TargetFit.prior(
                covariance=self.evidence.covariance, ahead=bool(self.ahead[target])
            )
            fit = prior.measured(
                self._of(self.parts, rows[read]),
                np.exp(logs[read]),
                self._composition(rows[read]),
            )
            yield target, fit, rows[order[mine]], logs[order[mine]]

    def _composition(self, rows: Rows) -> Floats:
        return self.compositions[self.judged.network[rows]]

    def _of(self, parts: Floats, rows: Rows) -> Floats:
        of_rows: Floats = parts[np.searchsorted(self.judged.rows, rows)]
        return of_rows


def with_likely_threads(judged: Judged) -> list[Target]:
    """Return the targets, with deduced threads where none are stated, else those of the runtime."""
    return [
        target
        if listed.threads_stated
        else replace(
            target,
            configuration=replace(target.configuration, threads=_likely_threads(target, listed)),
        )
        for target, listed in zip(judged.targets, judged.corpus.targets, strict=True)
    ]


def _with_early_starts(judged: Judged, rates: Rates) -> Rates:
    """Return the rates of the targets, starts of early versions of a framework as slow as there."""
    early = np.array([listed.early_starts for listed in judged.corpus.targets], np.bool_)
    return replace(rates, launch_s=rates.launch_s * np.where(early, _EARLY_START, 1.0))


def _likely_threads(target: Target, listed: CorpusTarget) -> int:
    unset = runtime_of(target.configuration.runtime).unset_threads
    return listed.threads_likely or (unset or 0 if target.device.is_threaded else 0)


def _levels(judged: Judged, train: Rows, over: Floats) -> dict[str, dict[str, float]]:
    """Return the median over silicon of ln(measured over estimated), by level and group."""
    first, cell = numbered(judged.target[train], judged.network[train])
    rows = train[first]  # one of each network on each target
    each = medians(cell, over[train], len(first))
    groups = [groups_of(target) for target in judged.targets]
    result: dict[str, dict[str, float]] = {}
    for name in LEVELS:
        names, group = np.unique([of[name] for of in groups], return_inverse=True)
        of_row = group[judged.target[rows]]
        pair, member = numbered(of_row, judged.silicon_of(rows))
        of_silicon = medians(member, each, len(pair))
        enough = np.bincount(of_row[pair], minlength=len(names)) >= _LEAST_SILICON
        level = medians(of_row[pair], of_silicon, len(names))
        result[name] = {
            names[number]: float(level[number])
            for number in np.flatnonzero(enough | (name == "all")).tolist()
        }
    return result


def _level_of(judged: Judged, level: Mapping[str, Mapping[str, float]]) -> Floats:
    """Return the level of each target, that of its finest known group, [T]."""
    found = np.zeros(len(judged.targets))
    for place, target in enumerate(judged.targets):
        groups = groups_of(target)
        for name in LEVELS:
            found[place] = level[name].get(groups[name], found[place])
    return found
