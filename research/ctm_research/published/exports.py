"""The graphs of one network: a file for each way in which it is written.

A data folder has one export a network, by torch's TorchScript exporter and of fresh weights. Files
of users have other fingerprints: trained weights are not equal, torch.export writes some operators
in other words, and another library lays out the same network in another way (``exports.csv``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ctm_research.sources import GraphFile
from ctm_research.sources.graphs import graph_file
from ctm_research.sources.tables import read_rows
from predictor.graph.reader import ReadModel

OTHERS: Final = Path(__file__).parent / "exports.csv"
_COLUMNS: Final = ("graphs_in", "file", "other_in", "other", "remark")
_WEIGHT: Final = "weight/"  # a weight of a data folder is a node of this name

# Operators that both exporters write, in the same words or in those of _rewritten.
_OF_BOTH: Final = frozenset(
    {
        *("Add", "Clip", "Concat", "Constant", "ConstantOfShape", "Conv", "Flatten", "Gather"),
        *("Gemm", "GlobalAveragePool", "HardSigmoid", "HardSwish", "Identity", "MaxPool", "Mul"),
        *("ReduceMean", "Relu", "Sigmoid", "Unsqueeze"),
    }
)
_MEANS: Final = frozenset({"GlobalAveragePool", "ReduceMean"})
_TORCH_EXPORT_OPSET: Final = 18


def other_exports(data: Path) -> Mapping[GraphFile, Sequence[GraphFile]]:
    """Return the graphs that a data folder holds of the same network in another layout.

    Raises:
        InputError: the table is damaged.
    """
    others: dict[GraphFile, list[GraphFile]] = {}
    for row in read_rows(OTHERS, _COLUMNS):
        if (data / row["other_in"]).is_dir():
            of_file = others.setdefault(graph_file(data, row["graphs_in"], row["file"]), [])
            of_file.append(graph_file(data, row["other_in"], row["other"]))
    return others


def written(read: ReadModel) -> Iterator[ReadModel]:
    """Yield a model as it was read, with weights of its own, and as torch.export writes that."""
    yield read
    trained = onnx.ModelProto()
    trained.CopyFrom(read.proto)
    if _separate_weights(trained.graph):
        yield replace(read, proto=trained)
    if _is_of_both(trained):
        exported = onnx.ModelProto()
        exported.CopyFrom(trained)
        _rewrite(exported)
        yield replace(read, proto=exported)


def _is_of_both(model: onnx.ModelProto) -> bool:
    """Whether torch wrote a model that torch.export writes in words that are known here."""
    is_earlier = model.opset_import[0].version < _TORCH_EXPORT_OPSET
    operators = {node.op_type for node in model.graph.node}
    return model.producer_name == "pytorch" and is_earlier and operators <= _OF_BOTH


def _separate_weights(graph: onnx.GraphProto) -> int:
    """Give each layer a bias, scale and kernel of its own; return how many were joined.

    The exporter joins equal constants by Identity nodes, and those of fresh weights are equal:
    biases are 0. Matrices stay joined, since layers may share them on purpose.
    """
    large = {n.output[0]: n for n in graph.node if n.name.startswith(_WEIGHT)}
    small = {tensor.name: tensor for tensor in graph.initializer}
    kernels = {n.input[1] for n in graph.node if n.op_type == "Conv"}
    joined = 0
    for node in graph.node:
        source = node.input[0] if node.op_type == "Identity" else ""
        if source in large:
            weight = large[source]
            kind = weight.attribute[0].t.data_type
            dims = numpy_helper.to_array(small[weight.input[0]]).tolist()
        elif source in small:
            weight = helper.make_node("Constant", [], [source], value=small[source])
            kind, dims = small[source].data_type, list(small[source].dims)
        else:
            continue
        name = node.output[0]
        is_vector = max(dims, default=0) == math.prod(dims)
        if kind == onnx.TensorProto.FLOAT and (is_vector or name in kernels):
            node.CopyFrom(weight)
            node.name, node.output[0] = f"{_WEIGHT}{name}", name
            joined += 1
    return joined


def _rewrite(model: onnx.ModelProto) -> None:
    """Write pooling, means and the flattening before a head in the words of torch.export."""
    graph = model.graph
    # Those of the file are not there where its image was resized.
    inferred = onnx.shape_inference.infer_shapes(model).graph
    values = (*inferred.value_info, *inferred.output)
    shapes = {value.name: value.type.tensor_type.shape.dim for value in values}
    model.opset_import[0].version = _TORCH_EXPORT_OPSET
    for number, node in enumerate(graph.node):
        stated = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type in _MEANS:
            operator, integers = "ReduceMean", list(stated.get("axes", (-1, -2)))
            words = {"keepdims": stated.get("keepdims", 1), "noop_with_empty_axes": 0}
        elif node.op_type == "Flatten":
            operator, integers = "Reshape", [-1, shapes[node.output[0]][1].dim_value]
            words = {"allowzero": 1}
        else:
            if node.op_type == "HardSigmoid" and "beta" not in stated:
                node.attribute.append(helper.make_attribute("beta", 0.5))  # ONNX's default
            continue
        second = numpy_helper.from_array(np.array(integers, np.int64), f"integers/{number}")
        graph.initializer.append(second)
        inputs = [node.input[0], second.name]
        node.CopyFrom(helper.make_node(operator, inputs, node.output, node.name, **words))
