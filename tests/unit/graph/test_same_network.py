"""Fingerprints over exporters: one network is one, whichever wrote it; another is another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from predictor.core.errors import InputError
from predictor.core.resources import resources_dir
from predictor.graph.ingest import ingest
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto
from tests.support.networks.vision import mobilenet_v2

Layer = Callable[[Builder, str], str]
SAMPLES = {
    name: onnx.load(resources_dir() / "samples" / f"{name}.onnx")
    for name in ("mobilenetv2-1.0-224", "yolov3-tiny-416")
}


def of(layer: Layer, shape: tuple[int, ...] = (1, 4, 8, 8), opset: int = 17) -> str:
    b = Builder(opset)
    b.output(layer(b, b.input("x", shape)))
    return ingest_proto(b.model()).graph.fingerprint


def conv(bias: bool = False, kernel: int = 3, channels: int = 4, **attributes: Any) -> Layer:
    def layer(b: Builder, x: str) -> str:
        group = int(attributes.get("group", 1))
        weights = [b.weight(channels, 4 // group, kernel, kernel)]
        return b.node("Conv", [x, *weights, *([b.weight(channels)] if bias else [])], **attributes)

    return layer


def then(*layers: Layer) -> Layer:
    def layer(b: Builder, x: str) -> str:
        for part in layers:
            x = part(b, x)
        return x

    return layer


def op(name: str, *constants: tuple[int, ...], **attributes: Any) -> Layer:
    """An operator on data and weights of shapes."""
    return lambda b, x: b.node(name, [x, *(b.weight(*dims) for dims in constants)], **attributes)


def scalar(b: Builder, value: float) -> str:
    return b.constant(value, np.float32)


def with_integers(name: str, *integers: list[int], **attributes: Any) -> Layer:
    return lambda b, x: b.node(name, [x, *(b.constant(i) for i in integers)], **attributes)


def gelu(first: bool) -> Layer:
    def layer(b: Builder, x: str) -> str:
        inner = b.node("Div" if first else "Mul", [x, scalar(b, 1.4)])
        one = b.node("Add", [b.node("Erf", [inner]), scalar(b, 1)])
        if first:
            return b.node("Mul", [b.node("Mul", [x, one]), scalar(b, 0.5)])
        return b.node("Mul", [b.node("Mul", [scalar(b, 0.5), x]), one])

    return layer


def hard_swish(b: Builder, x: str) -> str:
    gate = b.node("Clip", [b.node("Add", [x, scalar(b, 3)]), scalar(b, 0), scalar(b, 6)])
    return b.node("Div", [b.node("Mul", [x, gate]), scalar(b, 6)])


def decomposed_layer_norm(b: Builder, x: str) -> str:
    centred = b.node("Sub", [x, b.node("ReduceMean", [x], axes=[-1])])
    variance = b.node("ReduceMean", [b.node("Pow", [centred, scalar(b, 2)])], axes=[-1])
    root = b.node("Sqrt", [b.node("Add", [variance, scalar(b, 1e-5)])])
    scaled = b.node("Mul", [b.node("Div", [centred, root]), b.weight(8)])
    return b.node("Add", [scaled, b.weight(8)])


def added(swapped: bool) -> Layer:
    def layer(b: Builder, x: str) -> str:
        pair = [x, b.node("Relu", [x])]
        return b.node("Add", pair[::-1] if swapped else pair)

    return layer


def split(b: Builder, x: str) -> str:
    b.node("Split", [x, b.constant([2, 2])], ["first", "second"], axis=1)
    return b.node("Mul", ["first", b.node("Relu", ["second"])])


def slices(b: Builder, x: str) -> str:
    first, second = (
        b.node("Slice", [x, b.constant([at]), b.constant([at + 2]), b.constant([1])])
        for at in (0, 2)
    )
    return b.node("Mul", [first, b.node("Relu", [second])])


def gated(op_type: str) -> Layer:
    return lambda b, x: b.node("Mul", [x, b.node(op_type, [x])])


def rows(layer: Layer) -> Layer:
    return lambda b, x: layer(b, b.node("Reshape", [x, b.constant([32, 8])]))


EQUAL: dict[str, tuple[Layer, Layer]] = {
    "defaults": (
        conv(),
        conv(dilations=[1, 1], group=1, strides=[1, 1], pads=[0] * 4, kernel_shape=[3, 3]),
    ),
    "bias": (conv(), conv(bias=True)),
    "bias in an Add": (conv(bias=True), then(conv(), op("Add", (1, 4, 1, 1)))),
    "bias in an Add of three axes": (conv(), then(conv(), op("Add", (4, 1, 1)))),
    "batch normalisation": (conv(), then(conv(), op("BatchNormalization", *[(4,)] * 4))),
    "its scale and shift": (
        conv(bias=True),
        then(conv(), op("Mul", (1, 4, 1, 1)), op("Sub", (1, 4, 1, 1))),
    ),
    "auto_pad": (
        conv(auto_pad="SAME_UPPER", strides=[2, 2]),
        conv(pads=[0, 0, 1, 1], strides=[2, 2]),
    ),
    "valid": (conv(auto_pad="VALID"), conv()),
    "padding before": (
        then(with_integers("Pad", [0, 0, 0, 0, 0, 0, 1, 1]), conv(strides=[2, 2])),
        conv(pads=[0, 0, 1, 1], strides=[2, 2]),
    ),
    "mean of pixels": (
        then(op("GlobalAveragePool"), op("Flatten")),
        op("ReduceMean", axes=[-1, -2], keepdims=0),
    ),
    "pooling of all pixels": (op("AveragePool", kernel_shape=[8, 8]), op("GlobalAveragePool")),
    "views": (
        then(op("Flatten"), op("Relu")),
        then(with_integers("Reshape", [1, 4, 64]), with_integers("Reshape", [1, 256]), op("Relu")),
    ),
    "dense": (
        rows(op("Gemm", (8, 5), (5,))),
        rows(lambda b, x: b.node("Gemm", [x, b.weight(5, 8)], transB=1, alpha=1.0, beta=1.0)),
    ),
    "dense of two operators": (
        rows(op("Gemm", (8, 5), (5,))),
        then(op("MatMul", (8, 5)), op("Add", (5,))),
    ),
    "sum": (added(swapped=False), added(swapped=True)),
    "no-ops": (then(op("Identity"), op("Relu"), op("Dropout")), op("Relu")),
    "gate": (gated("HardSigmoid"), op("HardSwish")),
    "gate of numbers": (hard_swish, op("HardSwish")),
    "gelu": (gelu(first=True), gelu(first=False)),
    "layer normalisation": (
        decomposed_layer_norm,
        op("LayerNormalization", (8,), (8,), axis=-1, epsilon=1e-3),
    ),
    "split": (split, slices),
    "slopes": (op("LeakyRelu", alpha=0.1), op("LeakyRelu", alpha=0.2)),
    "axis from behind": (op("Softmax", axis=3), op("Softmax")),
}

DIFFERENT: dict[str, tuple[Layer, Layer]] = {
    "stride": (conv(pads=[1] * 4), conv(pads=[1] * 4, strides=[2, 2])),
    "kernel": (conv(pads=[1] * 4), conv(kernel=5, pads=[2] * 4)),
    "padding": (conv(), conv(pads=[1] * 4)),
    "padding of one shape": (
        conv(pads=[1] * 4, strides=[2, 2]),
        conv(pads=[0, 0, 1, 1], strides=[2, 2]),
    ),
    "dilation": (conv(pads=[1] * 4), conv(pads=[2] * 4, dilations=[2, 2])),
    "groups": (conv(), conv(group=2)),
    "channels": (conv(), conv(channels=8)),
    "activation": (then(conv(), op("Relu")), then(conv(), op("Sigmoid"))),
    "no activation": (then(conv(), op("Relu")), conv()),
    "gates": (gated("Sigmoid"), gated("HardSigmoid")),
    "a gate of another value": (gated("Sigmoid"), then(op("Sigmoid"), gated("Relu"))),
    "a scale of another shape": (
        then(conv(), op("Add", (1, 4, 1, 1))),
        then(conv(), op("Add", (6, 6))),
    ),
    "pooling": (
        op("MaxPool", kernel_shape=[2, 2]),
        op("AveragePool", kernel_shape=[2, 2]),
    ),
    "pooling by another window": (
        op("MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
        op("MaxPool", kernel_shape=[1, 1], strides=[2, 2]),
    ),
    "axes of a mean": (op("ReduceMean", axes=[2]), op("ReduceMean", axes=[3])),
    "reduction": (op("ReduceMean", axes=[2]), op("ReduceMax", axes=[2])),
    "transposition": (op("Transpose", perm=[0, 2, 3, 1]), op("Transpose", perm=[0, 3, 2, 1])),
    "axis": (op("Softmax", axis=1), op("Softmax", axis=3)),
    "a padding that reflects": (
        then(with_integers("Pad", [0, 0, 0, 0, 0, 0, 1, 1], mode="reflect"), conv()),
        conv(pads=[0, 0, 1, 1]),
    ),
    "a dense layer on more rows": (rows(op("Gemm", (8, 5))), op("Relu")),
}


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_one_network_has_one_fingerprint(pair: tuple[Layer, Layer]) -> None:
    first, second = map(of, pair)
    assert first == second


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_two_networks_have_two_fingerprints(pair: tuple[Layer, Layer]) -> None:
    first, second = map(of, pair)
    assert first != second


@pytest.mark.parametrize(
    ("old", "earlier", "new", "later"),
    [
        (
            11,
            op("ReduceMean", axes=[2, 3], keepdims=0),
            18,
            with_integers("ReduceMean", [2, 3], keepdims=0),
        ),
        (10, op("Clip", min=0.0, max=6.0), 17, lambda b, x: b.node("Clip", [x, scalar(b, 0)])),
        (11, op("Softmax", axis=3), 13, op("Softmax")),
        (17, gelu(first=True), 20, op("Gelu")),
        (17, gated("Sigmoid"), 24, op("Swish")),
    ],
)
def test_operators_of_two_opsets_are_one(old: int, earlier: Layer, new: int, later: Layer) -> None:
    assert of(earlier, opset=old) == of(later, opset=new)


def test_equal_constants_may_be_one_or_two() -> None:
    def layers(shared: bool) -> Layer:
        def layer(b: Builder, x: str) -> str:
            bias, kernel = b.weight(4), b.weight(4, 4, 3, 3)
            x = b.node("Conv", [x, kernel, bias])
            second = [kernel, bias] if shared else [b.weight(4, 4, 3, 3), b.weight(4)]
            return b.node("Conv", [x, *second])

        return layer

    assert of(layers(shared=True)) == of(layers(shared=False))


def test_the_bundled_mobilenet_is_that_of_other_exporters() -> None:
    by_hand = ingest_proto(mobilenet_v2()).graph
    sample = ingest(resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx").graph
    assert by_hand.fingerprint == sample.fingerprint
    assert by_hand.former_fingerprint != sample.former_fingerprint


# Rewritings of an export that leave the network as it is.


def _state_defaults(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if node.op_type == "Conv" and not any(a.name == "auto_pad" for a in node.attribute):
        node.attribute.append(helper.make_attribute("auto_pad", "NOTSET"))
    if node.op_type == "Gemm":
        node.attribute.append(helper.make_attribute("alpha", 1.0))


def _omit_kernel(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if node.op_type == "Conv":
        remaining = [a for a in node.attribute if a.name != "kernel_shape"]
        del node.attribute[:]
        node.attribute.extend(remaining)


def _add_bias_after(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if node.op_type == "Conv" and len(node.input) > 2:
        bias, result = node.input.pop(), node.output[0]
        axes = numpy_helper.from_array(np.array([1, 2]), f"{result}/axes")
        graph.initializer.append(axes)
        node.output[0] = f"{result}/product"
        graph.node.append(helper.make_node("Unsqueeze", [bias, axes.name], [f"{result}/bias"]))
        graph.node.append(helper.make_node("Add", [f"{result}/bias", node.output[0]], [result]))


def _swap(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if node.op_type == "Add":
        node.input[:] = reversed(node.input)


def _copy(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    if node.op_type != "ConstantOfShape":
        result = node.output[0]
        node.output[0] = f"{result}/copied"
        graph.node.append(helper.make_node("Identity", [node.output[0]], [result]))


# Changes that make another network, of the same shapes where they can.


def _another_stride(node: onnx.NodeProto) -> bool:
    return _set(node, "Conv", "strides", lambda s: [3 - s[0], 3 - s[1]])


def _another_padding(node: onnx.NodeProto) -> bool:
    return _set(node, "Conv", "pads", lambda p: [p[0] + 1, *p[1:]])


def _moved_padding(node: onnx.NodeProto) -> bool:
    return any(a.name == "pads" and any(a.ints) for a in node.attribute) and _set(
        node, "Conv", "pads", lambda p: [0, 0, p[0] + p[2], p[1] + p[3]]
    )


def _another_activation(node: onnx.NodeProto) -> bool:
    if node.op_type not in {"Clip", "LeakyRelu"}:
        return False
    node.op_type = "Tanh"
    del node.attribute[:]
    del node.input[1:]
    return True


def _set(
    node: onnx.NodeProto, op_type: str, name: str, change: Callable[[list[int]], list[int]]
) -> bool:
    for attribute in node.attribute if node.op_type == op_type else ():
        if attribute.name == name:
            attribute.ints[:] = change(list(attribute.ints))
            return True
    return False


REWRITES = (_state_defaults, _omit_kernel, _add_bias_after, _swap, _copy)
CHANGES = (_another_stride, _another_padding, _moved_padding, _another_activation)


def _copied(name: str) -> onnx.ModelProto:
    proto = onnx.ModelProto()
    proto.CopyFrom(SAMPLES[name])
    return proto


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_an_export_may_be_written_in_other_words(name: str, data: st.DataObject) -> None:
    proto = _copied(name)
    nodes = list(proto.graph.node)
    places = st.lists(st.integers(0, len(nodes) - 1), min_size=20, max_size=120)
    for rewrite in REWRITES:
        for place in set(data.draw(places)):
            rewrite(proto.graph, nodes[place])

    graph, expected = ingest_proto(proto).graph, ingest_proto(SAMPLES[name]).graph

    assert graph.fingerprint == expected.fingerprint
    assert int(graph.macs.sum()) == int(expected.macs.sum())


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(sorted(SAMPLES)), st.sampled_from(CHANGES), st.data())
def test_a_change_of_one_operator_is_another_network(
    name: str, change: Callable[[onnx.NodeProto], bool], data: st.DataObject
) -> None:
    proto = _copied(name)
    matching = [
        n for n in proto.graph.node if change(onnx.NodeProto.FromString(n.SerializeToString()))
    ]
    change(data.draw(st.sampled_from(matching)))
    try:
        graph = ingest_proto(proto).graph
    except InputError:  # its shapes fit no more
        return
    assert graph.fingerprint != ingest_proto(SAMPLES[name]).graph.fingerprint
