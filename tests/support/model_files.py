"""Small model files, sound and broken, for the tests of reading."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support.networks.builder import Builder


def relu_node(source="x", result="y", name="relu"):
    return helper.make_node("Relu", [source], [result], name=name)


def float_info(name, dims=(1, 4)):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(dims))


def model_of(nodes, initializers=(), opset=17, ir_version=8, **options):
    """A model from x to y, both 1 x 4."""
    graph = helper.make_graph(nodes, "g", [float_info("x")], [float_info("y")], list(initializers))
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version, **options
    )


def tensor(name, dims, dtype=np.float32):
    """A stored tensor of counted values."""
    count = int(np.prod(dims))
    return numpy_helper.from_array(np.arange(count).astype(dtype).reshape(dims), name)


def external(name, dims, location, offset=None, length=None, dtype=TensorProto.FLOAT):
    """A tensor that lies in another file."""
    proto = TensorProto(name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            proto.external_data.add(key=key, value=str(value))
    return proto


def saved(path: Path, model: onnx.ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def with_tensor(path: Path, proto: TensorProto) -> Path:
    """A file with one node and one initializer."""
    return saved(path, model_of([relu_node()], [proto]))


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, body):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(body)) + body


def head_of_model():
    """IR version 8 and opset 17."""
    return b"\x08\x08" + field(8, helper.make_opsetid("", 17).SerializeToString())


FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, dtype=FLOAT, dims=None):
    return helper.make_tensor_value_info(name, dtype, dims)


def loop_body(weights):
    """Multiply the carried value by ``weights`` of the outer graph; also hand it out."""
    nodes = [
        helper.make_node("Identity", ["cond"], ["cond_out"]),
        helper.make_node("MatMul", ["v", weights], ["product"], name="product"),
        helper.make_node("Relu", ["product"], ["v_out"], name="act"),
        helper.make_node("Identity", ["v_out"], ["scanned"]),
    ]
    return helper.make_graph(
        nodes,
        "body",
        [value("i", INT64, []), value("cond", BOOL, []), value("v")],
        [value("cond_out", BOOL, []), value("v_out"), value("scanned")],
    )


def loop_model(trips):
    b = Builder()
    x = b.input("x", [4, 8])
    weights = b.weight(8, 8)
    count = b.input("count", [], INT64) if trips is None else b.constant(trips)
    going = b.constant(True, np.bool_)
    b.node("Loop", [count, going, x], ["last", "all"], body=loop_body(weights))
    b.output("last")
    b.output("all")
    return b.model()
