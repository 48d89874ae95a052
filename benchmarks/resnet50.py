"""A ResNet-50 of 102 MB with its weights inside, as exporters write it, for the benchmarks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, table 1, 50 layers:
# width of the 3x3 convolution and number of blocks in each stage.
_STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))


class _ResNet50:
    """Writes ResNet-50 with batch normalisation folded into the convolutions."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(0)

    def weight(self, name: str, *shape: int) -> str:
        values = self.random.standard_normal(shape, dtype=np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op_type: str, name: str, *inputs: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=name, **attributes))
        return name

    def conv(self, name: str, x: str, channels: int, width: int, kernel: int, stride: int) -> str:
        weight = self.weight(f"{name}.weight", width, channels, kernel, kernel)
        bias = self.weight(f"{name}.bias", width)
        pads = [kernel // 2] * 4
        return self.node("Conv", name, x, weight, bias, strides=[stride, stride], pads=pads)

    def block(self, name: str, x: str, channels: int, width: int, stride: int) -> str:
        y = self.node("Relu", f"{name}.relu1", self.conv(f"{name}.conv1", x, channels, width, 1, 1))
        y = self.conv(f"{name}.conv2", y, width, width, 3, stride)
        y = self.node("Relu", f"{name}.relu2", y)
        y = self.conv(f"{name}.conv3", y, width, 4 * width, 1, 1)
        if channels != 4 * width:
            x = self.conv(f"{name}.shortcut", x, channels, 4 * width, 1, stride)
        return self.node("Relu", f"{name}.relu3", self.node("Add", f"{name}.add", x, y))

    def model(self) -> onnx.ModelProto:
        x = self.node("Relu", "stem.relu", self.conv("stem", "image", 3, 64, 7, 2))
        x = self.node("MaxPool", "pool1", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        channels = 64
        for stage, (width, blocks) in enumerate(_STAGES):
            for block in range(blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                x = self.block(f"stage{stage}.{block}", x, channels, width, stride)
                channels = 4 * width
        x = self.node("Flatten", "flatten", self.node("GlobalAveragePool", "pool2", x))
        weight, bias = self.weight("fc.weight", 1000, 2048), self.weight("fc.bias", 1000)
        self.node("Gemm", "logits", x, weight, bias, transB=1)
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 224, 224])
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1000])
        graph = helper.make_graph(self.nodes, "resnet50", [image], [logits], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def write_resnet50(path: Path) -> None:
    """Write the network to ``path``; its weights are random, from a fixed seed."""
    onnx.save(_ResNet50().model(), path)
