"""Writes one ONNX graph node by node: names, shapes, weights and the model around them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from predictor.graph.tensor_data import LEFT_OUT
from predictor.probing.networks.weights import uniform

# The first opset with LayerNormalization, and the IR version of its release: an older runtime
# refuses files of a later one.
OPSET = 17
IR_VERSION = 8
PRODUCER = "closertome-probes"


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor in the graph.

    Attributes:
        name: of the tensor.
        shape: its dims; activations are [batch, ...].
    """

    name: str
    shape: tuple[int, ...]


class NetworkWriter:
    """Collects the nodes and weights of one network.

    Args:
        name: of the network; its weights follow from it.
        with_weights: False leaves out the data of weights, as the reader of model files does with
            large ones. Such a model can be ingested, not run.
    """

    def __init__(self, name: str, *, with_weights: bool = True) -> None:
        self.name = name
        self._with_weights = with_weights
        self._inputs: list[onnx.ValueInfoProto] = []
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, TensorProto] = {}

    def input(self, name: str, shape: tuple[int, ...], dtype: int = TensorProto.FLOAT) -> Value:
        """Declare an input of the network."""
        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return Value(name, shape)

    def node(
        self,
        op_type: str,
        name: str,
        inputs: Sequence[Value],
        shape: tuple[int, ...],
        **attributes: Any,
    ) -> Value:
        """Append an operator with one output.

        Args:
            op_type: of the operator.
            name: unique in the network.
            inputs: in the operator's order.
            shape: of its output.
            attributes: of the operator.
        """
        output = Value(f"{name}:0", shape)
        names = [value.name for value in inputs]
        self._nodes.append(helper.make_node(op_type, names, [output.name], name=name, **attributes))
        return output

    def weight(self, name: str, shape: tuple[int, ...], bound: float, period: int = 0) -> Value:
        """Declare a weight with generated values within ``bound``.

        Args:
            name: unique in the network; the values follow from it.
            shape: of the weight.
            bound: largest magnitude.
            period: number of values after which they come again, so that an archive holds a large
                weight in few bytes; 0 for none.
        """
        if self._with_weights:
            drawn = (min(period, math.prod(shape)),) if period else shape
            values = uniform(f"{self.name}/{name}", drawn, bound)
            # ONNX wants raw data little-endian on every machine.
            data = np.resize(values, shape).astype("<f4").tobytes()
            tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, raw_data=data)
        else:
            tensor = TensorProto(
                name=name, dims=shape, data_type=TensorProto.FLOAT, doc_string=LEFT_OUT
            )
        self._initializers[name] = tensor
        return Value(name, shape)

    def constant(self, name: str, values: NDArray[np.generic]) -> Value:
        """Declare a constant whose values matter; a name that was declared before is shared."""
        if name not in self._initializers:
            self._initializers[name] = numpy_helper.from_array(values, name)
        return Value(name, values.shape)

    def finish(self, output: Value) -> onnx.ModelProto:
        """Return the model that puts out ``output``."""
        graph = helper.make_graph(
            self._nodes,
            self.name,
            self._inputs,
            [helper.make_tensor_value_info(output.name, TensorProto.FLOAT, output.shape)],
            list(self._initializers.values()),
        )
        return helper.make_model(
            graph,
            producer_name=PRODUCER,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )


def model_bytes(model: onnx.ModelProto) -> bytes:
    """Return the file of a model; equal models give equal bytes."""
    data: bytes = model.SerializeToString(deterministic=True)
    return data
