"""Graphs that parse and still lie: loops that never run, functions without end, huge sizes."""

import sys

import onnx
import pytest
from onnx import TensorProto, helper, parser

from predictor.core.errors import InputError
from predictor.devices.catalogue import load_device_files
from predictor.graph.reader import read_model
from predictor.services.prediction.engines import ENGINES
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets
from tests.support.model_files import field, loop_model, model_of, relu_node, saved, varint
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto

resource = pytest.importorskip("resource")
_MOST_MIB = 200


def peak_mib():
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def functions(*bodies, calls="a = own.F0 (x)"):
    """A model from x to a with local functions ``F0``, ``F1``, ... of these bodies."""
    text = f"""<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        agraph (float[1, 4] x) => (float[1, 4] a) {{ {calls} }}"""
    for number, body in enumerate(bodies):
        text += f"""
        <domain: "own", opset_import: ["" : 17, "own" : 1]> F{number} (u) => (v) {{ {body} }}"""
    return parser.parse_model(text)


def refusal(tmp_path, model):
    with pytest.raises(InputError) as caught:
        read_model(saved(tmp_path / "model.onnx", model))
    return caught.value.reason


def scanning_loop(trips):
    """A loop whose only result is what it hands out, and an operator after it."""
    model = loop_model(trips)
    del model.graph.output[:]
    model.graph.node.append(helper.make_node("Relu", ["all"], ["y"]))
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
    return model


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop_that_never_runs_leaves_a_number_or_a_problem(engine):
    model = ingest_proto(scanning_loop(0))
    assert set(model.graph.repeats.tolist()) == {1}
    assert list(model.graph.op_types) == ["Loop", "Relu"]
    targets = resolve_targets([entry.device for entry in load_device_files()[:20]])
    predictions = predict([model], targets, engine)
    assert all((p.latency_ms is None) == bool(p.problem) for p in predictions)
    assert any(p.latency_ms is not None for p in predictions)


def test_what_a_loop_that_never_runs_carries_passes_through():
    model = loop_model(0)
    del model.graph.output[:]
    model.graph.node.append(helper.make_node("Relu", ["last"], ["y"]))
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
    graph = ingest_proto(model).graph
    assert list(graph.op_types) == ["Relu"]
    assert graph.output_shape(0) == (4, 8)


def test_a_function_that_calls_itself_is_refused(tmp_path):
    assert "'F0' calls itself" in refusal(tmp_path, functions("v = own.F0 (u)"))
    around = functions("v = own.F1 (u)", "v = own.F0 (u)")
    assert "'F0' calls itself" in refusal(tmp_path, around)


def test_two_functions_of_one_name_are_refused(tmp_path):
    model = functions("v = Relu (u)")
    model.functions.append(model.functions[0])
    assert refusal(tmp_path, model) == "two of its functions have one name"


def test_functions_that_multiply_are_refused_before_they_are_written_out(tmp_path):
    """Twenty functions, each of which calls the next one twice: a million nodes."""
    calls = [f"w = own.F{n + 1} (u) v = own.F{n + 1} (w)" for n in range(20)]
    model = functions(*calls, "v = Relu (u)")
    assert "with its functions written out it has more than 200000 nodes" in refusal(
        tmp_path, model
    )


def test_functions_nested_too_deeply_are_refused(tmp_path):
    calls = [f"v = own.F{n + 1} (u)" for n in range(40)]
    assert "is nested deeper than 32 levels" in refusal(tmp_path, functions(*calls, "v = Relu (u)"))


@pytest.mark.parametrize("version", [0, 2**31, 2**62])
def test_versions_that_are_none_are_refused(tmp_path, version):
    model = model_of([relu_node()])
    model.opset_import.add(domain="own", version=version)
    assert refusal(tmp_path, model) == f"its opset {version} for 'own' is no version"


def test_a_domain_of_an_opset_that_is_not_utf8_is_refused(tmp_path):
    path = saved(tmp_path / "model.onnx", model_of([relu_node()]))
    opset = field(1, b"\xff") + varint(2 << 3) + varint(1)
    path.write_bytes(path.read_bytes() + field(8, opset))
    with pytest.raises(InputError, match="is not UTF-8"):
        read_model(path)


def test_a_constant_without_output_is_named():
    nodes = [helper.make_node("Constant", [], [], name="lost", value_int=1), relu_node()]
    with pytest.raises(InputError, match="node lost: Constant: it has no output"):
        ingest_proto(model_of(nodes))


def test_a_huge_size_is_refused_before_memory_is_taken_for_it():
    """onnx's propagation of data writes out a vector that is added, whatever its length."""
    b = Builder()
    x = b.input("x", [1, 4])
    long = b.node("ConstantOfShape", [b.constant([10**14])])
    for _ in range(6):
        long = b.node("Expand", [long, b.constant([10**14])])
        long = b.node("Add", [long, long])
    b.output(b.node("Add", [long, b.node("ConstantOfShape", [b.constant([2**60])])], ["y"]))
    b.output(b.node("Relu", [x], ["z"]))
    before = peak_mib()
    with pytest.raises(InputError, match="more than 1125899906842624 elements"):
        ingest_proto(b.model())
    assert peak_mib() - before < _MOST_MIB


def test_values_of_a_body_whose_file_lies_of_their_size_take_no_memory():
    """A body's stated types are believed; the values themselves are bounded all the same."""
    graph = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[1, 4] x, bool c) => (float[P, Q] y) <int64 zero = {0}, int64 one = {1},
            int64 most = {30000}, int64[1] p = {1}, int64[1] m = {-1}> {
            y = If (c) <then_branch = t () => (float[P, Q] u) <int64[1] s> {
                    row = Concat <axis = 0> (p, m) column = Concat <axis = 0> (m, p)
                    k = Range (zero, most, one) a = Reshape (k, row) b = Reshape (k, column)
                    s = Add (a, b) u = Reshape (x, s) },
                else_branch = e () => (float[1, 4] o) { o = Neg (x) }>
        }
    """)
    before = peak_mib()
    with pytest.raises(InputError, match="cannot be inferred from the file"):
        ingest_proto(graph)
    assert peak_mib() - before < _MOST_MIB


def test_more_work_than_64_bits_count_is_refused():
    b = Builder()
    x = b.input("x", [2**20, 2**20])
    for _ in range(9):
        x = b.node("MatMul", [x, b.node("ConstantOfShape", [b.constant([2**20, 2**20])])])
    b.output(x)
    with pytest.raises(InputError, match="more work than 64 bits can count"):
        ingest_proto(b.model())


def test_long_names_are_shortened_in_the_sentence():
    node = onnx.NodeProto(op_type="Add", name="n" * 9000, input=["x", "m" * 9000], output=["y"])
    with pytest.raises(InputError) as caught:
        ingest_proto(model_of([node]))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("dims", [(-(2**63), 4), (2**62, 4)])
def test_a_sparse_tensor_without_sound_dims_is_refused(tmp_path, dims):
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("w_at", TensorProto.INT64, [1], [0])
    model = functions("v = Relu (u)")
    model.graph.sparse_initializer.add(values=values, indices=indices, dims=dims)
    assert "tensor 'w' has" in refusal(tmp_path, model)
