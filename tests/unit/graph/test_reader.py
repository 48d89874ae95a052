"""Sound files are read without the data of large tensors."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from predictor.core.errors import InputError
from predictor.graph.reader import WALK_BYTES, read_model
from predictor.graph.tensor_data import LEFT_OUT
from predictor.graph.values import stored_value
from predictor.graph.wire_format import LARGE_BYTES, Source, Walk, WalkLimits
from tests.support.model_files import (
    external,
    field,
    float_info,
    head_of_model,
    model_of,
    relu_node,
    saved,
    tensor,
    varint,
    with_tensor,
)

LARGE = (LARGE_BYTES // 4 + 1,)  # float32 elements, one more than are read
LIMIT = (LARGE_BYTES // 4,)
WALKED, PLAIN = 0, 2**62
ROOT = Path(__file__).resolve().parents[3]


def stripped(model):
    """What reading should make of a model, the slow and obvious way."""
    expected = onnx.ModelProto.FromString(model.SerializeToString())
    tensors = [*expected.graph.initializer]
    for node in expected.graph.node:
        tensors += [a.t for a in node.attribute if a.type == onnx.AttributeProto.TENSOR]
        for attribute in node.attribute:
            tensors += attribute.g.initializer
    for proto in tensors:
        if len(proto.raw_data) > LARGE_BYTES:
            proto.ClearField("raw_data")
            proto.doc_string = LEFT_OUT
    return expected


def stored_values(read):
    tensors = read.proto.graph.initializer
    return {t.name: value for t in tensors if (value := stored_value(t)) is not None}


def model_with_everything():
    body = helper.make_graph(
        [helper.make_node("Identity", ["inner"], ["c"])],
        "body",
        [],
        [float_info("c", LARGE)],
        [tensor("inner", LARGE), tensor("inner_small", (3,))],
    )
    nodes = [
        helper.make_node("Constant", [], ["big"], value=tensor("", LARGE), name="constant"),
        helper.make_node("If", ["x"], ["z"], then_branch=body, else_branch=body),
        relu_node(),
    ]
    return model_of(nodes, [tensor("w", LARGE), tensor("at_limit", LIMIT), tensor("s", (2, 2))])


@pytest.mark.parametrize("walk_bytes", [WALKED, PLAIN])
def test_data_of_large_tensors_alone_is_left_out(tmp_path, walk_bytes):
    model = model_with_everything()
    read = read_model(saved(tmp_path / "m.onnx", model), walk_bytes)
    assert read.proto == stripped(model)
    w, at_limit, small = read.proto.graph.initializer
    assert (w.name, list(w.dims), w.data_type) == ("w", list(LARGE), TensorProto.FLOAT)
    assert stored_value(w) is None
    assert stored_value(at_limit).shape == LIMIT
    np.testing.assert_array_equal(stored_value(small), [[0, 1], [2, 3]])
    assert set(stored_values(read)) == {"at_limit", "s"}


def test_facts_of_the_file(tmp_path, monkeypatch):
    path = saved(tmp_path / "m.onnx", model_of([relu_node()]))
    os.utime(path, ns=(5, 7_000_000_000))
    monkeypatch.chdir(tmp_path)
    read = read_model("m.onnx")
    assert read.path == str(path)
    assert read.size_bytes == len(path.read_bytes())
    assert read.modified_ns == 7_000_000_000


def test_a_name_that_is_no_utf8_in_the_file_system(tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    assert len(read_model(saved(folder / "m.onnx", model_of([relu_node()]))).proto.graph.node) == 1


@pytest.mark.parametrize("walk_bytes", [WALKED, PLAIN])
def test_empty_tensors_and_scalars_are_legal(tmp_path, walk_bytes):
    empty = TensorProto(name="roi", data_type=TensorProto.FLOAT, dims=[0])
    scalar = tensor("scalar", ())
    path = saved(tmp_path / "m.onnx", model_of([relu_node()], [empty, scalar]))
    values = stored_values(read_model(path, walk_bytes))
    assert values["roi"].shape == (0,)
    assert values["scalar"].shape == ()


TYPED = [
    (TensorProto.FLOAT, 4),
    (TensorProto.DOUBLE, 4),
    (TensorProto.INT64, 4),
    (TensorProto.UINT64, 4),
    (TensorProto.UINT32, 4),
    (TensorProto.INT8, 4),
    (TensorProto.FLOAT16, 4),
    (TensorProto.BFLOAT16, 4),
    (TensorProto.INT4, 3),
    (TensorProto.UINT4, 4),
    (TensorProto.COMPLEX64, 4),
    (TensorProto.BOOL, 4),
]


@pytest.mark.parametrize(("dtype", "count"), TYPED)
@pytest.mark.parametrize("raw", [False, True])
def test_every_way_to_store_data(tmp_path, dtype, count, raw):
    proto = helper.make_tensor("w", dtype, [count], [1] * count)
    if raw:
        proto = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(proto), "w")
    value = stored_values(read_model(with_tensor(tmp_path / "m.onnx", proto)))["w"]
    assert value.shape == (count,)
    assert all(complex(element) == 1 for element in value)


@pytest.mark.parametrize(("dtype", "count"), TYPED)
def test_large_typed_data_is_left_out(tmp_path, dtype, count):
    proto = helper.make_tensor("w", dtype, [count * 40_000], [1] * (count * 40_000))
    read = read_model(with_tensor(tmp_path / "m.onnx", proto), WALKED)
    (kept,) = read.proto.graph.initializer
    assert stored_value(kept) is None or dtype in {TensorProto.INT4, TensorProto.UINT4}
    assert list(kept.dims) == [count * 40_000]


def test_text_tensors(tmp_path):
    proto = helper.make_tensor("w", TensorProto.STRING, [2], [b"a", b"\xff"])
    read = read_model(with_tensor(tmp_path / "m.onnx", proto))
    assert list(read.proto.graph.initializer[0].string_data) == [b"a", b"\xff"]
    assert stored_values(read) == {}
    large = helper.make_tensor("w", TensorProto.STRING, [2], [b"a" * 50_000, b"b" * 50_000])
    for walk_bytes in (WALKED, PLAIN):
        read = read_model(with_tensor(tmp_path / "m.onnx", large), walk_bytes)
        assert not read.proto.graph.initializer[0].string_data


def test_a_very_old_model_has_opset_1(tmp_path):
    model = model_of([relu_node()], ir_version=2)
    model.ClearField("opset_import")
    (opset,) = read_model(saved(tmp_path / "m.onnx", model)).proto.opset_import
    assert (opset.domain, opset.version) == ("", 1)


class CountingFile:
    """A file that counts the bytes read from it."""

    def __init__(self, file):
        self.file = file
        self.bytes_read = 0

    def seek(self, position):
        return self.file.seek(position)

    def read(self, count):
        data = self.file.read(count)
        self.bytes_read += len(data)
        return data


def test_the_walk_reads_past_no_large_tensor(tmp_path):
    weights = [tensor(f"w{i}", (2**20,)) for i in range(4)]
    path = saved(tmp_path / "m.onnx", model_of([relu_node()], weights))
    size = path.stat().st_size
    assert size > WALK_BYTES
    with path.open("rb", buffering=0) as file:
        counting = CountingFile(file)
        walk = Walk(Source(counting, size), WalkLimits(10, 10**6), lambda header, _: header)
        assert len(walk.stripped()) < 1000
        assert counting.bytes_read < size / 10


_MEASURED = """
import resource, sys
from pathlib import Path
from predictor.graph.reader import read_model
read = read_model(sys.argv[1])
assert len(read.proto.graph.initializer) == int(sys.argv[2])
if sys.platform == "linux":
    # ru_maxrss counts what this process was before exec: a copy of the tests' own.
    status = Path("/proc/self/status").read_text().splitlines()
    peak_kib = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
else:
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(peak_kib // 1024)
"""


def peak_mib(path, tensors):
    """Peak memory of a process that imports onnx and reads a model."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, path, str(tensors)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="holes in files and ru_maxrss are POSIX")
def test_eight_gigabytes_of_external_weights_take_no_memory(tmp_path):
    rows, count = 2**16, 32
    one = rows * 1024 * 4
    with (tmp_path / "weights.bin").open("wb") as file:
        file.truncate(one * count)
    weights = [external(f"w{i}", [rows, 1024], "weights.bin", i * one, one) for i in range(count)]
    path = saved(tmp_path / "m.onnx", model_of([relu_node()], weights))
    assert one * count >= 8e9
    assert peak_mib(path, count) < 400


@pytest.mark.skipif(sys.platform == "win32", reason="holes in files and ru_maxrss are POSIX")
def test_eight_gigabytes_of_embedded_weights_take_no_memory(tmp_path):
    rows, count = 2**19, 4
    one = rows * 1024 * 4
    dims = b"\x08" + varint(rows) + b"\x08" + varint(1024)
    start = dims + b"\x10\x01" + varint(9 << 3 | 2) + varint(one)
    initializer = varint(5 << 3 | 2) + varint(len(start) + one) + start
    graph = relu_node().SerializeToString()
    node = field(1, graph)
    path = tmp_path / "m.onnx"
    with path.open("wb") as file:
        size = len(node) + count * (len(initializer) + one)
        file.write(head_of_model() + varint(7 << 3 | 2) + varint(size) + node)
        for _ in range(count):
            file.write(initializer)
            file.truncate(file.seek(one, os.SEEK_CUR))
    assert path.stat().st_size >= 8e9
    assert peak_mib(path, count) < 400


@pytest.fixture(scope="module")
def scratch():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "m.onnx"


VALID = model_of(
    [
        relu_node("x", "a"),
        helper.make_node("Constant", [], ["c"], value=tensor("", (5,))),
        helper.make_node("Conv", ["a", "w"], ["y"], pads=[1, 1], auto_pad="NOTSET"),
    ],
    [tensor("w", (4, 4)), external("e", [2], "none.bin")],
).SerializeToString()
BOTH_WAYS = st.sampled_from([WALKED, PLAIN])


def read_or_refuse(path, data, walk_bytes):
    path.write_bytes(data)
    try:
        read = read_model(path, walk_bytes)
    except InputError:
        return
    assert read.proto.graph.node
    for proto in read.proto.graph.initializer:
        value = stored_value(proto)
        assert value is None or value.shape == tuple(proto.dims)


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=200), walk_bytes=BOTH_WAYS)
def test_random_bytes_are_read_or_refused(scratch, data, walk_bytes):
    read_or_refuse(scratch, data, walk_bytes)


@settings(max_examples=150, deadline=None)
@given(end=st.integers(0, len(VALID) - 1), walk_bytes=BOTH_WAYS)
def test_truncations_are_read_or_refused(scratch, end, walk_bytes):
    read_or_refuse(scratch, VALID[:end], walk_bytes)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    flips=st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(1, 255)), max_size=3),
    walk_bytes=BOTH_WAYS,
)
def test_flipped_bits_are_read_or_refused(scratch, flips, walk_bytes):
    data = bytearray(VALID)
    for position, bits in flips:
        data[position] ^= bits
    read_or_refuse(scratch, bytes(data), walk_bytes)


elements = st.sampled_from([0, 1, 3, 1000, *LIMIT, *LARGE, 50_000])


@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(elements, max_size=4), constants=st.lists(elements, max_size=2))
def test_the_walk_gives_what_onnx_loads(scratch, sizes, constants):
    nodes = [
        helper.make_node("Constant", [], [f"c{i}"], value=tensor("", (size,)))
        for i, size in enumerate(constants)
    ]
    weights = [tensor(f"w{i}", (size,)) for i, size in enumerate(sizes)]
    saved(scratch, model_of([*nodes, relu_node()], weights))
    expected = stripped(onnx.load(scratch))
    assert read_model(scratch, WALKED).proto == expected
    assert read_model(scratch, PLAIN).proto == expected
