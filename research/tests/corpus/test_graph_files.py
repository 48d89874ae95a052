"""Operator graphs of a data folder: archives, damage, and other batches than the file's."""

from __future__ import annotations

import zipfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources.samples import GraphFile
from predictor.core.errors import HostError, InputError
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from research.tests.data_folder import MACS, convolution, write_graph
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto
from tests.support.networks.vision import mobilenet_v2

# What belongs to the file and not to the batch.
_OF_THE_FILE = {"shape_dims", "fingerprint", "former_fingerprint", "attributes"}


def attention(batch: int) -> onnx.ModelProto:
    """Products of activations, and the batch written into a Reshape as exporters do."""
    b = Builder()
    data = b.input("tokens", [batch, 16, 32])
    heads = [
        b.node(
            "Transpose",
            [b.node("Reshape", [b.linear(data, 32, 32), b.constant([batch, 16, 4, 8])])],
            perm=perm,
        )
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1])
    ]
    scores = b.node("Softmax", [b.node("MatMul", heads)], axis=-1)
    b.nodes.append(onnx.helper.make_node("Identity", [scores], ["out"]))
    b.output("out", [batch, 4, 16, 16])
    return b.model()


def columns(graph: OperatorGraph) -> dict[str, object]:
    values = {f.name: getattr(graph, f.name) for f in fields(graph) if f.name not in _OF_THE_FILE}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }


@pytest.mark.parametrize("network", [attention, mobilenet_v2])
def test_a_scaled_batch_counts_what_the_network_exported_at_that_batch_counts(network) -> None:
    single = ingest_proto(network(1)).graph

    assert columns(at_batch(single, 6)) == columns(ingest_proto(network(6)).graph)


def test_the_batch_of_the_file_is_the_graph_itself() -> None:
    graph = ingest_proto(convolution()).graph

    assert at_batch(graph, 1) is graph


def test_a_file_and_a_member_of_an_archive_give_one_graph(tmp_path: Path) -> None:
    file, archive = tmp_path / "one.onnx", tmp_path / "graphs.zip"
    write_graph(file)
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(file, "graphs/one.onnx")

    with GraphReader() as reader:
        graphs = [reader.read(GraphFile(file)), reader.read(GraphFile(archive, "graphs/one.onnx"))]

    assert [graph.macs.sum() for graph in graphs] == [MACS, MACS]
    assert graphs[0].fingerprint == graphs[1].fingerprint


def test_what_was_unpacked_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, scratch = tmp_path / "graphs.zip", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("one.onnx", convolution().SerializeToString())

    with GraphReader() as reader:
        reader.read(GraphFile(archive, "one.onnx"))
        assert list(scratch.iterdir())

    assert not list(scratch.iterdir())


def test_what_cannot_be_unpacked_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "graphs.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("bad.onnx", b"no network")
    (tmp_path / "broken.zip").write_bytes(b"no archive")

    with GraphReader() as reader:
        for file, words in (
            (GraphFile(archive, "missing.onnx"), "missing.onnx cannot be unpacked"),
            (GraphFile(tmp_path / "nowhere.zip", "a.onnx"), "a.onnx cannot be unpacked"),
            (GraphFile(tmp_path / "broken.zip", "a.onnx"), "a.onnx cannot be unpacked"),
            (GraphFile(archive, "bad.onnx"), "graphs.zip, bad.onnx"),
        ):
            with pytest.raises(InputError, match=words):
                reader.read(file)


def test_a_graph_that_was_read_is_kept_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, kept = GraphFile(tmp_path / "net.onnx"), tmp_path / "kept"
    write_graph(file.path)
    with GraphReader(kept) as reader:
        first = reader.read(file)
    with monkeypatch.context() as patched, GraphReader(kept) as reader:
        patched.setattr("ctm_research.corpus.graph_files.ingest", None)
        assert reader.read(file).to_bytes() == first.to_bytes()

    [entry] = kept.iterdir()
    entry.write_bytes(b"cut off")
    with GraphReader(kept) as reader:
        assert reader.read(file).to_bytes() == first.to_bytes()

    onnx.save(attention(2), file.path)
    with GraphReader(kept) as reader:
        assert reader.read(file).fingerprint != first.fingerprint


def test_a_graph_that_cannot_be_kept_stops_the_build(tmp_path: Path) -> None:
    write_graph(tmp_path / "net.onnx")
    (tmp_path / "kept").write_text("no folder", encoding="utf-8")

    with GraphReader(tmp_path / "kept") as reader, pytest.raises(HostError, match="written"):
        reader.read(GraphFile(tmp_path / "net.onnx"))


def test_a_network_of_convolutions_takes_an_image_of_another_size(tmp_path: Path) -> None:
    file = GraphFile(tmp_path / "net.onnx")
    onnx.save(mobilenet_v2(1), file.path)

    with GraphReader() as reader:
        small, large = reader.read(file), reader.read(replace(file, side=448))

    assert large.macs[0] == 4 * small.macs[0]
    assert large.fingerprint != small.fingerprint
    assert len(large.op_code) == len(small.op_code)


def test_a_network_without_an_image_has_no_other_size(tmp_path: Path) -> None:
    file = GraphFile(tmp_path / "net.onnx", side=64)
    onnx.save(attention(2), file.path)

    with GraphReader() as reader, pytest.raises(InputError, match="has no image to resize"):
        reader.read(file)
