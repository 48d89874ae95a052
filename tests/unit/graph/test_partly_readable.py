"""Files of which a part cannot be read: unknown operators, texts, blobs, absent weights."""

import pytest
from onnx import TensorProto, helper, parser

from predictor.core.errors import InputError
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorFlag
from tests.support.model_files import external, saved
from tests.support.networks.ingesting import ingest_proto

_HEAD = '<ir_version: 8, opset_import: ["": 20, "plug.in": 1, "com.microsoft": 1]>\n'


def read(text, **arguments):
    return ingest_proto(parser.parse_model(_HEAD + text), **arguments)


REGIONS = """
g (float[batch, 8, 14, 14] x, float[392, 4] w) => (float[batch, 4] y)
<float[batch, 8, 7, 7] r, int32[batch, 2] n> {
  r, n = plug.in.Regions (x)
  f = Flatten (r)
  y = MatMul (f, w)
}"""


def test_the_shape_that_a_file_states_holds_for_an_unknown_operator():
    model = read(REGIONS, batch=3)
    assert model.outputs[0].shape == (3, 4)
    assert model.graph.macs.sum() == 3 * 392 * 4
    assert model.notes == (
        "Operator plug.in::Regions is not known: its bytes are counted, its arithmetic is not.",
    )


def test_an_output_of_an_unknown_operator_keeps_its_stated_type():
    text = """
    g (float[1, 100, 4] x) => (int32[1, many] y) { y = plug.in.Boxes (x) }"""
    (output,) = read(text).outputs
    assert (output.dtype, output.shape) == ("int32", (1, 1))


def test_what_follows_from_a_guess_is_not_called_unknown():
    text = """
    g (float[1, 8, 7, 7] x, float[392, 4] w) => (float[a, b] y) {
      r = plug.in.Regions (x)
      y = Gemm (r, w)
    }"""
    model = read(text)
    assert not any("Gemm is not known" in note for note in model.notes)
    assert all(flags & OperatorFlag.UNKNOWN for flags in model.graph.flags.tolist())


def test_a_compiled_network_is_refused():
    body = "y = com.microsoft.EPContext <main_context = 1> (x)"
    text = f"g (float[1, 3] x) => (float[1, 5] y) {{ {body} }}"
    with pytest.raises(InputError, match="compiled for one device") as caught:
        read(text)
    assert caught.value.action == "open the ONNX file that it was compiled from"


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ('y, n = StringSplit <delimiter = " "> (x)', (5, 128)),
        ('y, n = StringSplit <delimiter = " ", maxsplit = 3> (x)', (5, 4)),
        ('y = StringNormalizer <stopwords = ["the"]> (x)', (5,)),
        ('y = com.microsoft.Tokenizer <mark = 0, mincharnum = 1, pad_value = "#"> (x)', (5, 128)),
    ],
)
def test_sizes_that_texts_decide_are_bounded_or_assumed(body, shape):
    model = read(f"g (string[5] x) => (string[] y) {{ {body} }}")
    assert model.outputs[0].shape == shape
    assert model.graph.flags[0] & OperatorFlag.DATA_DEPENDENT
    assert len(model.notes) == 1


def file_with(tmp_path, tensor, node):
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [tensor],
    )
    opsets = [helper.make_opsetid("", 17)]
    return saved(tmp_path / "m.onnx", helper.make_model(graph, opset_imports=opsets, ir_version=8))


def test_absent_weights_are_counted_as_stated(tmp_path):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    model = ingest(file_with(tmp_path, external("w", [8, 6], "gone.bin"), node))
    assert (model.graph.parameters, model.graph.macs.sum()) == (48, 48)
    (note,) = model.notes
    assert note == (
        "Its weights are in 'gone.bin', which is missing: they are counted as the file states them."
    )


def test_absent_values_that_decide_a_shape_are_missed(tmp_path):
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    tensor = external("s", [2], "gone.bin", dtype=TensorProto.INT64)
    with pytest.raises(InputError, match=r"'gone\.bin', which is missing; put that file into"):
        ingest(file_with(tmp_path, tensor, node))


def test_a_wrong_dimension_is_named_though_weights_are_absent(tmp_path):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    path = file_with(tmp_path, external("w", [8, 6], "gone.bin"), node)
    with pytest.raises(InputError, match="no such dimension"):
        ingest(path, {"n": 3})
