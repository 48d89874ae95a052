"""Whether the metric that operators attend to most matters most to the prediction.

``python -m benchmarks.attention_masking --output docs/results`` takes the samples that ship and
every device of the catalogue that has an answer. For each pair it masks the metric with the largest
attention, weighed by the operators' shares of the time, predicts again, and does the same with each
other known metric. The measurements that ship with a target play no part.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.common import Figure, parse_arguments, report
from predictor.core.resources import resources_dir
from predictor.engine.checkpoint import read_checkpoint
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates
from predictor.network.target_facts import CHOICE_KINDS, TargetFacts, target_facts
from predictor.network.term_runtime import EncodedGraph, TermRuntime
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.predict import resolve_targets


@dataclass(frozen=True, slots=True)
class Shift:
    """How far ln(latency) moves when a metric is masked.

    Attributes:
        top: the most attended one.
        others: each other known one.
    """

    top: float
    others: tuple[float, ...]


def shifts(
    runtime: TermRuntime, facts: TargetFacts, rates: ReferenceRates, graph: OperatorGraph
) -> list[Shift]:
    """Return the shifts of one graph on every target with three known metrics or more."""
    encoded = runtime.encode(graph)
    found = []
    for index in range(len(rates)):
        one = np.array([index])
        own, rate = facts.take(one), rates.take(one)
        known = np.flatnonzero(own.available[0])
        if len(known) < 3:
            continue
        _, output = next(iter(runtime.expect(encoded, own, rate)))
        times = output.parts_ms[:, 0].sum(axis=1)
        attention = times @ output.operator_to_metric[:, 0, len(CHOICE_KINDS) : -1]
        top = known[attention[known].argmax()]
        before = float(np.log(times.sum() + output.run_ms[0]))
        moved = {
            metric: abs(_without(runtime, encoded, own, rate, metric) - before)
            for metric in known.tolist()
        }
        found.append(Shift(moved.pop(int(top)), tuple(moved.values())))
    return found


def _without(
    runtime: TermRuntime,
    encoded: EncodedGraph,
    facts: TargetFacts,
    rates: ReferenceRates,
    metric: int,
) -> float:
    """Return ln(latency) with one metric masked."""
    available = facts.available.copy()
    available[0, metric] = False
    _, output = next(iter(runtime.expect(encoded, replace(facts, available=available), rates)))
    return float(np.log(output.parts_ms.sum() + output.run_ms[0]))


def main() -> int:
    """Mask, print the figures and write them where asked."""
    options = parse_arguments(__doc__, repeats=1)
    found = read_checkpoint(resources_dir() / "checkpoints" / "closertome")
    runtime = TermRuntime(found.encoder, found.head, found.engine.operators)
    targets = resolve_targets(load_catalogue().devices)
    rates = ReferenceRates.of(targets, found.engine.typical)
    facts = target_facts(targets, rates, found.engine.facts)
    samples = sorted((resources_dir() / "samples").glob("*.onnx"))
    with IngestionWorker() as worker:
        graphs = [worker.ingest(str(path)).graph for path in samples]
    every = [shift for graph in graphs for shift in shifts(runtime, facts, rates, graph)]
    above = np.mean([np.mean([shift.top > other for other in shift.others]) for shift in every])
    figures = [
        Figure("pairs of model and target", float(len(every)), ""),
        Figure(
            "masking the most attended metric moves more than masking a random one",
            100 * float(above),
            "%",
        ),
        Figure(
            "median movement, most attended", 100 * float(np.median([s.top for s in every])), "%"
        ),
        Figure(
            "median movement, a random other one",
            100 * float(np.median([np.mean(s.others) for s in every])),
            "%",
        ),
    ]
    title = "What attention says of importance"
    return report("attention_masking", title, figures, options.output)


if __name__ == "__main__":
    sys.exit(main())
