"""Another batch for a model that fixes it, and the nodes that pin it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto
from tests.support.networks.transformers import vit_tiny
from tests.support.networks.vision import resnet18


def test_a_fixed_batch_is_replaced_and_everything_inferred_anew():
    one, four = (ingest_proto(resnet18(), batch=n).graph for n in (1, 4))
    assert four.macs.sum() == 4 * one.macs.sum()
    assert four.parameters == one.parameters
    assert four.output_shape(len(four) - 1) == (4, 1000)
    assert (four.bytes_written == 4 * one.bytes_written).all()


def test_a_shape_may_say_the_new_batch_too():
    shapes = {"image": (4, 3, 224, 224)}
    four = ingest_proto(resnet18(), batch=4, shapes=shapes).graph
    assert four.fingerprint == ingest_proto(resnet18(), batch=4).graph.fingerprint


def classifier(target):
    b = Builder()
    x = b.input("x", [1, 8, 2, 2])
    flat = b.node("Reshape", [x, b.constant(target)], ["flat"])
    b.output(b.node("MatMul", [flat, b.weight(32, 10)], ["y"]))
    return b.model()


def last(graph):
    return graph.output_shape(len(graph) - 1)


@pytest.mark.parametrize("target", [[1, -1], [1, 32], [-1, 32], [0, 32], [0, -1]])
def test_a_reshape_follows_whether_it_writes_the_batch_or_not(target):
    one, four = (ingest_proto(classifier(target), batch=n).graph for n in (1, 4))
    assert last(four) == (4, 10)
    assert four.macs.sum() == 4 * one.macs.sum() == 4 * 32 * 10


def reshaped(dims, *targets):
    """Reshapes one after the other; between them the lists transpose."""
    b = Builder()
    data = b.input("x", dims)
    for target in targets:
        if isinstance(target, tuple):
            data = b.node("Transpose", [data], perm=target)
        else:
            data = b.node("Reshape", [data, b.constant(target)])
    b.output(b.node("Relu", [data], ["y"]))
    return b.model()


@pytest.mark.parametrize(
    ("dims", "targets", "result"),
    [
        # The heads of attention, and back.
        ([1, 9, 12], ([1, 9, 3, 4], (0, 2, 1, 3)), (5, 3, 9, 4)),
        ([1, 9, 12], ([1, 9, 3, 4], (0, 2, 1, 3), (0, 2, 1, 3), [1, 9, 12]), (5, 9, 12)),
        # Length before batch, as torch's MultiheadAttention has it: heads join the batch.
        ([1, 9, 12], ((1, 0, 2), [9, 3, 4]), (9, 15, 4)),
        ([1, 1, 12], ((1, 0, 2), [1, 3, 4]), (1, 15, 4)),
        # Its rows are joined, the batch within, and come apart again.
        ([1, 9, 12], ((1, 0, 2), [9, 3, 4], [9, 12]), (45, 12)),
        ([1, 9, 12], ((1, 0, 2), [9, 3, 4], [9, 12], [9, 1, 12], (1, 0, 2)), (5, 9, 12)),
        # Windows: the batch is the outer part of their number, and comes back from it.
        ([1, 8, 8, 3], ([1, 2, 4, 2, 4, 3], (0, 1, 3, 2, 4, 5), [4, 16, 3]), (20, 16, 3)),
        (
            [1, 8, 8, 3],
            (
                *([1, 2, 4, 2, 4, 3], (0, 1, 3, 2, 4, 5), [4, 16, 3], [1, 2, 2, 4, 4, 3]),
                *((0, 1, 3, 2, 4, 5), [1, 64, 3]),
            ),
            (5, 64, 3),
        ),
        # Channels that are shuffled, and rows that join the batch.
        ([1, 6, 4, 4], ([1, 2, 3, 4, 4], (0, 2, 1, 3, 4), [1, 6, 4, 4]), (5, 6, 4, 4)),
        ([1, 6, 4, 4], ([24, 4],), (120, 4)),
        # An axis before the batch stays before it.
        ([1, 9, 12], ([1, 9, 3, 1, 4], (2, 0, 3, 1, 4), [3, 1, 36]), (3, 5, 36)),
    ],
)
def test_written_sizes_follow_the_memory_order(dims, targets, result):
    assert last(ingest_proto(reshaped(dims, *targets), batch=5).graph) == result


def test_a_file_with_a_batch_of_two_goes_to_three():
    proto = reshaped([2, 9, 12], [2, 9, 3, 4], (0, 2, 1, 3))
    assert last(ingest_proto(proto, batch=3).graph) == (3, 3, 9, 4)
    assert last(ingest_proto(proto, batch=1).graph) == (1, 3, 9, 4)


def test_a_reshape_that_mixes_inputs_is_named():
    with pytest.raises(InputError, match=r"node Reshape_\d+: fixed batch 1 \(Reshape\); .*dynamic"):
        ingest_proto(reshaped([1, 6, 2], (1, 0, 2), [4, 3]), batch=4)


def test_a_squeezed_batch_is_named():
    b = Builder()
    x = b.input("x", [1, 8])
    b.output(b.node("Squeeze", [x, b.constant([0])], ["y"]))
    with pytest.raises(InputError, match=r"node Squeeze_\d+: fixed batch 1 \(Squeeze\)"):
        ingest_proto(b.model(), batch=4)


def test_weights_made_of_the_data_are_named():
    """CondConv: the exporter makes one convolution of one image, several cannot be one."""
    b = Builder()
    x = b.input("x", [1, 8, 6, 6])
    pooled = b.node("Flatten", [b.node("GlobalAveragePool", [x])])
    weights = b.node("Reshape", [b.linear(pooled, 8, 64), b.constant([8, 8, 1, 1])])
    b.output(b.node("Conv", [x, weights], ["y"]))
    with pytest.raises(InputError, match=r"node Conv_\d+: fixed batch 1 \(Conv\)"):
        ingest_proto(b.model(), batch=4)


def tokens(make_token):
    """A class token beside 196 patches, positions added, and a product with a weight."""
    b = Builder()
    x = b.input("x", [1, 196, 8])
    data = b.node("Concat", [make_token(b), x], axis=1)
    data = b.node("Add", [data, b.weight(1, 197, 8)])
    b.output(b.node("MatMul", [data, b.weight(8, 4)], ["y"]))
    return b.model()


@pytest.mark.parametrize(
    "make_token",
    [
        lambda b: b.constant(np.zeros((1, 1, 8)), np.float32),
        lambda b: b.tensor([1, 1, 8]),
        lambda b: b.weight(1, 1, 8),
        lambda b: b.node("Expand", [b.weight(1, 1, 8), b.constant([1, 1, 8])]),
        lambda b: b.node("Add", [b.weight(1, 1, 8), b.weight(1, 1, 8)]),
    ],
    ids=["values", "stored", "made", "expanded", "with its position"],
)
def test_a_class_token_is_repeated(make_token):
    one, eight = (ingest_proto(tokens(make_token), batch=n).graph for n in (1, 8))
    assert last(eight) == (8, 197, 4)
    assert eight.macs.sum() == 8 * one.macs.sum() == 8 * 197 * 8 * 4
    assert eight.parameters == one.parameters
    assert eight.weights_total_bytes == one.weights_total_bytes


def test_a_parameter_of_the_old_batch_is_repeated():
    b = Builder()
    x = b.input("x", [2, 8])
    shifted = b.node("Expand", [b.weight(1, 8), b.constant([2, 8])])
    b.output(b.node("Add", [x, shifted], ["y"]))
    assert last(ingest_proto(b.model(), batch=4).graph) == (4, 8)


def test_a_parameter_that_a_shape_expands_is_repeated():
    """A state of [1, rows x batch, width], as an exporter folds it."""
    b = Builder()
    x = b.input("x", [1, 6, 8, 4])
    rows = b.node("Reshape", [x, b.constant([6, 8, 4])])
    size = b.node("Gather", [b.node("Shape", [rows]), b.constant([0])], axis=0)
    target = b.node("Concat", [size, b.constant([8, 4])], axis=0)
    state = b.node("Expand", [b.weight(6, 1, 4), target])
    b.output(b.node("Add", [rows, state], ["y"]))
    assert last(ingest_proto(b.model(), batch=5).graph) == (30, 8, 4)


def test_data_that_lost_its_batch_is_no_parameter():
    b = Builder()
    x = b.input("x", [2, 8])
    first = b.node("Slice", [x, b.constant([0]), b.constant([1]), b.constant([0])])
    both = b.node("Concat", [first, first], axis=0)
    b.output(b.node("Add", [x, both], ["y"]))
    with pytest.raises(InputError, match=r"node Add_\d+: fixed batch 2 \(Add\)"):
        ingest_proto(b.model(), batch=4)


def test_a_slice_of_the_whole_batch_stays_one():
    b = Builder()
    x = b.input("x", [1, 8, 6])
    cut = [b.constant(each) for each in ([0, 2], [1, 5], [0, 1])]
    b.output(b.node("Relu", [b.node("Slice", [x, *cut])], ["y"]))
    assert last(ingest_proto(b.model(), batch=4).graph) == (4, 3, 6)


def test_nothing_is_reshaped_at_any_batch():
    b = Builder()
    x = b.input("x", [1, 8, 6])
    cut = [b.constant(each) for each in ([0], [0], [1])]
    empty = b.node("Reshape", [b.node("Slice", [x, *cut]), b.constant([0, 6])], allowzero=1)
    b.output(b.node("Concat", [b.node("Reshape", [x, b.constant([8, 6])]), empty], ["y"], axis=0))
    assert last(ingest_proto(b.model(), batch=4).graph) == (32, 6)


@pytest.mark.parametrize("op", ["Resize", "Expand"])
def test_sizes_that_are_written_out_follow(op):
    b = Builder()
    x = b.input("x", [2, 3, 1, 1])
    sizes = b.constant([2, 3, 8, 8])
    inputs = [x, "", "", sizes] if op == "Resize" else [x, sizes]
    b.output(b.node("Relu", [b.node(op, inputs)], ["y"]))
    assert last(ingest_proto(b.model(), batch=4).graph) == (4, 3, 8, 8)


def recurrent(layout):
    b = Builder()
    x = b.input("x", [1, 6, 8])
    data = x if layout else b.node("Transpose", [x], perm=[1, 0, 2])
    weights = [b.weight(1, 16, 8), b.weight(1, 16, 4)]
    state = b.weight(1, 1, 4)
    inputs = [data, *weights, "", "", state, state]
    b.output(b.node("LSTM", inputs, ["y"], hidden_size=4, layout=layout))
    return b.model()


@pytest.mark.parametrize("layout", [0, 1])
def test_a_recurrent_state_is_repeated(layout):
    one, four = (ingest_proto(recurrent(layout), batch=n).graph for n in (1, 4))
    assert four.macs.sum() == 4 * one.macs.sum() > 0
    assert last(four) == ((4, 6, 1, 4) if layout else (6, 1, 4, 4))


def test_a_recurrence_over_the_batch_is_named():
    b = Builder()
    x = b.input("x", [1, 1, 8])
    weights = [b.weight(1, 16, 8), b.weight(1, 16, 4)]
    state = b.weight(1, 1, 4)
    b.output(b.node("LSTM", [x, *weights, "", "", state, state], ["y"], hidden_size=4))
    with pytest.raises(InputError, match=r"node LSTM_\d+: fixed batch 1 \(LSTM\)"):
        ingest_proto(b.model(), batch=4)


def attention(sizes):
    """One block of attention as an export at batch 1 writes it: token, heads and joins."""
    length, heads, size = sizes
    width = heads * size
    b = Builder()
    x = b.input("x", [1, length, width])
    data = b.node("Concat", [b.weight(1, 1, width), x], axis=1)
    length += 1
    joined = b.node("MatMul", [data, b.weight(width, 3 * width)])
    split = b.node("Reshape", [joined, b.constant([1, length, 3, heads, size])])
    split = b.node("Transpose", [split], perm=[2, 0, 3, 1, 4])
    query, key, value = (b.node("Gather", [split, b.constant(i)], axis=0) for i in range(3))
    scores = b.node("MatMul", [query, b.node("Transpose", [key], perm=[0, 1, 3, 2])])
    mixed = b.node("MatMul", [b.node("Softmax", [scores], axis=-1), value])
    mixed = b.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    flat = b.node("Reshape", [mixed, b.constant([1, length, width])])
    b.output(b.node("MatMul", [flat, b.weight(width, width)], ["y"]))
    return b.model()


@settings(deadline=None, max_examples=25)
@given(st.tuples(*[st.integers(1, 5)] * 3), st.integers(2, 9))
def test_attention_at_a_batch_has_the_work_of_as_many(sizes, batch):
    one, many = (ingest_proto(attention(sizes), batch=n).graph for n in (1, batch))
    length, heads, size = sizes
    assert (many.macs == batch * one.macs).all()
    assert last(many) == (batch, length + 1, heads * size)
    assert many.parameters == one.parameters


def test_a_whole_transformer_is_the_one_of_a_dynamic_export():
    written = ingest_proto(vit_tiny(1), batch=8).graph
    dynamic = ingest_proto(vit_tiny("batch"), batch=8).graph
    assert written.fingerprint == dynamic.fingerprint
    assert (written.bytes_moved == dynamic.bytes_moved).all()
