"""Values of shape arithmetic, each through the shape that it decides."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.graph.flatten import flatten
from predictor.graph.values import LARGEST_VALUE, ValueTable
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def reshaped(make_target, dims=(2, 3, 4)):
    """Reshape an input to what ``make_target`` computes from its shape."""
    b = Builder()
    x = b.input("x", list(dims))
    target = make_target(b, b.node("Shape", [x]))
    b.output(b.node("Reshape", [x, target], ["y"]))
    return ingest_proto(b.model()).outputs[0].shape


CASES = {
    "slice": (
        lambda b, s: b.node("Slice", [s, *map(b.constant, ([2], [-9], [0], [-1]))]),
        (4, 3, 2),
    ),
    "split": (lambda b, s: joined(b, split(b, s, [1, 2])[::-1]), (3, 4, 2)),
    "where": (
        lambda b, s: b.node("Where", [b.node("Equal", [s, b.constant(3)]), b.constant(-1), s]),
        (2, 3, 4),
    ),
    "product": (lambda b, s: b.node("ReduceProd", [s], keepdims=1), (24,)),
    "range": (
        lambda b, _: b.node("Range", [b.constant(2), b.constant(5), b.constant(1)]),
        (2, 3, 4),
    ),
    "gather": (lambda b, s: b.node("Gather", [s, b.constant([2, 0, 1])]), (4, 2, 3)),
    "floor": (
        lambda b, s: b.node("Cast", [b.node("Floor", [real(b, s)])], to=TensorProto.INT64),
        (2, 3, 4),
    ),
    "quotient": (
        lambda b, s: joined(b, [b.node("Div", [s, b.constant([1, 3, 2])]), b.constant([6])]),
        (2, 1, 2, 6),
    ),
    "minimum": (
        lambda b, s: joined(b, [b.node("Min", [s, b.constant(2)]), b.constant([-1])]),
        (2, 2, 2, 3),
    ),
    "remainder": (
        lambda b, s: joined(b, [b.node("Mod", [s, b.constant([3, 2, 3])]), b.constant([-1])]),
        (2, 1, 1, 12),
    ),
    "tile": (
        lambda b, _: tiled(b),
        (2, 2, 6),
    ),
    "filled": (
        lambda b, _: b.node("ConstantOfShape", [b.constant([1])], value=helper_tensor([24])),
        (24,),
    ),
}


def helper_tensor(values):
    return onnx.numpy_helper.from_array(np.array(values, np.int64))


def tiled(b):
    pair = b.node("Tile", [b.constant([2]), b.constant([2])])
    return joined(b, [pair, b.constant([-1])])


def real(b, value):
    return b.node("Cast", [value], to=TensorProto.FLOAT)


def joined(b, parts):
    return b.node("Concat", parts, axis=0)


def split(b, value, sizes):
    names = [b.fresh("piece") for _ in sizes]
    b.node("Split", [value, b.constant(sizes)], names, axis=0)
    return names


@pytest.mark.parametrize("case", sorted(CASES))
def test_shape_arithmetic(case):
    make_target, shape = CASES[case]
    assert reshaped(make_target) == shape


@pytest.mark.parametrize("length", [LARGEST_VALUE + 5, 2**45])
def test_a_long_range_is_typed_without_its_values(length):
    b = Builder()
    x = b.input("x", [1])
    steps = b.node("Range", [b.constant(0), b.constant(length), b.constant(1)])
    b.output(b.node("Add", [x, real(b, steps)], ["y"]))
    assert ingest_proto(b.model()).outputs[0].shape == (length,)


def test_a_tensor_of_an_impossible_size_is_refused():
    b = Builder()
    b.input("x", [2**30, 2**30])
    b.output(b.node("Relu", ["x"], ["y"]))
    with pytest.raises(InputError, match=r"node Relu_1: .*more than \d+ elements"):
        ingest_proto(b.model())


def test_values_are_there_when_the_file_is_let_go():
    b = Builder()
    fill = onnx.helper.make_tensor("", TensorProto.INT64, [1], [7])
    sevens = b.node("ConstantOfShape", [b.constant([2])], value=fill)
    total = b.node("Add", [sevens, b.constant([1, 2])])
    b.output(total)
    network = flatten(b.model())
    protos = [id(tensor) for tensor in network.tensors.values()]

    network.release_file()

    assert [node.op for node in network.nodes if node.proto] == ["ConstantOfShape"]
    assert ValueTable(network).get(total).tolist() == [8, 9]
    assert not {id(tensor) for tensor in network.tensors.values()} & {*protos}
