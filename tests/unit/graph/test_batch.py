"""Another batch for a model that fixes it, and the nodes that pin it."""

import numpy as np
import pytest

from predictor.core.errors import InputError
from tests.networks.builder import Builder
from tests.networks.ingesting import ingest_proto
from tests.networks.vision import resnet18


def test_a_fixed_batch_is_replaced_and_everything_inferred_anew():
    one, four = (ingest_proto(resnet18(), batch=n).graph for n in (1, 4))
    assert four.macs.sum() == 4 * one.macs.sum()
    assert four.parameters == one.parameters
    assert four.output_shape(len(four) - 1) == (4, 1000)
    assert (four.bytes_written == 4 * one.bytes_written).all()


def classifier(target):
    b = Builder()
    x = b.input("x", [1, 8, 2, 2])
    flat = b.node("Reshape", [x, b.constant(target)], ["flat"])
    b.output(b.node("MatMul", [flat, b.weight(32, 10)], ["y"]))
    return b.model()


@pytest.mark.parametrize("target", [[1, -1], [1, 32]])
def test_a_reshape_that_pins_the_batch_is_named(target):
    with pytest.raises(InputError, match=r"node Reshape_\d+: .*dynamic batch"):
        ingest_proto(classifier(target), batch=4)


@pytest.mark.parametrize("target", [[-1, 32], [0, 32], [0, -1]])
def test_a_reshape_that_leaves_the_batch_open_follows(target):
    graph = ingest_proto(classifier(target), batch=4).graph
    assert graph.output_shape(len(graph) - 1) == (4, 10)


def test_a_constant_of_the_old_batch_is_named():
    b = Builder()
    x = b.input("x", [1, 196, 8])
    token = b.constant(np.zeros((1, 1, 8)), np.float32)
    b.output(b.node("Concat", [token, x], ["y"], axis=1))
    with pytest.raises(InputError, match=r"node Concat_\d+: its inputs do not fit Concat"):
        ingest_proto(b.model(), batch=4)


def test_an_expansion_to_the_old_batch_is_named():
    b = Builder()
    x = b.input("x", [2, 8])
    shifted = b.node("Expand", [b.weight(1, 8), b.constant([2, 8])])
    b.output(b.node("Add", [x, shifted], ["y"]))
    with pytest.raises(InputError, match=r"node Add_\d+"):
        ingest_proto(b.model(), batch=4)


def test_a_recurrent_state_of_the_old_batch_is_named():
    b = Builder()
    x = b.input("x", [1, 1, 8])
    weights = [b.weight(1, 16, 8), b.weight(1, 16, 4)]
    state = b.weight(1, 1, 4)
    b.output(b.node("LSTM", [x, *weights, "", "", state, state], ["y"], hidden_size=4))
    with pytest.raises(InputError, match=r"node LSTM_\d+: fixed batch 1 \(LSTM\)"):
        ingest_proto(b.model(), batch=4)
