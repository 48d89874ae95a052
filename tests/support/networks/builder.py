"""Builds ONNX graphs by code, weights as ConstantOfShape nodes: whole networks in a few KB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

Dims = Sequence[int | str | None]


class Builder:
    """Collects nodes, inputs and outputs; every method returns the name of a value."""

    def __init__(self, opset: int = 17) -> None:
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.domains: dict[str, int] = {}
        self._count = 0

    def fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def input(self, name: str, dims: Dims | None, dtype: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def output(self, name: str, dims: Dims | None = None, dtype: int = TensorProto.FLOAT) -> str:
        self.outputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def node(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str] | None = None,
        domain: str = "",
        **attributes: Any,
    ) -> str:
        name = self.fresh(op_type)
        results = list(outputs) if outputs is not None else [f"{name}_out"]
        self.nodes.append(
            helper.make_node(op_type, inputs, results, name=name, domain=domain, **attributes)
        )
        if domain:
            self.domains[domain] = 1
        return results[0]

    def constant(self, values: Any, dtype: type = np.int64) -> str:
        name = self.fresh("constant")
        self.initializers.append(onnx.numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def weight(self, *dims: int, dtype: int = TensorProto.FLOAT) -> str:
        """Return a weight of any size that takes no memory."""
        shape = self.constant(dims)
        value = helper.make_tensor("value", dtype, [1], [0])
        return self.node("ConstantOfShape", [shape], value=value)

    def tensor(self, dims: Sequence[int], dtype: int = TensorProto.FLOAT) -> str:
        """Return a stored tensor without its data, as the reader leaves large ones."""
        name = self.fresh("tensor")
        self.initializers.append(TensorProto(name=name, dims=dims, data_type=dtype))
        return name

    def model(self, name: str = "network") -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes, name, self.inputs, self.outputs, initializer=self.initializers
        )
        opsets = [helper.make_opsetid("", self.opset)]
        opsets += [helper.make_opsetid(d, v) for d, v in self.domains.items()]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    # Layers that several networks share.

    def conv(
        self,
        data: str,
        channels_in: int,
        channels: int,
        kernel: int,
        *,
        bias: bool = False,
        stride: int = 1,
        groups: int = 1,
    ) -> str:
        weights = self.weight(channels, channels_in // groups, kernel, kernel)
        inputs = [data, weights, *([self.weight(channels)] if bias else [])]
        pad = kernel // 2
        return self.node(
            "Conv",
            inputs,
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            pads=[pad] * 4,
            group=groups,
        )

    def batch_norm(self, data: str, channels: int) -> str:
        return self.node("BatchNormalization", [data, *(self.weight(channels) for _ in range(4))])

    def conv_bn(
        self,
        data: str,
        channels_in: int,
        channels: int,
        kernel: int,
        *,
        stride: int = 1,
        groups: int = 1,
        activation: str = "Relu",
    ) -> str:
        data = self.conv(data, channels_in, channels, kernel, stride=stride, groups=groups)
        data = self.batch_norm(data, channels)
        if activation == "Clip":
            low, high = self.constant(0, np.float32), self.constant(6, np.float32)
            return self.node("Clip", [data, low, high])
        if activation == "Silu":
            return self.silu(data)
        return self.node(activation, [data]) if activation else data

    def silu(self, data: str) -> str:
        return self.node("Mul", [data, self.node("Sigmoid", [data])])

    def linear(self, data: str, width_in: int, width: int) -> str:
        """A dense layer on [..., width_in], as exporters write it: MatMul and Add."""
        product = self.node("MatMul", [data, self.weight(width_in, width)])
        return self.node("Add", [self.weight(width), product])

    def layer_norm(self, data: str, width: int) -> str:
        inputs = [data, self.weight(width), self.weight(width)]
        return self.node("LayerNormalization", inputs, axis=-1)

    def erf_gelu(self, data: str) -> str:
        scaled = self.node("Div", [data, self.constant(1.4142135, np.float32)])
        grown = self.node("Add", [self.node("Erf", [scaled]), self.constant(1, np.float32)])
        product = self.node("Mul", [data, grown])
        return self.node("Mul", [product, self.constant(0.5, np.float32)])
