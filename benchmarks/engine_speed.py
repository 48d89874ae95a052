"""How fast the learned engine is: ResNet-50 on 150 targets in one call, and what a start costs.

The limits: 0.25 ms a target after the file is read, and a first prediction at most 300 ms later
than the analytic one, each in a process of its own.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.common import Figure, best_of, parse_arguments, report
from benchmarks.resnet50 import write_resnet50
from predictor.core.records import Target
from predictor.core.resources import resources_dir
from predictor.engine.closertome import CloserToMeEngine
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME
from predictor.services.prediction.targets import resolve_targets

ROOT = Path(__file__).resolve().parent.parent
TARGETS = 150
LIMIT_MS_PER_TARGET = 0.25
LIMIT_LATER_MS = 300.0
_SAMPLE = "mobilenetv2-1.0-224.onnx"
_FIRST = f"""
import time
from predictor.core.resources import resources_dir
from predictor.graph.ingest import ingest
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets
model = ingest(str(resources_dir() / "samples" / "{_SAMPLE}"))
targets = resolve_targets(load_catalogue().devices)
start = time.perf_counter()
predict([model], targets, "ENGINE")
print(time.perf_counter() - start)
"""


def main() -> int:
    """Take all figures and print them with their limits."""
    options = parse_arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "resnet50.onnx"
        write_resnet50(path)
        graph = ingest(str(path)).graph
    listed = resolve_targets(load_catalogue().devices)
    targets = list(listed * (TARGETS // len(listed) + 1))[:TARGETS]
    figures = [
        *_warm(graph, targets, options.repeats),
        *_first(max(3, options.repeats // 2)),
    ]
    return report("engine_speed", "The learned engine", figures, options.output, engine=CLOSERTOME)


def _warm(graph: OperatorGraph, targets: list[Target], repeats: int) -> list[Figure]:
    engine = CloserToMeEngine(resources_dir() / "checkpoints" / "closertome")
    engine.predict([graph], targets, {})
    call = f"ResNet-50 on {len(targets)} targets in one call"
    others = (_with_other_facts(targets, turn) for turn in itertools.count(1))
    calls = {
        f"{call}, targets as before, a target": lambda: targets,
        "the same with a graph that is new": lambda: targets,
        "the same with copies of the targets and a graph that is new": lambda: _copied(targets),
        "the same with devices of other facts and a graph that is new": lambda: next(others),
    }

    def figure(name: str, asked: Callable[[], list[Target]]) -> Figure:
        lists = [asked() for _ in range(repeats)]  # to make them is not the engine's work
        graphs = [graph if name == next(iter(calls)) else replace(graph) for _ in lists]
        pairs = iter(zip(graphs, lists, strict=True))

        def predicted() -> None:
            one, of_targets = next(pairs)
            engine.predict([one], of_targets, {})

        each_ms = 1e3 * best_of(predicted, repeats) / len(targets)
        return Figure(name, each_ms, "ms", LIMIT_MS_PER_TARGET, "limit")

    return list(itertools.starmap(figure, calls.items()))


def _copied(targets: list[Target]) -> list[Target]:
    return [Target(replace(target.device), target.configuration) for target in targets]


def _with_other_facts(targets: list[Target], turn: int) -> list[Target]:
    """Return targets whose devices have another name and another bandwidth in each turn."""
    return [
        Target(
            replace(t.device, id=f"{t.device.id}-{turn}", metrics=_metrics(t, turn)),
            t.configuration,
        )
        for t in targets
    ]


def _metrics(target: Target, turn: int) -> Mapping[str, float]:
    metrics = target.device.metrics
    return {**metrics, "dram_bw_gbps": metrics.get("dram_bw_gbps", 10.0) * (1 + turn / 1000)}


def _first(repeats: int) -> list[Figure]:
    """Return the time of the first prediction in a process, by engine and how much later it is."""

    def first_ms(engine: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", _FIRST.replace("ENGINE", engine)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        return 1e3 * float(done.stdout)

    learned = analytic = float("inf")
    for _ in range(repeats):  # in turns: what disturbs one disturbs the other
        learned = min(learned, first_ms("closertome"))
        analytic = min(analytic, first_ms("roofline"))
    return [
        Figure("first prediction of a process, all listed devices, analytic", analytic, "ms"),
        Figure("the same, learned", learned, "ms"),
        Figure("later by", learned - analytic, "ms", LIMIT_LATER_MS, "limit"),
    ]


if __name__ == "__main__":
    sys.exit(main())
