"""Predict and explain: latencies of models on targets, through any engine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import groupby
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.records import (
    Basis,
    Configuration,
    Device,
    Measurement,
    Precision,
    Prediction,
    Target,
    TargetId,
)
from predictor.cost.capability import check_supported
from predictor.cost.engine import (
    AttentionMaps,
    BoundType,
    Engine,
    Explanation,
    PredictionTable,
    TargetMeasurements,
)
from predictor.cost.roofline import RooflineEngine
from predictor.devices.default_configurations import usual_configuration
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.services.models.operator_facts import OperatorFacts, operator_facts
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.measured import with_measured
from predictor.services.prediction.memory import memory_uses
from predictor.services.prediction.scaling import measured_targets, scaled
from predictor.services.prediction.support import unsupported
from predictor.services.prediction.tails import spread_of

_UNCOUNTED = OperatorFlag.UNKNOWN | OperatorFlag.UNKNOWN_TRIPS
_NUMBERS = (
    "latency_ms",
    "bound_ms",
    "low80_ms",
    "high80_ms",
    "low95_ms",
    "high95_ms",
    "predicted_ms",
)
_NO_NUMBER = "the engine gives no number for this model; take another target or engine"
_BOUND_WORDS: dict[int, str] = {
    BoundType.NONE: "—",
    BoundType.COMPUTE: "compute",
    BoundType.MEMORY: "memory",
    BoundType.LAUNCH: "launch",
}

NO_DEVICES: Mapping[str, Device] = MappingProxyType({})
KnownTargets = Mapping[TargetId, TargetMeasurements]
"""Measurements of targets."""


@dataclass(frozen=True, slots=True, eq=False)
class OperatorTable(OperatorFacts):
    """Where one model's time goes on one target; arrays are float64 [N] in ms.

    Attributes:
        latency_ms: sums to the prediction.
        share: part of the prediction, 0 to 1; sums to 1 unless all latencies are 0.
        compute_ms: time of the arithmetic at the target's rate.
        memory_ms: time of the traffic at the target's bandwidth.
        launch_ms: overhead of starting the operator.
        bound_type: "compute", "memory", "launch", or "—" where no time is spent.
        attention: HODM's maps; None for engines without it.
    """

    latency_ms: NDArray[np.float64]
    share: NDArray[np.float64]
    compute_ms: NDArray[np.float64]
    memory_ms: NDArray[np.float64]
    launch_ms: NDArray[np.float64]
    bound_type: tuple[str, ...]
    attention: AttentionMaps | None = None

    def scaled(self, factor: float) -> OperatorTable:
        """Return the table of a prediction that is so much longer, its shares the same."""
        if factor == 1.0:
            return self
        times = ("latency_ms", "compute_ms", "memory_ms", "launch_ms")
        return replace(self, **{name: getattr(self, name) * factor for name in times})


def resolve_targets(
    devices: Sequence[Device],
    runtime: str | None = None,
    precision: Precision | None = None,
    threads: int | None = None,
) -> tuple[Target, ...]:
    """Return one target a device, None standing for what is usual of it (``usual_configuration``).

    The problem of the prediction may be that the device does not support the configuration.
    """
    return tuple(
        Target(device, _configuration(device, runtime, precision, threads)) for device in devices
    )


def distinct(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return targets without repeats: devices asked for in one configuration may be one."""
    return tuple({target.run_id: target for target in targets}.values())


def supports(device: Device, configuration: Configuration) -> bool:
    """Return whether a device can run a configuration, one that it lists or another."""
    try:
        check_supported(device, configuration)
    except InputError:
        return False
    return True


def _configuration(
    device: Device, runtime: str | None, precision: Precision | None, threads: int | None
) -> Configuration:
    usual = usual_configuration(device, runtime, precision)
    return usual if threads is None else replace(usual, threads=threads)


def predict(
    models: Sequence[Model],
    targets: Sequence[Target],
    engine: str = "",
    own: Iterable[Measurement] = (),
    signatures: KnownTargets | None = None,
    devices: Mapping[str, Device] = NO_DEVICES,
) -> tuple[Prediction, ...]:
    """Predict every model on every target; measured latencies stand before predicted ones.

    Args:
        models: the models.
        targets: the targets.
        engine: its name, empty for the usual one.
        own: the user's measurements, the oldest first; see :mod:`.measured`. Those of a model on
            one target correct its predictions on others, see :mod:`.scaling`.
        signatures: measurements of targets, by target.
        devices: that ``own`` may be of beside those of the targets, by id.

    Returns:
        One prediction a pair, all targets of the first model first. A pair without a number has
        a ``problem`` in words.

    Raises:
        InputError: there is no engine of that name.
    """
    measured = {} if signatures is None else signatures
    kept = tuple(own)
    seen = fingerprints(kept, measured)
    predicted: list[Prediction] = []
    # A graph that was measured is predicted apart, from all measurements but its own.
    for is_seen, run in groupby(models, lambda model: model.graph.fingerprint in seen):
        for some in [[model] for model in run] if is_seen else [list(run)]:
            fingerprint = some[0].graph.fingerprint
            others = without(measured, fingerprint) if is_seen else measured
            of_graph = [each for each in kept if each.fingerprint == fingerprint and is_seen]
            every = [*targets, *measured_targets(of_graph, targets, devices)]
            row = list(predicted_by(open_engine(engine), some, every, others))
            if of_graph:
                newest = {TargetId.of(each): each for each in of_graph}
                row = list(scaled(row, every, newest))[: len(targets)]
            predicted += row
    return with_measured(predicted, kept)


def fingerprints(own: Iterable[Measurement], signatures: KnownTargets) -> set[str]:
    """Return the fingerprints of all graphs that the user measured anywhere."""
    of_signatures = {graph.fingerprint for each in signatures.values() for graph in each.graphs}
    return of_signatures | {each.fingerprint for each in own}


def without(signatures: KnownTargets, fingerprint: str) -> KnownTargets:
    """Return the measurements but for one graph, which is to be predicted from the rest."""
    return {key: _without(measured, fingerprint) for key, measured in signatures.items()}


def _without(measured: TargetMeasurements, fingerprint: str) -> TargetMeasurements:
    keep = [i for i, graph in enumerate(measured.graphs) if graph.fingerprint != fingerprint]
    if len(keep) == len(measured.graphs):
        return measured
    # FiLM fitted without this graph, where one was: the other has seen its latency.
    film = measured.film and measured.film.unseen(fingerprint)
    return replace(taken(measured, keep), film=film)


def taken(measured: TargetMeasurements, keep: Sequence[int]) -> TargetMeasurements:
    """Return some of a target's measurements, without the FiLM that was tuned to all of them."""
    return TargetMeasurements(
        measured.signature_id,
        tuple(measured.graphs[i] for i in keep),
        measured.latency_ms[keep],
        measured.noise[keep],
        operators=tuple(measured.operators[i] for i in keep) if measured.operators else (),
        unstable=measured.unstable,
    )


def predicted_by(
    engine: Engine,
    models: Sequence[Model],
    targets: Sequence[Target],
    signatures: KnownTargets,
) -> Iterator[Prediction]:
    """Yield an engine's own predictions, one a pair, all targets of the first model first."""
    table = engine.predict([model.graph for model in models], targets, signatures)
    for row, model in enumerate(models):
        yield from of_table(table, row, model, targets, signatures, range(len(targets)))


def of_table(
    table: PredictionTable,
    row: int,
    model: Model,
    targets: Sequence[Target],
    signatures: KnownTargets,
    places: Sequence[int],
) -> Iterator[Prediction]:
    """Yield the predictions of one row of a table, for the targets at some places."""
    # What was measured in one configuration of a device tells of its others too.
    unstable = {key.device_id: each.unstable for key, each in signatures.items() if each.unstable}
    for target, prediction in zip(
        (targets[place] for place in places),
        _row(table, row, model, targets, places),
        strict=True,
    ):
        used = signatures.get(target.id) if signatures else None
        is_used = used and used.signature_id and prediction.basis is Basis.PROBED
        is_told = unstable and prediction.basis in {Basis.PROBED, Basis.ZERO_SHOT}
        reason = unstable.get(target.device.id, "") if is_told else ""
        signature = used.signature_id if used and is_used else prediction.signature
        is_same = not reason and signature is prediction.signature
        yield prediction if is_same else replace(prediction, signature=signature, unstable=reason)


def explain(
    model: Model,
    target: Target,
    engine: str = "",
    signatures: KnownTargets | None = None,
) -> OperatorTable:
    """Explain one model's time on one target.

    Args:
        model: the model.
        target: the target.
        engine: its name, empty for the usual one.
        signatures: measurements of targets, by target.

    Raises:
        InputError: no engine of that name, or the target has no number for the model.
    """
    # As ``predict`` does, so that the parts are those of its prediction.
    measured = without(signatures or {}, model.graph.fingerprint)
    explanation = open_engine(engine).explain(model.graph, target, measured)
    explanation = _bounded(explanation, model.graph, target)
    total = explanation.latency_ms.sum()
    facts = operator_facts(model)
    return OperatorTable(
        **{field.name: getattr(facts, field.name) for field in fields(facts)},
        latency_ms=explanation.latency_ms,
        share=explanation.latency_ms / total if total > 0 else explanation.latency_ms,
        compute_ms=explanation.compute_ms,
        memory_ms=explanation.memory_ms,
        launch_ms=explanation.launch_ms,
        bound_type=tuple(_BOUND_WORDS[kind] for kind in explanation.bound_type.tolist()),
        attention=explanation.attention,
    )


def explained(
    model: Model,
    targets: Sequence[Target],
    predicted: NDArray[np.float64],
    places: Sequence[int],
    measured: KnownTargets,
) -> Iterator[Explanation | None]:
    """Yield the parts of one model's time as :func:`explain` does; None without a number.

    Args:
        model: N operators.
        targets: T of them.
        predicted: float64 [T], the usual engine's latencies.
        places: of the targets that are asked about.
        measured: measurements of targets that it was given, none of the model's.
    """
    explanations = open_engine().explained(model.graph, targets, predicted, places, measured)
    for each, place in zip(explanations, places, strict=True):
        yield None if each is None else _bounded(each, model.graph, targets[place])


def _bounded(explanation: Explanation, graph: OperatorGraph, target: Target) -> Explanation:
    """Return an explanation with operators at their bounds, as far as facts give them."""
    # The share of the threads may not be known where the engine knows measurements.
    with suppress(InputError):
        bound_ms = RooflineEngine.operator_bounds(graph, target)
        return above_bounds(explanation, np.nan_to_num(bound_ms))
    return explanation


def above_bounds(explanation: Explanation, bound_ms: NDArray[np.float64]) -> Explanation:
    """Return an explanation whose operators take no less than the bound of their arithmetic.

    An engine keeps to the bound of a whole model alone. What an operator lacks is taken from the
    others in proportion, so that the sum stays. Unchanged where the bounds have no room in it.

    Args:
        explanation: of N operators.
        bound_ms: float64 [N].
    """
    time, total = explanation.latency_ms, explanation.latency_ms.sum()
    if (time >= bound_ms).all() or bound_ms.sum() > total:
        return explanation
    # Those with the highest bound for their time first: as many of them stand at their bound as
    # leave the others more than theirs.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(bound_ms / time, posinf=np.inf)
        order = np.argsort(-ratio)
        at_bound = np.concatenate([[0.0], np.cumsum(bound_ms[order])])
        others = total - np.concatenate([[0.0], np.cumsum(time[order])])
        part = (total - at_bound) / np.maximum(others, 0.0)
        first = int(np.argmax(np.append(ratio[order], 0.0) <= part))
        raised = np.maximum(bound_ms, part[first] * time)
        kept = np.where(time > 0, np.minimum(raised / time, 1.0), 1.0)
    more = np.maximum(raised - time, 0.0)
    return replace(
        explanation,
        latency_ms=raised,
        compute_ms=explanation.compute_ms * kept + more,
        memory_ms=explanation.memory_ms * kept,
        launch_ms=explanation.launch_ms * kept,
        bound_type=np.where(more > 0, np.int8(BoundType.COMPUTE), explanation.bound_type),
    )


def _row(
    table: PredictionTable,
    row: int,
    model: Model,
    targets: Sequence[Target],
    places: Sequence[int],
) -> list[Prediction]:
    """Return one model's predictions on the targets at some places."""
    chosen = [targets[place] for place in places]
    name = model.path.replace("\\", "/").rpartition("/")[2]
    batch = model_batch(model)
    flagged = uncounted(model)
    columns = np.array(places, np.intp)
    latency, bound, low80, high80, low95, high95, predicted = (
        _column(getattr(table, name)[row, columns]) for name in _NUMBERS
    )
    problems = [
        table.problems.get((row, column), "" if value is not None else _NO_NUMBER)
        for column, value in zip(places, latency, strict=True)
    ]
    shared = table.shared_error
    memory, refused = memory_uses(model.graph, chosen), unsupported(model.graph, chosen)
    return [
        Prediction(
            model=name,
            fingerprint=model.graph.fingerprint,
            device_id=target.device.id,
            configuration=_resolved(target, batch),
            engine=table.engine,
            basis=None if problems[at] else table.basis[row][column],
            latency_ms=latency[at],
            low80_ms=low80[at],
            high80_ms=high80[at],
            low95_ms=low95[at],
            high95_ms=high95[at],
            bound_ms=bound[at],
            fits_memory=table.fits_memory[row][column],
            problem=problems[at],
            predicted_ms=predicted[at] if table.basis[row][column] is Basis.MEASURED else None,
            out_of_distribution=table.out_of_distribution.get((row, column), ""),
            flagged_operators=flagged,
            shared_error=b"" if shared is None else shared[row, column].tobytes(),
            memory=memory[at],
            unsupported=refused[at],
            # An analytic number is no median that slow runs could lie over.
            spread=None if table.basis[row][column] is Basis.ANALYTIC else spread_of(target, batch),
            **{name: cells[row][column] for name, cells in table.facts.items()},
        )
        for at, (column, target) in enumerate(zip(places, chosen, strict=True))
    ]


def _column(values: NDArray[np.float64]) -> list[float | None]:
    # NaN marks "no number" in arrays; records and JSON have None.
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _resolved(target: Target, batch: int) -> Configuration:
    c = target.configuration
    return Configuration(c.runtime, c.precision, target.threads, batch)


def model_batch(model: Model) -> int:
    """Return the batch that the model is bound to: the first dimension of its first input."""
    shapes = [info.shape for info in model.inputs if info.shape]
    return shapes[0][0] if shapes else 1


def uncounted(model: Model) -> tuple[str, ...]:
    """Return the names of the operators of unknown cost, which latencies leave out."""
    graph = model.graph
    places = np.flatnonzero(graph.has_flag(_UNCOUNTED)).tolist()
    return tuple(graph.names[index] for index in places)
