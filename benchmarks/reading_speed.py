"""Reading a small file and one of 100 000 operators, beside onnx's own parsing and inference.

The networks are chains of a convolution, an activation and a sum. They are read in this process as
the worker reads them, by processor time, so that other programs count little; onnx's share is taken
in the same run.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.common import Figure, add_arguments, report
from predictor.formats.opening import open_model

SMALL_OPERATORS = 16
LARGE_OPERATORS = 100_000
TIMES, SMALL_MS = 3.0, 2.5


def write_chain(path: Path, operators: int) -> None:
    """Write a network of convolutions, activations and sums in a chain."""
    kernel = numpy_helper.from_array(np.zeros((16, 16, 3, 3), np.float32), "kernel")
    nodes: list[onnx.NodeProto] = []
    value = "image"
    for index in range(0, operators, 3):
        names = [f"{stem}{index}" for stem in ("convolution", "activation", "sum")]
        nodes += (
            helper.make_node("Conv", [value, "kernel"], names[:1], names[0], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", names[:1], names[1:2], names[1]),
            helper.make_node("Add", [names[1], value], names[2:], names[2]),
        )
        value = names[2]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16, 32, 32])
        for name in ("image", value)
    ]
    graph = helper.make_graph(nodes[:operators], "chain", ends[:1], ends[1:], [kernel])
    graph.output[0].name = nodes[operators - 1].output[0]
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def processor_ms(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest processor time of ``work`` in ms, the collector off as in the worker."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        gc.enable()
    return best * 1e3


def _load_and_infer(path: Path) -> None:
    onnx.shape_inference.infer_shapes(onnx.load(path))


def main() -> int:
    """Take the figures and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    options = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for operators, repeats in ((SMALL_OPERATORS, 200), (LARGE_OPERATORS, 2)):
            path = Path(folder) / f"{operators}.onnx"
            write_chain(path, operators)
            open_model(path)  # warm
            read = processor_ms(partial(open_model, path), repeats)
            onnx_ms = processor_ms(partial(_load_and_infer, path), repeats)
            small = operators == SMALL_OPERATORS
            limit = SMALL_MS if small else TIMES * onnx_ms
            source = "our goal" if small else "3 x onnx.load + infer_shapes"
            figures += (
                Figure(f"{operators} operators", read, "ms", limit, source),
                Figure("of it: an operator", read / operators * 1e3, "us"),
                Figure("onnx.load + infer_shapes", onnx_ms, "ms"),
            )
    title = "From an ONNX file to its operator graph"
    return report("reading_speed", title, figures, options.output)


if __name__ == "__main__":
    sys.exit(main())
