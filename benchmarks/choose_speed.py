"""Speed of ``ctm choose`` and its tab: MobileNetV2 on all that the catalogue offers.

Every device, runtime, precision and power mode, with all cores and with every number of threads.
Warm is a program that chose before, asked about a network that it has not seen. Seconds are of the
processor: all of it runs on one core. Ratios are of times of one run, taken in turns, so that they
mean the same on any machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

from benchmarks.common import Figure, parse_arguments, report
from predictor.core.resources import resources_dir
from predictor.graph.ingest import ingest
from predictor.graph.model import Model
from predictor.services.choose.choose import choose
from predictor.services.choose.options import Budget, Wanted, options_of
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME, open_engine

LIMIT_S = 2.0
MOST_OVER_PREDICTION = 5.0
_SAMPLE = "mobilenetv2-1.0-224.onnx"
_USUAL, _EVERY = Wanted(), Wanted(threads=())


def main() -> int:
    """Take all figures and print them with their limits."""
    options = parse_arguments(__doc__, repeats=5)
    devices = load_catalogue().devices
    model = ingest(str(resources_dir() / "samples" / _SAMPLE))
    engine = open_engine()
    counts = {}

    def answer(wanted: Wanted) -> None:
        choices = options_of(devices, wanted)
        choice = choose([_unseen(model)], choices, Budget(max_ms=5.0))
        for place in choice.of_devices:  # as listed
            choice.option(place)
        counts[wanted] = choices.block

    targets = options_of(devices, _EVERY).targets
    works: dict[str, Callable[[], object]] = {
        "usual": lambda: answer(_USUAL),
        "every": lambda: answer(_EVERY),
        "predicted": lambda: engine.predict([_unseen(model).graph], targets, {}),
    }
    first = _seconds(works["every"])
    best = dict.fromkeys(works, float("inf"))
    for _ in range(options.repeats):
        for name, work in works.items():
            work()  # the last one asked about other targets
            best[name] = min(best[name], _seconds(work))
    usual, every = counts[_USUAL], counts[_EVERY]
    of_options = (best["every"] / every) / (best["usual"] / usual)
    figures = [
        Figure(f"warm choice, all cores, {usual} options", best["usual"], "s", LIMIT_S, "limit"),
        Figure(
            f"warm choice, every number of threads, {every} options",
            best["every"],
            "s",
            LIMIT_S,
            "limit",
        ),
        Figure("the same, the first of a process", first, "s"),
        Figure(
            "warm choice over the engine's prediction of the same targets",
            best["every"] / best["predicted"],
            "",
            MOST_OVER_PREDICTION,
            "chosen",
        ),
        Figure("an option of every number of threads over one of all cores", of_options, "", 1.0),
    ]
    return report("choose_speed", "Choosing hardware", figures, options.output, engine=CLOSERTOME)


def _unseen(model: Model) -> Model:
    """Return the model as one that nobody measured and that no cache knows."""
    return replace(model, graph=replace(model.graph, fingerprint="c" * 64))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
