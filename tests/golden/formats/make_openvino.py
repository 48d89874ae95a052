"""Write the OpenVINO files of this folder and of ``openvino``: run this file.

Needs torch and the packages ``openvino`` and ``nncf``.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import nncf
import numpy as np
import openvino
import torch
from openvino import opset6, opset13
from openvino.op.util import Variable, VariableInfo
from torch import Tensor, nn

from tests.support.networks.four_networks import NETWORKS, network

FOLDER = Path(__file__).parent
HEADS, SIZE = 4, 16
WIDTH = HEADS * SIZE


class Recurrent(nn.Module):
    """Two layers of a bidirectional LSTM, a GRU and an RNN."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(16, 32, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(64, 8, batch_first=True)
        self.rnn = nn.RNN(8, 8, batch_first=True)

    def forward(self, data: Tensor) -> Tensor:
        """Return the states of all steps."""
        states: Tensor = self.rnn(self.gru(self.lstm(data)[0])[0])[0]
        return states


class Windows(nn.Module):
    """Convolutions of all kinds, poolings, normalisations and activations."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(8, 12, 3, 2, 1, 1),
            nn.LeakyReLU(0.1),
            nn.Conv2d(12, 12, 3, padding=2, dilation=2, groups=4),
            nn.InstanceNorm2d(12, affine=True),
            nn.ConvTranspose2d(12, 6, 4, 2, 1, groups=3),
            nn.PReLU(6),
            nn.MaxPool2d(3, 2, 1, ceil_mode=True),
            nn.AvgPool2d(3, 2, 1, count_include_pad=False),
            nn.Conv2d(6, 9, (1, 5), stride=(2, 1), padding=(0, 2)),
            nn.GroupNorm(3, 9),
            nn.Hardswish(),
            nn.PixelShuffle(3),
            nn.ConstantPad2d((1, 2, 3, 0), 0.0),
            nn.Upsample(scale_factor=1.5, mode="bilinear"),
        )

    def forward(self, data: Tensor) -> Tensor:
        """Return an image of one channel."""
        result: Tensor = self.layers(data)
        return result


def converted(
    module: nn.Module, inputs: tuple[Tensor, ...], shapes: list[tuple[int, ...]] | None = None
) -> openvino.Model:
    """Return a torch module as a model of OpenVINO; shapes are those of the inputs if None."""
    example = inputs if len(inputs) > 1 else inputs[0]
    stated = shapes or [tuple(tensor.shape) for tensor in inputs]
    return openvino.convert_model(module.eval(), example_input=example, input=stated)


def quantised(model: openvino.Model) -> openvino.Model:
    """Return a model in integers of 8 bits, as NNCF makes it."""
    sample = [np.zeros(tuple(port.shape), np.float32) for port in model.inputs]
    return nncf.quantize(model, nncf.Dataset([sample]), subset_size=1)


def _input(name: str, kind: str, *dims: int) -> openvino.Node:
    node = opset13.parameter(openvino.PartialShape(dims), openvino.Type(np.dtype(kind)), name=name)
    node.output(0).set_names({name})
    return node


def _product(data: openvino.Node) -> openvino.Node:
    """Return a product with a matrix of 8 bits, decompressed as NNCF writes it."""
    integers = opset13.constant(np.full((WIDTH, WIDTH), 7, np.uint8))
    zeros = opset13.convert(opset13.constant(np.full((WIDTH, 1), 7, np.uint8)), "f16")
    scales = opset13.constant(np.ones((WIDTH, 1), np.float16))
    shifted = opset13.subtract(opset13.convert(integers, "f16"), zeros)
    weights = opset13.convert(opset13.multiply(shifted, scales), "f32")
    return opset13.matmul(data, weights, False, True)


def decoder() -> openvino.Model:
    """Return a layer of a decoder whose keys and values are states, as optimum writes it."""
    ids, mask = _input("input_ids", "int64", -1, -1), _input("attention_mask", "int64", -1, -1)
    beams = _input("beam_idx", "int32", -1)
    table = opset13.convert(opset13.constant(np.ones((1000, WIDTH), np.float16)), "f32")
    tokens = opset13.gather(table, opset13.convert(ids, "i32"), opset13.constant(0))
    order = opset13.constant([0, 2, 1, 3])
    heads = [
        opset13.transpose(
            opset13.reshape(_product(tokens), opset13.constant([0, 0, HEADS, SIZE]), True), order
        )
        for _ in range(3)
    ]
    shape, full = opset13.shape_of(ids), opset13.shape_of(mask)
    first, last = opset13.constant([0]), opset13.constant([1])
    axis = opset13.constant(0)
    batch, length = (opset13.gather(shape, place, axis) for place in (first, last))
    total = opset13.gather(full, last, axis)
    zero = opset13.constant(np.float32(0))
    start = opset13.broadcast(zero, opset13.concat([batch, opset13.constant([HEADS, 0, SIZE])], 0))
    results, sinks = [], []
    for name, value in zip(("key", "value"), heads[1:], strict=True):
        info = VariableInfo()
        info.data_shape = openvino.PartialShape([-1, HEADS, -1, SIZE])
        info.data_type, info.variable_id = openvino.Type.f32, f"past_key_values.0.{name}"
        Variable(info)
        past = opset6.read_value(start, info.variable_id, info.data_type, info.data_shape)
        joined = opset13.concat([opset13.gather(past, beams, axis), value], 2)
        sinks.append(opset6.assign(joined, info.variable_id))
        results.append(joined)
    allowed = opset13.broadcast(zero, opset13.concat([batch, last, length, total], 0))
    mixed = opset13.scaled_dot_product_attention(heads[0], *results, allowed)
    rows = opset13.reshape(opset13.transpose(mixed, order), opset13.constant([0, 0, WIDTH]), True)
    logits = opset13.matmul(_product(rows), table, False, True)
    return openvino.Model([opset13.result(logits)], sinks, [ids, mask, beams], "decoder")


def iterator() -> openvino.Model:
    """Return a TensorIterator over 6 steps, whose states are stacked along axis 1."""
    weights = opset13.constant(np.ones((8, 8), np.float32))
    data, state = _input("data", "float32", 2, 6, 8), _input("state", "float32", 2, 8)
    step, before = _input("step", "float32", 2, 1, 8), _input("before", "float32", 2, 8)
    axis = opset13.constant([1])
    product = opset13.matmul(opset13.squeeze(step, axis), weights, False, False)
    after = opset13.result(opset13.add(product, before))
    piece = opset13.result(opset13.unsqueeze(after.input_value(0), axis))
    loop = opset13.tensor_iterator()
    loop.set_function(openvino.Model([after, piece], [step, before]))
    loop.set_sliced_input(step, data.output(0), 0, 1, 1, -1, 1)
    loop.set_merged_input(before, state.output(0), after.output(0))
    last = loop.get_iter_value(after.output(0), -1)
    stacked = loop.get_concatenated_slices(piece.output(0), 0, 1, 1, -1, 1)
    return openvino.Model([opset13.result(last), opset13.result(stacked)], [data, state], "loop")


def write(path: Path, model: openvino.Model, *, is_small: bool = False) -> None:
    """Write both files of a model, compressed; a small one with weights of 16 bits."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{path.name}.xml"
        openvino.save_model(model, file, compress_to_fp16=is_small)
        for suffix in (".xml", ".bin"):
            data = lzma.compress(file.with_suffix(suffix).read_bytes(), preset=9)
            path.with_name(f"{path.name}{suffix}.xz").write_bytes(data)


def _filled(module: nn.Module) -> nn.Module:
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters(), 1):
            parameter.fill_(number / 100)
    return module


if __name__ == "__main__":
    for network_name in NETWORKS:
        write(FOLDER / network_name, converted(*network(network_name)))
    folder = FOLDER / "openvino"
    steps, image = (torch.zeros(1, 12, 16),), (torch.zeros(1, 8, 16, 16),)
    write(folder / "recurrent", converted(_filled(Recurrent()), steps), is_small=True)
    open_image = [(-1, 8, -1, -1)]
    write(folder / "windows", converted(_filled(Windows()), image, open_image), is_small=True)
    write(folder / "yolo_head", quantised(converted(*network("yolo_head"))))
    write(folder / "decoder", decoder())
    write(folder / "iterator", iterator())
