"""The estimate for hardware of which little or nothing was measured.

Physics, times efficiencies of the runtime and the kind of device, times what measurements near the
target show. Its intervals are those that the same estimate needed on silicon that it had not seen.

Reference:
    HODM's attention, CloserToMe Eq. (7): here the share of a rate in an operator's time, which is
    minus the elasticity of the time to that rate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from predictor.calibration.efficiencies import Efficiencies, by_groups, groups_of
from predictor.calibration.evidence import (
    NEARNESS,
    OTHER_PRECISION,
    Deviations,
    Evidence,
    Keys,
    RememberedEvidence,
)
from predictor.calibration.network_deviations import NetworkDeviations
from predictor.calibration.target_fit import PARTS, SHAPE, TargetFit
from predictor.calibration.unknowns import MeasuredKinds, unknown_words, widening
from predictor.core.arrays import Bools, Floats, Integers
from predictor.core.caching import IdentityCache
from predictor.core.prediction import FEW_CHIPS
from predictor.core.records import Device, Target, by_run
from predictor.cost.engine import AttentionMaps, Explanation
from predictor.cost.overlap import overlapped, runs_ahead
from predictor.cost.physics import Work, matched_times, rates_of_runs, term_times
from predictor.cost.rates.typical import Rates, likenesses
from predictor.devices.architectures import kind
from predictor.engine.evidence_words import evidence_words, runtime_name
from predictor.engine.float_runs import keys_of, published_form, published_keys, run_form
from predictor.engine.graph_work import GraphWork
from predictor.engine.operator_factors import CAUTION, Contexts, OperatorFactors
from predictor.engine.target_estimates import GraphEstimates, TargetEstimates, UserFit
from predictor.engine.track import (
    CHIP,
    UNSEEN,
    Tracks,
    published_case,
    track_words,
    tracks_of,
    user_case,
)
from predictor.graph.operator_graph import OperatorGraph

# The rates that the terms of the physics are work over.
RATES: Final = ("matrix_rate", "unit_rate", "bandwidth", "launch")
_MAX_GRAPHS: Final = 512
_MIN_MS: Final = 1e-12
_BLOCK_CELLS: Final = 1 << 18  # operators x targets at a time
_CHIP, _DEVICE, _TARGET = map(NEARNESS.index, ("chip", "device", "target"))
_AGAIN: Final = 0.15  # in ln: the user's device, runtime and cooling against the published ones


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """Efficiencies, evidence and track record, as they ship.

    Attributes:
        efficiencies: of groups of targets.
        operators: factors of single operators.
        networks: deviations of networks in classes of targets.
        directions: float64 [PRODUCT_KINDS, R], in which kinds of products deviate on a target.
        evidence: of measured targets.
        measured: what the measured targets of the training were.
        tracks: records by case, then by group.
    """

    efficiencies: Efficiencies
    operators: OperatorFactors
    networks: NetworkDeviations
    directions: Floats
    evidence: Evidence
    measured: MeasuredKinds
    tracks: Tracks
    _read: IdentityCache[GraphWork] = field(
        default_factory=lambda: IdentityCache(_MAX_GRAPHS), init=False, repr=False
    )
    _works: IdentityCache[Work] = field(
        default_factory=lambda: IdentityCache(_MAX_GRAPHS), init=False, repr=False
    )

    _names: IdentityCache[Keys] = field(
        default_factory=lambda: IdentityCache(1), init=False, repr=False
    )

    @cached_property
    def _shape_root(self) -> Floats:
        """Root of the covariance of a shape before any evidence, float64 [P + R, P + R]."""
        return np.asarray(np.linalg.cholesky(self.evidence.covariance), np.float64)

    @cached_property
    def _remembered(self) -> RememberedEvidence:
        return RememberedEvidence(self.evidence)

    def of(self, targets: Sequence[Target], user_fits: Sequence[UserFit] = ()) -> TargetEstimates:
        """Return the estimates of targets before any graph, cost O(T).

        Args:
            targets: T targets.
            user_fits: targets that the user measured, of the same devices.
        """
        keys, published = self._keys(targets), [published_form(target) for target in targets]
        evidence = self._with(user_fits)
        deviations, twins = self._deviations(evidence, targets, keys)
        measured = {user_fit.key: user_fit for user_fit in user_fits}
        fits_by_place = {
            place: measured[key]
            for place, key in enumerate(keys.targets() if user_fits else ())
            if key in measured
        }
        means = np.concatenate([deviations.mean[:, None], deviations.shape], axis=1)
        for place, user_fit in fits_by_place.items():
            means[place] = user_fit.fit.mean
        usual = self.efficiencies.of(published)
        classes = by_groups(published, lambda groups: groups["class"])
        records_of = by_groups(published, lambda groups: tracks_of(self.tracks, groups))
        cases = _cases(evidence, deviations, fits_by_place)
        records = [of[case] for of, case in zip(records_of, cases, strict=True)]
        widths = [track for _, track in records]
        # What stands for a measured target has its deviation, and is no surer.
        for place in twins.tolist():
            if place not in fits_by_place:
                _, widths[place] = records_of[place][_published_case(evidence, deviations, place)]
        # The user's measurements never make a published target less sure.
        for place, case in self._published_cases(keys, list(fits_by_place)).items():
            _, record = records_of[place][case]
            widths[place] = min(widths[place], record, key=lambda track: track.wide80)
        has_evidence = deviations.nearness > 0
        has_evidence[list(fits_by_place)] = True
        context, contexts = self.operators.contexts(published, np.where(has_evidence, 1.0, CAUTION))
        exact = np.flatnonzero(deviations.nearness == _TARGET).tolist()
        class_chips = self._class_chips(classes, {*fits_by_place, *twins.tolist(), *exact})
        user_networks = {place: user_fit.networks for place, user_fit in fits_by_place.items()}
        sources = evidence_words(evidence, deviations, user_networks)
        rates, stated = self._rates(targets)
        unknowns = self._unknowns(published, stated, has_evidence)
        counts = np.array([len(missing) for missing in unknowns], np.int64)
        words = zip(sources, unknowns, records, strict=True)
        return TargetEstimates(
            targets=targets,
            rates=rates,
            usual=usual,
            factors=usual * np.exp(means[:, :1] + means[:, 1 : 1 + PARTS]).reshape(usual.shape),
            effects=means[:, 1 + PARTS :],
            ahead=runs_ahead(published),
            context=context,
            contexts=contexts,
            klass=np.where(has_evidence, self.networks.places(classes), len(self.networks.classes)),
            variance=deviations.variance * widening(counts) ** 2,
            unknown=deviations.shape_variance,
            fits={place: user_fit.fit for place, user_fit in fits_by_place.items()},
            wide=np.array([(track.wide80, track.wide95) for track in widths]).reshape(-1, 2).T,
            evidence=[
                f"{source}{unknown_words(missing)}; {track_words(*record)}"
                for source, missing, record in words
            ],
            doubts=[
                "" if place in fits_by_place else self._doubt(target, chips)
                for place, (target, chips) in enumerate(zip(published, class_chips, strict=True))
            ],
            class_chips=class_chips,
        )

    def _unknowns(
        self, targets: Sequence[Target], stated: Rates, has_evidence: Bools
    ) -> list[tuple[str, ...]]:
        """Return what is unknown of each target; nothing where something near was measured."""
        unseen = np.flatnonzero(~has_evidence)
        unmeasured = [targets[place] for place in unseen.tolist()]
        unknowns: list[tuple[str, ...]] = [()] * len(targets)
        of_unseen = self.measured.unknowns(unmeasured, stated.take(unseen))
        for place, missing in zip(unseen.tolist(), of_unseen, strict=True):
            unknowns[place] = missing
        return unknowns

    def _published_cases(self, keys: Keys, places: Sequence[int]) -> Mapping[int, str]:
        """Return the cases of those targets at ``places`` whose measurements were published."""
        networks = self.evidence.networks_of(keys.take(np.array(places, np.intp)))
        pairs = zip(places, networks, strict=True)
        return {place: published_case(count) for place, count in pairs if count}

    def _class_chips(
        self, classes: Sequence[str], measured_places: Collection[int]
    ) -> list[int | None]:
        """Return on how many chips each class was checked while it was not seen.

        None of measured targets.
        """
        tracks = self.tracks[UNSEEN]
        return [
            None if place in measured_places else tracks[name].silicon if name in tracks else 0
            for place, name in enumerate(classes)
        ]

    def have_measured(self, targets: Sequence[Target]) -> list[bool]:
        """Return whether measurements of each target came with the program."""
        return self.evidence.have(self._keys(targets))

    def _keys(self, targets: Sequence[Target]) -> Keys:
        devices = tuple(target.device for target in targets)
        configurations = tuple(target.configuration for target in targets)
        return self._names.get(devices, lambda: keys_of(targets), configurations)

    def predict(self, graph: OperatorGraph, targets: TargetEstimates) -> GraphEstimates:
        """Return the latency of a graph on each target."""
        parts = self._parts(graph, targets)  # [T, P]
        times = parts * targets.factors.reshape(parts.shape)
        latency, shares = overlapped(times, targets.ahead)
        # Roots of the covariance, so that the dot product of two graphs' rows is what they share.
        composition = self._graph(graph).composition
        root = self._shape_root
        rows = np.empty((len(parts), 1 + len(root)))
        rows[:, 0] = np.sqrt(targets.variance)
        rows[:, 1:] = shares @ root[:PARTS] + composition @ root[PARTS:]
        rows[:, 1:] *= np.sqrt(targets.unknown)[:, None]
        for place, fit in targets.fits.items():
            rows[place] = np.concatenate([[1.0], shares[place], composition]) @ fit.root
        deviation = np.sqrt((rows**2).sum(axis=1) + SHAPE.network**2)
        latency *= np.exp(targets.effects @ composition)
        return GraphEstimates(latency, deviation, rows / deviation[:, None])

    def share(self, graph: OperatorGraph, targets: TargetEstimates, operators: Integers) -> Floats:
        """Return the part of the latency that R operators take together, float64 [T]."""
        total = np.zeros(len(targets.targets))
        if not len(operators):
            return total
        parts = self._parts(graph, targets)
        latency = (parts * targets.factors.reshape(parts.shape)).sum(axis=1)
        # A block of operators at a time: all would need R x T numbers.
        step = max(_BLOCK_CELLS // max(len(total), 1), 1)
        for first in range(0, len(operators), step):
            times = self._times(graph, targets, operators[first : first + step])
            total += (times / np.maximum(latency, _MIN_MS)).sum(axis=0)
        return total

    def _times(self, graph: OperatorGraph, targets: TargetEstimates, operators: Integers) -> Floats:
        """Return the times of some operators before any overlap, ms, float64 [R, T]."""
        read = self._graph(graph)
        times = term_times(read.work.take(operators), targets.rates)  # [R, T, terms]
        times *= targets.factors[:, read.kinds[operators]].transpose(1, 0, 2)
        factors = self.operators.factors(read.states[operators], targets.contexts)  # [C, R, terms]
        times *= factors[targets.context].transpose(1, 0, 2)
        summed: Floats = times.sum(axis=2) * read.factors[targets.klass]
        return summed

    def fitted(
        self,
        target: Target,
        graphs: Sequence[OperatorGraph],
        latency_ms: Floats,
        *,
        are_networks: bool = True,
    ) -> UserFit:
        """Return level and shape of a target after the user's measurements.

        Args:
            target: that was measured.
            graphs: k graphs.
            latency_ms: float64 [k].
            are_networks: whether they are; of single products numbers have no record.
        """
        keys, published = keys_of([target]), published_form(target)
        deviations, _ = self._deviations(self.evidence, [target], keys)
        prior = TargetFit.prior(
            deviations.mean[0],
            deviations.variance[0] + _AGAIN**2,
            deviations.shape[0],
            deviations.shape_variance[0],
            covariance=self.evidence.covariance,
            ahead=bool(runs_ahead([published])[0]),
        )
        # Of a measured target the factors of operators and its network count in full.
        _, contexts = self.operators.contexts([published], np.ones(1))
        klass = self.networks.places([groups_of(published)["class"]])
        one = replace(self.of([target]), contexts=contexts, klass=klass)
        parts = np.concatenate([self._parts(graph, one) for graph in graphs])
        composition = np.array([self._graph(graph).composition for graph in graphs])
        measured = prior.measured(parts * one.usual.reshape(1, -1), latency_ms, composition)
        return UserFit(keys, len(graphs) if are_networks else 0, measured)

    def _with(self, user_fits: Sequence[UserFit]) -> Evidence:
        """Return the evidence with the user's in place of the published ones of the targets."""
        evidence = self.evidence
        for user_fit in user_fits:
            one = Evidence(
                keys=user_fit.keys,
                level=user_fit.fit.mean[:1],
                variance=np.array([SHAPE.network**2 / max(user_fit.networks, 1)]),
                shape=user_fit.fit.mean[None, 1:],
                networks=np.array([user_fit.networks]),
                scales=evidence.scales,
            )
            evidence = evidence.without(user_fit.keys).joined(one)
        return evidence

    def _deviations(
        self, evidence: Evidence, targets: Sequence[Target], keys: Keys
    ) -> tuple[Deviations, Integers]:
        """Return the deviations of targets, and the places of those that another stands for.

        An accelerator of which nothing was measured deviates as another one of its chip. Processors
        with equal cores differ in all around them. A run that forbids halves deviates as the
        published one of its device, and is less sure.
        """
        source = self._remembered if evidence is self.evidence else evidence
        npus = np.flatnonzero(by_run(targets, lambda target: kind(target.device) == "npu"))
        twins = source.twins(keys.take(npus))
        twin, of_twin = npus[twins >= 0], twins[twins >= 0]
        devices = keys.device.astype(object)  # names of any length
        devices[twin] = evidence.keys.device[of_twin]
        published = published_keys(keys)
        deviations = source.about(replace(published, device=devices.astype(np.str_)))
        deviations.nearness[twin] = _CHIP
        stand_in = (published.precision != keys.precision) & (deviations.nearness == _TARGET)
        deviations.nearness[stand_in] = _DEVICE
        deviations.variance[stand_in] += (1 - OTHER_PRECISION) * evidence.scales.target**2
        return deviations, twin

    def rates(self, targets: Sequence[Target]) -> Rates:
        """Return the rates that work on targets is divided by, typical ones in gaps."""
        return self._rates(targets)[0]

    def _rates(self, targets: Sequence[Target]) -> tuple[Rates, Rates]:
        """Return the rates of targets, and those that are stated alone, NaN for the others."""
        stated = rates_of_runs([run_form(target) for target in targets])
        return self.efficiencies.typical.complete(stated, likenesses(targets)), stated

    def operator_ms(self, graph: OperatorGraph, targets: TargetEstimates) -> Floats:
        """Return the terms of each operator on the first target, float64 [N, len(TERMS)]."""
        terms: Floats = self._terms(graph, targets, targets.rates.take(np.array([0])))[:, 0]
        return terms

    def varied_ms(
        self, graph: OperatorGraph, targets: TargetEstimates, devices: Sequence[Device]
    ) -> Floats:
        """Return the operators' times on the first target were its device one of these, [V, N].

        Its factors, and with them all evidence, stay: only the rates differ.
        """
        rates = self.rates([replace(targets.targets[0], device=device) for device in devices])
        step = max(_BLOCK_CELLS // max(len(graph.op_code), 1), 1)
        blocks = [
            self._terms(graph, targets, rates.take(slice(first, first + step))).sum(axis=2).T
            for first in range(0, max(len(devices), 1), step)
        ]
        return np.concatenate(blocks)

    def _terms(self, graph: OperatorGraph, targets: TargetEstimates, rates: Rates) -> Floats:
        """Return the terms of each operator on the first target at V rates, [N, V, terms]."""
        read = self._graph(graph)
        factors = self.operators.factors(read.states, _first_context(targets))[0]
        factors = factors * targets.factors[0][read.kinds]
        factors = factors * read.of_network(targets)[0]
        terms: Floats = term_times(read.work, rates) * factors[:, None]
        # What overlaps counts by its share, so that the operators' times sum to the latency.
        summed = terms.sum(axis=0)  # [V, terms]
        total, shares = overlapped(summed, targets.ahead[:1])
        counted: Floats = terms * (shares * total[:, None] / np.maximum(summed, _MIN_MS))
        return counted

    def _parts(self, graph: OperatorGraph, targets: TargetEstimates) -> Floats:
        """Return the terms of the kinds of operators before the factors of kinds, [T, P]."""
        read = self._graph(graph)
        if not len(targets.targets):
            return np.empty((0, PARTS))
        key = (graph, targets.contexts)
        of_contexts = self._works.get(key, lambda: read.by_context(self.operators, targets))
        # [T, K] works of kinds, each row at the rates of its target.
        rates = targets.rates.take(np.s_[:, None])
        parts = matched_times(of_contexts.take(targets.context), rates)
        return parts.reshape(len(parts), PARTS) * read.factors[targets.klass, None]

    def _graph(self, graph: OperatorGraph) -> GraphWork:
        return self._read.get(
            (graph,), lambda: GraphWork.of(graph, self.operators, self.networks, self.directions)
        )

    def explain(
        self, graph: OperatorGraph, targets: TargetEstimates, least_ms: float
    ) -> Explanation:
        """Return where a graph's time goes on the first target.

        Args:
            graph: N operators.
            targets: one target.
            least_ms: least latency, which the parts are raised to.
        """
        terms = self.operator_ms(graph, targets)
        read = self._graph(graph)
        learned = self.operators.factors(read.states, _first_context(targets))[0]
        maps = replace(shares(terms, learned), network=float(read.of_network(targets)[0]))
        # A graph of views alone takes no time; fmax ignores the NaN of an unknown bound.
        terms *= np.fmax(1.0, least_ms / max(terms.sum(), _MIN_MS))
        parts = np.stack([terms[:, :2].sum(axis=1), terms[:, 2], terms[:, 3]], axis=1)
        return Explanation.of_parts(parts, maps)

    def _doubt(self, target: Target, class_chips: int | None) -> str:
        """Return why the estimate of a target is of other classes, empty where it is not."""
        name = target.configuration.runtime
        runtime = runtime_name(name)
        if name not in self.efficiencies.effects["runtime"]:
            return f"low confidence: no training device used {runtime}"
        if class_chips is not None and class_chips < FEW_CHIPS:
            return f"few chips of this kind were checked under {runtime}"
        return ""


def _cases(
    evidence: Evidence, deviations: Deviations, user_fits: Mapping[int, UserFit]
) -> list[str]:
    """Return the case of each target, whose record its number has."""
    cases = []
    for place, nearness in enumerate(deviations.nearness.tolist()):
        if place in user_fits:
            networks = user_fits[place].networks
            cases.append(user_case(networks) if networks else CHIP)
        elif nearness == _TARGET:
            cases.append(_published_case(evidence, deviations, place))
        else:
            cases.append(CHIP if nearness else UNSEEN)
    return cases


def _published_case(evidence: Evidence, deviations: Deviations, place: int) -> str:
    """Return the case of a target that the nearest measured one stands for."""
    return published_case(int(evidence.networks[deviations.nearest[place]]))


def _first_context(targets: TargetEstimates) -> Contexts:
    return targets.contexts.take(targets.context[:1])


def shares(terms: Floats, learned: Floats) -> AttentionMaps:
    """Return the shares of the rates in each operator's time, and of the operators in each rate's.

    Operators and rates that take no time are level.

    Args:
        terms: float64 [N, len(RATES)] in ms.
        learned: float64 [N, len(RATES)], the factors on them that were learned of operators.
    """
    count, width = terms.shape
    forward, backward = np.full((count, width), 1 / width), np.full((width, count), 1 / count)
    rows, columns = terms.sum(axis=1), terms.sum(axis=0)
    forward[rows > 0] = terms[rows > 0] / rows[rows > 0, None]
    backward[columns > 0] = (terms[:, columns > 0] / columns[columns > 0]).T
    return AttentionMaps(
        metrics=RATES,
        operator_to_metric=forward.astype(np.float32),
        metric_to_operator=backward.astype(np.float32),
        blend=1.0,
        residual=0.0,
        is_time=True,
        learned=learned.astype(np.float32),
    )
