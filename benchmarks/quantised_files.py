"""A quantised file beside its float file in INT8: what each is predicted to take.

``python -m benchmarks.quantised_files --output docs/results`` quantises the float networks of the
tests with ONNX Runtime's ``quantize_static``, in both layouts and with weights scaled per tensor
and per channel, and predicts them as they are; beside stands the float file with
``--precision int8``. The limit is 15 %.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

from benchmarks.common import Figure, parse_arguments, report
from predictor.core.records import Configuration, Precision, Target
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME, open_engine
from tests.support.golden_formats import unpacked

NETWORKS: Final = ("resnet18", "mobilenet_v2")
RUNS: Final = (("rpi4", "onnxruntime"), ("rpi4", "tflite"), ("rtx3060", "tensorrt"))
LIMIT_PERCENT: Final = 15.0

_FORMS: Final = (
    ("QDQ", QuantFormat.QDQ, False),
    ("QDQ, per channel", QuantFormat.QDQ, True),
    ("QLinear operators", QuantFormat.QOperator, False),
)


class Image(CalibrationDataReader):  # type: ignore[misc]  # untyped
    """One image of a grey ramp, which the ranges of the activations are taken from."""

    def __init__(self) -> None:
        """Start before the image."""
        self._images: Iterator[dict[str, np.ndarray]] = iter(
            [{"input.1": np.linspace(0, 1, 150_528, dtype=np.float32).reshape(1, 3, 224, 224)}]
        )

    def get_next(self) -> dict[str, np.ndarray] | None:
        """Return the image, then None."""
        return next(self._images, None)


def float_file(network: str, folder: Path) -> Path:
    """Return the ONNX file of a network in floating point, written to ``folder``."""
    return unpacked(f"{network}.onnx.xz", folder)


def quantised(
    path: Path, layout: QuantFormat, excluded: tuple[str, ...] = (), *, per_channel: bool = False
) -> OperatorGraph:
    """Return the graph of a file quantised to INT8.

    Args:
        path: of the float file; the quantised one is written beside it.
        layout: quantise and dequantise operators around those of the float file, or operators
            of integers in their place.
        excluded: names of operators that stay in floating point.
        per_channel: whether each output channel of a weight has its own scale.
    """
    result = path.with_suffix(".int8.onnx")
    quantize_static(
        path,
        result,
        Image(),
        quant_format=layout,
        nodes_to_exclude=list(excluded),
        per_channel=per_channel,
    )
    return ingest(str(result)).graph


def figures() -> list[Figure]:
    """Return how far each quantised file is from its float file in INT8, in percent."""
    devices = load_catalogue().by_id
    engine = open_engine(CLOSERTOME)
    asked = {
        precision: [
            Target(devices[device], Configuration(runtime, precision)) for device, runtime in RUNS
        ]
        for precision in (Precision.FP32, Precision.INT8)
    }
    result = []
    for network in NETWORKS:
        with tempfile.TemporaryDirectory() as name:
            path = float_file(network, Path(name))
            promised = engine.predict([ingest(str(path)).graph], asked[Precision.INT8], {})
            graphs = [quantised(path, form[1], per_channel=form[2]) for form in _FORMS]
        # A quantised file is asked as people ask it: in the precision that needs no option.
        table = engine.predict(graphs, asked[Precision.FP32], {})
        apart = 100 * np.abs(table.latency_ms / promised.latency_ms - 1)
        result += [
            Figure(
                f"{network} {form[0]} on {device} {runtime}: {milliseconds:.3g} of {int8:.3g} ms",
                float(percent),
                "%",
                LIMIT_PERCENT,
                "float file in INT8",
            )
            for form, row, percents in zip(_FORMS, table.latency_ms, apart, strict=True)
            for (device, runtime), milliseconds, int8, percent in zip(
                RUNS, row, promised.latency_ms[0], percents, strict=True
            )
        ]
    return result


def main() -> int:
    """Take the figures and print them."""
    arguments = parse_arguments(__doc__)
    return report(
        "quantised_files",
        "Quantised files beside their float files in INT8",
        figures(),
        arguments.output,
        engine=CLOSERTOME,
    )


if __name__ == "__main__":
    sys.exit(main())
