"""What starting one operator costs on this machine's processor, by runtime.

A chain of 8-element negations does no work worth mentioning, so the time that a longer chain
takes beyond a shorter one is the runtime's own. onnxruntime runs it unoptimised with one thread;
PyTorch is measured where it is installed (the extra ``train``).
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper

from benchmarks.common import Figure, best_of, parse_arguments, report

SHORT, LONG = 100, 2100


def onnxruntime_run(operators: int) -> Callable[[], object]:
    """Return a function that runs a chain of ``operators`` negations in onnxruntime."""
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(_chain(operators).SerializeToString(), options)
    feeds = {"t0": np.ones(8, np.float32)}
    return lambda: session.run(None, feeds)


def pytorch_run(operators: int) -> Callable[[], object]:
    """Return a function that runs the same chain in PyTorch, eagerly."""
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    start = torch.ones(8)

    def run() -> object:
        tensor = start
        with torch.inference_mode():
            for _ in range(operators):
                tensor = torch.neg(tensor)
        return tensor

    return run


def _chain(operators: int) -> onnx.ModelProto:
    nodes = [helper.make_node("Neg", [f"t{i}"], [f"t{i + 1}"]) for i in range(operators)]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [8])
        for name in ("t0", f"t{operators}")
    ]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main() -> int:
    """Take the figures and print them."""
    arguments = parse_arguments(__doc__, repeats=50)
    runtimes = {"onnxruntime": onnxruntime_run}
    if importlib.util.find_spec("torch") is not None:
        runtimes["pytorch"] = pytorch_run
    figures = []
    for name, make in runtimes.items():
        short, long = (best_of(make(size), arguments.repeats) for size in (SHORT, LONG))
        per_operator = (long - short) / (LONG - SHORT) * 1e6
        figures.append(Figure(f"{name}, one operator, one thread", per_operator, "µs"))
    return report("launch_overhead", "Overhead of starting one operator", figures, arguments.output)


if __name__ == "__main__":
    sys.exit(main())
