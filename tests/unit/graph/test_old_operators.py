"""Operators from before opset 7, as the files of the first model zoo hold them."""

import pytest
from onnx import parser

from predictor.core.errors import InputError
from tests.support.networks.ingesting import ingest_proto


def read(body, inputs="float[1, 8, 6, 6] x", opset=3, output="float[] y"):
    text = f'<ir_version: 3, opset_import: ["": {opset}]>\ng ({inputs}) => ({output}) {{ {body} }}'
    return ingest_proto(parser.parse_model(text))


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("y = Relu <consumed_inputs = [0]> (x)", (1, 8, 6, 6)),
        ("y = Sum (x, x)", (1, 8, 6, 6)),
        ("y = Concat (x, x)", (1, 16, 6, 6)),
        ("y = Concat <axis = 2> (x, x)", (1, 8, 12, 6)),
        ("y = Reshape <shape = [0, -1]> (x)", (1, 288)),
        ("y = Pad <paddings = [0, 0, 1, 1, 0, 0, 2, 2]> (x)", (1, 8, 9, 9)),
        ('y = Cast <to = "FLOAT16"> (x)', (1, 8, 6, 6)),
        ("y = Upsample <height_scale = 2.0, width_scale = 3.0> (x)", (1, 8, 12, 18)),
        ("d, mask = Dropout <is_test = 1, ratio = 0.5> (x) y = Relu (d)", (1, 8, 6, 6)),
        ("y = LpPool <kernel_shape = [2, 2], strides = [2, 2], p = 2.0> (x)", (1, 8, 3, 3)),
        ("y = GlobalLpPool <p = 2.0> (x)", (1, 8, 1, 1)),
        ("y = Clip <max = 6.0, min = 0.0> (x)", (1, 8, 6, 6)),
        ("y = Exp (x)", (1, 8, 6, 6)),
        ("y = LRN <size = 5> (x)", (1, 8, 6, 6)),
        ("a, y = Split <axis = 1> (x)", (1, 4, 6, 6)),
        ("y = Transpose <perm = [0, 2, 3, 1]> (x)", (1, 6, 6, 8)),
    ],
)
def test_shapes_of_the_first_forms(body, shape):
    assert read(body).outputs[0].shape == shape


@pytest.mark.parametrize(
    ("body", "inputs", "shape"),
    [
        (
            "y = BatchNormalization <consumed_inputs = [0, 1], is_test = 1> (x, s, b, m, v)",
            "float[1, 8, 6, 6] x, float[8] s, float[8] b, float[8] m, float[8] v",
            (1, 8, 6, 6),
        ),
        (
            "y = Mul <axis = 1, broadcast = 1> (x, s)",
            "float[1, 8, 6, 6] x, float[8] s",
            (1, 8, 6, 6),
        ),
        ("y = Gemm <broadcast = 1> (x, w, b)", "float[4, 8] x, float[8, 5] w, float[5] b", (4, 5)),
        ("y = PRelu (x, s)", "float[1, 8, 6, 6] x, float[8] s", (1, 8, 6, 6)),
    ],
)
def test_shapes_of_the_first_forms_with_several_inputs(body, inputs, shape):
    assert read(body, inputs).outputs[0].shape == shape


def test_old_and_new_forms_have_one_work():
    old = read(
        "r = Relu (x) f = Reshape <shape = [1, 288]> (r) y = MatMul (f, w)",
        "float[1, 8, 6, 6] x, float[288, 10] w",
    )
    new = read(
        "r = Relu (x) s = Constant <value = int64[2] {1, 288}> () f = Reshape (r, s)"
        "y = MatMul (f, w)",
        "float[1, 8, 6, 6] x, float[288, 10] w",
        opset=13,
    )
    assert old.graph.macs.sum() == new.graph.macs.sum() == 2880
    assert old.graph.fingerprint == new.graph.fingerprint


def test_a_type_without_a_later_form_is_named():
    with pytest.raises(InputError, match="its attributes do not fit Cast"):
        read('y = Cast <to = "FLOAT24"> (x)')
