"""Graphs that are wrong as graphs, and operators that nobody knows."""

import pytest
from onnx import TensorProto, helper

from predictor.core.errors import InputError
from predictor.graph.operator_graph import OperatorFlag
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def chain(*nodes):
    """A model of (type, inputs, outputs, name) on input x and output y."""
    b = Builder()
    b.input("x", [2, 3])
    for op_type, inputs, outputs, name in nodes:
        b.nodes.append(helper.make_node(op_type, inputs, outputs, name=name))
    b.output("y")
    return b.model()


def test_a_cycle_names_a_node_on_it():
    proto = chain(
        ("Relu", ["x"], ["a"], "before"),
        ("Add", ["a", "c"], ["b"], "first"),
        ("Exp", ["b"], ["c"], "second"),
        ("Neg", ["c"], ["y"], "after"),
    )
    with pytest.raises(InputError, match=r"node (first|second): it stands on a cycle"):
        ingest_proto(proto)


def test_a_value_that_is_made_twice_names_its_node():
    proto = chain(("Relu", ["x"], ["y"], "one"), ("Exp", ["x"], ["y"], "two"))
    with pytest.raises(InputError, match=r"node two: its output y is made twice"):
        ingest_proto(proto)


def test_an_output_with_the_name_of_an_input_is_made_twice():
    with pytest.raises(InputError, match="made twice"):
        ingest_proto(chain(("Relu", ["x"], ["x"], "one"), ("Exp", ["x"], ["y"], "two")))


def test_two_inputs_of_one_name_are_refused():
    proto = chain(("Relu", ["x"], ["y"], "one"))
    proto.graph.input.append(helper.make_tensor_value_info("x", 1, [4, 5]))
    with pytest.raises(InputError, match=r"input x: the graph has two inputs of that name"):
        ingest_proto(proto)


@pytest.mark.parametrize("nothing", ["identity", "constant"])
def test_a_model_without_work_is_refused(nothing):
    b = Builder()
    x = b.input("x", [2, 3])
    if nothing == "identity":
        b.output(b.node("Identity", [x], ["y"]))
    else:
        b.output(b.node("Exp", [b.weight(2, 3)], ["y"]))
    with pytest.raises(InputError, match="none of its operators does any work on its inputs"):
        ingest_proto(b.model())


def test_a_convolution_of_no_group_is_named():
    b = Builder()
    x = b.input("x", [1, 3, 8, 8])
    b.output(b.node("Conv", [x, b.weight(4, 3, 3, 3)], ["y"], group=0))
    with pytest.raises(InputError, match=r"node Conv_\d+: its inputs do not fit Conv"):
        ingest_proto(b.model())


def test_an_input_that_nobody_makes_names_its_node():
    with pytest.raises(InputError, match=r"node one: nothing makes its input z"):
        ingest_proto(chain(("Add", ["x", "z"], ["y"], "one")))


def test_an_output_that_nobody_makes_is_named():
    with pytest.raises(InputError, match=r"output y: no node makes it"):
        ingest_proto(chain(("Relu", ["x"], ["a"], "one")))


def test_nodes_in_any_order_are_sorted():
    ordered = chain(("Relu", ["x"], ["a"], "one"), ("Exp", ["a"], ["y"], "two"))
    shuffled = chain(("Exp", ["a"], ["y"], "two"), ("Relu", ["x"], ["a"], "one"))
    expected, graph = (ingest_proto(p).graph for p in (ordered, shuffled))
    assert graph.names == ("one", "two")
    assert graph.fingerprint == expected.fingerprint


def test_shapes_that_do_not_fit_name_the_node():
    b = Builder()
    x = b.input("x", [2, 3])
    b.output(b.node("MatMul", [x, b.weight(4, 5)], ["y"]))
    with pytest.raises(InputError, match=r"node MatMul_\d+: its inputs do not fit MatMul"):
        ingest_proto(b.model())


def test_a_reshape_that_loses_elements_is_named():
    b = Builder()
    x = b.input("x", [2, 3])
    b.output(b.node("Reshape", [x, b.constant([7])], ["y"]))
    with pytest.raises(InputError, match=r"Reshape cannot make \[7\] of \[2, 3\]"):
        ingest_proto(b.model())


def test_a_shape_that_stays_unknown_names_node_and_dimension():
    b = Builder()
    x = b.input("x", [2, 3])
    count = b.input("count", [1], TensorProto.INT64)
    b.output(b.node("Expand", [x, b.node("Concat", [count, b.constant([2, 3])], axis=0)], ["y"]))
    with pytest.raises(InputError, match=r"node Expand_\d+: dimension 0 of its output y"):
        ingest_proto(b.model())


def unknown_model(stored=None):
    b = Builder()
    x = b.input("x", [2, 3, 8])
    strange = b.node("Strange", [x, b.weight(5, 7)], ["s"], domain="acme")
    b.output(b.node("MatMul", [strange, b.weight(8, 4)], ["y"]))
    proto = b.model()
    if stored:
        proto.graph.value_info.append(helper.make_tensor_value_info("s", 1, stored))
    return proto


def test_an_unknown_operator_counts_bytes_and_is_flagged():
    model = ingest_proto(unknown_model())
    graph = model.graph
    assert graph.op_types == ("acme::Strange", "MatMul")
    assert graph.flags[0] == OperatorFlag.UNKNOWN
    assert graph.op_code[0] == 0
    assert graph.macs.tolist() == [0, 2 * 3 * 8 * 4]
    assert graph.bytes_moved[0] == 4 * (48 + 35 + 48)
    assert any("acme::Strange is not known" in note for note in model.notes)


def test_an_unknown_operator_takes_its_stored_shape():
    assert ingest_proto(unknown_model([9, 8])).graph.macs[1] == 9 * 8 * 4


def test_what_follows_an_unknown_operator_never_fails():
    b = Builder()
    x = b.input("x", [2, 3])
    strange = b.node("Strange", [x], ["s"], domain="acme")
    product = b.node("MatMul", [strange, b.weight(64, 4)])
    b.output(b.node("Reshape", [product, b.constant([1, 99])], ["y"]))
    model = ingest_proto(b.model())
    assert len(model.graph) == 3


def test_operators_of_later_opsets_in_older_files_are_known():
    b = Builder(opset=13)
    x = b.input("x", [2, 16])
    b.output(b.layer_norm(x, 16))
    graph = ingest_proto(b.model()).graph
    assert graph.op_types == ("LayerNormalization",)
    assert graph.flags[0] == 0
