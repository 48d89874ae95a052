"""Damaged ONNX files: real models, changed in their structure or in their bytes.

Every change is of one field of one message at any depth (nodes, attributes, types, domains, opsets,
functions, nested graphs, tensors), so whatever the format has is changed; bytes of the wire are
flipped, cut and repeated beside that. The same seed gives the same file.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import TensorProto, helper, numpy_helper

from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.devices.catalogue import load_device_files
from predictor.graph.ingest import ingest
from predictor.graph.model import Model
from predictor.services.prediction.engines import ENGINES
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets

_LARGEST_BASE = 64 * 1024
_MOST_CHANGES = 3
_LONGEST_SENTENCE = 1000
_BATCH = 3
_INTEGERS = (0, 1, -1, 2, 3, 7, 16, 127, 128, 255, 1000, 2**16, 2**31 - 1, 2**31, -(2**31), 2**40)
_INTEGERS_64 = (*_INTEGERS, 2**62, 2**63 - 1, -(2**63), 7281586558702221208)
_FLOATS = (0.0, -1.0, 1e-30, 1e30, float("inf"), float("nan"))
_TEXTS = ("", "x", "a/b", "ä", "\0", "x" * 300, "ai.onnx", "com.microsoft", "../x", "N", "seq + 1")
_FUNCTIONS = """
    <ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    agraph (float[N, 4] x) => (float[N, 4] y) { a = own.Twice (x)  y = own.Both (a, x) }
    <domain: "own", opset_import: ["" : 17]> Twice (u) => (v) { w = Relu (u)  v = Add (w, u) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    Both (p, q) => (r) { s = own.Twice (p)  r = Mul (s, q) }
"""
_LOOPS = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[1, 4] x, bool c, int64 n) => (float[1, 4] last, float[M, 1, 4] all, float[1, 4] z)
    <int64 three = {3}> {
        last, all = Loop (three, c, x) <body = body (int64 i, bool go, float[1, 4] v)
            => (bool on, float[1, 4] w, float[1, 4] s) { on = Identity (go) w = Relu (v) s = Exp (w)
            }>
        z = If (c) <then_branch = t () => (float[1, 4] u) { u = Relu (x) },
                    else_branch = e () => (float[1, 4] o) { o = Neg (x) }>
    }
"""
_SHAPES = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[batch, 8, seq] x) => (float[A, B] y, float[C] z)
    <int64 zero = {0}, int64[1] rest = {-1}, int64[1] axis = {0}> {
        s = Shape (x)  first = Constant <value_int = 0> ()  b = Gather (s, first)
        u = Unsqueeze (b, axis)  t = Concat <axis = 0> (u, rest)  y = Reshape (x, t)
        i = Constant <value = int64 {1}> ()  k = Range (zero, b, i)  f = Cast <to = 1> (k)
        e = Expand (f, u)  c = ConstantOfShape (u)
        z = Add (e, c)
    }
"""
_DEFAULTS = """
    <ir_version: 9, opset_import: ["" : 17, "own" : 1]>
    agraph (float[1, 4] x) => (float[1, 4] y) { y = own.Outer (x) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    Outer <at> (u) => (v) { v = own.Inner <axis: int = @at> (u) }
    <domain: "own", opset_import: ["" : 17]>
    Inner <axis: int = 1> (p) => (r) { r = Softmax <axis: int = @axis> (p) }
"""
_SEQUENCES = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[10, k, 4] x) => (float[A, B, C] y) {
        pieces = SplitToSequence <axis = 0> (x)  n = SequenceLength (pieces)
        none = SequenceEmpty ()
        all = Loop (n, , none) <body = body (int64 i, bool c, seq(float[]) s)
            => (bool on, seq(float[]) t) {
                p = SequenceAt (pieces, i)  t = SequenceInsert (s, p)  on = Identity (c) }>
        y = ConcatFromSequence <axis = 0> (all)
    }
"""
_OLD = """
    <ir_version: 3, opset_import: ["" : 3]>
    agraph (float[1, 8, 6, 6] x) => (float[A, B] y) {
        r = Relu <consumed_inputs = [0]> (x)  p = Pad <paddings = [0, 0, 1, 1, 0, 0, 1, 1]> (r)
        u = Upsample <height_scale = 2.0, width_scale = 2.0> (p)  c = Concat (u, u)
        l = LpPool <kernel_shape = [2, 2], p = 2.0> (c)  f = Cast <to = "FLOAT16"> (l)
        y = Reshape <shape = [1, -1]> (f)
    }
"""


def mutate(rng: random.Random) -> bytes:
    """Return a damaged ONNX file."""
    model = onnx.ModelProto.FromString(rng.choice(bases()))
    for _ in range(rng.randint(1, _MOST_CHANGES)):
        rng.choices((_change, _change_number, _rename), (6, 1, 1))[0](rng, model)
    data = model.SerializeToString()
    kind = rng.random()
    if kind < 0.15:
        return _damaged(rng, data)
    return _misspelt(rng, data, _names(list(_messages(model)))) if kind < 0.3 else data


def feed(data: bytes) -> bool:
    """Read a file as the ingestion worker does, at another batch too, and predict it.

    Returns:
        Whether it was read; False where it was refused in one sentence.

    Raises:
        AssertionError: a refusal of several lines, or a prediction without number and problem.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(data)
        model = _read(path, None)
        if model is None:
            return False
        _read(path, _BATCH)
    piped = Model.from_payload(json.loads(json.dumps(model.to_payload())))
    for engine in ENGINES:
        for prediction in predict([piped], _targets(), engine):
            assert (prediction.latency_ms is None) == bool(prediction.problem), prediction
    return True


def _read(path: Path, batch: int | None) -> Model | None:
    """Return the model of a file, at another batch where one is given; None where it is refused."""
    try:
        return ingest(path, batch=batch)
    except InputError as error:
        sentence = str(error).replace(str(path.parent), "")
        assert "\n" not in sentence, sentence
        assert len(sentence) < _LONGEST_SENTENCE, sentence
        return None


@cache
def _targets() -> tuple[Target, ...]:
    return resolve_targets([entry.device for entry in load_device_files()[::60]])


@cache
def bases() -> tuple[bytes, ...]:
    """Return the models that are changed: some with everything, and those that come with onnx."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data"
    paths = sorted((*folder.glob("simple/*/model.onnx"), *folder.glob("pytorch-*/*/model.onnx")))
    small = [path.read_bytes() for path in paths if path.stat().st_size < _LARGEST_BASE]
    # Twice as many of the rich ones as of the others, which have one operator each.
    rich = rich_models()
    return (*rich * max(2 * len(small) // len(rich), 1), *small)


def rich_models() -> list[bytes]:
    """Return sound models with functions, nested graphs, shapes from values and fused operators."""
    texts = (_FUNCTIONS, _DEFAULTS, _LOOPS, _SEQUENCES, _SHAPES, _OLD)
    models = [onnx.parser.parse_model(text) for text in texts]
    models += [_convolutions(), _recurrent(), _quantised()]
    return [model.SerializeToString() for model in models]


def _model(nodes: list[onnx.NodeProto], stored: dict[str, Any], dims: list[int]) -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(np.asarray(v), name) for name, v in stored.items()]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [info], [result], tensors)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def _convolutions() -> onnx.ModelProto:
    ones = np.ones(4, np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["a", "s", "s", "s", "s"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2]),
        helper.make_node("Reshape", ["d", "t"], ["e"]),
        helper.make_node("Gemm", ["e", "f"], ["y"], transB=1),
    ]
    stored = {"w": np.ones((4, 3, 3, 3), np.float32), "s": ones, "t": np.array([0, -1])}
    return _model(nodes, {**stored, "f": np.ones((5, 36), np.float32)}, [1, 3, 8, 8])


def _recurrent() -> onnx.ModelProto:
    body = helper.make_graph(
        [helper.make_node("Add", ["h", "i"], ["o"]), helper.make_node("Identity", ["o"], ["r"])],
        "step",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 4]) for name in "hi"],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 4]) for name in "or"],
    )
    nodes = [
        helper.make_node("LSTM", ["x", "w", "r"], ["a"], hidden_size=4),
        helper.make_node("Squeeze", ["a", "one"], ["b"]),
        helper.make_node("Scan", ["zero", "b"], ["last", "c"], body=body, num_scan_inputs=1),
        helper.make_node("Einsum", ["c", "m"], ["y"], equation="...i,ij->...j"),
    ]
    stored = {"w": np.ones((1, 16, 2), np.float32), "r": np.ones((1, 16, 4), np.float32)}
    more = {"zero": np.zeros((3, 4), np.float32), "m": np.ones((4, 6), np.float32)}
    return _model(nodes, {**stored, **more, "one": np.array([1])}, [5, 3, 2])


def _quantised() -> onnx.ModelProto:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["a"]),
        helper.make_node("DequantizeLinear", ["k", "s", "z"], ["b"]),
        helper.make_node("MatMul", ["a", "b"], ["c"]),
        helper.make_node("FusedMatMul", ["c", "m"], ["d"], domain="com.microsoft", transB=1),
        helper.make_node("Attention", ["d", "v"], ["y"], domain="com.microsoft", num_heads=2),
    ]
    stored = {"s": np.float32(0.1), "z": np.uint8(3), "k": np.ones((4, 8), np.uint8)}
    more = {"m": np.ones((8, 8), np.float32), "v": np.ones((8, 24), np.float32)}
    model = _model(nodes, {**stored, **more}, [1, 2, 4])
    model.opset_import.add(domain="com.microsoft", version=1)
    return model


def _messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for inner in value if _is_repeated(field) else [value]:
                yield from _messages(inner)


def _is_repeated(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


def _change(rng: random.Random, model: onnx.ModelProto) -> None:
    """Change one field of one message: of any, or of a kind that there may be few of."""
    every = list(_messages(model))
    kind = type(rng.choice(list({type(message): message for message in every}.values())))
    some = [message for message in every if isinstance(message, kind)]
    message = rng.choice(every if rng.random() < 0.5 else some)
    present = [field for field, _ in message.ListFields()]
    field = rng.choice(present if present and rng.random() < 0.8 else message.DESCRIPTOR.fields)
    if _is_repeated(field):
        _change_list(rng, field, getattr(message, field.name), every)
    elif rng.random() < 0.2:
        message.ClearField(field.name)
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        _fill(rng, getattr(message, field.name), every)
    else:
        setattr(message, field.name, _scalar(rng, field, every))


def _rename(rng: random.Random, model: onnx.ModelProto) -> None:
    """Give one node the type of another, or one function the name of another."""
    every = list(_messages(model))
    kind = rng.choice((onnx.NodeProto, onnx.NodeProto, onnx.FunctionProto))
    some = [message for message in every if isinstance(message, kind)]
    if some:
        taker, giver = rng.choice(some), rng.choice(some)
        for name in ("domain", "op_type") if kind is onnx.NodeProto else ("domain", "name"):
            setattr(taker, name, getattr(giver, name))


def _change_number(rng: random.Random, model: onnx.ModelProto) -> None:
    """Change one number of a stored tensor: a shape, an axis, a count of trips."""
    tensors = [
        message
        for message in _messages(model)
        if isinstance(message, TensorProto) and message.data_type == TensorProto.INT64
    ]
    if tensors:
        tensor = rng.choice(tensors)
        stored = tensor.raw_data[: len(tensor.raw_data) // 8 * 8]
        numbers = np.frombuffer(stored, np.int64).tolist() or list(tensor.int64_data) or [0]
        numbers[rng.randrange(len(numbers))] = rng.choice(_INTEGERS_64)
        tensor.ClearField("int64_data")
        tensor.raw_data = np.array(numbers, np.int64).tobytes()


def _change_list(
    rng: random.Random, field: FieldDescriptor, items: Any, every: list[Message]
) -> None:
    """Drop, repeat, replace or reorder entries of a repeated field."""
    action = rng.randrange(4)
    is_message = field.type == FieldDescriptor.TYPE_MESSAGE
    if action == 0 and items:
        del items[rng.randrange(len(items))]
    elif action == 1 and len(items) > 1:
        kept = [
            type(item).FromString(item.SerializeToString()) if is_message else item
            for item in items
        ]
        rng.shuffle(kept)
        del items[:]
        items.extend(kept)
    elif is_message:
        _fill(rng, items.add(), every)
    elif action == 2 and items:
        items[rng.randrange(len(items))] = _scalar(rng, field, every)
    else:
        items.append(
            rng.choice(list(items)) if items and action == 3 else _scalar(rng, field, every)
        )


def _fill(rng: random.Random, target: Message, every: list[Message]) -> None:
    """Make ``target`` a copy of another message of its type; empty where there is none."""
    kind = type(target)
    fitting = [message for message in every if isinstance(message, kind)]
    data = rng.choice(fitting).SerializeToString() if fitting else b""
    target.Clear()
    target.MergeFromString(data)
    target.SetInParent()


def _scalar(rng: random.Random, field: FieldDescriptor, every: list[Message]) -> Any:
    if field.enum_type is not None:
        return rng.choice(field.enum_type.values).number
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        if field.type == FieldDescriptor.TYPE_BYTES:
            return rng.choice((b"", b"\xff\xfe", b"x", rng.randbytes(rng.choice((1, 8, 64)))))
        return rng.choice(_TEXTS) if rng.random() < 0.3 else rng.choice(_names(every))
    if field.cpp_type in {FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE}:
        return rng.choice(_FLOATS)
    wide = field.cpp_type in {FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}
    value = rng.choice(_INTEGERS_64 if wide else _INTEGERS[:13])
    unsigned = {FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64}
    return abs(value) if field.cpp_type in unsigned else value


def _names(every: list[Message]) -> list[str]:
    """Return the texts of a model: names of values, operators and attributes."""
    names = [
        text
        for message in every
        for field, value in message.ListFields()
        if field.type == FieldDescriptor.TYPE_STRING
        for text in (value if _is_repeated(field) else [value])
    ]
    return names or ["x"]


def _misspelt(rng: random.Random, data: bytes, names: list[str]) -> bytes:
    """Break the UTF-8 of one name, at one of the places where it stands or at all."""
    name = rng.choice(names).encode()
    places = [match.start() for match in re.finditer(re.escape(name), data)] if name else []
    wire = bytearray(data)
    for place in places if rng.random() < 0.3 else rng.sample(places, min(1, len(places))):
        wire[place] = 0xFF
    return bytes(wire)


def _damaged(rng: random.Random, data: bytes) -> bytes:
    """Flip, cut or repeat bytes."""
    wire = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if not wire:
            break
        at = rng.randrange(len(wire))
        action = rng.randrange(4)
        if action < 2:
            wire[at] = rng.randrange(256)
        elif action == 2:
            del wire[at : at + rng.randint(1, 16)]
        else:
            wire[at:at] = wire[at : at + rng.randint(1, 64)]
    return bytes(wire)
