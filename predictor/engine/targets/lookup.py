"""Which model answers for each target: by what ships, and by what the user measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeVar

import numpy as np

from predictor.calibration.operator_fit import OperatorFit
from predictor.core.arrays import Floats, Integers
from predictor.core.caching import IdentityCache
from predictor.core.records import Basis, Target, TargetId
from predictor.cost.engine import TargetMeasurements
from predictor.cost.roofline import RatedTargets, RooflineEngine
from predictor.engine.checkpoint import LoadedCheckpoint
from predictor.engine.target_estimates import TargetEstimates, UserFit
from predictor.engine.targets.estimated import EstimatedTargets
from predictor.engine.targets.fine_tuned import FineTuned, TunedNetwork, Tuning
from predictor.engine.targets.interface import TargetModel
from predictor.engine.targets.measured_product import (
    MeasuredProduct,
    measured_products,
    product_graph,
)
from predictor.engine.targets.prepared import FEWEST, PreparedTargets, read_prepared
from predictor.engine.targets.states import TargetState, states_of
from predictor.engine.targets.timed_operators import TimedOperators, operator_fit
from predictor.engine.timed_work import OperatorWorks

T = TypeVar("T")

_MEASURED_TARGETS: Final = 16  # targets
_LISTS: Final = 2  # of targets
_SMALLEST_FACTOR: Final = 0.2  # a latency further under the bound is mistyped
_NO_FACTS: Final[Mapping[str, object]] = {
    "evidence": "",
    "class_chips": None,
    "fine_tuned": False,
    "by_operators": False,
}


class Family(NamedTuple):
    """Targets that one model answers for, by their places in a table."""

    places: Integers
    model: TargetModel


@dataclass(frozen=True, eq=False)
class TargetModels:
    """T targets of a table, each with the model that answers for it.

    Attributes:
        states: of the T targets.
        families: models with the places of their targets, each place once.
        bound_factors: float64 [T], part of the physical bound that holds: under 1 something ran
            faster than it.
    """

    states: Sequence[TargetState]
    families: Sequence[Family]
    bound_factors: Floats

    @cached_property
    def problems(self) -> Mapping[int, str]:
        """Why targets have no number, by place."""
        return {place: state.problem for place, state in enumerate(self.states) if state.problem}

    @cached_property
    def basis(self) -> Sequence[Basis | None]:
        """Basis of the predictions for each target; None where there is no number."""
        return [None if state.problem else state.basis for state in self.states]

    @cached_property
    def facts(self) -> Mapping[str, Sequence[object]]:
        """Values of fields of ``Prediction`` by name, T each."""
        count = len(self.states)
        facts = {name: [value] * count for name, value in _NO_FACTS.items()}
        for places, model in self.families:
            for name, values in model.facts.items():
                for place, value in zip(places.tolist(), values, strict=True):
                    facts[name][place] = value
        for place in self.problems:
            facts["evidence"][place] = ""
        return facts

    @cached_property
    def by_place(self) -> Mapping[int, tuple[TargetModel, int]]:
        """The model of each target, and the target's place inside it."""
        return {
            place: (model, inside)
            for places, model in self.families
            for inside, place in enumerate(places.tolist())
        }


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTarget:
    """A target after the user's measurements.

    Attributes:
        target: the target.
        tuning: the network after FiLM fine-tuning; None where it stays as it ships.
        operators: fit to the times of its operators; None where none was timed.
        bound_factor: part of the physical bound that holds.
    """

    target: Target
    tuning: Tuning | None
    operators: OperatorFit | None
    bound_factor: float


class TargetLookup:
    """Picks the model of each target; the last targets are remembered."""

    def __init__(self, checkpoint: LoadedCheckpoint) -> None:
        """Look targets up with a checkpoint."""
        self._checkpoint, self._estimate = checkpoint, checkpoint.estimate
        self.network = TunedNetwork(checkpoint)
        self.roofline = RooflineEngine(self._rated)
        self.works = OperatorWorks(checkpoint.engine.typical)
        # The same targets are asked about again and again, and their runs in INT8.
        self._prepared: IdentityCache[PreparedTargets | None] = IdentityCache(_LISTS)
        self._states: IdentityCache[Sequence[TargetState]] = IdentityCache(_LISTS)
        self._plain: IdentityCache[TargetModels] = IdentityCache(_LISTS)
        self._by_user: IdentityCache[TargetModels] = IdentityCache(_LISTS)
        self._measured: IdentityCache[MeasuredTarget] = IdentityCache(_MEASURED_TARGETS)
        self._fits: IdentityCache[UserFit] = IdentityCache(_MEASURED_TARGETS)

    def models(
        self, targets: Sequence[Target], measured: Mapping[TargetId, TargetMeasurements]
    ) -> TargetModels:
        """Return the models of T targets.

        What the user measured of a device informs its other configurations.
        """
        devices = {target.device.id: target.device for target in targets} if measured else {}
        by_user = {
            key: self._fit(Target(devices[key.device_id], key.configuration), values)
            for key, values in measured.items()
            if key.device_id in devices and len(values.graphs)
        }
        if not by_user:
            return _of_targets(self._plain, targets, self._shipped)
        # Asked about one target after the other, as of the modes of many devices.
        return self._by_user.get(
            (*(target.device for target in targets), *measured.values()),
            lambda: self._after_user(targets, measured, by_user),
            (tuple(target.configuration for target in targets), tuple(measured)),
        )

    def _after_user(
        self,
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements],
        by_user: Mapping[TargetId, UserFit],
    ) -> TargetModels:
        """Return the models of targets after the user's measurements of some of their devices."""
        places = {
            place: self._after(target, measured[target.id])
            for place, target in enumerate(targets)
            if target.id in by_user
        }
        shipped = _of_targets(self._states, targets, self._states_of)
        states = list(shipped)
        factors = np.ones(len(targets))
        for place, user in places.items():
            states[place] = states[place].measured()
            factors[place] = user.bound_factor
        fits = [*by_user.values(), *self._of_products(targets, by_user)]
        estimates = self._estimate.of(targets, fits)
        return TargetModels(states, self._families(estimates, places), factors)

    def _shipped(self, targets: Sequence[Target]) -> TargetModels:
        """Return the models of targets without the user's measurements."""
        prepared = self._prepared_of(targets)
        estimates = (
            self._estimate.of(targets, self._of_products(targets, {}))
            if prepared is None
            else prepared.estimates
        )
        states = _of_targets(self._states, targets, self._states_of)
        return TargetModels(states, self._families(estimates, {}), np.ones(len(targets)))

    def _states_of(self, targets: Sequence[Target]) -> Sequence[TargetState]:
        prepared = self._prepared_of(targets)
        if prepared is not None:
            return prepared.states
        return states_of(targets, self._estimate.have_measured(targets))

    def _families(
        self, estimates: TargetEstimates, measured: Mapping[int, MeasuredTarget]
    ) -> list[Family]:
        """Return a family for each target with a model of its own, and one for the estimated."""
        estimated = EstimatedTargets(self._estimate, estimates, self._checkpoint.engine.families)
        families: list[Family] = []
        for place, target in measured.items():
            model = self._measured_model(estimated, place, target)
            if model is not None:
                families.append(Family(np.array([place]), model))
        if not families:
            return [Family(np.arange(len(estimates.targets)), estimated)]
        rest = np.setdiff1d(
            np.arange(len(estimates.targets)), [family.places[0] for family in families]
        )
        return [Family(rest, estimated.take(rest)), *families] if len(rest) else families

    def _measured_model(
        self, estimated: EstimatedTargets, place: int, measured: MeasuredTarget
    ) -> TargetModel | None:
        """Return the model of a measured target; None where the estimate is adapted alone."""
        # The user chose fine-tuning: it goes before calibration by operators (0014).
        if measured.tuning is not None:
            one = estimated.take(np.array([place]))
            return FineTuned(one, self.network, measured.tuning)
        if measured.operators is not None:
            one = estimated.take(np.array([place]))
            return TimedOperators(one, measured.target, measured.operators, self.works)
        return None

    def _after(self, target: Target, measured: TargetMeasurements) -> MeasuredTarget:
        """Return a target after the user's measurements of it."""
        return self._measured.get(
            (measured, target.device),
            lambda: self._measured_target(target, measured),
            target.configuration,
        )

    def _fit(self, target: Target, measured: TargetMeasurements) -> UserFit:
        """Return level and shape of a target by the user's measurements."""
        return self._fits.get(
            (measured, target.device),
            lambda: self._estimate.fitted(target, measured.graphs, measured.latency_ms),
            target.configuration,
        )

    def _of_products(
        self, targets: Sequence[Target], by_user: Mapping[TargetId, UserFit]
    ) -> list[UserFit]:
        """Return level and shape of devices by matrix products, where no network was measured."""
        return [self._of_product(product) for product in measured_products(targets, by_user)]

    def _of_product(self, product: MeasuredProduct) -> UserFit:
        graph, target = product_graph(), product.target
        return self._fits.get(
            (graph, target.device),
            lambda: self._estimate.fitted(
                target, [graph], np.array([product.latency_ms]), are_networks=False
            ),
            target.configuration,
        )

    def _measured_target(self, target: Target, measured: TargetMeasurements) -> MeasuredTarget:
        bound = self.roofline.predict(measured.graphs, [target], {}).bound_ms[:, 0]
        return MeasuredTarget(
            target,
            self.network.tuning(target, measured),
            operator_fit(measured, target, self.works),
            _bound_factor(bound, measured.latency_ms),
        )

    def _rated(self, targets: Sequence[Target]) -> RatedTargets:
        prepared = self._prepared_of(targets)
        return RatedTargets.of(targets) if prepared is None else prepared.rated

    def _prepared_of(self, targets: Sequence[Target]) -> PreparedTargets | None:
        """Return what is prepared of the shipped targets; None of others."""
        if len(targets) < FEWEST:
            return None
        folder, checksum = self._checkpoint.folder, self._checkpoint.estimate_checksum
        return _of_targets(
            self._prepared, targets, lambda key: read_prepared(folder, checksum, key)
        )


def _of_targets(
    cache: IdentityCache[T], targets: Sequence[Target], make: Callable[[Sequence[Target]], T]
) -> T:
    """Return what is remembered of targets, by their devices and equal configurations."""
    devices = tuple(target.device for target in targets)
    configurations = tuple(target.configuration for target in targets)
    return cache.get(devices, lambda: make(targets), configurations)


def probing_facts(
    targets: Sequence[Target],
    basis: Iterable[Basis | None],
    measured: Mapping[TargetId, TargetMeasurements],
) -> Mapping[str, Sequence[object]]:
    """Return the signature that each number rests on, and why its probing failed its checks.

    Args:
        targets: T targets.
        basis: of their numbers, None where there is none.
        measured: the user's measurements.
    """
    signatures: list[str | None] = [None] * len(targets)
    unstable = [""] * len(targets)
    # What was measured in one configuration of a device informs its others too.
    failed = {key.device_id: values.unstable for key, values in measured.items() if values.unstable}
    for place, (target, of_number) in enumerate(
        zip(targets, basis, strict=True) if measured else ()
    ):
        if of_number is not None:
            unstable[place] = failed.get(target.device.id, "")
        if of_number is Basis.PROBED and target.id in measured:
            signatures[place] = measured[target.id].signature_id or None
    return {"signature": signatures, "unstable": unstable}


def _bound_factor(bound_ms: Floats, latency_ms: Floats) -> float:
    """Return the least latency over its bound, at most 1: under 1 a rate was stated too low."""
    bounded = bound_ms > 0  # neither unknown nor nothing
    factor = (latency_ms[bounded] / bound_ms[bounded]).min(initial=1.0)
    return max(float(factor), _SMALLEST_FACTOR)
