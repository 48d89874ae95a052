"""From a ResNet-50 file to its latencies on 150 targets, with the worker warm.

The limit is twice ``onnx.load`` + ``infer_shapes`` of the same file, taken in turns with it in this
run; the peer is onnx-tool's profile of the same file (pip install -e ".[bench]"). The file has its
102 MB of weights inside, as exporters write it; ``--model`` takes one of yours.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_tool
from numpy.typing import NDArray

from benchmarks.common import Figure, add_arguments, best_of, report
from benchmarks.resnet50 import write_resnet50
from predictor.core.records import Target
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets

TIMES = 2.0
TARGETS = 150


def targets() -> list[Target]:
    """Return 150 targets: the usual ones first, then every configuration of the catalogue."""
    devices = load_catalogue().devices
    every = [Target(device, c) for device in devices for c in device.configurations[1:]]
    return [*resolve_targets(devices), *every][:TARGETS]


def _load_and_infer(path: Path) -> None:
    onnx.shape_inference.infer_shapes(onnx.load(path))


def _profile(path: Path, inputs: dict[str, NDArray[np.float32]]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        onnx_tool.model_profile(str(path), inputs)


def main() -> int:
    """Take the figures in turns and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--model", type=Path, help="a model of yours")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, IngestionWorker() as worker:
        path: Path = options.model or Path(folder) / "resnet50.onnx"
        if options.model is None:
            write_resnet50(path)
        chosen = targets()
        model = worker.ingest(path)
        inputs = {info.name: np.zeros(info.shape, np.float32) for info in model.inputs}
        works: dict[str, Callable[[], object]] = {
            "file": lambda: predict([worker.ingest(path)], chosen),
            "ingest": lambda: worker.ingest(path),
            "load": lambda: onnx.load(path),
            "infer": lambda: _load_and_infer(path),
            "peer": lambda: _profile(path, inputs),
        }
        best = dict.fromkeys(works, float("inf"))
        works["file"]()  # warms the worker and the file cache
        for _ in range(options.repeats):
            for name, work in works.items():
                best[name] = min(best[name], best_of(work, 1))
    ms = {name: seconds * 1e3 for name, seconds in best.items()}
    limit, source = TIMES * ms["infer"], "2 x onnx.load + infer_shapes"
    figures = [
        Figure(f"file to {TARGETS} targets", ms["file"], "ms", limit, source),
        Figure("of it: file to operator graph", ms["ingest"], "ms"),
        Figure("onnx.load + infer_shapes", ms["infer"], "ms"),
        Figure("onnx.load", ms["load"], "ms"),
        Figure("onnx_tool.model_profile", ms["peer"], "ms", None, "peer"),
    ]
    size = "102 MB of weights inside" if options.model is None else options.model.name
    return report(
        "ingestion_speed",
        f"From a file to {TARGETS} targets ({size})",
        figures,
        options.output,
    )


if __name__ == "__main__":
    sys.exit(main())
