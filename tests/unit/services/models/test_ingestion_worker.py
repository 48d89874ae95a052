"""The real worker: sound and hostile files, its limits, its end, and what the parent imports."""

import os
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from predictor.core.errors import InputError
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import ARRAYS
from predictor.services.models.ingestion import IngestionLimits, IngestionWorker
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

pytestmark = pytest.mark.fresh_children

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def worker():
    with IngestionWorker() as running:
        yield running


def reason_of(worker, path):
    with pytest.raises(InputError) as caught:
        worker.ingest(path)
    assert caught.value.subject.startswith(os.fspath(path))
    return caught.value.reason


def pid_of(worker):
    return worker._child._process.pid


def test_a_model_is_what_ingestion_here_makes_of_it(worker, tmp_path):
    path = saved(
        tmp_path / "m.onnx",
        model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("w", (4, 4))]),
    )
    theirs, ours = worker.ingest(path), ingest(path)
    assert theirs.path == str(path)
    assert theirs.inputs == ours.inputs
    assert theirs.graph.fingerprint == ours.graph.fingerprint
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(theirs.graph, name), getattr(ours.graph, name))


def test_bindings_reach_the_child(worker, tmp_path):
    model = model_of([relu_node()])
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    model.graph.output[0].type.tensor_type.shape.ClearField("dim")
    del model.graph.output[:]
    model.graph.output.add(name="y")
    path = saved(tmp_path / "m.onnx", model)
    assert worker.ingest(path, bindings={"rows": 7}).inputs[0].shape == (7, 4)
    assert worker.ingest(path, shapes={"x": (3, 4)}).inputs[0].shape == (3, 4)


def test_a_relative_path_is_that_of_the_parents_folder(worker, tmp_path, monkeypatch):
    saved(tmp_path / "m.onnx", model_of([relu_node()]))
    monkeypatch.chdir(tmp_path)
    assert worker.ingest("m.onnx").path == str(tmp_path / "m.onnx")
    with pytest.raises(InputError) as caught:
        worker.ingest("none.onnx")
    assert caught.value.subject == "none.onnx"


def write(data):
    return lambda folder: (folder / "m.onnx").write_bytes(data)


def make_folder(folder):
    (folder / "m.onnx").mkdir()


def make_many_nodes(folder):
    count, node = 10_000_000, field(1, field(4, b"Relu"))
    with (folder / "m.onnx").open("wb") as file:
        file.write(head_of_model() + varint(7 << 3 | 2) + varint(count * len(node)))
        for _ in range(100):
            file.write(node * (count // 100))


def stored(proto):
    return lambda folder: with_tensor(folder / "m.onnx", proto)


VALID = model_of([relu_node()]).SerializeToString()
RING = model_of([relu_node("b", "a"), relu_node("a", "b"), relu_node()])
TWICE = model_of([relu_node(), relu_node()])


def sized(*dims):
    model = model_of([relu_node()])
    model.graph.input[0].CopyFrom(float_info("x", dims))
    return model.SerializeToString()


HOSTILE = [
    (write(RING.SerializeToString()), "it stands on a cycle"),
    (write(TWICE.SerializeToString()), "its output y is made twice"),
    (write(sized(0, 4)), "the file states the size 0"),
    (write(b""), "the file is empty"),
    (write(b"hello"), "it is text, not an ONNX file"),
    (write(b"PK\x03\x04" + bytes(100)), "it is a zip archive"),
    (write(VALID[:-20]), "it is cut off or no ONNX file"),
    (make_folder, "it is a folder"),
    (make_many_nodes, "it has more than 200000 nodes"),
    (write(model_of([]).SerializeToString()), "its graph has no operator"),
    (write(model_of([relu_node()], opset=99).SerializeToString()), "its opset 99 is newer"),
    (stored(TensorProto(name="w", data_type=1, dims=[-1])), "tensor 'w' has the negative"),
    (stored(TensorProto(name="w", data_type=1, dims=[2**62] * 3)), "tensor 'w' has a shape of"),
    (stored(TensorProto(name="w", data_type=1, dims=[9], raw_data=b"")), "tensor 'w' asks for"),
    (stored(external("w", [1], "../w.bin")), "its external data '../w.bin' lies outside"),
    (write(VALID.replace(b"relu", b"re\0u")), "the name 're\\x00u' in it holds a NUL"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "reason"), HOSTILE)
def test_a_hostile_file_is_refused_and_the_child_stays(worker, tmp_path, make, reason):
    good = saved(tmp_path / "good.onnx", model_of([relu_node()]))
    make(tmp_path)
    worker.ingest(good)
    before = pid_of(worker)
    assert reason_of(worker, tmp_path / "m.onnx").startswith(reason)
    assert len(worker.ingest(good).graph) == 1
    assert pid_of(worker) == before


def test_a_missing_file(worker, tmp_path):
    assert reason_of(worker, tmp_path / "m.onnx") == "there is no such file"


def test_a_nul_in_the_path_reaches_the_user(worker):
    assert reason_of(worker, "a\0b") == "the path holds a NUL character"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_a_file_that_needs_too_much_memory_is_refused(worker, tmp_path):
    nodes = [relu_node() for _ in range(100_000)]  # under the limit of nodes, not of memory
    path = saved(tmp_path / "m.onnx", model_of(nodes))
    good = saved(tmp_path / "good.onnx", model_of([relu_node()]))
    worker.ingest(good)
    pages = int(Path(f"/proc/{pid_of(worker)}/statm").read_text().split()[0])
    enough = pages * os.sysconf("SC_PAGE_SIZE") + 20 * 2**20
    with IngestionWorker(IngestionLimits(memory_bytes=enough)) as small:
        assert len(small.ingest(good).graph) == 1
        assert "memory" in reason_of(small, path)  # a library that runs out of it may also crash
        assert len(small.ingest(good).graph) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a folder that is in use")
def test_a_folder_that_no_longer_exists(worker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # put back at the end
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert reason_of(worker, "m.onnx") == "the current folder no longer exists"
    assert reason_of(worker, str(tmp_path / "m.onnx")) == "there is no such file"


def test_a_frozen_program_can_be_the_worker(tmp_path):
    path = saved(tmp_path / "m.onnx", model_of([relu_node()]))
    code = (
        "import sys; from predictor.services.frozen import serve_if_child;"
        "assert serve_if_child(['predict', '--ingestion-worker']) is None;"
        "sys.exit(serve_if_child(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "--ingestion-worker", str(4 * 2**30), "60"]
    with IngestionWorker(command=command) as frozen:
        assert len(frozen.ingest(path).graph) == 1


def test_the_parent_imports_neither_onnx_nor_qt():
    code = (
        "import sys; import predictor.services.models.ingestion;"
        "print([m for m in ('onnx', 'torch', 'PySide6', 'psutil', 'multiprocessing', 'asyncio')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


_PARENT = """
import os, sys
from predictor.services.models.ingestion import IngestionWorker
worker = IngestionWorker()
worker.ingest(sys.argv[1])
print(worker._child._process.pid, flush=True)
os._exit(0)  # no close: as if killed
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_child_ends_when_its_parent_dies(tmp_path):
    path = saved(tmp_path / "m.onnx", model_of([relu_node()]))
    done = subprocess.run(
        [sys.executable, "-c", _PARENT, path], cwd=ROOT, capture_output=True, text=True, check=True
    )
    pid = int(done.stdout)
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended, _, _ = select.select([descriptor], [], [], 10)
    os.close(descriptor)
    assert ended
