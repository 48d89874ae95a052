"""A network of one 1 x 1 convolution of 64 to 64 channels on 32 x 32: no fast algorithm applies."""

from __future__ import annotations

from pathlib import Path

import onnx

from tests.support.networks.builder import Builder


def convolution() -> onnx.ModelProto:
    b = Builder()
    data = b.input("image", [1, 64, 32, 32])
    b.nodes.append(onnx.helper.make_node("Identity", [b.conv(data, 64, 64, 1)], ["out"]))
    b.output("out", [1, 64, 32, 32])
    return b.model()


def write_graph(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(convolution(), path)
