"""Model-local functions: defaults of attributes that a call leaves out."""

import numpy as np
import onnxruntime
import pytest
from onnx import parser

from predictor.core.errors import InputError
from tests.support.networks.ingesting import ingest_proto

NESTED = """
<ir_version: 9, opset_import: ["": 17, "l": 1]>
g (float[1, 3, 9, 9] x, float[4, 3, 3, 3] w) => (float[1, 4, a, b] y, float[1, 4, c, d] z) {
  y = l.outer (x, w)
  z = l.outer <step = [3, 3]> (x, w)
}
<domain: "l", opset_import: ["": 17, "l": 1]>
outer <step> (x, w) => (y) { y = l.inner <strides: ints = @step> (x, w) }
<domain: "l", opset_import: ["": 17]>
inner <strides: ints = [2, 2]> (x, w) => (y) { y = Conv <strides: ints = @strides> (x, w) }
"""

IN_A_BRANCH = """
<ir_version: 9, opset_import: ["": 17, "l": 1]>
g (float[1, 3, 9, 9] x, float[4, 3, 3, 3] w) => (float[1, 4, a, b] y) {
  yes = Constant <value = bool {1}> ()
  y = If (yes) <
    then_branch = one () => (float[n, m, p, q] t) { t = l.inner (x, w) },
    else_branch = two () => (float[n, m, p, q] e) { e = Conv (x, w) }
  >
}
<domain: "l", opset_import: ["": 17]>
inner <strides: ints = [2, 2]> (x, w) => (y) { y = Conv <strides: ints = @strides> (x, w) }
"""


@pytest.mark.parametrize("text", [NESTED, IN_A_BRANCH])
def test_a_default_holds_at_every_nesting(text):
    model = parser.parse_model(text)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    inputs = {"x": np.zeros((1, 3, 9, 9), np.float32), "w": np.zeros((4, 3, 3, 3), np.float32)}
    shapes = [output.shape for output in session.run(None, inputs)]
    assert [output.shape for output in ingest_proto(model).outputs] == shapes
    assert shapes[0] == (1, 4, 4, 4)


def test_a_function_that_calls_itself_is_refused():
    text = NESTED.replace("y = Conv <strides: ints = @strides> (x, w)", "y = l.outer (x, w)")
    with pytest.raises(InputError, match="function"):
        ingest_proto(parser.parse_model(text))
