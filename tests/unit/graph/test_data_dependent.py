"""Sizes that depend on values take an upper bound, a flag and a note."""

import numpy as np
import pytest
from onnx import TensorProto

from predictor.graph.operator_graph import OperatorFlag
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def bounded(b, name):
    model = ingest_proto(b.model())
    graph = model.graph
    index = graph.op_types.index(name)
    assert graph.flags[index] & OperatorFlag.DATA_DEPENDENT
    assert any("upper bound" in note for note in model.notes)
    return graph, index


def test_non_zero_may_find_every_element():
    b = Builder()
    found = b.node("NonZero", [b.input("x", [4, 5])])
    b.output(b.node("Cast", [found], ["y"], to=TensorProto.FLOAT))
    graph, index = bounded(b, "NonZero")
    assert graph.output_shape(index) == (2, 20)


@pytest.mark.parametrize(("limit", "kept"), [(10, 10), (500, 100)])
def test_suppression_keeps_at_most_its_limit_a_class(limit, kept):
    b = Builder()
    boxes, scores = b.input("boxes", [2, 100, 4]), b.input("scores", [2, 3, 100])
    chosen = b.node("NonMaxSuppression", [boxes, scores, b.constant([limit])], ["y"])
    b.output(chosen, dtype=TensorProto.INT64)
    graph, index = bounded(b, "NonMaxSuppression")
    assert graph.output_shape(index) == (2 * 3 * kept, 3)


def test_unique_and_compress():
    b = Builder()
    x = b.input("x", [4, 5])
    b.output(b.node("Unique", [x], ["u"]))
    b.output(b.node("Compress", [x, b.input("keep", [4], TensorProto.BOOL)], ["c"], axis=0))
    graph, index = bounded(b, "Unique")
    assert graph.output_shape(index) == (20,)
    assert graph.output_shape(graph.op_types.index("Compress")) == (4, 5)


def test_top_k_of_a_computed_count_takes_the_whole_axis():
    b = Builder()
    x = b.input("x", [2, 50])
    b.output(b.node("TopK", [x, b.input("k", [1], TensorProto.INT64)], ["v", "i"]))
    graph, index = bounded(b, "TopK")
    assert graph.output_shape(index) == (2, 50)


def test_non_zero_of_a_constant_is_known():
    b = Builder()
    mask = b.constant(np.array([0, 1, 1, 0]))
    rows = b.node("Transpose", [b.node("NonZero", [mask])])
    b.output(b.node("GatherND", [b.input("x", [4, 3]), rows], ["y"]))
    graph = ingest_proto(b.model()).graph
    assert graph.output_shape(0) == (2, 3)
    assert graph.flags[0] == 0
