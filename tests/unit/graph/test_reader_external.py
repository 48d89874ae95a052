"""Data in other files: found beside the model or its link's target, checked, read where small."""

import os
import sys

import numpy as np
import pytest
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.graph.reader import read_model
from predictor.graph.tensor_data import TensorCheck
from predictor.graph.values import stored_value
from tests.support.model_files import external, with_tensor

LARGE = 20_000  # float32 elements: 80 000 bytes

posix = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")


def reason_of(path):
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert caught.value.subject == os.fspath(path)
    return caught.value.reason


def values_of(path):
    (w,) = (t for t in read_model(path).proto.graph.initializer if t.name == "w")
    return stored_value(w).tolist()


def floats(*values):
    return np.array(values, np.float32).tobytes()


def test_a_small_tensor_is_read_and_stored_in_the_model(tmp_path):
    (tmp_path / "w.bin").write_bytes(b"....." + floats(1, 2, 3) + b"...")
    path = with_tensor(tmp_path / "m.onnx", external("w", [3], "w.bin", 5, 12))
    (proto,) = read_model(path).proto.graph.initializer
    assert proto.raw_data == floats(1, 2, 3)
    assert proto.data_location == TensorProto.DEFAULT
    assert not proto.external_data


def test_offset_and_length_may_be_left_out(tmp_path):
    (tmp_path / "w.bin").write_bytes(floats(1, 2))
    assert values_of(with_tensor(tmp_path / "m.onnx", external("w", [2], "w.bin"))) == [1, 2]


def test_a_large_tensor_is_not_read(tmp_path):
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(LARGE * 4)
    (tmp_path / "w.bin").chmod(0o000)
    path = with_tensor(tmp_path / "m.onnx", external("w", [LARGE], "w.bin", 0, LARGE * 4))
    (proto,) = read_model(path).proto.graph.initializer
    assert stored_value(proto) is None
    assert list(proto.dims) == [LARGE]


def test_a_folder_below_the_model(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(floats(4))
    path = with_tensor(tmp_path / "m.onnx", external("w", [1], "./data/../data/w.bin"))
    assert values_of(path) == [4]


@pytest.mark.parametrize(
    "location",
    [
        "../w.bin",
        "data/../../w.bin",
        "/etc/passwd",
        "C:\\w.bin",
        "C:w.bin",
        "\\\\host\\share\\w.bin",
        "..\\w.bin",
        "",
        "w\0.bin",
    ],
)
@pytest.mark.parametrize("size", [1, LARGE])
def test_a_location_that_leaves_the_folder_is_refused(tmp_path, location, size):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(LARGE * 4))
    path = with_tensor(folder / "m.onnx", external("w", [size], location))
    assert reason_of(path).endswith("lies outside the folder of the model")


@posix
def test_a_link_that_leaves_the_folder_is_refused(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(floats(1))
    (folder / "w.bin").symlink_to(tmp_path / "secret")
    path = with_tensor(folder / "m.onnx", external("w", [1], "w.bin"))
    assert reason_of(path) == "its external data 'w.bin' lies outside the folder of the model"


@posix
def test_a_folder_that_is_a_link_out_is_refused(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "w.bin").write_bytes(floats(1))
    (folder / "data").symlink_to(tmp_path / "other")
    path = with_tensor(folder / "m.onnx", external("w", [1], "data/w.bin"))
    assert reason_of(path).endswith("lies outside the folder of the model")


@posix
def test_a_hugging_face_cache(tmp_path):
    """Model and data are links in a snapshot; both files lie in one folder of blobs."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc" / "onnx"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    with_tensor(blobs / "0123", external("w", [2], "model.onnx_data", 0, 8))
    (blobs / "4567").write_bytes(floats(5, 6))
    (snapshot / "model.onnx").symlink_to("../../../blobs/0123")
    (snapshot / "model.onnx_data").symlink_to("../../../blobs/4567")
    assert values_of(snapshot / "model.onnx") == [5, 6]


@posix
def test_a_link_to_a_model_finds_the_data_beside_the_model(tmp_path):
    store, desk = tmp_path / "store", tmp_path / "desk"
    store.mkdir()
    desk.mkdir()
    with_tensor(store / "m.onnx", external("w", [2], "w.bin"))
    (store / "w.bin").write_bytes(floats(7, 8))
    (desk / "m.onnx").symlink_to(store / "m.onnx")
    assert values_of(desk / "m.onnx") == [7, 8]


@posix
def test_a_link_inside_the_folder_is_normal(tmp_path):
    (tmp_path / "v1.bin").write_bytes(floats(9))
    (tmp_path / "w.bin").symlink_to("v1.bin")
    assert values_of(with_tensor(tmp_path / "m.onnx", external("w", [1], "w.bin"))) == [9]


@pytest.mark.parametrize("size", [1, LARGE])
def test_a_missing_file_is_named(tmp_path, size):
    path = with_tensor(tmp_path / "m.onnx", external("w", [size], "w.bin"))
    missing = read_model(path).missing
    assert missing.reason == "its weights are in 'w.bin', which is missing"
    assert missing.action == "put that file into the folder of the model"


@pytest.mark.parametrize(
    ("offset", "length", "reason"),
    [
        (4, None, "asks for bytes 4 to 80004 of 'w.bin', which has 80000"),
        (2**62, None, "asks for bytes 4611686018427387904 to"),
        (0, 40, "has 40 bytes of external data, but its shape asks for 80000"),
        (-1, None, "has the external offset '-1', which is no count of bytes"),
        ("1e3", None, "has the external offset '1e3', which is no count of bytes"),
        ("9" * 5000, None, "has the external offset '99"),
        (0, "٣", "has the external length '٣'"),
    ],
)
def test_offsets_and_lengths_that_lie(tmp_path, offset, length, reason):
    (tmp_path / "w.bin").write_bytes(bytes(LARGE * 4))
    path = with_tensor(tmp_path / "m.onnx", external("w", [LARGE], "w.bin", offset, length))
    assert reason_of(path).startswith(f"tensor 'w' {reason}")


def test_a_folder_is_no_data(tmp_path):
    (tmp_path / "w.bin").mkdir()
    path = with_tensor(tmp_path / "m.onnx", external("w", [1], "w.bin"))
    assert reason_of(path) == "external data 'w.bin' is not a file"


@posix
def test_a_pipe_is_no_data_and_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "w.bin")
    path = with_tensor(tmp_path / "m.onnx", external("w", [1], "w.bin"))
    assert reason_of(path) == "external data 'w.bin' is not a file"


@posix
def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "w.bin").symlink_to("w.bin")
    path = with_tensor(tmp_path / "m.onnx", external("w", [1], "w.bin"))
    assert reason_of(path).startswith("its external data 'w.bin' cannot be read: ")


def test_text_in_another_file_is_refused(tmp_path):
    (tmp_path / "w.bin").write_bytes(b"a")
    proto = external("w", [1], "w.bin", dtype=TensorProto.STRING)
    path = with_tensor(tmp_path / "m.onnx", proto)
    assert reason_of(path).startswith("tensor 'w' holds text in an external file")


def test_small_tensors_that_add_up_to_too_much_are_refused(tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes(400))
    check = TensorCheck(str(tmp_path / "m.onnx"), 1000)
    check.parsed(external("a", [100], "w.bin"))
    check.parsed(external("b", [100], "w.bin"))
    with pytest.raises(InputError, match="tensor 'c' and those before it") as caught:
        check.parsed(external("c", [100], "w.bin"))
    assert "more than 1000 bytes in other files" in caught.value.reason
