"""Types of values that a file states."""

from __future__ import annotations

from onnx import TensorProto, helper

from predictor.graph.flatten import StoredTypes


def test_a_value_that_is_stated_twice_has_the_type_of_the_last_one() -> None:
    twice = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)
        for dims in (["N", 4, 1], ["N", 4])
    ]
    graph = helper.make_graph([], "g", [], twice[1:], value_info=twice[:1])

    assert StoredTypes(graph, {"N": 3})["y"].shape == (3, 4)
