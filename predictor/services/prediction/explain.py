"""Where the time of a model goes: its operators with their parts of the latency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.cost.engine import NOTHING_MEASURED, AttentionMaps, BoundType, Explanation, no_number
from predictor.cost.roofline import RooflineEngine
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.models.operator_facts import OperatorFacts, operator_facts
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.predict import NO_NUMBER, KnownTargets, without

_BOUND_WORDS: dict[int, str] = {
    BoundType.NONE: "—",
    BoundType.COMPUTE: "compute",
    BoundType.MEMORY: "memory",
    BoundType.LAUNCH: "launch",
}


BOUND_TYPES: Final = ("compute", "memory", "launch")


@dataclass(frozen=True, eq=False, kw_only=True)
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

    @cached_property
    def bounds(self) -> NDArray[np.intp]:
        """Index in ``BOUND_TYPES`` of what binds each operator, intp [N].

        An operator without a bound type takes no time: it may be counted under any.
        """
        code = {bound: index for index, bound in enumerate(BOUND_TYPES)}
        # Without a generator: of 100 000 operators that takes a third of the time.
        return np.fromiter(map(code.get, self.bound_type, repeat(0)), np.intp, len(self.names))

    @cached_property
    def types(self) -> tuple[NDArray[np.intp], tuple[str, ...]]:
        """Index of each operator's type, intp [N], among the types as they first appear."""
        types = tuple(dict.fromkeys(self.op_types))
        code = {name: index for index, name in enumerate(types)}
        return np.fromiter(map(code.__getitem__, self.op_types), np.intp, len(self.names)), types

    def scaled(self, factor: float) -> OperatorTable:
        """Return the table of a prediction that is so much longer, its shares the same."""
        if factor == 1.0:
            return self
        times = ("latency_ms", "compute_ms", "memory_ms", "launch_ms")
        return replace(self, **{name: getattr(self, name) * factor for name in times})


def explain(
    model: Model,
    target: Target,
    engine: str = "",
    measured: KnownTargets = NOTHING_MEASURED,
) -> OperatorTable:
    """Explain one model's time on one target.

    Args:
        model: the model.
        target: the target.
        engine: its name, empty for the usual one.
        measured: measurements of targets, by target.

    Raises:
        InputError: no engine of that name, or the target has no number for the model.
    """
    # As ``predict`` does, so that the parts are those of its prediction.
    measured = without(measured, model.graph.fingerprint)
    opened = open_engine(engine)
    table = opened.predict([model.graph], [target], measured)
    (parts,) = opened.explain(model.graph, [target], measured, predicted=table.latency_ms[0])
    if parts is None:
        raise no_number(target, table.problems.get((0, 0), NO_NUMBER))
    parts = _bounded(parts, model.graph, target)
    total = parts.latency_ms.sum()
    facts = operator_facts(model)
    return OperatorTable(
        **{field.name: getattr(facts, field.name) for field in fields(facts)},
        latency_ms=parts.latency_ms,
        share=parts.latency_ms / total if total > 0 else parts.latency_ms,
        compute_ms=parts.compute_ms,
        memory_ms=parts.memory_ms,
        launch_ms=parts.launch_ms,
        bound_type=tuple(_BOUND_WORDS[kind] for kind in parts.bound_type.tolist()),
        attention=parts.attention,
    )


def explanations(
    model: Model,
    targets: Sequence[Target],
    predicted: NDArray[np.float64],
    places: Sequence[int],
    measured: KnownTargets,
) -> Iterator[Explanation | None]:
    """Yield the parts of one model's time on targets, as the usual engine explains it.

    None without a number.

    Args:
        model: N operators.
        targets: T of them.
        predicted: float64 [T], the usual engine's latencies.
        places: of the targets to explain.
        measured: measurements of targets that it was given, none of the model's.
    """
    graph = model.graph
    parts = open_engine().explain(graph, targets, measured, predicted=predicted, places=places)
    for explanation, place in zip(parts, places, strict=True):
        yield None if explanation is None else _bounded(explanation, graph, targets[place])


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
    rest in proportion, so that the sum stays. Unchanged where the bounds have no room in it.

    Args:
        explanation: of N operators.
        bound_ms: float64 [N].
    """
    time, total = explanation.latency_ms, explanation.latency_ms.sum()
    if (time >= bound_ms).all() or bound_ms.sum() > total:
        return explanation
    # Those with the highest bound for their time first: as many of them stand at their bound as
    # leave the rest more than theirs.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(bound_ms / time, posinf=np.inf)
        order = np.argsort(-ratio)
        at_bound = np.concatenate([[0.0], np.cumsum(bound_ms[order])])
        rest = total - np.concatenate([[0.0], np.cumsum(time[order])])
        part = (total - at_bound) / np.maximum(rest, 0.0)
        first = int(np.argmax(np.append(ratio[order], 0.0) <= part))
        raised = np.maximum(bound_ms, part[first] * time)
        scale = np.where(time > 0, np.minimum(raised / time, 1.0), 1.0)
    more = np.maximum(raised - time, 0.0)
    return replace(
        explanation,
        latency_ms=raised,
        compute_ms=explanation.compute_ms * scale + more,
        memory_ms=explanation.memory_ms * scale,
        launch_ms=explanation.launch_ms * scale,
        bound_type=np.where(more > 0, np.int8(BoundType.COMPUTE), explanation.bound_type),
    )
