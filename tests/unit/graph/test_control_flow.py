"""If, Loop and Scan: bodies inline, branches and trip counts."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from predictor.graph.operator_graph import OperatorFlag
from tests.support.model_files import BOOL, FLOAT, INT64, loop_body, loop_model, value
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def rows(graph):
    return {name: i for i, name in enumerate(graph.names)}


def test_a_loop_body_counts_its_trips():
    model = ingest_proto(loop_model(5))
    graph = model.graph
    product = next(i for name, i in rows(graph).items() if name.endswith("/product"))
    assert graph.names[product].startswith("Loop_")
    assert graph.repeats[product] == 5
    assert graph.macs[product] == 5 * 4 * 8 * 8
    assert graph.gemm[product].tolist() == [1, 4, 8, 8]
    assert graph.weight_bytes[product] == 5 * 256
    assert graph.parameters == 64
    assert OperatorFlag(int(graph.flags[product])) == OperatorFlag.SUBGRAPH
    assert model.outputs[1].shape == (5, 4, 8)
    assert not model.notes


def test_a_loop_without_a_trip_count_is_counted_once_and_says_so():
    model = ingest_proto(loop_model(None))
    graph = model.graph
    product = next(i for name, i in rows(graph).items() if name.endswith("/product"))
    assert graph.repeats[product] == 1
    assert graph.flags[product] & OperatorFlag.UNKNOWN_TRIPS
    assert any("does not state how often" in note for note in model.notes)


def test_the_largest_integer_is_no_trip_count():
    model = ingest_proto(loop_model(2**63 - 1))
    assert model.graph.repeats.max() == 1


def test_a_trip_count_may_come_from_a_shape():
    b = Builder()
    x = b.input("x", ["length", 8])
    weights = b.weight(8, 8)
    count = b.node("Gather", [b.node("Shape", [x]), b.constant(0)], axis=0)
    b.node("Loop", [count, b.constant(True, np.bool_), x], ["last", "all"], body=loop_body(weights))
    b.output("last")
    assert ingest_proto(b.model(), {"length": 6}).graph.repeats.max() == 6


def scan_model():
    nodes = [
        helper.make_node("Add", ["state", "piece"], ["sum"], name="sum"),
        helper.make_node("MatMul", ["sum", "w"], ["out"], name="product"),
    ]
    body = helper.make_graph(
        nodes, "body", [value("state"), value("piece")], [value("sum"), value("out")]
    )
    b = Builder()
    state, xs = b.input("state0", [2, 8]), b.input("xs", [7, 2, 8])
    b.initializers.append(TensorProto(name="w", dims=[8, 3], data_type=FLOAT))
    b.node("Scan", [state, xs], ["last", "outs"], body=body, num_scan_inputs=1)
    b.output("outs")
    b.output("last")
    return b.model()


def test_a_scan_runs_over_its_first_axis():
    model = ingest_proto(scan_model())
    graph = model.graph
    product = next(i for name, i in rows(graph).items() if name.endswith("/product"))
    assert graph.macs[product] == 7 * 2 * 8 * 3
    assert model.outputs[0].shape == (7, 2, 3)


def branch(name, width, weights):
    node = helper.make_node("MatMul", ["x", weights], ["out"], name=f"{name}_product")
    return helper.make_graph([node], name, [], [value("out", FLOAT, [4, width])])


def if_model(condition):
    b = Builder()
    b.input("x", [4, 8])
    wide, narrow = b.weight(8, 32), b.weight(8, 16)
    given = b.input("c", [], BOOL) if condition is None else b.constant(condition, np.bool_)
    out = b.node(
        "If",
        [given],
        then_branch=branch("small", 16, narrow),
        else_branch=branch("large", 32, wide),
    )
    b.output(b.node("Relu", [out], ["y"]))
    return b.model()


@pytest.mark.parametrize(("condition", "width"), [(True, 16), (False, 32), (None, 32)])
def test_an_if_counts_the_branch_that_is_known_or_the_costlier_one(condition, width):
    model = ingest_proto(if_model(condition))
    assert model.graph.macs.sum() == 4 * 8 * width
    assert bool(model.notes) is (condition is None)
    assert model.graph.flags[0] & OperatorFlag.SUBGRAPH


def test_the_branch_feeds_what_follows():
    graph = ingest_proto(if_model(None)).graph
    assert graph.op_types == ("MatMul", "Relu")
    assert graph.edges.T.tolist() == [[0, 1]]


def test_a_loop_in_a_loop_multiplies_the_trips():
    inner = loop_body("w")
    outer_nodes = [
        helper.make_node("Loop", ["three", "c", "u"], ["u_out", "every"], body=inner, name="inner"),
        helper.make_node("Identity", ["c"], ["c_out"]),
    ]
    outer = helper.make_graph(
        outer_nodes,
        "outer",
        [value("j", INT64, []), value("c", BOOL, []), value("u")],
        [value("c_out", BOOL, []), value("u_out")],
    )
    b = Builder()
    x = b.input("x", [4, 8])
    b.initializers += [
        helper.make_tensor("three", INT64, [], [3]),
        TensorProto(name="w", dims=[8, 8], data_type=FLOAT),
    ]
    b.node("Loop", [b.constant(2), b.constant(True, np.bool_), x], ["y"], body=outer)
    b.output("y")
    assert ingest_proto(b.model()).graph.macs.sum() == 2 * 3 * 4 * 8 * 8
