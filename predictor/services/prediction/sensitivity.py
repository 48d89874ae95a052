"""Sensitivity of a prediction: its elasticity to each fact of the device, and what else could run.

The elasticity of a latency T to a fact x is d ln T / d ln x: -0.4 says that 1 % more of the fact
takes 0.4 % of the time away. Where times are sums of work over rates it is minus the share of the
time that waits for the rate, the alpha of HODM. It is a central difference at equal evidence: the
deviations that measurements gave of the target, with its facts, stay. One fact changes, the others
stay as stated, see :mod:`predictor.devices.variation`.

Reference:
    CloserToMe, Eq. (7), for alpha.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.metrics import METRIC_BY_NAME
from predictor.core.percentiles import Z80
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Device, Measurement, Precision, Target
from predictor.core.runtimes import runtime_of
from predictor.core.text import plural, uncapitalised
from predictor.cost.engine import NOTHING_MEASURED, Engine
from predictor.devices.variation import NO_RESOURCES, fact_value, facts_of, scaled
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.presentation.metric_labels import metric_label
from predictor.presentation.wording import QUANTISED, batch_of, percent
from predictor.services.prediction.assumptions import needs_quantising
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.measured import with_measured
from predictor.services.prediction.predict import KnownTargets, predicted_by, without
from predictor.services.prediction.variants import differences

Floats = NDArray[np.float64]

# Times of operators on devices that are worked out together: an engine has several arrays of so
# many in between.
_AT_ONCE: Final = 500_000
# In ln: the error of the central difference of a sum of terms is under 1e-5, and the noise of a
# network in float32 too.
_STEP: Final = 0.01
_MIN_ELASTICITY: Final = 1e-4  # an elasticity that is nothing but such noise
_MORE: Final = 1.1  # of the fact, for words
_MIN_SAVED: Final = 0.005  # of the time, for words: less is no advice
_QUANTISED: Final = "quantised"
# Standard deviations of ln(ratio) of two latencies of one network on one device, that cover 80 % of
# the published pairs on silicon that the estimate had not seen: benchmarks/ratio_errors.py. Both
# latencies err alike, so these are far under those of a latency.
_DEVIATIONS: Final = {"precision": 0.61, "threads": 0.27}
_BATCHES: Final = {2: 0.15, 4: 0.23}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FactSensitivity:
    """Sensitivity of a model's latency to one fact of the device.

    Attributes:
        fact: name of the metric.
        label: its title, on such a device.
        unit: of the value.
        value: as stated.
        elasticity: d ln latency / d ln fact.
        more: latency with 10 % more of the fact, over the latency.
        operators: float64 [N], elasticity of the time of each operator; NaN where it takes none.
    """

    fact: str
    label: str
    unit: str
    value: float
    elasticity: float
    more: float
    operators: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another precision, batch or number of threads.

    Attributes:
        kind: ``precision``, ``batch`` or ``threads``.
        configuration: what would run.
        latency_ms: predicted.
        latency_factor: over the latency now.
        low80_factor, high80_factor: 80 % interval of that; None for engines without intervals.
        throughput_factor: items a second over those now.
        fits_memory: False where the device has too little memory; None where it is not known.
        needs_quantising: whether it takes an INT8 model that the user still has to make.
    """

    kind: str
    configuration: Configuration
    latency_ms: float
    latency_factor: float
    low80_factor: float | None
    high80_factor: float | None
    throughput_factor: float
    fits_memory: bool | None
    needs_quantising: bool = False

    @property
    def value(self) -> str:
        """The precision, the batch or the number of threads."""
        return str(getattr(self.configuration, self.kind))

    @property
    def change(self) -> str:
        """Kind and value: ``precision fp16``."""
        return f"{self.kind} {self.value}"

    @property
    def group(self) -> str:
        """The kind, a precision that takes another model apart from those that do not."""
        return _QUANTISED if self.needs_quantising else self.kind

    @property
    def words(self) -> str:
        """Kind and value as text: ``FP16``, ``8 threads``, ``batch 4``."""
        if self.kind == "precision":
            return self.configuration.precision.words
        return plural(int(self.value), "thread") if self.kind == "threads" else self.change


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """Sensitivity of a prediction.

    Attributes:
        facts: those that move it, the strongest first.
        alternatives: precisions, numbers of threads, batches.
    """

    facts: tuple[FactSensitivity, ...]
    alternatives: tuple[Alternative, ...]

    @property
    def sentence(self) -> str:
        """What would make it faster, as sentences; empty where nothing would.

        Of facts the strongest, of precisions and of numbers of threads the fastest, INT8 by itself
        since it takes another model, and the largest batch, each only where it saves time.
        """
        saving = [*self._facts_saving(), *self._alternatives_saving()]
        if not saving:
            return ""
        return f"To make it faster: {'; '.join(saving)}."

    def _facts_saving(self) -> Iterator[str]:
        for fact in self.facts[:1]:
            if saved := _saved(fact.more):
                yield f"{uncapitalised(fact.label)} +10 % saves {saved}"

    def _alternatives_saving(self) -> Iterator[str]:
        groups: dict[str, list[Alternative]] = {}
        for alternative in self.alternatives:
            # No number format is wider: what FP32 would save is an error of one of both.
            if (alternative.kind, alternative.value) != ("precision", Precision.FP32.value):
                groups.setdefault(alternative.group, []).append(alternative)
        for group in ("precision", "threads", _QUANTISED):
            best = min(groups.get(group, ()), key=_latency_factor, default=None)
            saved = "" if best is None else _saved(best.latency_factor)
            if best is not None and saved:
                needs = f", but {QUANTISED}" if best.needs_quantising else ""
                yield f"{best.words} would save {saved}{needs}"
        for largest in groups.get("batch", ())[-1:]:
            if largest.throughput_factor >= 1 + _MIN_SAVED:
                more = percent(largest.throughput_factor - 1, 2)
                yield f"{largest.words} does {more} more items a second"

    def scaled(self, factor: float) -> Sensitivity:
        """Return that of a prediction that is so much longer: ratios stay, latencies do not."""
        if factor == 1.0:
            return self
        alternatives = (
            replace(alternative, latency_ms=alternative.latency_ms * factor)
            for alternative in self.alternatives
        )
        return replace(self, alternatives=tuple(alternatives))

    def of_operator(self, place: int) -> dict[str, float]:
        """Return the elasticities of one operator's time by fact; empty where it takes none."""
        of_facts = ((fact.fact, float(fact.operators[place])) for fact in self.facts)
        return {name: value for name, value in of_facts if math.isfinite(value)}


def sensitivity_of(
    model: Model,
    target: Target,
    engine: str = "",
    measured: KnownTargets = NOTHING_MEASURED,
    measurements: Iterable[Measurement] = (),
) -> Sensitivity:
    """Return the sensitivity of one model's prediction on one target.

    Args:
        model: the model, N operators.
        target: the target.
        engine: its name, empty for the usual one.
        measured: measurements of targets, by target.
        measurements: the user's measurements of models, the oldest first.

    Raises:
        InputError: no engine of that name, or the target has no number for the model.
    """
    # As ``predict`` does, so that this is of its prediction.
    measured = without(measured, model.graph.fingerprint)
    opened = open_engine(engine)
    return Sensitivity(
        tuple(fact_sensitivities(opened, model.graph, target, measured)),
        tuple(_alternatives(opened, model, target, measured, measurements)),
    )


def fact_sensitivities(
    engine: Engine, graph: OperatorGraph, target: Target, measured: KnownTargets
) -> list[FactSensitivity]:
    """Return the facts that move an engine's latency of a graph on a target, the strongest first.

    Raises:
        InputError: the target has no number for the graph.
    """
    device = target.device
    names = [name for name in facts_of(device) if name not in NO_RESOURCES]
    logs = np.repeat([[-_STEP], [_STEP], [math.log(_MORE)]], len(names), axis=1)  # [3, facts]
    if target.configuration.threads and "core_count" in names:
        # A counted number of threads leaves a further core idle, and one core less is another run.
        logs[0, names.index("core_count")] = 0.0
    devices = [
        scaled(device, name, factor)
        for row in np.exp(logs).tolist()
        for name, factor in zip(names, row, strict=True)
    ]
    latency_ms, operator_ms = _varied(engine, graph, target, [*devices, device], measured)
    less, greater, more = latency_ms[:-1].reshape(3, -1)
    # Of a device without facts there are none to change.
    of_operators = operator_ms[: 2 * len(names)].reshape(2, len(names), len(graph))  # [2, facts, N]
    reach = logs[1] - logs[0]
    with np.errstate(divide="ignore", invalid="ignore"):  # operators that take no time
        elasticity = np.log(greater / less) / reach
        operators = np.log(of_operators[1] / of_operators[0]) / reach[:, None]
        more = more / latency_ms[-1]
    return [
        FactSensitivity(
            fact=names[place],
            label=metric_label(names[place], device.family),
            unit=METRIC_BY_NAME[names[place]].unit,
            value=fact_value(device, names[place]) or math.nan,
            elasticity=float(elasticity[place]),
            more=float(more[place]),
            operators=operators[place],
        )
        for place in np.argsort(-np.abs(elasticity), kind="stable").tolist()
        if abs(elasticity[place]) >= _MIN_ELASTICITY
    ]


def _varied(
    engine: Engine,
    graph: OperatorGraph,
    target: Target,
    devices: Sequence[Device],
    measured: KnownTargets,
) -> tuple[Floats, Floats]:
    """Return the latency on D devices in ms, float64 [D], and of its N operators, [D, N].

    What an engine needs in between grows with both: large graphs are worked out in parts.
    """
    latency_ms, operator_ms = np.empty(len(devices)), np.empty((len(devices), len(graph)))
    step = max(1, _AT_ONCE // max(len(graph), 1))
    for first in range(0, len(devices), step):
        part = slice(first, first + step)
        times = engine.varied(graph, target, devices[part], measured)
        latency_ms[part], operator_ms[part] = times.latency_ms, times.operator_ms
    return latency_ms, operator_ms


def _alternatives(
    engine: Engine,
    model: Model,
    target: Target,
    measured: KnownTargets,
    measurements: Iterable[Measurement],
) -> Iterator[Alternative]:
    """Yield the alternatives that have a number: precisions, threads, then batches."""
    candidates = [*_other_precisions(target), *_other_threads(target)]
    targets = [Target(target.device, configuration) for _, configuration in candidates]
    now, *rows = predicted_by(engine, [model], [target, *targets], measured)
    now_measured, *measured_rows = with_measured([now, *rows], measurements, [model])
    for (kind, _), predicted, of_other in zip(candidates, rows, measured_rows, strict=True):
        # A measured latency over a predicted one would mix two things.
        are_measured = now_measured.basis is of_other.basis is Basis.MEASURED
        pair = (now_measured, of_other) if are_measured else (now, predicted)
        # The INT8 model of a target in INT8 is there, or to be made, already.
        changes = now.configuration.precision is not predicted.configuration.precision
        needs = changes and needs_quantising(model, of_other)
        for item in _alternative(kind, *pair):
            yield replace(item, needs_quantising=needs)
    for factor in _BATCHES:  # one by one: each is a graph of its own in memory
        larger = replace(model, graph=at_batch(model.graph, factor))
        (row,) = predicted_by(engine, [larger], [target], measured)
        configuration = replace(row.configuration, batch=factor * batch_of(now.configuration))
        yield from _alternative("batch", now, replace(row, configuration=configuration))


def _other_precisions(target: Target) -> Iterator[tuple[str, Configuration]]:
    """Yield the other precisions that the device lists, and that its runtime runs in."""
    now, configurations = target.configuration, target.device.configurations
    of_runtime = {c.precision for c in configurations if c.runtime == now.runtime}
    able = of_runtime or runtime_of(now.runtime).precisions or set(Precision)
    for precision in dict.fromkeys(c.precision for c in configurations):
        if precision in able and precision is not now.precision:
            yield "precision", replace(now, precision=precision)


def _other_threads(target: Target) -> Iterator[tuple[str, Configuration]]:
    """Yield half and double the threads, as far as there are cores."""
    threads, cores = target.threads, target.device.core_count or 0
    for count in (threads // 2, threads * 2):
        if 0 < count <= cores:
            yield "threads", replace(target.configuration, threads=count)


def _alternative(kind: str, now: Prediction, other: Prediction) -> Iterator[Alternative]:
    if not now.latency_ms or not other.latency_ms:  # nothing over nothing is no factor
        return
    factor = other.latency_ms / now.latency_ms
    grown = batch_of(other.configuration) / batch_of(now.configuration)
    low, high = _interval(kind, grown, now, other)
    yield Alternative(
        kind=kind,
        configuration=other.configuration,
        latency_ms=other.latency_ms,
        latency_factor=factor,
        low80_factor=low,
        high80_factor=high,
        throughput_factor=grown / factor,
        fits_memory=other.fits_memory,
    )


def _interval(
    kind: str, grown: float, now: Prediction, other: Prediction
) -> tuple[float | None, float | None]:
    """Return the 80 % interval of the ratio of two latencies of one network on one device."""
    if now.latency_ms is None or other.latency_ms is None or now.low80_ms is None:
        return None, None
    if now.basis is Basis.MEASURED:
        ratio = differences([now], [other])
        return float(ratio.low80_ratio[0]), float(ratio.high80_ratio[0])
    deviation = _DEVIATIONS[kind] if kind != "batch" else _BATCHES[round(grown)]
    factor, reach = other.latency_ms / now.latency_ms, math.exp(Z80 * deviation)
    low = factor / reach
    # No run over more items ends sooner.
    return (max(low, min(factor, 1.0)) if kind == "batch" else low), factor * reach


def _latency_factor(alternative: Alternative) -> float:
    return alternative.latency_factor


def change_words(factor: float) -> str:
    """Write a factor as a change: ``−3.1 %``; what is under a hundredth of a percent is none."""
    return percent(round(factor - 1, 4), 2, signed=True)


def _saved(factor: float) -> str:
    """Write what a factor on a time saves of it; empty where that is under half a percent."""
    return percent(1 - factor, 2) if factor <= 1 - _MIN_SAVED else ""
