"""Predictions that break a law of physics, counted over devices and real networks.

1. A rate that grows never raises a latency and never lowers it by more than its own factor; the
   size of a cache or memory never raises it; a fact that the run does not use changes nothing. Of
   two devices of one architecture the one that is as good in every fact is never slower.
2. No prediction is under its bound, and there is a bound wherever a rate is known.
3. Equal operators after equal operators cost the same.
4. A larger batch is never faster; removing the last operator of a chain never raises the latency.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.judge.better_devices import better_pairs
from ctm_research.evaluation.judge.equal_operators import equal_operators, without_last
from ctm_research.evaluation.judge.varied_facts import SIZE, UNUSED, Variant, variants
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Basis, Device, Target, TargetId
from predictor.cost.engine import Engine, PredictionTable
from predictor.engine.evidence_words import NOT_MEASURED
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.network.reference_rates import is_rated

Floats = NDArray[np.float64]

_TOLERANCE: Final = 1e-3  # a network computes in float32
_EXAMPLES: Final = 3
_BATCHES: Final = (2, 8)
_DEVICES_AT_A_TIME: Final = 16

NO_SLOWER: Final = "1: a larger rate or size is never slower"
NO_LEAP: Final = "1: a larger rate is never faster by more than its factor"
UNMOVED: Final = "1: a fact that the run does not use changes nothing"
BETTER: Final = "1: of one architecture, a device as good in each fact is never slower"
BOUNDED: Final = "2: never under the bound"
HAS_BOUND: Final = "2: a bound wherever a rate is known"
EQUAL: Final = "3: equal operators cost the same"
BATCHED: Final = "4: a larger batch is never faster"
SHORTER: Final = "4: without its last operator never slower"
LAWS: Final = (
    *(NO_SLOWER, NO_LEAP, UNMOVED, BETTER, BOUNDED, HAS_BOUND),
    *(EQUAL, BATCHED, SHORTER),
)


@dataclass(slots=True)
class Count:
    """Violations of one law.

    Attributes:
        checked: comparisons.
        violated: those that break it.
        examples: the worst one of each of three targets: by how much, and in words.
        by_fact: comparisons and violations by the varied fact.
    """

    checked: int = 0
    violated: int = 0
    examples: dict[TargetId, tuple[float, str]] = field(default_factory=dict)
    by_fact: dict[str, list[int]] = field(default_factory=dict)

    def add(self, excess: float, target: Target, words: str, fact: str = "") -> None:
        """Count one comparison.

        Args:
            excess: ratio that a law allows to be at most 1.
            target: that it is on.
            words: what was compared.
            fact: that was varied.
        """
        broken = excess > 1 + _TOLERANCE
        self.checked += 1
        self.violated += int(broken)
        if fact:
            counts = self.by_fact.setdefault(fact, [0, 0])
            counts[0] += 1
            counts[1] += int(broken)
        if broken and excess > self.examples.get(target.id, (1.0, ""))[0]:
            self.examples[target.id] = (excess, f"{target.id}: {words}")
            if len(self.examples) > _EXAMPLES:
                del self.examples[min(self.examples, key=lambda each: self.examples[each][0])]


Counts = dict[str, Count]


def law_entries(counts: Counts) -> list[dict[str, object]]:
    """Return violations as plain values for a document."""
    return [
        {
            "law": law,
            "checked": count.checked,
            "violated": count.violated,
            "examples": [words for _, words in sorted(count.examples.values(), reverse=True)],
            "facts": {
                fact: {"checked": checked, "violated": violated}
                for fact, (checked, violated) in count.by_fact.items()
            },
        }
        for law, count in counts.items()
    ]


def count_violations(
    engine: Engine,
    graphs: Mapping[str, OperatorGraph],
    devices: Sequence[Device],
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Counts:
    """Return the violations of an engine by law.

    Args:
        engine: the engine.
        graphs: networks by name, at batch 1.
        devices: each in its usual configuration, and in the first of another precision.
        progress: told now and then.
        cancel: asks to stop.

    Raises:
        CancelledError: a stop was asked for.
    """
    counts = {law: Count() for law in LAWS}
    targets = [target for device in devices for target in usual_targets(device)]
    groups = {name: equal_operators(graph) for name, graph in graphs.items()}
    grown = {name: _others(name, graph) for name, graph in graphs.items()}
    latency_ms = np.full((len(graphs), len(targets)), np.nan)  # without evidence of their own
    for start in range(0, len(targets), _DEVICES_AT_A_TIME):
        if cancel is not None:
            cancel.check()
        progress(Progress(start, len(targets), f"laws, {engine.name}"))
        part = targets[start : start + _DEVICES_AT_A_TIME]
        _vary(engine, graphs, part, counts)
        latency_ms[:, start : start + len(part)] = _grow(engine, graphs, grown, part, counts)
        _explain(engine, graphs, groups, part, counts)
    _rank(list(graphs), targets, latency_ms, counts[BETTER])
    return counts


def usual_targets(device: Device) -> list[Target]:
    """Return a device in its usual configuration, and in the first of another precision."""
    first: dict[str, Target] = {}
    for configuration in device.configurations:
        first.setdefault(str(configuration.precision), Target(device, configuration))
    return list(first.values())[:2]


def _vary(
    engine: Engine, graphs: Mapping[str, OperatorGraph], targets: Sequence[Target], counts: Counts
) -> None:
    """Compare each target with those that differ in one fact, and with its bound."""
    varied = [list(variants(target)) for target in targets]
    every = [
        each
        for target, changed in zip(targets, varied, strict=True)
        for each in (target, *(variant.target for variant in changed))
    ]
    table = engine.predict(list(graphs.values()), every, {})
    for row, name in enumerate(graphs):
        column = 0
        for target, changed in zip(targets, varied, strict=True):
            own = table.latency_ms[row, column]
            if np.isfinite(own):
                _bound(table, (row, column), target, name, counts)
                for place, variant in enumerate(changed, start=1):
                    ratio = table.latency_ms[row, column + place] / own
                    # A larger fact must not cost a target its number either.
                    _compare(float(np.nan_to_num(ratio, nan=np.inf)), variant, name, counts)
            column += 1 + len(changed)


def _compare(ratio: float, variant: Variant, name: str, counts: Counts) -> None:
    fact, target = variant.fact, variant.target
    words = f"{fact} x {variant.factor:.3g} makes {ratio:.3g} times of {name}"
    if variant.kind == UNUSED:
        counts[UNMOVED].add(max(ratio, 1 / ratio), target, words, fact)
        return
    counts[NO_SLOWER].add(ratio, target, words, fact)
    if variant.kind != SIZE:
        counts[NO_LEAP].add(1 / ratio / variant.factor, target, words, fact)


def _bound(
    table: PredictionTable, cell: tuple[int, int], target: Target, name: str, counts: Counts
) -> None:
    bound, least = table.bound_ms[cell], np.fmin(table.latency_ms[cell], table.low95_ms[cell])
    if is_rated(target.device):
        known = 0.0 if np.isfinite(bound) else np.inf
        counts[HAS_BOUND].add(known, target, f"no bound of {name}")
    if np.isfinite(bound):
        words = f"{least:.3g} ms of {name}, bound {bound:.3g} ms"
        counts[BOUNDED].add(float(bound / least), target, words)


_Other = tuple[str, str, OperatorGraph]  # law, words, the graph that is compared


def _others(name: str, graph: OperatorGraph) -> list[_Other]:
    """Return a network at larger batches, and without its last operator."""
    others = [(BATCHED, f"{name}, at batch {f}", at_batch(graph, f)) for f in _BATCHES]
    shorter = without_last(graph)
    if shorter is not None:
        others.append((SHORTER, f"{name}, without its last operator", shorter))
    return others


def _grow(
    engine: Engine,
    graphs: Mapping[str, OperatorGraph],
    grown: Mapping[str, Sequence[_Other]],
    targets: Sequence[Target],
    counts: Counts,
) -> Floats:
    """Compare each network with its larger batches, and with itself but for its last operator.

    Returns:
        The latencies in ms, [G, T]; NaN where they rest on measurements of or near the target: of
        devices that differ in them the better one may be the slower.
    """
    latency_ms = np.empty((len(graphs), len(targets)))
    for place, (name, graph) in enumerate(graphs.items()):
        table = engine.predict([graph, *(each for _, _, each in grown[name])], targets, {})
        for row, (law, words, _) in enumerate(grown[name], start=1):
            ratios = table.latency_ms[row] / table.latency_ms[0]
            for target, ratio in zip(targets, ratios.tolist(), strict=True):
                if np.isfinite(ratio):
                    excess = 1 / ratio if law == BATCHED else ratio
                    counts[law].add(excess, target, f"{ratio:.3g} times of {words}")
        latency_ms[place] = np.where(_rests_on_measurements(table), np.nan, table.latency_ms[0])
    return latency_ms


def _rests_on_measurements(table: PredictionTable) -> NDArray[np.bool_]:
    words = table.facts.get("evidence", [[""] * len(table.basis[0])])[0]
    return np.array(
        [
            basis is Basis.PROBED or (bool(text) and not text.startswith(NOT_MEASURED))
            for basis, text in zip(table.basis[0], words, strict=True)
        ],
        np.bool_,
    )


def _rank(
    names: Sequence[str], targets: Sequence[Target], latency_ms: Floats, count: Count
) -> None:
    """Compare the devices of one architecture."""
    for better, other in better_pairs(targets):
        for name, own, least in zip(
            names, latency_ms[:, better].tolist(), latency_ms[:, other].tolist(), strict=True
        ):
            if np.isfinite(own) and np.isfinite(least):
                words = f"{own:.3g} ms of {name}, {least:.3g} on {targets[other].device.id}"
                count.add(own / least, targets[better], words)


def _explain(
    engine: Engine,
    graphs: Mapping[str, OperatorGraph],
    groups: Mapping[str, Sequence[NDArray[np.int64]]],
    targets: Sequence[Target],
    counts: Counts,
) -> None:
    """Compare the costs of equal operators."""
    table = engine.predict(list(graphs.values())[:1], targets, {})
    known = np.isfinite(table.latency_ms[0])
    for target in [target for target, is_known in zip(targets, known, strict=True) if is_known]:
        for name, graph in graphs.items():
            (parts,) = engine.explain(graph, [target])
            assert parts is not None, target.device.id  # noqa: S101 - as predicted
            latency = parts.latency_ms
            for group in groups[name]:
                low, high = latency[group].min(), latency[group].max()
                if high > 0:
                    excess = float(high / low) if low > 0 else np.inf
                    words = f"{low:.3g} to {high:.3g} ms of {graph.op_types[group[0]]} in {name}"
                    counts[EQUAL].add(excess, target, words)
