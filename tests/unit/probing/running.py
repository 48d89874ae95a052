"""Runs and measures built models with the real runtime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.networks.writer import NetworkWriter, Value, model_bytes
from tests.support.networks.ingesting import ingest_proto


def run(model: onnx.ModelProto, image: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Return the output of a model with one input; without one it is random from a fixed seed."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model_bytes(model), options, providers=["CPUExecutionProvider"]
    )
    declared = session.get_inputs()[0]
    if image is None:
        image = np.random.default_rng(0).standard_normal(declared.shape, dtype=np.float32)
    output: NDArray[np.float32] = session.run(None, {declared.name: image})[0]
    return output


def graph_of(writer: NetworkWriter, output: Value) -> OperatorGraph:
    """Return the ingested graph of what was written so far."""
    return ingest_proto(writer.finish(output)).graph


def operators(graph: OperatorGraph) -> dict[str, int]:
    """Count the operators by type."""
    return {kind: graph.op_types.count(kind) for kind in sorted(set(graph.op_types))}


def normalised_channels(model: onnx.ModelProto, without: tuple[str, ...] = ()) -> int:
    """Sum the output channels of the convolutions with a folded batch normalisation.

    Before folding each of these channels had a scale and a shift, in the file it has a bias: so
    this is what a published count of parameters has more.
    """
    dims = {tensor.name: tensor.dims for tensor in model.graph.initializer}
    return sum(
        dims[node.input[2]][0]
        for node in model.graph.node
        if node.op_type == "Conv"
        and len(node.input) == 3
        and not any(part in node.name for part in without)
    )
