"""Every file that is not a sound model is refused in one sentence that says what to do."""

import gzip
import io
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from predictor.core.errors import InputError
from predictor.graph.reader import READ_LIMITS, read_model
from tests.support.model_files import (
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

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX file types")


def refusal(path):
    """The reason and action for which a file is refused, by plain reading and by the walk."""
    found = set()
    for walk_bytes in (0, 2**62):
        with pytest.raises(InputError) as caught:
            read_model(path, walk_bytes)
        error = caught.value
        assert error.subject == InputError(os.fspath(path), "", "").subject
        assert "\n" not in str(error)
        found.add((error.reason, error.action))
    assert len(found) == 1
    return found.pop()


def written(folder, data):
    path = folder / "model.onnx"
    path.write_bytes(data)
    return path


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model/data.pkl", b"")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello, this is text\n", "it is text, not an ONNX file"),
        (b'{\n  "architectures": ["LlamaForCausalLM"],', "it is the configuration of a model"),
        ("grüße\n".encode() * 200, "it is text, not an ONNX file"),
        (b"<!DOCTYPE html><html></html>", "it is a web page, not an ONNX file"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "it is a Git LFS pointer, not the file itself",
        ),
        (zipped(), "it is a zip archive or a PyTorch checkpoint, not an ONNX file"),
        (gzip.compress(b"model", mtime=0), "it is a gzip archive, not an ONNX file"),
        (pickle.dumps({}, 2), "it is a Python pickle, perhaps an old PyTorch checkpoint"),
        (pickle.dumps({}), "it is a Python pickle, not an ONNX file"),
        (b"ftrt" + bytes(64), "it is a TensorRT engine"),
        (b"RKNN" + bytes(64), "it is an RKNN model"),
        (b'\x08\0\0\0\0\0\0\0{"a":{}}' + bytes(8), "it is a safetensors file"),
        (b"\x89HDF\r\n\x1a\n" + bytes(64), "it is an HDF5 file, perhaps a Keras model"),
    ],
)
def test_other_formats_are_named(tmp_path, data, reason):
    assert refusal(written(tmp_path, data))[0].startswith(reason)


def test_a_pytorch_checkpoint_is_told_how_to_export(tmp_path):
    assert "torch.onnx.export" in refusal(written(tmp_path, zipped()))[1]


def test_a_truncated_file_says_where_it_ends(tmp_path):
    data = model_of([relu_node()], [tensor("w", (100,))]).SerializeToString()
    reason, action = refusal(written(tmp_path, data[:-50]))
    assert reason.startswith(f"it is cut off or no ONNX file: it ends at byte {len(data) - 50}")
    assert action == "export or download the model again"


def test_random_bytes_are_damaged(tmp_path):
    reason, _ = refusal(written(tmp_path, bytes([0xFF, 0xFE, 0x07]) * 100))
    assert reason.startswith(("it is damaged or no ONNX file", "it is cut off or no ONNX file"))


def test_a_damaged_inner_message_is_damaged(tmp_path):
    graph = field(1, b"\x0f")  # a node whose field has wire type 7
    reason, _ = refusal(written(tmp_path, head_of_model() + field(7, graph)))
    assert reason.startswith("it is damaged or no ONNX file")


def test_a_missing_file(tmp_path):
    assert refusal(tmp_path / "none.onnx")[0] == "there is no such file"


def test_a_path_through_a_file(tmp_path):
    assert refusal(written(tmp_path, b"x") / "model.onnx")[0] == "there is no such file"


def test_a_folder(tmp_path):
    assert refusal(tmp_path)[0] == "it is a folder, not a file"


def test_a_nul_in_the_path():
    assert refusal("a\0b.onnx")[0].startswith("the path holds a NUL character")


def test_a_name_that_is_too_long(tmp_path):
    assert refusal(tmp_path / ("x" * 5000))[0].startswith("it cannot be read (")


@posix
def test_a_loop_of_links(tmp_path):
    path = tmp_path / "loop.onnx"
    path.symlink_to(path)
    assert refusal(path)[0].startswith("it cannot be read (")


@posix
def test_a_pipe_does_not_block(tmp_path):
    path = tmp_path / "pipe.onnx"
    os.mkfifo(path)
    assert refusal(path)[0] == "it is a pipe, socket or device, not a file"


@posix
def test_a_device_and_a_socket():
    assert refusal("/dev/zero")[0] == "it is a pipe, socket or device, not a file"
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        assert refusal(f"{folder}/s")[0] == "it is a pipe, socket or device, not a file"


_UNPRIVILEGED = """
import os, sys
from predictor.core.errors import InputError
from predictor.graph.reader import read_model
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    read_model(sys.argv[1])
except InputError as error:
    print(error.reason)
"""


@posix
def test_a_file_without_permission():
    root = Path(__file__).resolve().parents[3]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = saved(Path(folder) / "model.onnx", model_of([relu_node()]))
        for mode, expected in ((0o644, ""), (0o000, "you have no permission to read it\n")):
            path.chmod(mode)
            done = subprocess.run(
                [sys.executable, "-c", _UNPRIVILEGED, path],
                cwd=root,
                env={**os.environ, "PYTHONPATH": str(root), "HOME": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            assert done.stdout == expected


def test_no_graph(tmp_path):
    reason, _ = refusal(written(tmp_path, head_of_model()))
    assert reason == "it holds no graph, so it is no ONNX model"


def test_no_operator(tmp_path):
    assert refusal(saved(tmp_path / "m.onnx", model_of([])))[0] == "its graph has no operator"


def test_a_future_opset(tmp_path):
    newest = onnx.defs.onnx_opset_version()
    reason, action = refusal(saved(tmp_path / "m.onnx", model_of([relu_node()], opset=newest + 1)))
    assert reason == f"its opset {newest + 1} is newer than {newest}, the newest known"
    assert action == f"export it with opset {newest} or older"


def test_an_opset_that_is_no_version(tmp_path):
    reason, _ = refusal(saved(tmp_path / "m.onnx", model_of([relu_node()], opset=0)))
    assert reason == "its opset 0 for 'ai.onnx' is no version"


def test_no_opset(tmp_path):
    model = model_of([relu_node()])
    model.ClearField("opset_import")
    assert refusal(saved(tmp_path / "m.onnx", model))[0].startswith("it states no opset")


def test_no_opset_for_the_standard_operators(tmp_path):
    model = model_of([relu_node()])
    model.opset_import[0].domain = "com.microsoft"
    reason, _ = refusal(saved(tmp_path / "m.onnx", model))
    assert reason == (
        "it holds the standard operator 'Relu', but states no opset for the domain 'ai.onnx'"
    )
    model.graph.node[0].domain = "com.microsoft"
    assert read_model(saved(tmp_path / "m.onnx", model)).proto == model


def test_a_future_ir_version(tmp_path):
    model = model_of([relu_node()], ir_version=onnx.IR_VERSION + 1)
    assert refusal(saved(tmp_path / "m.onnx", model))[0] == (
        f"its IR version {onnx.IR_VERSION + 1} is newer than {onnx.IR_VERSION}, the newest known"
    )


def lying(dims, raw=b"", dtype=TensorProto.FLOAT):
    return TensorProto(name="w", data_type=dtype, dims=dims, raw_data=raw)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (lying([2, 2], bytes(15)), "asks for 16 bytes by its shape, but holds 15"),
        (lying([10]), "asks for 40 bytes by its shape, but holds 0"),
        (
            lying([1000, 1000], bytes(80_000)),
            "asks for 4000000 bytes by its shape, but holds 80000",
        ),
        (lying([-1, 4], bytes(16)), "has the negative dimension -1"),
        (lying([2**62, 4], b""), "has a shape of more than 2^63 - 1 elements"),
        (lying([1] * 65, bytes(4)), "has 65 dimensions, the most being 64"),
        (lying([1], bytes(4), dtype=0), "has element type 0, which this version does not know"),
        (lying([1], bytes(4), dtype=999), "has element type 999"),
        (lying([1], bytes(4), TensorProto.STRING), "holds text as raw bytes"),
        (
            TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3], float_data=[1, 2]),
            "asks for 3 elements by its shape, but holds 2",
        ),
        (
            TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3]),
            "asks for 3 elements by its shape, but holds 0",
        ),
        (
            TensorProto(name="w", data_type=1, dims=[3], float_data=np.zeros(40_000, np.float32)),
            "asks for 3 elements by its shape, but holds 40000",
        ),
        (
            TensorProto(name="w", data_type=7, dims=[10**6], int64_data=[1] * 70_000),
            "asks for 1000000 elements by its shape, but holds 70000",
        ),
    ],
)
def test_tensors_that_lie(tmp_path, proto, reason):
    assert refusal(with_tensor(tmp_path / "m.onnx", proto))[0].startswith(f"tensor 'w' {reason}")


def constant(proto):
    return helper.make_node("Constant", [], ["c"], value=proto)


def test_tensors_that_lie_inside_nodes_bodies_and_functions(tmp_path):
    node = constant(lying([5], bytes(4)))
    body = helper.make_graph([node], "body", [], [float_info("c")])
    branch = helper.make_node("If", ["x"], ["y"], then_branch=body, else_branch=body)
    function = helper.make_function("d", "f", [], ["c"], [node], [helper.make_opsetid("", 17)])
    sparse = model_of([relu_node()])
    sparse.graph.sparse_initializer.add(values=lying([5], bytes(4)))
    models = (
        model_of([node]),
        model_of([branch]),
        model_of([relu_node()], functions=[function]),
        sparse,
    )
    for model in models:
        reason, _ = refusal(saved(tmp_path / "m.onnx", model))
        assert reason == "tensor 'w' asks for 20 bytes by its shape, but holds 4"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"abcd", b"ab\xff\xfe", "the name b'ab\\xff\\xfe' in it is not UTF-8"),
        (b"abcd", b"ab\0d", "the name 'ab\\x00d' in it holds a NUL character"),
    ],
)
def test_names_that_are_no_text(tmp_path, old, new, reason):
    data = model_of([relu_node(name="abcd")]).SerializeToString()
    assert refusal(written(tmp_path, data.replace(old, new)))[0] == reason


@pytest.mark.parametrize("place", ["input", "output", "initializer", "value_info"])
def test_names_of_values_that_are_no_text(tmp_path, place):
    model = model_of([relu_node()])
    getattr(model.graph, place).add(name="abcd")
    data = model.SerializeToString().replace(b"abcd", b"\xff\xff\xff\xff")
    reason, _ = refusal(written(tmp_path, data))
    assert reason == "the name b'\\xff\\xff\\xff\\xff' in it is not UTF-8"


def test_control_characters_in_names_are_shown_escaped(tmp_path):
    proto = lying([5])
    proto.name = "a\x1b[31m\u202eb"
    path = with_tensor(tmp_path / "m.onnx", proto)
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert "a\\x1b[31m\\u202eb" in str(caught.value)
    assert str(caught.value).isprintable()


def test_ten_million_nodes_are_refused_by_the_limit(tmp_path):
    node = field(1, field(4, b"Relu"))
    count = 10_000_000
    path = tmp_path / "m.onnx"
    with path.open("wb") as file:
        file.write(head_of_model() + varint(7 << 3 | 2) + varint(count * len(node)))
        for _ in range(100):
            file.write(node * (count // 100))
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert caught.value.reason == "it has more than 200000 nodes, the most that we read"


def test_too_many_nodes_in_a_small_file_are_refused(tmp_path):
    nodes = field(1, b"") * (READ_LIMITS.nodes + 1)
    path = written(tmp_path, head_of_model() + field(7, nodes))
    assert refusal(path)[0] == "it has more than 200000 nodes, the most that we read"


@pytest.mark.slow
def test_too_many_nodes_in_bodies_are_refused(tmp_path):
    body = field(6, field(1, b"") * 30_000)  # each under the size from which the walk goes inside
    node = field(1, field(4, b"If") + field(5, field(1, b"b") + body + b"\xa0\x01\x05"))
    path = written(tmp_path, head_of_model() + field(7, node * 10))
    assert refusal(path)[0] == "it has more than 200000 nodes, the most that we read"


def test_too_much_besides_tensors_is_refused(tmp_path):
    path = tmp_path / "m.onnx"
    size = READ_LIMITS.copied_bytes + 2**20
    with path.open("wb") as file:  # one giant name, a hole in the file
        file.write(head_of_model() + varint(7 << 3 | 2) + varint(size))
        file.write(varint(2 << 3 | 2) + varint(size - 5))
        file.truncate(file.tell() + size - 5)
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert caught.value.reason == (
        "it holds more than 128 MiB besides its large tensors, the most that we read"
    )


@pytest.mark.parametrize("pad", [0, 70_000])
def test_graphs_nested_without_end_are_refused(tmp_path, pad):
    graph = field(1, field(4, b"Relu")) + field(10, b" " * pad)
    for _ in range(120):
        graph = field(1, field(4, b"If") + field(5, field(6, graph) + b"\xa0\x01\x05"))
    path = written(tmp_path, head_of_model() + field(7, graph))
    for walk_bytes in (0, 2**62):
        with pytest.raises(InputError):
            read_model(path, walk_bytes)
