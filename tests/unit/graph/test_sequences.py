"""Sequences and optionals, in loops and outside: shapes as onnxruntime makes them."""

import numpy as np
import onnxruntime
import pytest
from onnx import parser

from tests.support.networks.ingesting import ingest_proto

_HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'


def read(text, **arguments):
    return ingest_proto(parser.parse_model(_HEAD + text), **arguments)


def run_shape(text, *shapes):
    """Return the shape of the first output, as onnxruntime makes it."""
    model = parser.parse_model(_HEAD + text)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    inputs = zip(session.get_inputs(), shapes, strict=True)
    return session.run(None, {i.name: np.zeros(s, np.float32) for i, s in inputs})[0].shape


GROWN = """
g (float[10, 4, 16] x, float[16, 8] w) => (float[a, b, c] y) {
  pieces = SplitToSequence <axis = 0, keepdims = 1> (x)
  n = SequenceLength (pieces)
  none = SequenceEmpty ()
  all = Loop (n, , none) <body =
  body (int64 i, bool c, seq(float[]) before) => (bool on, seq(float[]) after) {
    piece = SequenceAt (pieces, i)
    product = MatMul (piece, w)
    after = SequenceInsert (before, product)
    on = Identity (c)
  }>
  y = ConcatFromSequence <axis = 0> (all)
}"""


def test_a_list_that_a_loop_makes_has_one_tensor_a_trip():
    model = read(GROWN)
    assert model.outputs[0].shape == run_shape(GROWN, (10, 4, 16), (16, 8)) == (10, 4, 8)
    assert model.graph.macs.sum() == 10 * 4 * 16 * 8
    assert not model.notes


TWICE = """
g (float[2, 3] x) => (float[a, b, c] y) {
  count = Constant <value = int64 {3}> ()
  first = SequenceConstruct (x, x)
  all = Loop (count, , first) <body =
  body (int64 i, bool c, seq(float[]) s) => (bool on, seq(float[]) t) {
    last = Constant <value = int64 {-1}> ()
    old = SequenceAt (s, last)
    new = Relu (old)
    u = SequenceInsert (s, new)
    v = SequenceInsert (u, old)
    t = SequenceErase (v)
    on = Identity (c)
  }>
  y = ConcatFromSequence <axis = 0, new_axis = 1> (all)
}"""


def test_what_a_trip_takes_out_is_taken_off():
    assert read(TWICE).outputs[0].shape == run_shape(TWICE, (2, 3)) == (5, 2, 3)


CHOSEN = """
g (float[4, 6] x) => (float[a, b] y) {
  yes = Constant <value = bool {1}> ()
  s = If (yes) <
    then_branch = one () => (seq(float[]) t) { t = SplitToSequence <axis = 1> (x) },
    else_branch = two () => (seq(float[]) e) { e = SequenceConstruct (x, x) }
  >
  y = ConcatFromSequence <axis = 0> (s)
}"""


def test_a_branch_hands_its_list_out():
    assert read(CHOSEN).outputs[0].shape == run_shape(CHOSEN, (4, 6)) == (24, 1)


@pytest.mark.parametrize(
    ("split", "axis", "shape"),
    [("sizes", 1, (4, 6)), ("sizes", 0, (8, 4)), ("step", 1, (4, 6)), ("step", 0, (8, 4))],
)
def test_pieces_of_different_sizes_join_again(split, axis, shape):
    text = f"""
    g (float[4, 6] x) => (float[a, b] y) {{
      sizes = Constant <value = int64[2] {{2, 4}}> ()
      step = Constant <value = int64 {{4}}> ()
      s = SplitToSequence <axis = 1> (x, {split})
      y = ConcatFromSequence <axis = {axis}> (s)
    }}"""
    # Along the other axis the pieces differ, which onnxruntime refuses: the largest counts.
    assert read(text).outputs[0].shape == shape
    if axis == 1:
        assert run_shape(text, (4, 6)) == shape


def test_an_optional_is_its_element():
    text = """
    g (float[4, 6] x) => (float[a, b] y) {
      o = Optional (x)
      has = OptionalHasElement (o)
      y = If (has) <
        then_branch = one () => (float[c, d] t) { e = OptionalGetElement (o) t = Relu (e) },
        else_branch = two () => (float[c, d] f) {
          w = Transpose (x) p = MatMul (x, w) f = MatMul (p, x)
        }
      >
    }"""
    model = read(text.replace("17", "18"))
    assert model.outputs[0].shape == (4, 6)
    assert "Relu" in model.graph.op_types
    assert not model.graph.macs.any()


def test_a_list_of_unknown_length_counts_one_tensor_and_says_so():
    text = """
    g (seq(float[4, 6]) s) => (float[a, b] y) {
      y = ConcatFromSequence <axis = 0> (s)
    }"""
    model = read(text)
    assert model.outputs[0].shape == (4, 6)
    assert model.notes == ("The number of tensors in s is not known: one is counted.",)


def test_pieces_of_sizes_that_depend_on_the_input_are_bounded():
    text = """
    g (float[4, 6] x, int64[k] sizes) => (float[a, b] y) {
      s = SplitToSequence <axis = 1> (x, sizes)
      i = Constant <value = int64 {0}> ()
      y = SequenceAt (s, i)
    }"""
    assert read(text).outputs[0].shape == (4, 6)
