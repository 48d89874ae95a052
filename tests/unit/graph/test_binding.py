"""Dynamic dimensions: names, defaults, reasons, and what a user may set."""

import pytest
from onnx import TensorProto

from predictor.core.errors import InputError
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def relu_model(dims, dtype=TensorProto.FLOAT, name="x"):
    b = Builder()
    b.input(name, dims, dtype)
    b.output(b.node("Abs" if dtype != TensorProto.FLOAT else "Relu", [name], ["y"]))
    return b.model()


def bound(dims, dtype=TensorProto.FLOAT, **arguments):
    model = ingest_proto(relu_model(dims, dtype), **arguments)
    return model.inputs[0].shape


@pytest.mark.parametrize(
    ("dims", "shape"),
    [
        (["batch", 3, 224, 224], (1, 3, 224, 224)),
        (["N", 3, "h", "w"], (1, 3, 224, 224)),
        ([None, 3, None, None], (1, 3, 224, 224)),
        ([None, None, None, 3], (1, 224, 224, 3)),
        ([None, None, None, None], (1, 3, 224, 224)),
        ([None, 1, "s0", "s1"], (1, 1, 224, 224)),
        (["batch", "sequence_length", 768], (1, 128, 768)),
        (["batch", 8, "past_sequence_length", 64], (1, 8, 0, 64)),
        (["batch", "heads", None, 64], (1, 1, 128, 64)),
        ([2, 5], (2, 5)),
        ([], ()),
    ],
)
def test_defaults_of_open_dimensions(dims, shape):
    assert bound(dims) == shape


def test_token_ids_are_a_batch_of_sequences():
    assert bound([None, None], TensorProto.INT64) == (1, 128)


def test_each_dimension_says_its_default_and_why():
    model = ingest_proto(relu_model(["batch", "seq", 4]), {"seq": 7})
    batch, seq = model.dynamic
    assert (batch.name, batch.value, batch.default) == ("batch", 1, 1)
    assert (seq.name, seq.value, seq.default) == ("seq", 7, 128)
    assert "batch" in batch.reason
    assert "sequence" in seq.reason


def test_one_name_is_one_value_across_inputs():
    b = Builder()
    b.input("a", ["n", "length"])
    b.input("b", ["n", "length"])
    b.output(b.node("Add", ["a", "b"], ["y"]))
    model = ingest_proto(b.model(), {"length": 9, "n": 3})
    assert [i.shape for i in model.inputs] == [(3, 9), (3, 9)]
    assert len(model.dynamic) == 2


def test_unnamed_dimensions_are_named_by_input_and_axis():
    model = ingest_proto(relu_model([None, 3, None, 8]), {"x:2": 5})
    assert model.inputs[0].shape == (1, 3, 5, 8)
    assert [d.name for d in model.dynamic] == ["x:0", "x:2"]


def test_arithmetic_on_other_dimensions_follows_them():
    b = Builder()
    b.input("ids", ["batch", "length"], TensorProto.INT64)
    b.input("past", ["batch", "past_length"], TensorProto.INT64)
    b.input("mask", ["batch", "past_length + length"], TensorProto.INT64)
    joined = b.node("Concat", ["past", "ids"], axis=1)
    b.output(b.node("Add", [joined, "mask"], ["y"]), dtype=TensorProto.INT64)
    model = ingest_proto(b.model(), {"past_length": 5, "length": 3})
    assert model.inputs[2].shape == (1, 8)


def test_a_name_with_a_dash_is_no_arithmetic():
    assert bound(["batch-size", 4]) == (1, 4)


def test_whole_shapes_by_input():
    assert bound(["n", 3, "h", "w"], shapes={"x": (2, 3, 64, 32)}) == (2, 3, 64, 32)


def test_an_input_without_a_rank_needs_its_shape():
    with pytest.raises(InputError, match=r"input x.*x=1,3,224,224"):
        bound(None)
    assert bound(None, shapes={"x": (2, 3)}) == (2, 3)


def test_batch_sets_the_named_dimension():
    assert bound(["batch", 3, 8, 8], batch=4) == (4, 3, 8, 8)
    assert bound(["seq", "batch", 8], batch=4) == (128, 4, 8)
    assert bound([None, 3, 8, 8], batch=4) == (4, 3, 8, 8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bindings": {"h": 5}}, r"dimension h: .*no such dimension.*its dimensions are: n"),
        ({"shapes": {"z": (1, 3)}}, r"input z: .*its inputs are: x"),
        ({"shapes": {"x": (1,)}}, r"1 dimensions, the model's has 2; give n,3"),
        ({"shapes": {"x": (1, 4)}}, r"input x, axis 1: the model fixes it at 3, 4 was given"),
        ({"bindings": {"n": -1}}, r"dimension n: -1 is not between"),
        ({"bindings": {"n": 0}}, r"dimension n: it must be above 0"),
        ({"batch": 0}, r"batch: 0 is not between"),
        ({"batch": 3, "bindings": {"n": 4}}, r"dimension n: it is given twice, as 3 and 4"),
    ],
)
def test_wrong_values_are_refused_with_the_right_names(arguments, words):
    with pytest.raises(InputError, match=words):
        bound(["n", 3], **arguments)


@pytest.mark.parametrize("size", [0, 2**50])
def test_declared_sizes_must_be_possible(size):
    with pytest.raises(InputError, match=rf"input x, axis 1: the file states the size {size}"):
        bound([1, size])


def test_a_size_below_zero_is_an_open_dimension():
    model = ingest_proto(relu_model([-1, 3, -1, -1]))
    assert model.inputs[0].shape == (1, 3, 224, 224)
    assert [dimension.name for dimension in model.dynamic] == ["x:0", "x:2", "x:3"]


def test_a_dimension_that_shrinks_below_nothing_names_its_node():
    b = Builder()
    b.input("x", [1, 4, "s7"])
    b.output(b.node("Conv", ["x", b.weight(8, 4, 3)], ["y"]))
    with pytest.raises(InputError, match=r"node Conv_.*dimension 2 of its output comes out as -1"):
        ingest_proto(b.model(), {"s7": 1})


def decoder():
    """One attention layer that appends to a cache, as decoders are exported."""
    b = Builder()
    ids = b.input("ids", ["batch", "sequence_length"], TensorProto.INT64)
    past = b.input("past.0.key", ["batch", 4, "past_sequence_length", 16])
    data = b.node("Gather", [b.weight(100, 64), ids])
    split = b.node("Reshape", [b.linear(data, 64, 64), b.constant([0, 0, 4, 16])])
    query = b.node("Transpose", [split], perm=[0, 2, 1, 3])
    keys = b.node("Concat", [past, query], ["present.0.key"], axis=2)
    turned = b.node("Transpose", [keys], perm=[0, 1, 3, 2])
    b.output(b.node("MatMul", [query, turned], ["scores"]))
    b.output("present.0.key")
    return b.model()


@pytest.mark.parametrize(
    ("bindings", "length", "keys"),
    [({}, 128, 128), ({"sequence_length": 1, "past_sequence_length": 99}, 1, 100)],
)
def test_a_cache_is_empty_unless_it_is_given(bindings, length, keys):
    model = ingest_proto(decoder(), bindings)
    assert model.outputs[0].shape == (1, 4, length, keys)
    assert model.graph.macs.sum() == length * 64 * 64 + 4 * length * keys * 16


def joined(*sizes):
    """Return a model that joins rows of inputs a, b, c of the given first dimensions."""
    b = Builder()
    names = [b.input("abc"[i], [size, 4]) for i, size in enumerate(sizes)]
    b.output(b.node("Concat", names, ["y"], axis=0))
    return b.model()


def sizes_of(model):
    return [tensor.shape[0] for tensor in model.inputs]


def test_a_default_leaves_room_for_what_follows_from_it():
    model = ingest_proto(joined("length", "24 - length", "2*length"))
    assert sizes_of(model) == [23, 1, 46]
    assert "nearest" in model.dynamic[0].reason


def test_a_name_that_stands_in_arithmetic_alone_is_a_dimension():
    model = ingest_proto(joined("24 - s0", "2*s0"), {"s0": 5})
    assert sizes_of(model) == [19, 10]


def test_setting_what_follows_sets_the_dimension_that_it_follows_from():
    assert sizes_of(ingest_proto(joined("n", "24 - n", "2*n"), {"2*n": 10})) == [5, 19, 10]
    shapes = {"b": (20, 4)}
    assert sizes_of(ingest_proto(joined("n", "24 - n", "2*n"), shapes=shapes)) == [4, 20, 8]


@pytest.mark.parametrize("bindings", [{"2*n": 11}, {"2*n": 10, "n": 4}])
def test_sizes_that_contradict_one_another_are_refused(bindings):
    with pytest.raises(InputError, match=r"dimension 2\*n: it cannot be 1\d .*; set n instead"):
        ingest_proto(joined("n", "24 - n", "2*n"), bindings)


@pytest.mark.parametrize(
    ("text", "size"),
    [("s0 + s1", 8), ("s0**2", 9), ("Max(1, s0 - 9)", 1), ("-s0 + 20", 17), ("Mod(s1, 3)", 2)],
)
def test_arithmetic_of_exporters(text, size):
    model = ingest_proto(joined("s0", "s1", text), {"s0": 3, "s1": 5})
    assert sizes_of(model) == [3, 5, size]
