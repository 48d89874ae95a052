"""The fingerprint: blind to names and order, sharp on everything that costs time."""

import itertools

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto
from tests.support.networks.vision import resnet18


def fingerprint(proto):
    return ingest_proto(proto).graph.fingerprint


def random_network(choices, width=8):
    """A graph whose operators read earlier values as ``choices`` says."""
    b = Builder()
    values = [b.input("a", [4, width]), b.input("b", [4, width])]
    for kind, first, second in choices:
        x, y = values[first % len(values)], values[second % len(values)]
        if kind == 0:
            values.append(b.node("Add", [x, y]))
        elif kind == 1:
            values.append(b.node("MatMul", [x, b.weight(width, width)]))
        else:
            values.append(b.node(("Relu", "Exp", "Softmax")[kind % 3], [x]))
    b.output(b.node("Concat", values, ["y"], axis=0))
    return b.model()


CHOICES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12
)


def renamed(proto, order):
    """The same graph with other names and its nodes in another order."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    graph = copy.graph
    names = {
        *(v.name for v in (*graph.input, *graph.output, *graph.initializer)),
        *(o for n in graph.node for o in n.output),
    }
    new = {name: f"v{i}" for i, name in enumerate(sorted(names, key=order.random))}
    for item in (*graph.input, *graph.output, *graph.initializer):
        item.name = new[item.name]
    nodes = list(graph.node)
    for i, node in enumerate(nodes):
        node.name = f"other_{i}"
        node.input[:] = [new[name] for name in node.input]
        node.output[:] = [new[name] for name in node.output]
    order.shuffle(nodes)
    shuffled = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(shuffled)
    return copy


class Order:
    def __init__(self, random):
        self._random = random

    def random(self, _):
        return self._random.random()

    def shuffle(self, items):
        self._random.shuffle(items)


@settings(deadline=None, max_examples=60)
@given(CHOICES, st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(choices, random):
    proto = random_network(choices)
    assert fingerprint(renamed(proto, Order(random))) == fingerprint(proto)


@settings(deadline=None, max_examples=40)
@given(CHOICES)
def test_another_shape_is_another_graph(choices):
    assert fingerprint(random_network(choices, 8)) != fingerprint(random_network(choices, 16))


def test_another_attribute_is_another_graph():
    def pooled(stride):
        b = Builder()
        x = b.input("x", [1, 1, 5, 5])
        b.output(b.node("MaxPool", [x], ["y"], kernel_shape=[1, 1], strides=stride))
        return fingerprint(b.model())

    assert pooled([5, 5]) != pooled([6, 6])


def test_an_attribute_that_states_its_default_changes_nothing():
    def convolved(**attributes):
        b = Builder()
        x = b.input("x", [1, 2, 5, 5])
        b.output(b.node("Conv", [x, b.weight(2, 2, 3, 3)], ["y"], **attributes))
        return fingerprint(b.model())

    assert convolved() == convolved(strides=[1, 1], group=1, pads=[0] * 4, auto_pad="NOTSET")


@pytest.mark.parametrize("dtype", [onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE])
def test_another_type_is_another_graph(dtype):
    def of(kind):
        b = Builder()
        b.input("x", [4], kind)
        b.output(b.node("Relu", ["x"], ["y"]), dtype=kind)
        return fingerprint(b.model())

    assert of(dtype) != of(onnx.TensorProto.FLOAT)


def product_pair(shared):
    b = Builder()
    x = b.input("x", [4, 8])
    weights = b.weight(8, 8)
    first = b.node("MatMul", [x, weights])
    second = first if shared else b.node("MatMul", [x, weights])
    b.output(b.node("Add", [b.node("Exp", [first]), b.node("Relu", [second])], ["y"]))
    return b.model()


def test_a_shared_subgraph_differs_from_two_copies():
    assert fingerprint(product_pair(shared=True)) != fingerprint(product_pair(shared=False))


def test_one_input_read_twice_differs_from_two_inputs():
    def added(names):
        b = Builder()
        for name in dict.fromkeys(names):
            b.input(name, [4])
        b.output(b.node("Add", names, ["y"]))
        return fingerprint(b.model())

    assert added(["a", "a"]) != added(["a", "b"])
    assert added(["a", "b"]) == added(["c", "d"])


def test_a_shared_weight_differs_from_two_weights():
    def chained(shared):
        b = Builder()
        x = b.input("x", [4, 8])
        first = b.weight(8, 8)
        second = first if shared else b.weight(8, 8)
        b.output(b.node("MatMul", [b.node("MatMul", [x, first]), second], ["y"]))
        return fingerprint(b.model())

    assert chained(shared=True) != chained(shared=False)


def test_values_of_weights_do_not_matter():
    def with_values(value):
        x, y = (helper.make_tensor_value_info(n, 1, [2, 2]) for n in "xy")
        w = helper.make_tensor("w", 1, [2, 2], [value] * 4)
        node = helper.make_node("MatMul", ["x", "w"], ["y"])
        return fingerprint(helper.make_model(helper.make_graph([node], "g", [x], [y], [w])))

    assert with_values(1.0) == with_values(2.0)


def chain(widths):
    """Dense layers from width to width; returns the model."""
    b = Builder()
    data = b.input("x", ["batch", widths[0]])
    for a, c in itertools.pairwise(widths):
        data = b.node("Gemm", [data, b.weight(a, c), b.weight(c)])
    b.output(data)
    return b.model()


def macs(proto, batch=1):
    return int(ingest_proto(proto, batch=batch).graph.macs.sum())


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 64), min_size=3, max_size=8), st.data())
def test_macs_add_up_over_chains(widths, data):
    cut = data.draw(st.integers(1, len(widths) - 2))
    whole = macs(chain(widths))
    assert whole == macs(chain(widths[: cut + 1])) + macs(chain(widths[cut:]))
    assert whole == sum(a * c for a, c in itertools.pairwise(widths))


@settings(deadline=None, max_examples=8)
@given(st.integers(1, 64))
def test_macs_are_linear_in_the_batch(batch):
    assert macs(resnet18("batch"), batch) == batch * macs(resnet18("batch"))


def test_ingestion_leaves_what_was_read_as_it_is():
    proto = resnet18("batch")
    before = proto.SerializeToString(deterministic=True)
    ingest_proto(proto, batch=3)
    assert proto.SerializeToString(deterministic=True) == before
